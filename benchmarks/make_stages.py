"""Make a fleet of small, varied USD stages, and bad ones, to exercise batch conversion.

    python benchmarks/make_stages.py OUT [--good 2000] [--bad 50] [--joints 1000]

The good ones differ in robots, joint types, limits, drives, scales, units, references and file format. The bad ones are truncated, not USD,
lack what they refer to, claim hostile sizes, wait for a pipe that nobody writes, or need more memory than they should. The text is written
without any USD library.
"""

from __future__ import annotations

import argparse
import os
import random
import struct
from collections.abc import Callable
from pathlib import Path

JOINTS = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint", "PhysicsJoint", "PhysicsFixedJoint", "PhysicsDistanceJoint")


def header(meters: float = 1.0, up: str = "Z") -> str:
    return f'#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = {meters}\n    upAxis = "{up}"\n)\n\n'


def robot(name: str, joints: int, rnd: random.Random, indent: str = "    ", scale: float = 1.0, fixed: bool = True) -> str:
    """A chain robot as an Xform with the root API: `joints` joints of varied types between `joints + 1` bodies, welded to the world if `fixed`."""
    path = f"/World/{name}" if indent else f"/{name}"
    out = [f'{indent}def Xform "{name}" (\n{indent}    prepend apiSchemas = ["PhysicsArticulationRootAPI"]\n{indent})\n{indent}{{\n']
    s = indent + "    "
    for i in range(joints + 1):
        out.append(f'{s}def Xform "link_{i}" (\n{s}    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]\n{s})\n{s}{{\n')
        out.append(f"{s}    float physics:mass = {1 + rnd.random():.4f}\n{s}    double3 xformOp:translate = ({0.3 * i:.2f}, 0, 0.5)\n")
        out.append(f"{s}    double3 xformOp:scale = ({scale}, {scale}, {scale})\n")
        out.append(f'{s}    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]\n{s}}}\n')
    if fixed:
        out.append(f'{s}def PhysicsFixedJoint "weld"\n{s}{{\n{s}    rel physics:body1 = <{path}/link_0>\n{s}}}\n')
    for i in range(joints):
        out.append(_joint(path, i, rnd, s))
    out.append(f"{indent}}}\n")
    return "".join(out)


def _joint(path: str, i: int, rnd: random.Random, s: str) -> str:
    kind = JOINTS[i % len(JOINTS)] if rnd.random() < 0.8 else rnd.choice(JOINTS)
    apis: list[str] = []
    lines = [f"rel physics:body0 = <{path}/link_{i}>", f"rel physics:body1 = <{path}/link_{i + 1}>"]
    lines.append(f"point3f physics:localPos0 = ({0.3 * rnd.random():.3f}, 0, 0.1)")
    if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        motion = "angular" if kind == "PhysicsRevoluteJoint" else "linear"
        lines.append(f'uniform token physics:axis = "{rnd.choice("XYZ")}"')
        shape = rnd.random()
        if shape < 0.8:
            lines.append(f"float physics:lowerLimit = {-60 * rnd.random():.3f}")
        if shape > 0.2:
            lines.append(f"float physics:upperLimit = {60 * rnd.random():.3f}")
        if rnd.random() < 0.7:
            apis.append(f"PhysicsDriveAPI:{motion}")
            lines.append(f"float drive:{motion}:physics:stiffness = {10 ** rnd.uniform(0, 5):.3f}")
            lines.append(f"float drive:{motion}:physics:damping = {10 * rnd.random():.3f}")
            lines.append(f'uniform token drive:{motion}:physics:type = "{rnd.choice(("force", "acceleration"))}"')
    elif kind == "PhysicsSphericalJoint":
        lines.append(f"float physics:coneAngle0Limit = {20 + 40 * rnd.random():.3f}")
        lines.append(f"float physics:coneAngle1Limit = {20 + 40 * rnd.random():.3f}")
    elif kind == "PhysicsJoint":
        for axis in rnd.sample(("transX", "transY", "transZ", "rotX", "rotY", "rotZ"), 3):
            apis.append(f"PhysicsLimitAPI:{axis}")
            lines.append(f"float limit:{axis}:physics:low = {-rnd.random():.3f}")
            if rnd.random() < 0.8:
                lines.append(f"float limit:{axis}:physics:high = {rnd.random():.3f}")
    elif kind == "PhysicsDistanceJoint":
        lines.append(f"float physics:maxDistance = {1 + rnd.random():.3f}")
    listed = ", ".join(f'"{a}"' for a in apis)
    meta = f" (\n{s}    prepend apiSchemas = [{listed}]\n{s})" if apis else ""
    body = "".join(f"{s}    {line}\n" for line in lines)
    return f'{s}def {kind} "joint_{i}"{meta}\n{s}{{\n{body}{s}}}\n'


def good_stage(seed: int, joints: int = 0, asset: str = "") -> str:
    """A stage as .usda text; `asset` is a robot file to reference as well."""
    rnd = random.Random(seed)
    out = [header(rnd.choice((1.0, 0.01, 0.001)), rnd.choice("YZ")), 'def Xform "World"\n{\n    def PhysicsScene "scene"\n    {\n    }\n']
    for r in range(1 if joints else rnd.randint(0, 3)):
        out.append(robot(f"robot_{r}", joints or rnd.randint(1, 9), rnd, scale=rnd.choice((1.0, 1.0, 2.0)), fixed=rnd.random() < 0.6))
    if asset:
        out.append(f'    def "borrowed" (\n        prepend references = @{asset}@\n    )\n    {{\n    }}\n')
    out.append("}\n")
    return "".join(out)


def asset(seed: int = 7, joints: int = 4) -> str:
    """A robot file for others to reference; its default prim is the robot."""
    return header().replace("World", "Robot") + robot("Robot", joints, random.Random(seed), indent="")


def make_good(out: Path, count: int, joints: int = 0) -> list[Path]:
    """`count` good stages below `out`, in directories of 500, some of them .usdc where usd-core is there, every tenth with a reference."""
    (out / "assets").mkdir(parents=True, exist_ok=True)
    (out / "assets" / "arm.usda").write_text(asset())
    paths = []
    for i in range(count):
        where = out / f"fleet_{i // 500:03d}" / f"stage_{i:05d}.usda"
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(good_stage(i, joints, "../assets/arm.usda" if not joints and i % 10 == 0 else ""))
        paths.append(_crate(where) if i % 4 == 3 else where)
    return [out / "assets" / "arm.usda", *paths]


def _crate(path: Path) -> Path:
    from pxr import Sdf

    target = path.with_suffix(".usdc")
    Sdf.Layer.FindOrOpen(str(path)).Export(str(target))
    path.unlink()
    return target


def bad_kinds() -> dict[str, Callable[[Path], None]]:
    """Makers of bad stages by name; each writes one file at a path with the name's suffix."""
    small = good_stage(5, 3)
    return {
        "not_usd.usda": lambda p: _write(p, b"this is no stage\n" * 40),
        "truncated.usda": lambda p: _write(p, small[: len(small) * 2 // 3].encode()),
        "empty.usd": lambda p: _write(p, b""),
        "magic_only.usdc": lambda p: _write(p, b"PXR-USDC"),
        "hostile_toc.usdc": lambda p: _write(p, b"PXR-USDC" + bytes((0, 9, 0, 0, 0, 0, 0, 0)) + struct.pack("<q", 2**62) + bytes(64)),
        "hostile_sections.usdc": lambda p: _write(p, _hostile_sections()),
        "not_zip.usdz": lambda p: _write(p, b"PK\x03\x04" + os.urandom(200)),
        "missing_reference.usda": lambda p: _write(p, good_stage(11, 2, "./nowhere.usda").encode()),
        "missing_sublayer.usda": lambda p: _write(p, header().replace("(\n", "(\n    subLayers = [@./absent.usda@]\n", 1).encode()),
        "dangling_link.usda": lambda p: p.symlink_to(p.with_name("gone.usda")),
    }


def _hostile_sections() -> bytes:
    """A crate whose table of contents claims sections far beyond the file."""
    toc = struct.pack("<Q", 6)
    for name in (b"TOKENS", b"STRINGS", b"FIELDS", b"FIELDSETS", b"PATHS", b"SPECS"):
        toc += name.ljust(16, b"\0") + struct.pack("<qq", 88, 2**60)
    return b"PXR-USDC" + bytes((0, 8, 0, 0, 0, 0, 0, 0)) + struct.pack("<q", 88) + bytes(64) + toc


def pipe_stage(path: Path) -> Path:
    """A stage whose sublayer is a named pipe that nobody writes: opening it never returns. Gives the pipe, itself a bad stage."""
    pipe = path.with_name(f"{path.stem}_pipe.usda")
    os.mkfifo(pipe)
    _write(path, header().replace("(\n", f"(\n    subLayers = [@./{pipe.name}@]\n", 1).encode())
    return pipe


def giant_stage(path: Path, megabytes: int = 400) -> None:
    """A small file that takes far more memory than a stage of its size should: one array that repeats in text."""
    with path.open("w") as f:
        f.write(header() + 'def Scope "World"\n{\n    custom double[] big = [')
        line = "0.1, " * 200_000
        for _ in range(megabytes // 4):
            f.write(line)
        f.write("0]\n}\n")


def make_bad(out: Path, count: int) -> list[Path]:
    """`count` bad stages of all kinds below `out/bad`; truncated crates at many places make up the number. One waits for a pipe."""
    folder = out / "bad"
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, make in list(bad_kinds().items())[:count]:
        make(folder / name)
        paths.append(folder / name)
    if len(paths) + 2 <= count and hasattr(os, "mkfifo"):
        paths += [folder / "waits.usda", pipe_stage(folder / "waits.usda")]
    if len(paths) < count:
        paths += _truncated(folder, count - len(paths))
    return paths


def _truncated(folder: Path, count: int) -> list[Path]:
    whole = folder / "whole.usda"
    whole.write_text(good_stage(3, 6))
    data = _crate(whole).read_bytes()
    whole.with_suffix(".usdc").unlink()
    paths = []
    for i in range(count):
        path = folder / f"truncated_{i:03d}.usdc"
        path.write_bytes(data[: max(9, len(data) * (i + 1) // (count + 2))])
        paths.append(path)
    return paths


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("out", type=Path)
    ask.add_argument("--good", type=int, default=2000, help="good stages")
    ask.add_argument("--bad", type=int, default=50, help="bad stages")
    ask.add_argument("--joints", type=int, default=0, help="joints a stage; 0 varies")
    told = ask.parse_args()
    good = make_good(told.out, told.good, told.joints)
    bad = make_bad(told.out, told.bad) if told.bad else []
    print(f"{len(good)} good and {len(bad)} bad stages below {told.out}")


if __name__ == "__main__":
    main()
