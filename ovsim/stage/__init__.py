"""Stage: path dictionary, archetype tables, queries, builder, snapshots."""

from ovsim.stage.archetype import AUTHORED, DERIVED, FALLBACK, PROVENANCE, UNTYPED, Archetype
from ovsim.stage.builder import StageBuilder
from ovsim.stage.columns import Ragged
from ovsim.stage.paths import ROOT, PathDictionary
from ovsim.stage.stage import Stage

__all__ = [
    "AUTHORED",
    "DERIVED",
    "FALLBACK",
    "PROVENANCE",
    "ROOT",
    "UNTYPED",
    "Archetype",
    "PathDictionary",
    "Ragged",
    "Stage",
    "StageBuilder",
]
