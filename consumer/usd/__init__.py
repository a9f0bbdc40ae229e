"""The USD backend: descriptors and PhysX view parsed directly from a USD stage. The one part of the consumer that knows pxr."""

from consumer.usd.resolve import BACKEND, resolve
from consumer.usd.source import UsdSource
from consumer.usd.view import physx_view

__all__ = ["BACKEND", "UsdSource", "physx_view", "resolve"]
