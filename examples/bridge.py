"""A populated snapshot into ovstage and ovphysx, stepped, and read back.

ovsim populate examples/arm.usda -o arm.snapshot
python examples/bridge.py arm.snapshot          # where ovphysx==0.6.3 is installed
"""

import sys

import ovphysx
import ovstage

from ovsim.bridge import pull, push, simulate
from ovsim.stage import Stage

columns = Stage.load(sys.argv[1])
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 120

# Step by hand: what push writes is an ordinary ovstage stage.
stage = ovstage.Stage("by hand")
push(columns, stage, ordinal=1)
ovphysx.PhysX.set_cpu_mode(True)
physx = ovphysx.PhysX()
physx.attach_ovstage(stage, read_ordinal=1)
for _ in range(steps):
    physx.step_sync(1 / 60)
physx.detach_ovstage()
physx.destroy()

# Or let the bridge step and read the bodies back; the state is written at ordinal 2, and pull gives a Stage again.
for body in simulate(stage, steps, write_ordinal=2).to_pylist():
    print(body["kind"], body["path"], [round(x, 4) for x in body["position"]])
after = pull(stage, ordinal=2)
print(len(after), "rows, with", sorted(n for n in {n for a in after.archetypes for n in a.names} if n.startswith("sim:")))
stage.destroy()
