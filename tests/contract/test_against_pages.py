"""The contract data against the recorded pages (`tests/data/contract-0.6.3.json`): names, order, types, values, producer rules."""

from __future__ import annotations

import ast
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from ovsim import contract
from ovsim.contract import FLT_MAX, Column, Formula, Units

PAGES: dict[str, list[dict[str, str]]] = json.loads((Path(__file__).parents[1] / "data" / "contract-0.6.3.json").read_text("utf-8"))
EVERY_COLUMN = [(component, row) for component, rows in PAGES.items() for row in rows]
SCALES = (1.0, 0.01, 0.0254, 3.7)


def ids(value: Any) -> str | None:
    return value["column"] if isinstance(value, dict) else None


def ours(component: str, row: dict[str, str]) -> Column:
    return next(c for c in contract.load().columns_of(component) if c.name == row["column"])


def read(text: str) -> Any:
    """The value that a page spells: a number, a tuple, a bool, a token, None for nothing."""
    text = text.removesuffix(" diverges").strip()
    if text == "":
        return None
    special = {"inf": math.inf, "-inf": -math.inf, "FLT_MAX": FLT_MAX, "-FLT_MAX": -FLT_MAX, "true": True, "false": False}
    if text in special:
        return special[text]
    try:
        return ast.literal_eval(re.sub(r"-?\binf\b", lambda m: "-1e999" if m[0][0] == "-" else "1e999", text))
    except (ValueError, SyntaxError):
        return text


def value_at(text: str, meters: float) -> Any:
    """The value that a page's formula has on a stage with these metersPerUnit."""
    text = text.removesuffix(" diverges").strip()
    if found := re.fullmatch(r"([\d.e+-]+) / metersPerUnit", text):
        return float(found[1]) / meters
    if found := re.fullmatch(r"([\d.e+-]+) \* \(([\d.]+) / metersPerUnit\) \*\* 2", text):
        return float(found[1]) * (float(found[2]) / meters) ** 2
    return read(text)


def same(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, str) or a is None or b is None:
        return type(a) is type(b) and a == b
    return a == b or math.isclose(a, b, rel_tol=1e-12)


def test_the_pages_are_all_there():
    assert len(PAGES) > 40
    assert len(EVERY_COLUMN) > 290


@pytest.mark.parametrize("component", PAGES)
def test_columns_and_their_order(component):
    mine = [c.name for c in contract.load().columns_of(component) if "velocityLimit" not in c.name]
    assert mine == [row["column"] for row in PAGES[component]]


@pytest.mark.parametrize(("component", "row"), EVERY_COLUMN, ids=ids)
def test_types_and_semantics(component, row):
    column = ours(component, row)
    type_, _, semantic = row["type"].partition(", ")
    assert column.type == type_
    known = {"usd-prim-type": "TOKEN_ID", "usd-schemas": "TOKEN_ID", "material:binding": "RELATIONSHIP_PATH_ID"}
    assert column.semantic == (semantic or known.get(column.name, ""))


@pytest.mark.parametrize(("component", "row"), [c for c in EVERY_COLUMN if "raw_fallback" in c[1]], ids=ids)
def test_raw_fallbacks(component, row):
    column, page = ours(component, row), read(row["raw_fallback"])
    assert same(column.raw_fallback, page) or (page == () and column.raw_fallback == ())


@pytest.mark.parametrize(("component", "row"), [c for c in EVERY_COLUMN if "parser_default" in c[1]], ids=ids)
def test_parser_defaults(component, row):
    column, text = ours(component, row), row["parser_default"]
    assert column.diverges == text.endswith(" diverges")
    if text.startswith("consumer setting"):
        assert column.parser_default == Formula("setting", text.removeprefix("consumer setting "))
        return
    for meters in SCALES:
        mine = column.parser_default(Units(meters, "Z")) if column.parser_default else None
        assert same(mine, value_at(text, meters))


@pytest.mark.parametrize(("component", "row"), EVERY_COLUMN, ids=ids)
def test_producer_rules(component, row):
    rule, text = ours(component, row).producer, row["producer_writes"]
    if text.startswith("resolved USD value"):
        assert rule.rule == "resolved"
    elif text == "not written":
        assert rule.rule == "authored"
    elif text.startswith("when unauthored"):
        assert rule.rule == "derived"
        assert rule.without_api == ("even without the API" in text)
        formula = text.removeprefix("when unauthored: ").partition(" (column")[0].partition(" on a Plane")[0]
        if "upAxis" in formula:
            assert rule.value is not None
            assert (rule.value(Units(1, "Y")), rule.value(Units(1, "Z"))) == ((0, -1, 0), (0, 0, -1))
            return
        for meters in SCALES:
            assert rule.value is not None
            assert same(rule.value(Units(meters, "Z")), value_at(formula, meters))
    else:
        assert rule.rule == "special"
