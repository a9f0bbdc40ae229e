"""Snapshots."""

from __future__ import annotations

from ovsim.stage import Stage


def test_save(benchmark, stage, tmp_path):
    """A snapshot written over the last one."""
    benchmark(lambda: stage.save(tmp_path / "stage"))
    assert len(Stage.load(tmp_path / "stage")) == len(stage)


def test_load(benchmark, stage, tmp_path):
    """A snapshot opened and checked."""
    stage.save(tmp_path / "stage")
    assert len(benchmark(lambda: Stage.load(tmp_path / "stage"))) == len(stage)
