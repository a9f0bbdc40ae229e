"""The PhysX view: articulations and concrete joints as the runtime builds them (spec sections 7 and 8)."""

from consumer.physx.document import physx_document
from consumer.physx.view import PhysxView, physx_view

__all__ = ["PhysxView", "physx_document", "physx_view"]
