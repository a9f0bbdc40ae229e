"""Sources: what the arguments of a run stand for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ovsim.dataset.sources import expand
from ovsim.errors import SourceError


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def names(root: Path, *arguments: str, lines: tuple[str, ...] = ()) -> list[str]:
    return [os.path.relpath(s, root) for s in expand(arguments, lines).sources]


def test_a_directory_gives_the_stage_files_below_it_in_order(tmp_path):
    touch(tmp_path, "b.usda", "a/z.usdc", "a/y.usdz", "a/readme.txt", "c.USD")
    assert names(tmp_path, str(tmp_path)) == ["a/y.usdz", "a/z.usdc", "b.usda", "c.USD"]


def test_a_snapshot_directory_is_one_source(tmp_path):
    touch(tmp_path, "x.usda", "snap/snapshot.json", "snap/tokens.arrow")
    assert names(tmp_path, str(tmp_path)) == ["snap", "x.usda"]
    assert names(tmp_path, str(tmp_path / "snap")) == ["snap"]


def test_globs_stay_within_a_part_unless_doubled(tmp_path):
    touch(tmp_path, "a/x.usda", "a/deep/y.usda", "b/z.usda")
    assert names(tmp_path, str(tmp_path / "*" / "*.usda")) == ["a/x.usda", "b/z.usda"]
    assert sorted(names(tmp_path, str(tmp_path / "**" / "*.usda"))) == ["a/deep/y.usda", "a/x.usda", "b/z.usda"]


def test_a_file_named_like_a_glob_is_a_file(tmp_path):
    touch(tmp_path, "a[1].usda")
    assert names(tmp_path, str(tmp_path / "a[1].usda")) == ["a[1].usda"]


def test_standard_input_holds_arguments_one_a_line(tmp_path):
    touch(tmp_path, "x y.usda", "d/z.usda")
    got = names(tmp_path, "-", lines=(f"{tmp_path}/x y.usda\n", "\n", f"{tmp_path}/d\r\n"))
    assert got == ["x y.usda", "d/z.usda"]


def test_each_source_comes_once_whatever_names_it(tmp_path, monkeypatch):
    touch(tmp_path, "x.usda")
    monkeypatch.chdir(tmp_path)
    assert names(tmp_path, "x.usda", str(tmp_path), "./*.usda", f"file://{tmp_path}/x.usda") == ["x.usda"]


def test_a_named_file_that_does_not_exist_stays_a_source(tmp_path):
    assert names(tmp_path, str(tmp_path / "gone.usda")) == ["gone.usda"]


def test_pipes_and_dangling_links_are_listed_so_that_they_get_a_row(tmp_path):
    os.mkfifo(tmp_path / "pipe.usda")
    (tmp_path / "link.usda").symlink_to(tmp_path / "gone")
    assert names(tmp_path, str(tmp_path)) == ["link.usda", "pipe.usda"]


@pytest.mark.parametrize("text", ["empty", "nothing*.usda"])
def test_an_argument_that_gives_nothing_is_an_error(tmp_path, text):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match=r"holds no stage file|matches no file"):
        expand([str(tmp_path / text)])


def test_links_to_directories_cannot_make_a_cycle(tmp_path):
    touch(tmp_path, "a/x.usda")
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    assert names(tmp_path, str(tmp_path)) == ["a/x.usda"]


def test_a_listing_covers_what_its_directories_and_globs_would_give(tmp_path):
    touch(tmp_path, "d/x.usda", "g/x.usda", "f.usda")
    listing = expand([str(tmp_path / "d"), str(tmp_path / "g" / "*.usda"), str(tmp_path / "f.usda")])
    covered = {n: listing.covers(str(tmp_path / n)) for n in ("d/deep/y.usda", "g/y.usda", "g/deep/y.usda", "other.usda", "dd/y.usda")}
    assert covered == {"d/deep/y.usda": True, "g/y.usda": True, "g/deep/y.usda": False, "other.usda": False, "dd/y.usda": False}


def test_uris_of_fsspec_are_listed_and_globbed(tmp_path):
    pytest.importorskip("fsspec")
    touch(tmp_path, "a/x.usda", "a/deep/y.usdc", "a/readme.txt")
    uri = f"local://{tmp_path}"
    assert list(expand([f"{uri}/a"]).sources) == [f"{uri}/a/deep/y.usdc", f"{uri}/a/x.usda"]
    assert list(expand([f"{uri}/*/*.usda"]).sources) == [f"{uri}/a/x.usda"]


def test_an_unknown_scheme_is_an_error(tmp_path):
    with pytest.raises(SourceError, match="nosuch"):
        expand(["nosuch://place/x.usda"])


def test_a_name_that_is_no_text_still_gets_a_row(tmp_path):
    from ovsim.dataset import Settings, convert_stage

    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.usda")).write_text("")
    except (OSError, UnicodeError):
        pytest.skip("this file system takes only text names")
    (source,) = expand([str(tmp_path)]).sources
    assert source == f"{tmp_path}/bad\\xff.usda"
    record = convert_stage(source, Settings("columns"), lambda table, rows: None)
    assert record["outcome"] == "error"
    assert "UTF-8" in record["message"]
