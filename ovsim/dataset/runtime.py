"""Tables of the physx level: physx_joints, articulations, links, as the PhysX view gives them, with the file in front."""

from __future__ import annotations

import pyarrow as pa

TABLES: dict[str, pa.Schema] = {}
