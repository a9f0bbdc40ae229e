"""Every spec and field of a file, read columnar, equals what pxr reads; each crate version that pxr can write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crate_author import VERSIONS, everything, export_as
from pxr import Sdf

from producer.crate import reps as rp
from producer.crate.buffer import Buffer
from producer.crate.decode import Decoder
from producer.crate.tables import ROOT_SPEC, Tables, read_tables
from producer.crate.tree import PROPERTY
from producer.crate.values import read_array


def path_texts(tables: Tables) -> list[str]:
    """Path strings by path index."""
    out = [""] * tables.paths.parent.size
    for index in tables.paths.order.tolist():
        up = tables.paths.parent[index]
        name = tables.tokens[tables.paths.name[index]]
        if up < 0:
            out[index] = "/"
        elif tables.paths.kind[index] == PROPERTY:
            out[index] = f"{out[up]}.{name}"
        else:
            joined = out[up] if name[0] in "{[" or out[up] in ("/",) or out[up].endswith("}") else out[up] + "/"
            out[index] = joined + name
    return out


def fields(tables: Tables, spec: int) -> dict[str, int]:
    out = {}
    at = int(tables.spec_fields[spec])
    while tables.field_sets[at] >= 0:
        f = tables.field_sets[at]
        out[tables.tokens[tables.field_name[f]]] = int(tables.field_rep[f])
        at += 1
    return out


def plain(value: Any) -> Any:
    """pxr values as plain Python."""
    if hasattr(value, "GetImaginary"):
        return [*value.GetImaginary(), value.GetReal()]
    if isinstance(value, Sdf.AssetPath):
        return value.path
    if isinstance(value, Sdf.TimeCode):
        return value.GetValue()
    if isinstance(value, (Sdf.Specifier, Sdf.Variability, Sdf.Permission)):
        return int(value.value)
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if hasattr(value, "__len__"):
        flat = [plain(v) for v in value]
        return [x for v in flat for x in v] if "Matrix" in type(value).__name__ and "Array" not in type(value).__name__ else flat
    return value


def arcs(items: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple((i.assetPath, str(i.primPath), i.layerOffset.offset, i.layerOffset.scale) for i in items)


def check_list(decoder: Decoder, texts: list[str], rep: int, want: Any) -> None:
    got = decoder.list_op(rep)
    for name in ("explicit", "added", "prepended", "appended", "deleted", "ordered"):
        theirs = getattr(want, f"{name}Items")
        ours: Any = getattr(got, name) or ()
        if (rep >> 48) & 0xFF in (rp.REFERENCE_LIST, rp.PAYLOAD_LIST, rp.PAYLOAD):
            assert tuple((a.asset, texts[a.prim] if a.prim >= 0 else "", a.offset, a.scale) for a in ours) == arcs(theirs)
        elif (rep >> 48) & 0xFF == rp.PATH_LIST:
            assert [texts[i] for i in ours] == [str(t) for t in theirs]
        else:
            assert list(ours) == list(theirs)
    assert (got.explicit is not None) == want.isExplicit


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, (str, dict)) or (isinstance(theirs, list) and theirs and isinstance(theirs[0], str)):
        return bool(ours == theirs)
    a, b = np.asarray(ours), np.asarray(theirs)
    return a.size == b.size and np.array_equal(a.reshape(-1).astype(np.float64), b.reshape(-1).astype(np.float64), equal_nan=True)


def check_file(path: Path) -> int:
    """Compare all fields of all specs; returns how many were compared."""
    layer = Sdf.Layer.FindOrOpen(str(path))
    tables = read_tables(Buffer.read(path))
    decoder = Decoder(tables)
    texts = path_texts(tables)
    seen = set()
    compared = 0
    for spec in range(tables.spec_path.size):
        text = texts[tables.spec_path[spec]]
        theirs = layer.GetObjectAtPath(text)
        seen.add(text)
        if theirs is None:
            assert "[" in text  # pxr gives no handle for a connection's own spec
            continue
        ours = fields(tables, spec)
        keys = set(theirs.ListInfoKeys())
        if tables.spec_type[spec] == ROOT_SPEC:
            keys -= {"subLayers", "subLayerOffsets"}
        for key in keys:
            want = theirs.GetInfo(key)
            if key not in ours:
                continue  # pxr lists some keys with their fallback
            rep = ours[key]
            kind = (rep >> 48) & 0xFF
            compared += 1
            if kind in (rp.TOKEN_LIST, rp.STRING_LIST, rp.PATH_LIST, rp.REFERENCE_LIST, rp.PAYLOAD_LIST, rp.PAYLOAD):
                check_list(decoder, texts, rep, want)
            elif kind == rp.BLOCK:
                assert isinstance(want, Sdf.ValueBlock)
            elif kind == rp.SELECTIONS:
                assert decoder.selections(rep) == dict(want)
            elif kind == rp.DICTIONARY:
                got = decoder.dictionary(rep)
                assert {k: v for k, v in got.items() if v is not None} == {k: v for k, v in plain(want).items() if k != "e"}
            elif kind == rp.TIME_SAMPLES:
                assert want
            elif rep & int(rp.ARRAY) and kind not in (rp.TOKEN, rp.STRING):
                assert same(read_array(tables.buffer, tables.layout.version, rep), plain(want)), (text, key)
            elif kind in (rp.TOKEN_VECTOR, rp.STRINGS) or rep & int(rp.ARRAY):
                assert decoder.texts(rep) == list(want)
            else:
                got = decoder.scalar(rep)
                assert same(got, plain(want)), (text, key, got, want)
        if text == "/":
            assert decoder.texts(ours["subLayers"]) == list(layer.subLayerPaths)
    everything_there = set()
    layer.Traverse("/", lambda p: everything_there.add(str(p)))
    assert {t for t in everything_there if "[" not in t} <= seen
    return compared


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("everything") / "all.usda"
    everything().Export(str(path))
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_every_field_of_every_version(version: str, source: Path, tmp_path: Path) -> None:
    target = tmp_path / f"v{version}.usdc"
    export_as(version, source, target)
    got = ".".join(map(str, target.read_bytes()[8:11]))
    assert got == max(version, "0.9.0", key=lambda v: [int(x) for x in v.split(".")])  # the layer holds a timecode, which 0.9.0 brought
    assert check_file(target) > 150


@pytest.mark.parametrize("version", VERSIONS)
def test_old_versions_keep_their_number(version: str, source: Path, tmp_path: Path) -> None:
    layer = Sdf.Layer.FindOrOpen(str(source))
    old = Sdf.Layer.CreateAnonymous(".usda")
    old.TransferContent(layer)
    del old.GetPrimAtPath("/P").properties["timecode"]
    payload = old.GetPrimAtPath("/Q/One")
    payload.SetInfo("payload", Sdf.PayloadListOp.CreateExplicit([Sdf.Payload("./c.usd", "/Y")]))
    plain_source = tmp_path / "plain.usda"
    old.Export(str(plain_source))
    target = tmp_path / f"v{version}.usdc"
    export_as(version, plain_source, target)
    assert ".".join(map(str, target.read_bytes()[8:11])) == version
    assert check_file(target) > 150


def test_default_version(tmp_path: Path) -> None:
    target = tmp_path / "now.usdc"
    everything().Export(str(target))
    assert check_file(target) > 150


def test_lists_read_side_by_side_are_the_same(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "all.usdc"
    Sdf.Layer.FindOrOpen(str(source)).Export(str(target))
    data = target.read_bytes()
    one = read_tables(Buffer(data))
    monkeypatch.setattr("producer.crate.tables._SIDE_BY_SIDE", 0)
    two = read_tables(Buffer(data))
    for name in ("spec_path", "spec_fields", "spec_type"):
        assert np.array_equal(getattr(one, name), getattr(two, name))
    assert np.array_equal(one.paths.parent, two.paths.parent)
