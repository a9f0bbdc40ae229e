"""The consumer: a Stage in, joint descriptors out."""

from consumer.blocks import Descriptors, JointBlock
from consumer.resolve import resolve
from consumer.rulesets import RuleSet

__all__ = ["Descriptors", "JointBlock", "RuleSet", "resolve"]
