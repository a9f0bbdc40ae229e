"""Attributes authored with another type than their schema declares (producer facts, rule 9).

pxr reports the declared type for such attributes, and several types share one Python class, so the type of the value is known from the layers alone.
USD's own validator finds the suspects in C++; where this USD has none, every layer opinion is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ovsim.diagnostics import Diagnostics
from producer.values import TYPES

_SITE = re.compile(r"attribute <([^>]+)>")
_VALIDATOR = "usdValidation:AttributeTypeMismatch"


class WrongTypes:
    """The wrongly typed attributes of a stage. The search runs beside the caller's own reading: USD lets go of Python meanwhile."""

    def __init__(self, prims: Sequence[Any]) -> None:
        self._seen = frozenset(prims)
        self._pool = ThreadPoolExecutor(1)
        self._found = self._pool.submit(wrong_types, prims)
        self._pool.shutdown(wait=False)

    def of(self, prims: Sequence[Any]) -> Mapping[str, Mapping[str, str]]:
        """Prim path to {attribute name: USD type name of its value}; prims that the search did not cover are searched now."""
        found = self._found.result()
        more = [p for p in prims if p not in self._seen]
        return {**found, **wrong_types(more)} if more else found


def wrong_types(prims: Sequence[Any]) -> Mapping[str, Mapping[str, str]]:
    """Prim path to {attribute name: USD type name of its value}, for the attributes of `prims` whose value has another type than declared."""
    try:
        from pxr import UsdValidation
    except ImportError:
        return _by_layers(prims)
    validator = UsdValidation.ValidationRegistry().GetOrLoadValidatorByName(_VALIDATOR)
    if not validator:
        return _by_layers(prims)
    out: dict[str, dict[str, str]] = {}
    at: dict[str, Any] = {}
    for error in UsdValidation.ValidationContext([validator]).Validate(list(prims)):
        found = _SITE.search(error.GetErrorAsString())
        if not found:
            continue
        path, _, name = found.group(1).partition(".")
        at = at or {str(p.GetPath()): p for p in prims}
        if path in at:
            _note(out, path, at[path].GetAttribute(name))
    return out


def value_type(attribute: Any) -> str:
    """USD type name of the strongest opinion that carries a default value; the declared type when there is none."""
    for spec in attribute.GetPropertyStack():
        if spec.HasInfo("default"):
            return str(spec.typeName)
    return str(attribute.GetTypeName())


def _by_layers(prims: Sequence[Any]) -> Mapping[str, Mapping[str, str]]:
    out: dict[str, dict[str, str]] = {}
    for prim in prims:
        for attribute in prim.GetAuthoredAttributes():
            _note(out, str(prim.GetPath()), attribute)
    return out


def _note(out: dict[str, dict[str, str]], path: str, attribute: Any) -> None:
    actual = value_type(attribute)
    if actual != str(attribute.GetTypeName()):
        out.setdefault(path, {})[attribute.GetName()] = actual


def note_wrong(diagnostics: Diagnostics, path: str, name: str, actual: str, declared: str) -> None:
    """The diagnostic row of one attribute that is authored as `actual` where its schema declares `declared` (rule 9)."""
    fate = "published as authored" if actual in TYPES else "ignored, the fallback is published"
    text = f"{name} is authored as {actual}, its schema declares {declared}: {fate}; author the declared type"
    diagnostics.add("wrong-type", "warning", text, path, name)
