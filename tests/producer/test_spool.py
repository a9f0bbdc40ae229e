"""Columns kept on disk while a stage is populated: the same stage, or a clear error."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest

import producer
from ovsim.errors import SpoolError
from ovsim.stage.equal import differences
from producer import spool
from producer.spool import Spool
from tests.recorded_stages import FOLDER

FILES = [FOLDER / f"{name}.usda" for name in ("authored_m_z", "frames", "c11_body_target_site", "artic_float")]


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "LEAST", 1)
    monkeypatch.setattr(spool, "_CHUNK", 100)


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("route", ["crate", "composed"])
@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_a_spooled_stage_is_the_same(file: Path, route: str, tmp_path: Path) -> None:
    from pxr import Sdf

    source = tmp_path / f"{file.stem}.usdc"
    assert Sdf.Layer.FindOrOpen(str(file)).Export(str(source))
    usual = producer.populate(source, route=route)
    spooled = producer.populate(source, route=route, spool=tmp_path)
    assert differences(spooled, usual) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == [source.name]  # the files have no names


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize(
    "values", [np.arange(101, dtype=np.uint64), np.eye(4)[None].repeat(9, 0).reshape(9, 16), np.array([True, False] * 77)], ids=str
)
def test_what_is_kept_is_equal_and_read_only(values: np.ndarray, tmp_path: Path) -> None:
    kept = Spool(tmp_path).keep(values)
    assert kept.dtype == values.dtype
    assert np.array_equal(kept, values)
    assert not kept.flags.writeable
    row = values[:1]
    assert np.array_equal(Spool(tmp_path).repeat(row, 33), np.repeat(row, 33, axis=0))


def test_small_arrays_stay_in_memory(tmp_path: Path) -> None:
    values = np.arange(10)
    assert Spool(tmp_path).keep(values) is values


@pytest.mark.usefixtures("everything_is_large")
def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpoolError, match=r"nowhere.*another folder"):
        producer.populate(FILES[0], route="composed", spool=tmp_path / "nowhere")


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        with pytest.raises(SpoolError, match="cannot keep columns in"):
            Spool(tmp_path).keep(np.zeros(1 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
