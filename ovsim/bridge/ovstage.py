"""Push a Stage into a live ovstage Stage and pull one out of it, a column at a time (contract page `prim`: rows are made by upserts).

What population writes besides the contract's columns is written too: `usd-prim-type` (one token a row), `usd-schemas` (a token array, none without
schemas), columns outside the contract as they are. `usd-path`, `usd-parent`, `usd-children` are ovstage's own and never written.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ovsim import contract
from ovsim.bridge.assemble import Assembly
from ovsim.bridge.ids import Outward
from ovsim.bridge.layout import ALIAS, BUILT_IN, PATH, TOKEN, UNMARKED, Layout, of_field
from ovsim.bridge.native import Live
from ovsim.bridge.pieces import Writing
from ovsim.errors import BridgeError
from ovsim.stage import Stage
from ovsim.stage import columns as col
from ovsim.stage.archetype import PRIM_TYPE, SCHEMAS, Archetype
from ovsim.stage.distinct import distinct

_TYPE = Layout(1, 64, 1, False, "NONE", (TOKEN,))
_SCHEMAS = Layout(1, 64, 1, True, "NONE", (TOKEN,))
_LIMIT = 2**64 - 1


def push(stage: Stage, ovstage_stage: Any, ordinal: int = 1, *, seal: bool = True) -> int:
    """Write every row and column of a Stage into an `ovstage.Stage` at an ordinal; returns the number of rows.

    One write an archetype, whole columns, no loop over rows. Rows that are there already are updated. With `seal` the write floor advances to the
    ordinal afterwards, which readers such as ovphysx need. BridgeError before anything is written: the ordinal is sealed, ids of another
    dictionary, another contract, a column type that ovstage lacks, a path that it refuses, a row without type and columns, an unknown ovstage.
    """
    live = Live(ovstage_stage)
    _check_contract(stage)
    ordinal = _ordinal(ordinal)
    ids = Outward(stage.paths)
    layouts = [_needs(stage, a, ids) for a in stage.archetypes]
    _check_open(live, {n for a in stage.archetypes for n in a.names}, ordinal)
    ids.intern(live)
    rows = 0
    for archetype, layout in zip(stage.archetypes, layouts):
        if len(archetype):
            prims = ids.translate(archetype.path_ids, (PATH,))
            live.write(prims, _writings(archetype, layout, ids), ordinal, f"writing {_told(archetype)}")
            rows += len(archetype)
    if seal:
        live.seal(ordinal)
    return rows


def pull(ovstage_stage: Any, ordinal: int = 1, *, derived: bool = False) -> Stage:
    """Read a live `ovstage.Stage` as of a sealed ordinal into a Stage with its own path dictionary.

    Rows stand in path order, archetypes by their first row. `omni:fabric:worldMatrix`, which ovstage's population composes and into which simulated
    poses are written, is left out where it equals the composed local matrices; `derived` keeps it everywhere. BridgeError when the ordinal is not
    sealed, or an id or element type cannot be read.
    """
    live = Live(ovstage_stage)
    ordinal = _ordinal(ordinal)
    floor = live.floor()
    if floor < ordinal:
        raise BridgeError(f"ordinal {ordinal} is not sealed (the write floor is {floor}); call advance_write_floor(ordinal={ordinal}).wait() first")
    names = _names(live)
    skip = BUILT_IN | {PRIM_TYPE}
    assembly = Assembly(live)
    for text, paths in live.types(ordinal):
        assembly.add_type(text, paths)
    for piece in live.pieces([t for t, n in names.items() if n not in skip], ordinal):
        assembly.add(names[piece.attribute], piece)
    version = ".".join(map(str, live.ovstage.library_version()))
    told = {"contract": contract.VERSION, "route": "ovstage", "ovstage": version, "ordinal": ordinal}
    return Stage(*assembly.finish(derived), metadata=told)


def _names(live: Live) -> dict[int, str]:
    """Contract names of the stage's attributes by token id, the undiscovered structural ones included."""
    tokens = distinct(np.array(live.attributes(), np.uint64))
    names = {int(t): ALIAS.get(n, n) for t, n in zip(tokens, live.token_texts(tokens))} if tokens.size else {}
    hidden = live.dictionary.intern_token
    return names | {hidden(n): n for n in UNMARKED}


def _check_contract(stage: Stage) -> None:
    version = stage.metadata.get("contract", contract.VERSION)
    if version != contract.VERSION:
        raise BridgeError(f"the stage follows contract {version!r}, this ovsim and its ovstage follow {contract.VERSION}; populate the file again")


def _ordinal(given: Any) -> int:
    try:
        ordinal = operator.index(given)
    except TypeError:
        ordinal = 0
    if isinstance(given, bool) or not 1 <= ordinal <= _LIMIT:
        raise BridgeError(f"an ordinal is a whole number from 1, not {given!r}")
    return ordinal


def _check_open(live: Live, names: set[str], ordinal: int) -> None:
    floor, which = live.floor(), "the stage"
    if floor < ordinal:
        known = {t for t, n in _names(live).items() if n in names | {PRIM_TYPE, SCHEMAS}}
        floors = {t: live.floor(t) for t in known}
        high = max(floors, key=lambda t: floors[t], default=0)
        if high and floors[high] >= ordinal:
            floor, which = floors[high], f"column {live.dictionary.token_to_string(high)}"
    if floor >= ordinal:
        raise BridgeError(f"{which} is sealed up to ordinal {floor}, so nothing can be written at {ordinal}; push at {floor + 1} or into a new stage")


def _told(archetype: Archetype) -> str:
    kind = archetype.type_name or "the pseudo-root"
    return f"{len(archetype)} rows of {kind} from {archetype.paths.path_string(int(archetype.path_ids[0]))}"


def _needs(stage: Stage, archetype: Archetype, ids: Outward) -> list[Layout]:
    """Layouts of an archetype's columns; tells `ids` which tokens and paths they hold."""
    if not len(archetype):
        return []
    where = _told(archetype)
    if archetype.paths is not stage.paths:
        raise BridgeError(f"{where}: their ids are of another dictionary than the stage's; build the stage with one PathDictionary")
    if not (archetype.type_name or archetype.schemas or archetype.names):
        raise BridgeError(f"{where}: ovstage has no row without type and columns; give them a type")
    written = [n for n in archetype.names if n in BUILT_IN | {PRIM_TYPE, SCHEMAS}]
    if written:
        raise BridgeError(f"{where}: column {written[0]} is derived from paths, type and schemas; leave it out")
    ids.need(PATH, archetype.path_ids, where)
    ids.need_texts(PRIM_TYPE, SCHEMAS, archetype.type_name, *archetype.schemas, *archetype.names)
    out = []
    for name in archetype.names:
        layout = of_field(archetype.field(name))
        if layout.semantic == "CONNECTION_PATH_ID":
            raise BridgeError(f"{where}, column {name}: ovstage 0.2 does not give connections back (it reads zeros); leave the column out")
        view = archetype.values(name)
        values = view.values if isinstance(view, col.Ragged) else view
        for lane, kind in enumerate(layout.ids):
            ids.need(kind, values[:, lane] if len(layout.ids) > 1 else values, f"{where}, column {name}")
        out.append(layout)
    return out


def _writings(archetype: Archetype, layouts: list[Layout], ids: Outward) -> list[Writing]:
    every = np.zeros(len(archetype), np.uint32)
    out = []
    if archetype.type_name:
        out.append(Writing(ids.text(PRIM_TYPE), _TYPE, np.array([ids.text(archetype.type_name)], np.uint64), rows=every))
    if archetype.schemas:
        listed = np.array([ids.text(s) for s in archetype.schemas], np.uint64)
        out.append(Writing(ids.text(SCHEMAS), _SCHEMAS, listed, np.array([0, listed.size]), rows=every))
    for name, layout in zip(archetype.names, layouts):
        view = archetype.values(name)
        offsets, values = (view.offsets, view.values) if isinstance(view, col.Ragged) else (None, view)
        out.append(Writing(ids.text(name), layout, ids.translate(values, layout.ids) if layout.ids else values, offsets))
    return out
