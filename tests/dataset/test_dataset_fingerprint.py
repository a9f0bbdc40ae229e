"""Content addressing: what counts as a change of a stage."""

from __future__ import annotations

import os
import time

import pytest

from ovsim.dataset import fingerprint as fp
from ovsim.errors import SourceError


def recorded(*paths) -> list[dict]:
    return [vars(fp.fingerprint(str(p))) for p in paths]


def settle(path) -> None:
    """Make a file old enough for its times to be believed (mtime; ctime cannot be set)."""
    os.utime(path, ns=(1, 1))


def test_a_new_byte_is_a_change_and_a_touch_is_none(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("one")
    layers = recorded(file)
    assert fp.unchanged(layers)
    os.utime(file)
    assert fp.unchanged(layers)
    file.write_text("two")
    assert not fp.unchanged(layers)


def test_a_change_that_keeps_size_and_mtime_is_seen(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("one")
    settle(file)
    layers = recorded(file)
    file.write_text("two")
    settle(file)
    assert not fp.unchanged(layers)


def test_times_are_believed_only_when_they_have_settled(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("one")
    assert fp.fingerprint(str(file)).mtime_ns == 0
    time.sleep(1.1)
    assert fp.fingerprint(str(file)).mtime_ns == file.stat().st_mtime_ns


def test_a_missing_layer_that_appears_is_a_change(tmp_path):
    file = tmp_path / "later.usda"
    layers = recorded(file)
    assert layers[0]["hash"] == ""
    assert fp.unchanged(layers)
    file.write_text("here")
    assert not fp.unchanged(layers)


def test_a_layer_that_goes_is_a_change(tmp_path):
    file = tmp_path / "a.usda"
    file.write_text("one")
    layers = recorded(file)
    file.unlink()
    assert not fp.unchanged(layers)


def test_content_depends_on_bytes_and_places_not_on_order_or_times(tmp_path):
    a, b = tmp_path / "a.usda", tmp_path / "b.usda"
    a.write_text("1")
    b.write_text("2")
    one, two = fp.fingerprint(str(a)), fp.fingerprint(str(b))
    root = fp.Layer("/root", 1, 0, 0, "00")
    assert fp.content([root, one, two]) == fp.content([root, two, one])
    assert fp.content([root, one, two]) != fp.content([root, one])
    assert fp.content([one, two]) != fp.content([two, one])


def test_pipes_are_named_and_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.usda")
    with pytest.raises(SourceError, match="named pipe"):
        fp.look(str(tmp_path / "pipe.usda"))


def test_layer_files_follow_every_arc_and_every_variant(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("sub", "ref", "pay", "var"):
        (tmp_path / "deep" / f"{name}.usda").write_text('#usda 1.0\n(\n    defaultPrim = "A"\n)\ndef Xform "A"\n{\n}\n')
    (tmp_path / "deep" / "sub.usda").write_text("#usda 1.0\n(\n    subLayers = [@./nested.usda@]\n)\n")
    (tmp_path / "deep" / "nested.usda").write_text("#usda 1.0\n")
    (tmp_path / "root.usda").write_text(
        "#usda 1.0\n(\n    subLayers = [@./deep/sub.usda@]\n)\n"
        'def Xform "A" (\n    prepend references = [@./deep/ref.usda@, @bare/gone.usda@]\n    prepend payload = @./deep/pay.usda@\n'
        '    variants = {\n        string v = "a"\n    }\n    prepend variantSets = "v"\n)\n{\n    variantSet "v" = {\n        "a" {\n        }\n'
        '        "b" (\n            prepend references = @./deep/var.usda@\n        ) {\n        }\n    }\n}\n'
    )
    files, kept = fp.layer_files(str(tmp_path / "root.usda"))
    got = {os.path.relpath(f, tmp_path) for f in files}
    assert got == {"root.usda", "deep/sub.usda", "deep/nested.usda", "deep/ref.usda", "deep/pay.usda", "deep/var.usda", "bare/gone.usda"}
    assert len(kept) == len(files)
