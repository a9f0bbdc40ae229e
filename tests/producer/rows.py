"""Rows of a small stage given as text."""

from __future__ import annotations

from typing import Any

import producer
from ovsim.interchange import columns_document
from ovsim.stage import PROVENANCE, Stage

HEAD = '#usda 1.0\n(\n    upAxis = "Z"\n    metersPerUnit = {meters}\n)\n'


def stage_of(text: str, meters: float = 1.0, **options: Any) -> Stage:
    """Populate a stage from the text of its root layer, without the head."""
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString(HEAD.format(meters=meters) + text)
    return producer.populate(Usd.Stage.Open(layer), **options)


def rows_of(text: str, meters: float = 1.0, **options: Any) -> dict[str, dict[str, Any]]:
    """The rows as the interchange document shows them."""
    rows: dict[str, dict[str, Any]] = columns_document(stage_of(text, meters, **options), "x")["prims"]
    return rows


def provenance(stage: Stage, path: str, column: str) -> str:
    """Provenance word of one cell."""
    found = stage.find(path)
    assert found
    archetype, row = found
    return PROVENANCE[archetype.provenance[column][row]]
