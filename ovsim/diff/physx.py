"""The PhysX level: what the runtime would hold, flattened; articulations as rows of their root prims."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ovsim.diff.flat import Flat, FlatColumn, objects, spread

if TYPE_CHECKING:
    from consumer.physx import PhysxView

ARTICULATION = "articulation "
_SPECIAL = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}


def of_view(view: PhysxView, amend: Callable[[dict[str, Any]], dict[str, Any]] | None = None) -> Flat:
    """Joints that PhysX has, by path, fields by dotted names (`axes.twist.limit`, `localPose0.p`); and the articulations as `articulation <root>`.

    `amend` may change the interchange document before it is flattened.
    """
    from consumer.physx import physx_document

    document = physx_document(view, "")
    if amend is not None:
        document = amend(document)
    rows = {path: _fields(joint) for path, joint in document["joints"].items()}
    settings = _settings(view)
    for root, entry in document["articulations"].items():
        several = entry if isinstance(entry, list) else [entry]
        fields: dict[str, Any] = {"fixBase": tuple(e["fixBase"] for e in several), "links": tuple(tuple(e["links"]) for e in several)}
        if len(several) == 1:
            fields = {"fixBase": several[0]["fixBase"], "links": tuple(several[0]["links"])}
        rows[ARTICULATION + root] = fields | settings.get(root, {})
    return of_rows(rows)


def of_rows(rows: dict[str, dict[str, Any]]) -> Flat:
    """Rows of plain values by path as a flat table."""
    out = Flat(list(rows))
    cells: dict[str, list[tuple[int, Any]]] = {}
    for row, fields in enumerate(rows.values()):
        for name, value in fields.items():
            cells.setdefault(name, []).append((row, value))
    for name, found in cells.items():
        at = np.array([c[0] for c in found], np.int64)
        part = FlatColumn(_values([c[1] for c in found]), np.ones(at.size, np.bool_))
        out.columns[name] = spread(part, at, len(out.paths))
    return out


def _fields(joint: dict[str, Any], head: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name, value in joint.items():
        if isinstance(value, dict):
            out |= _fields(value, f"{head}{name}.")
        elif isinstance(value, list):
            out[head + name] = tuple(_SPECIAL.get(v, v) if isinstance(v, str) else v for v in value)
        else:
            out[head + name] = _SPECIAL.get(value, value) if isinstance(value, str) else value
    return out


def _values(values: list[Any]) -> np.ndarray[Any, Any]:
    first = values[0]
    numeric = isinstance(first, float | int) and not isinstance(first, bool)
    if numeric and all(isinstance(v, float | int) for v in values):
        return np.array(values, np.float64)
    alike = isinstance(first, tuple) and len(first) > 0 and all(isinstance(v, tuple) and len(v) == len(first) for v in values)
    if alike and all(isinstance(x, float | int) for v in values for x in v):
        return np.array(values, np.float64)
    return objects(values)


def _settings(view: PhysxView) -> dict[str, dict[str, Any]]:
    roots = view.descriptors.paths.path_strings(view.graph.root_path).to_pylist()
    return {root: {name: array[i].item() for name, array in view.settings.items()} for i, root in enumerate(roots)}
