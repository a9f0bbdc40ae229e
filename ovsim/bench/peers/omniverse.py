"""What the ovstage and ovphysx peers share: schemas, a populated stage, the count of joint rows. Serves ovphysx 0.6 and 0.7."""

from __future__ import annotations

import os

import ovphysx
import ovstage
from report import Laps

NEW = not ovphysx.__version__.startswith("0.6")
VERSIONS = {"ovphysx": ovphysx.__version__, "ovstage": ovstage.__version__}


def register() -> None:
    """Register the PhysX and Newton schemas, as the samples of each version do."""
    if NEW:
        from ovphysx.samples.python_samples.schema_support import physx_schema_paths

        ovstage.population.register_usd_schemas([*(str(p) for p in physx_schema_paths()), str(ovphysx.newton_schema_root())])
    else:
        ovstage.population.register_usd_schemas([str(ovphysx.codeless_schema_root())])


def populate(path: str, name: str, laps: Laps | None = None) -> ovstage.Stage:
    """A sealed stage; laps `populate` (open_usd) and `seal` (the write floor)."""
    stage = ovstage.Stage(name)
    ovstage.population.open_usd(stage, path, ordinal=1, domains=ovstage.PopulationDomain.PHYSICS)
    if laps:
        laps.lap("populate")
    stage.advance_write_floor(ordinal=1).wait()
    if laps:
        laps.lap("seal")
    return stage


def warm(directory: str) -> None:
    """Populate a tiny stage first, so that library and schema loading are no part of the measured population."""
    tiny = os.path.join(directory, "tiny.usda")
    with open(tiny, "w", encoding="utf-8") as f:
        f.write('#usda 1.0\n\ndef Xform "World"\n{\n    def PhysicsScene "scene"\n    {\n    }\n}\n')
    populate(tiny, "warm").destroy()
