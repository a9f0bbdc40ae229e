"""Peer: Newton's importer."""

import sys

from report import Laps

laps = Laps()
import newton  # noqa: E402

laps.lap("import")
builder = newton.ModelBuilder()
builder.add_usd(sys.argv[1])
laps.lap("add_usd")
laps.done(joints=builder.joint_count, versions={"newton": newton.__version__})
