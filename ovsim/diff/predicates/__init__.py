"""Predicates of the findings: does this difference come from that cause? One function a finding, named in the findings' data.

A predicate looks for the cause in the columns, in the USD stage or in the PhysX view, and is asked only of the fields that the cause reaches.
"""

from ovsim.diff.predicates import columns, population, runtime, walkers
from ovsim.diff.predicates.registry import PREDICATES, Predicate

__all__ = ["PREDICATES", "Predicate", "columns", "population", "runtime", "walkers"]
