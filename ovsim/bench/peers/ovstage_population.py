"""Peer: population of the real ovstage, PHYSICS domain."""

import sys
import tempfile

from report import Laps

laps = Laps()
import omniverse  # noqa: E402

omniverse.register()
with tempfile.TemporaryDirectory() as scratch:
    omniverse.warm(scratch)
laps.lap("import")
omniverse.populate(sys.argv[1], "scene", laps)
laps.done(versions=omniverse.VERSIONS)
