"""Broken and hostile files: an error with a position, never a crash, a hang or much memory."""

from __future__ import annotations

import importlib.util
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from crate_author import everything
from strategies_usd import clones, scene

import producer
from ovsim.errors import CrateError, OvsimError, SourceError
from producer.crate.buffer import FREE, RATIO, Buffer
from producer.crate.layer import read_layer
from producer.crate.layout import SECTIONS, read_layout
from producer.crate.lz4 import decompress
from producer.crate.tables import read_tables


def _fuzzer() -> Any:
    spec = importlib.util.spec_from_file_location("fuzz_crate", Path(__file__).parents[2] / "benchmarks" / "fuzz_crate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_crate"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("good") / "all.usdc"
    everything().Export(str(path))
    return path.read_bytes()


def test_every_truncation_is_refused(good: bytes) -> None:
    for size in range(0, len(good), 7):
        with pytest.raises(CrateError):
            read_tables(Buffer(good[:size]))


def test_positions_point_into_the_file(good: bytes) -> None:
    layout = read_layout(Buffer(good))
    for name in SECTIONS:
        data = bytearray(good)
        start = layout[name].start
        data[start : start + 8] = struct.pack("<Q", 2**62)
        with pytest.raises(CrateError) as e:
            read_tables(Buffer(bytes(data)))
        assert start <= e.value.position < len(good)
        assert f"(byte {e.value.position})" in str(e.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: b"", "too few"),
        (lambda d: b"PXR-USDA" + d[8:], "PXR-USDC"),
        (lambda d: d[:8] + bytes([0, 3, 0]) + d[11:], "version 0.3.0"),
        (lambda d: d[:8] + bytes([0, 15, 0]) + d[11:], "version 0.15.0"),
        (lambda d: d[:8] + bytes([1, 0, 0]) + d[11:], "version 1.0.0"),
        (lambda d: d[:16] + struct.pack("<q", -1) + d[24:], "table of contents"),
        (lambda d: d[:16] + struct.pack("<q", len(d)) + d[24:], "table of contents"),
    ],
)
def test_bootstrap(good: bytes, change: Any, message: str) -> None:
    with pytest.raises(CrateError, match=message):
        read_layout(Buffer(change(good)))


def test_sections_missing_and_twice(good: bytes) -> None:
    toc = int.from_bytes(good[16:24], "little")
    renamed = bytearray(good)
    renamed[toc + 8 : toc + 8 + 16] = b"OTHER".ljust(16, b"\0")
    with pytest.raises(CrateError, match="lacks"):
        read_layout(Buffer(bytes(renamed)))
    twice = bytearray(good)
    twice[toc + 8 : toc + 24] = twice[toc + 40 : toc + 56]
    with pytest.raises(CrateError, match="twice"):
        read_layout(Buffer(bytes(twice)))


def test_bombs_are_refused_before_they_are_unpacked() -> None:
    plain = 48 << 20
    bomb = b"\0" + pa.Codec("lz4_raw").compress(bytes(plain)).to_pybytes()
    buffer = Buffer(bomb)
    with pytest.raises(CrateError, match="may hold"):
        decompress(buffer, 0, len(bomb), 1000, "a bomb")
    again = (FREE + RATIO * len(bomb)) // plain
    for _ in range(again):
        assert decompress(buffer, 0, len(bomb), 1 << 40, "a bomb").size == plain
    with pytest.raises(CrateError, match="more than a file"):
        decompress(buffer, 0, len(bomb), 1 << 40, "a bomb")


BROKEN = (b"\0\x10", b"\0\x11\x07\x05\x00", b"\0\x11\x07\x00\x00", b"\0\xf0\xff", b"\1\xff\xff\xff\x7f", b"\2\x01\0\0\0\0")


@pytest.mark.parametrize("block", BROKEN)
def test_broken_blocks_have_positions(block: bytes) -> None:
    with pytest.raises(CrateError) as e:
        decompress(Buffer(b"12345678" + block), 8, len(block), 1 << 20, "a block")
    assert e.value.position >= 8


def test_auto_refuses_a_corrupt_file(good: bytes, tmp_path: Path) -> None:
    target = tmp_path / "broken.usdc"
    target.write_bytes(good[: len(good) * 2 // 3] + bytes(1 << 16))
    for route in ("auto", "crate"):
        with pytest.raises(CrateError):
            producer.populate(target, route=route)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    for source in (tmp_path / "none.usdc", tmp_path):
        with pytest.raises(SourceError):
            producer.populate(source, route="crate")


def test_a_short_fuzzing(good: bytes, tmp_path: Path) -> None:
    seeds = [good]
    for made in (scene(3), scene(17), clones(5)):
        root = made.write(tmp_path, ".usdc")
        seeds.append(root.read_bytes())
    fuzz = _fuzzer()
    summary = fuzz.run(seeds, 400, 1, 20.0, None, fuzz.target_in(tmp_path))
    assert summary["failures"] == []
    assert summary["grown_mib"] < 512
    assert len(summary["outcomes"]) > 1


def test_layers_from_bytes_and_files_are_the_same(good: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.usdc").write_bytes(good)
    a, b = read_layer(good), read_layer(tmp_path / "a.usdc")
    assert np.array_equal(a.path, b.path)
    assert isinstance(CrateError("x", 3), OvsimError)
