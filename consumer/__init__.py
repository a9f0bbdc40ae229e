"""The consumer: a Stage in, joint descriptors and the PhysX view out. The PhysX side loads on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consumer.batches import Batches, resolve_batches
from consumer.blocks import Descriptors, JointBlock
from consumer.buffers import Buffers
from consumer.resolve import resolve
from consumer.rulesets import RuleSet

if TYPE_CHECKING:
    from consumer.physx import PhysxView as PhysxView
    from consumer.physx import physx_view as physx_view

__all__ = ["Batches", "Buffers", "Descriptors", "JointBlock", "PhysxView", "RuleSet", "physx_view", "resolve", "resolve_batches"]


def __getattr__(name: str) -> Any:
    if name in ("PhysxView", "physx_view"):
        import consumer.physx

        return getattr(consumer.physx, name)
    raise AttributeError(f"module 'consumer' has no attribute {name!r}")
