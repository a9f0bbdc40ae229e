"""Peer: every joint attribute that population would publish, read through pxr attribute by attribute."""

import sys

from report import Laps

laps = Laps()
from pxr import Usd  # noqa: E402

laps.lap("import")
stage = Usd.Stage.Open(sys.argv[1])
laps.lap("open")
JOINTS = {
    "PhysicsFixedJoint",
    "PhysicsRevoluteJoint",
    "PhysicsPrismaticJoint",
    "PhysicsSphericalJoint",
    "PhysicsDistanceJoint",
    "PhysicsJoint",
}
rows = []
for prim in stage.Traverse():
    if prim.GetTypeName() in JOINTS:
        row = {a.GetName(): a.Get() for a in prim.GetAttributes()}
        for name in ("physics:body0", "physics:body1"):
            row[name] = prim.GetRelationship(name).GetTargets()
        row["schemas"] = prim.GetAppliedSchemas()
        row["path"] = prim.GetPath()
        rows.append(row)
laps.lap("read")
laps.done(joints=len(rows), versions={"usd": ".".join(str(v) for v in Usd.GetVersion())})
