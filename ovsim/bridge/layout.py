"""How a column lies in memory on both sides: Arrow type and field metadata against DLPack type, lanes, array flag and ovstage semantic.

Pure layout, no ovstage in here. Sources: contract pages `prim` (types, structural columns) and the contract's column types; the semantics are those
of ovstage's attribute write (each is one of `SEMANTICS`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ovsim import contract
from ovsim.errors import BridgeError
from ovsim.stage import columns as col
from ovsim.stage import roles

SEMANTICS = (
    "NONE",
    "ASSET_PATH_ID",
    "TOKEN_ID",
    "PATH_EXPRESSION_STRING",
    "RELATIONSHIP_PATH_ID",
    "POINT",
    "VECTOR",
    "NORMAL",
    "COLOR",
    "QUATERNION",
    "MATRIX",
    "TEXTURE_COORDINATE",
    "CONNECTION_PATH_ID",
    "STRING",
    "TIME_CODE",
    "FRAME",
)
# What each lane of an id column holds.
TOKEN, PATH = "token", "path"
ID_LANES: dict[str, tuple[str, ...]] = {
    "TOKEN_ID": (TOKEN,),
    "PATH_EXPRESSION_STRING": (TOKEN,),
    "RELATIONSHIP_PATH_ID": (PATH,),
    "PATH_ID": (PATH,),
    "CONNECTION_PATH_ID": (PATH, TOKEN),
    "ASSET_PATH_ID": (TOKEN, TOKEN),
}
# Id columns that population writes without a semantic (contract page `prim`): what they hold.
UNMARKED: dict[str, tuple[str, ...]] = {"usd-prim-type": (TOKEN,), "usd-schemas": (TOKEN,), "_protoPath": (PATH,)}
# ovstage discovers two columns under the spelling of its storage; the contract's spelling names the same column.
ALIAS = {"omni:fabric:localMatrix": "omni:xform", "omni:fabric:resetXformStack": "omni:resetXformStack"}
BUILT_IN = frozenset({"usd-path", "usd-parent", "usd-children", "usd-active"})
# What a field's metadata says of values whose storage does not tell it: uint64 that are tokens of a USD string, uint8 that are numbers, not bools.
TYPE, STRING_TYPE, UCHAR_TYPE = b"type", b"string", b"uchar"

INT, UINT, FLOAT, BOOL = 0, 1, 2, 6
_CODES = {"i": INT, "u": UINT, "f": FLOAT}
_KINDS = {v: k for k, v in _CODES.items()}


@dataclass(frozen=True)
class Layout:
    """Type of one column as ovstage has it: DLPack code and bits, lanes, whether rows are arrays, semantic name; `ids` tells what id lanes hold."""

    code: int
    bits: int
    lanes: int
    array: bool
    semantic: str
    ids: tuple[str, ...] = ()

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """NumPy type of one lane; bool8 as uint8. BridgeError for types without one."""
        if self.code == BOOL and self.bits == 8:
            return np.dtype(np.uint8)
        if self.code in _KINDS and self.bits in (8, 16, 32, 64) and not (self.code == FLOAT and self.bits == 8):
            return np.dtype(f"{_KINDS[self.code]}{self.bits // 8}")
        raise BridgeError(f"element type (code {self.code}, {self.bits} bits) has no Arrow column type")


def of_field(field: pa.Field) -> Layout:
    """Layout that `push` writes for a field. BridgeError when the column's type cannot live in ovstage.

    The semantic is the field's own when it has one, else the geometric role that the contract gives the column; an id semantic is never guessed,
    because a uint64 column without one is what a wrongly typed `string` becomes.
    """
    name, type_ = field.name, field.type
    array = pa.types.is_list(type_) or pa.types.is_large_list(type_)
    if array:
        type_ = type_.value_type
    lanes = type_.list_size if pa.types.is_fixed_size_list(type_) else 1
    if pa.types.is_fixed_size_list(type_):
        type_ = type_.value_type
    try:
        dtype = np.dtype(type_.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        dtype = np.dtype(object)
    if dtype.kind not in _CODES:
        raise BridgeError(f"column {name}: ovstage has no type for {field.type}; give numbers, ids, fixed-size rows or lists of them")
    own, marked = col.semantic(field), (field.metadata or {}).get(TYPE)
    ids = ID_LANES.get(own) or UNMARKED.get(name) or ((TOKEN,) if marked == STRING_TYPE else ())
    semantic = own if own in SEMANTICS else roles.told(name, lanes) if dtype.kind == "f" and not own else "NONE"
    if ids and (dtype != np.uint64 or lanes != len(ids)):
        raise BridgeError(f"column {name}: {own or 'its'} ids are uint64 with {len(ids)} lane(s), not {field.type}")
    if semantic == "STRING":
        if not array or lanes != 1 or dtype != np.uint8:
            raise BridgeError(f"column {name}: strings are lists of uint8 bytes, not {field.type}")
    elif dtype == np.uint8 and marked != UCHAR_TYPE:
        return Layout(BOOL, 8, lanes, array, semantic)
    return Layout(_CODES[dtype.kind], dtype.itemsize * 8, lanes, array, semantic, ids)


def field_of(name: str, layout: Layout) -> pa.Field:
    """Field that `pull` gives a column; `of_field` of it is the same layout.

    Semantics that the contract already tells are left out, so that a pulled column equals a populated one.
    """
    inner = pa.from_numpy_dtype(layout.dtype)
    if layout.lanes > 1:
        inner = pa.list_(inner, layout.lanes)
    type_ = pa.large_list(inner) if layout.array else inner
    if layout.code == UINT and layout.bits == 8 and layout.semantic != "STRING":
        return col.field(name, type_).with_metadata({TYPE: UCHAR_TYPE})
    if layout.semantic in ID_LANES:
        return col.field(name, type_, layout.semantic)
    if holds_strings(name, layout):
        return col.field(name, type_).with_metadata({TYPE: STRING_TYPE})
    if name in UNMARKED:
        return col.field(name, type_, col.PATH_ID if PATH in UNMARKED[name] else col.TOKEN_ID)
    told = roles.told(name, layout.lanes) if layout.code == FLOAT else "NONE"
    return col.field(name, type_, "" if layout.semantic == told else layout.semantic)


def holds_strings(name: str, layout: Layout) -> bool:
    """Whether a column read from ovstage holds USD strings: ids without a semantic where the contract has tokens (producer facts, rule 9).

    ovstage stores a string as a plain number, so only the name can tell; strings in columns that have no tokens stay numbers.
    """
    spec = contract.load().find(name)
    plain = layout.code == UINT and layout.bits == 64 and layout.lanes == 1 and layout.semantic == "NONE"
    return plain and name not in UNMARKED and spec is not None and spec.semantic == "TOKEN_ID"
