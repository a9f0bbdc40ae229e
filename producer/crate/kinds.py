"""USD value type names to the crate types that hold their values."""

from __future__ import annotations

import re
from functools import lru_cache

from producer.crate.reps import FIXED
from producer.values import TYPES

_EXACT = {"pathExpression": "", "frame4d": "matrix4d"}
_ROLES = re.compile(r"^(?:point|vector|normal|color|texCoord)([34 2])([hfd])$")
_NUMBERS = re.compile(r"^(half|float|double|int)([234])$")
_BY_NAME = {form.name: number for number, form in FIXED.items()}


@lru_cache(maxsize=512)
def crate_type(usd_type: str) -> tuple[int, bool] | None:
    """Crate type number and whether it is an array; None for types that have no columns or are not of fixed size."""
    if usd_type not in TYPES:
        return None
    base, array = usd_type.removesuffix("[]"), usd_type.endswith("[]")
    name = _EXACT.get(base, base)
    if found := _ROLES.match(base):
        name = f"vec{found[1]}{found[2]}"
    elif found := _NUMBERS.match(base):
        name = f"vec{found[2]}{found[1][0]}"
    number = _BY_NAME.get(name)
    return None if number is None else (number, array)
