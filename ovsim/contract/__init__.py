"""The population contract as data."""

from ovsim.contract.model import FLT_MAX, VERSION, Column, Component, Contract, Formula, ProducerRule, Units, load

__all__ = ["FLT_MAX", "VERSION", "Column", "Component", "Contract", "Formula", "ProducerRule", "Units", "load"]
