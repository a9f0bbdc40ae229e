"""On random stages nothing differs between the backends but what a finding explains.

`OVSIM_EXAMPLES` raises the number of stages (2000 for a release).
"""

from __future__ import annotations

import os

from bench_stages import usd
from hypothesis import HealthCheck, Phase, given, settings
from usd_stages import stages

import producer
from consumer.usd import UsdSource
from ovsim.diff import LEVELS, compare_sides
from ovsim.diff.comparator import UNEXPLAINED
from ovsim.diff.sides import ColumnSide, UsdSide

EXAMPLES = int(os.environ.get("OVSIM_EXAMPLES", "25"))


@settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]
)
@given(stages())
def test_nothing_unexplained(text):
    """Columns, descriptors and PhysX."""
    stage = usd(text.partition(")\n")[2])
    found = compare_sides(
        UsdSide(UsdSource.open(stage), "usd"), ColumnSide(producer.populate(stage), "columnar"), levels=LEVELS, related=True
    )  # fmt: skip
    assert [d for d in found.differences if d.finding == UNEXPLAINED] == []
