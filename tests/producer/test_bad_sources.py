"""Broken, missing and hostile input: a clear error or a diagnostic each, nothing lost, nothing on stderr."""

from __future__ import annotations

import subprocess
import sys

import pytest

import producer
from ovsim.errors import SourceError
from tests.producer.rows import rows_of, stage_of
from tests.recorded_stages import FOLDER

JOINT = 'def PhysicsFixedJoint "J" {}\n'


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("text.usd", b"hello", "not a readable USD stage"),
        ("text.usda", b"hello", "not a valid usda layer"),
        ("picture.png", b"\x89PNG", "not a readable USD stage"),
        ("empty.usda", b"", "is empty"),
        ("package.usdz", b"PK\x03\x04 no package", "not a readable USD stage"),
        ("syntax.usda", b'#usda 1.0\ndef Xform "A" {', "not a readable USD stage"),
        ("binary.usdc", b"PXR-USDC" + bytes(80), "not a readable USD stage"),
    ],
)
def test_files_that_are_no_stage(tmp_path, capfd, name, content, says):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SourceError, match=says) as error:
        producer.populate(path)
    assert name in str(error.value)
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


def test_a_missing_file_and_a_directory(tmp_path):
    with pytest.raises(SourceError, match=r"gone\.usda does not exist"):
        producer.populate(tmp_path / "gone.usda")
    with pytest.raises(SourceError, match="is a directory"):
        producer.populate(tmp_path)


SYNTAX = '#usda 1.0\ndef Xform "A" (prepend apiSchemas = []) {\n}\n'
PLACE = "line 2, column 38: syntax error at ']) {' in </A>"


def said(path) -> str:
    with pytest.raises(SourceError) as e:
        producer.populate(path)
    head, colon, reason = str(e.value).partition(" is not a readable USD stage: ")
    assert (head, bool(colon)) == (str(path), True)
    assert "\n" not in reason
    return reason


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (SYNTAX, PLACE),
        ('#usda 1.0\ndef Xform "W" {\n float x = 3\n', "line 4, column 1: Expected } at '' in </W>"),
        (f'#usda 1.0\ndef Xform "W" {{ {"9" * 999}\n}}\n', f"line 2, column 17: Expected }} at '{'9' * 60}...' in </W>"),
        (b'#usda 1.0\ndef Xform "W" {\n\xff\xff\xff\n}\n', "line 3, column 1: Expected } at '\ufffd' in </W>"),
    ],
)
def test_a_syntax_error_has_a_place_and_one_line(tmp_path, capfd, content, expected):
    """USD's own text has the C++ type of its grammar rule, and bytes that are no text."""
    path = tmp_path / "bad.usda"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert said(path) == expected
    assert capfd.readouterr().err == ""


def test_a_syntax_error_behind_an_arc(tmp_path):
    (tmp_path / "bad.usda").write_text(SYNTAX)
    (tmp_path / "noise.usda").write_bytes(b'#usda 1.0\ndef Xform "W" {\n\xff\xff\n}\n')
    root = tmp_path / "root.usda"
    root.write_text("#usda 1.0\n" + "".join(f'def Xform "{n}" (\n references = @./{n}.usda@\n) {{\n}}\n' for n in ("bad", "noise")))
    for source in (root, _opened(root)):
        found = {d.path: d for d in producer.populate(source, route="composed").diagnostics}
        assert [(p, d.code) for p, d in sorted(found.items())] == [(f"/{n}", "unresolved-reference") for n in ("bad", "noise")]
        assert "bad.usda:2:38: syntax error at ']) {' in </A>" in found["/bad"].message
        assert "noise.usda:3:1: Expected } at '\ufffd' in </W>" in found["/noise"].message
        assert not any(word in d.message for d in found.values() for word in ("pxrInternal", "\n"))


def package(path, **files: bytes):
    import zipfile

    with zipfile.ZipFile(path, "w") as z:
        for name, data in files.items():
            z.writestr(name.replace("_", "."), data)
    return path


CUT = "the package is cut short or damaged: the list of its files, which stands at its end, is not there"


@pytest.mark.parametrize("keep", [0.05, 0.5, 0.95])
def test_a_truncated_package(tmp_path, keep):
    whole = package(tmp_path / "whole.usdz", a_usda=SYNTAX.replace(" (prepend apiSchemas = [])", "").encode() * 9).read_bytes()
    cut = tmp_path / "cut.usdz"
    cut.write_bytes(whole[: int(len(whole) * keep)])
    assert said(cut) == CUT
    root = tmp_path / "root.usda"
    root.write_text('#usda 1.0\ndef Xform "A" (\n references = @./cut.usdz@\n) {\n}\n')
    (told,) = (d for d in producer.populate(root).diagnostics if d.code == "unresolved-reference")
    assert told.path == "/A"
    assert told.message.endswith(f"({CUT})")


def test_other_faults_of_packages(tmp_path):
    (tmp_path / "text.usdz").write_text("hello")
    assert said(tmp_path / "text.usdz") == "it is no zip archive, as a package is"
    assert said(package(tmp_path / "empty.usdz")) == "the package holds no file"
    assert said(package(tmp_path / "notes.usdz", a_txt=b"x")) == "the first file of the package, a.txt, is no USD layer"
    syntax = package(tmp_path / "syntax.usdz", a_usda=SYNTAX.encode())
    assert said(syntax) == f"{syntax}[a.usda], {PLACE}"
    data = syntax.read_bytes()
    (tmp_path / "flipped.usdz").write_bytes(data.replace(b"Xform", b"X\xff\xfeorm"[:5]))
    assert said(tmp_path / "flipped.usdz") == "the package is damaged: the checksum of a.usda does not fit"


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.99])
def test_a_truncated_crate(tmp_path, capfd, keep):
    from pxr import Sdf

    whole = tmp_path / "whole.usdc"
    assert Sdf.Layer.FindOrOpen(str(FOLDER / "frames.usda")).Export(str(whole))
    data = whole.read_bytes()
    cut = tmp_path / "cut.usdc"
    cut.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(SourceError, match=r"cut\.usdc is not a readable USD stage"):
        producer.populate(cut)
    assert capfd.readouterr().err == ""


def test_unresolved_arcs_are_diagnostics_and_no_row_is_lost(tmp_path, capfd):
    broken = tmp_path / "broken.usda"
    broken.write_text("no stage")
    root = tmp_path / "root.usda"
    root.write_text(
        "#usda 1.0\n(\n    subLayers = [@./gone_layer.usda@]\n)\n"
        + "".join(
            f'def Xform "{name}" ( {arc} ) {{\n{JOINT}}}\n'
            for name, arc in (
                ("Ref", "references = @./gone.usda@"),
                ("Prim", "references = </Nowhere>"),
                ("Pay", "payload = @./gone_too.usda@"),
                ("Bad", "references = @./broken.usda@"),
                ("CycleA", "references = </CycleB>"),
                ("CycleB", "references = </CycleA>"),
            )
        )
    )
    stage = producer.populate(root)
    found = {(d.code, d.path) for d in stage.diagnostics}
    assert {("unresolved-reference", p) for p in ("", "/Ref", "/Prim", "/Pay", "/Bad")} <= found
    assert {("reference-cycle", "/CycleA"), ("reference-cycle", "/CycleB")} <= found
    messages = " ".join(d.message for d in stage.diagnostics)
    assert "gone.usda" in messages
    assert "0x" not in messages  # addresses would differ from run to run
    for name in ("Ref", "Prim", "Pay", "Bad", "CycleA", "CycleB"):
        assert stage.find(f"/{name}/J") is not None
    assert capfd.readouterr().err == ""
    assert {(d.code, d.path) for d in producer.populate(_opened(root)).diagnostics} >= {
        ("unresolved-reference", "/Ref"),
        ("reference-cycle", "/CycleA"),
    }


def _opened(path):
    from pxr import Usd

    return Usd.Stage.Open(str(path))


def test_a_stage_without_prims_has_the_root_row_only():
    assert rows_of("").keys() == {"/"}


def test_not_a_number_and_infinities_are_kept():
    row = rows_of("""
        def PhysicsRevoluteJoint "J" {
            float physics:lowerLimit = nan
            point3f physics:localPos0 = (nan, inf, -inf)
            quatf physics:localRot0 = (0, 0, 0, 0)
        }
    """)["/J"]
    assert row["physics:lowerLimit"] == "nan"
    assert row["physics:localPos0"] == ["nan", "inf", "-inf"]
    assert row["physics:localRot0"] == [0, 0, 0, 0]


def test_a_relationship_where_an_attribute_is_declared_and_the_reverse():
    row = rows_of("""
        def PhysicsRevoluteJoint "J" {
            rel physics:lowerLimit = </J>
            float physics:body0 = 3
            rel physxJoint:maxJointVelocity = </J>
        }
    """)["/J"]
    assert row["physics:lowerLimit"] == "-inf"
    assert "physics:body0" not in row
    assert row["physxJoint:maxJointVelocity"] == 3.4028234663852886e38


def test_transform_ops_that_do_not_exist_are_told_of():
    stage = stage_of("""
        def Xform "X" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {
            double3 xformOp:translate = (1, 2, 3)
            uniform token[] xformOpOrder = ["xformOp:nowhere", "xformOp:translate"]
        }
    """)
    assert [d.path for d in stage.diagnostics if d.code == "transform-op-skipped"] == ["/X"]
    body, row = stage.find("/X")
    assert body.values("omni:xform")[row][12:15].tolist() == [1, 2, 3]


def test_deep_and_wide_stages():
    deep = "".join(f'def Xform "d{i}" {{\n' for i in range(200)) + JOINT + "}\n" * 200
    assert len(rows_of(deep)) == 202
    wide = 'def Scope "S" {\n' + "".join(f'def PhysicsFixedJoint "j{i}" {{\n float physics:breakForce = {i}\n}}\n' for i in range(2000)) + "}\n"
    stage = stage_of(wide)
    assert len(stage) == 2002
    joints = next(stage.with_type("PhysicsFixedJoint"))
    assert sorted(joints.values("physics:breakForce").tolist()) == list(range(2000))


def test_an_unknown_route_is_refused():
    with pytest.raises(ValueError, match="'sideways' is not one of"):
        producer.populate(FOLDER / "frames.usda", route="sideways")


def test_importing_the_package_costs_no_pxr():
    code = "import sys, producer, ovsim.interchange; sys.exit('pxr' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
