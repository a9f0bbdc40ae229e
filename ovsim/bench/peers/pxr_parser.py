"""Peer: OpenUSD's own C++ physics parser (no PhysX columns)."""

import sys

from report import Laps

laps = Laps()
from pxr import Sdf, Usd, UsdPhysics  # noqa: E402

laps.lap("import")
stage = Usd.Stage.Open(sys.argv[1])
laps.lap("open")
found = UsdPhysics.LoadUsdPhysicsFromRange(stage, [Sdf.Path("/")])
laps.lap("parse")
joints = sum(len(paths) for kind, (paths, _) in found.items() if "Joint" in str(kind))
laps.done(joints=joints, versions={"usd": ".".join(str(v) for v in Usd.GetVersion())})
