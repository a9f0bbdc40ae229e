"""What USD says comes out the same in every run: no message keeps the address of an object."""

from __future__ import annotations

import pytest

from ovsim.addresses import without_addresses
from ovsim.diagnostics import Diagnostics
from producer.opening import note


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Could not open asset @gone.usda@ for reference of @anon:0x55d0c8a0:text.usda@</W>. (getting stage on stage @r.usda@ <0x7f21>)",
            "Could not open asset @gone.usda@ for reference of @anon:text.usda@</W>.",
        ),
        ("Unresolved reference prim path @anon:0x7f5e2c01b3a0@</Nowhere>", "Unresolved reference prim path @anon:@</Nowhere>"),
        ("Invalid prim on stage <0x5581aa00ff10> at </W>", "Invalid prim on stage at </W>"),
        ("Used expired <'SdfLayer' @ 0x5581aa00ff10>", "Used expired <'SdfLayer'>"),
        ("Changes to layer(s) composed in stage 0x5581aa00 rooted at @r.usda@", "Changes to layer(s) composed rooted at @r.usda@"),
        ("no conversion for <pxr.Gf.Vec3f object at 0x7f5e2c01b3a0>", "no conversion for <pxr.Gf.Vec3f object>"),
        ("TfDlopen: [opened] 'x.so' (handle=0x5581aa00)", "TfDlopen: [opened] 'x.so' (handle)"),
    ],
)
def test_addresses_go(said: str, told: str) -> None:
    assert without_addresses(said) == told


@pytest.mark.parametrize(
    "said", ["Could not open asset @./0xdeadbeef.usda@", "<0x>", "prim </W/m_0xdeadbeef>", "@C:/assets/0xdead/beef.usda@", "color 0xff"]
)
def test_names_stay(said: str) -> None:
    assert without_addresses(said) == said


def test_equal_complaints_are_one_row() -> None:
    """Two messages that differ in an address only are one diagnostic."""
    found = Diagnostics()
    note([f"xformOp of <'UsdPrim' @ {a}> cannot be read </W/x>" for a in ("0x7f5e2c01b3a0", "0x7f5e2c01b3b0")], found)
    assert [(d.code, d.path) for d in found] == [("transform-op-skipped", "/W/x")]
