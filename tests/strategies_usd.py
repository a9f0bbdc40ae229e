"""Random layers and arcs: what `producer` must read the same by every route."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st
from pxr import Sdf

TYPES = ("Xform", "Cube", "Sphere", "Scope", "", "PhysicsRevoluteJoint", "PhysicsFixedJoint", "PhysicsJoint", "PhysicsScene", "Nonsense", "Mesh")
APIS = (
    "PhysicsRigidBodyAPI",
    "PhysicsCollisionAPI",
    "PhysicsMassAPI",
    "PhysicsArticulationRootAPI",
    "PhysxJointAPI",
    "PhysicsDriveAPI:angular",
    "PhysicsDriveAPI:linear",
    "PhysicsLimitAPI:transX",
    "PhysxJointAxisAPI:angular",
    "UnknownAPI",
    "PhysicsDriveAPI",
)
NAMES = ("A", "B", "C", "joint", "link")
# attribute name to its value spellings; wrong types, blocks and samples among them
ATTRIBUTES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("physics:lowerLimit", ("float {} = -1.5", "double {} = 2.25", "float {} = None", "float {}.timeSamples = {{1: 2}}", "float {}", "int {} = 3")),
    ("physics:localPos0", ("point3f {} = (1, 2, 3)", "float3 {} = (0.1, 0, 0)", "double3 {} = (0.1, 5, 1e10)", "half3 {} = (1, 2, 3)")),
    ("physics:localRot0", ("quatf {} = (1, 0, 0, 0)", "quath {} = (0.5, 0.5, 0.5, 0.5)", "quatd {} = (0.1, 0.2, 0.3, 0.4)")),
    ("physics:axis", ('uniform token {} = "Y"', 'string {} = "Z"', "uniform token {} = None")),
    ("physics:mass", ("float {} = 2", "custom float {} = 4.5", "half {} = 1.5")),
    ("physics:rigidBodyEnabled", ("bool {} = 0", "bool {} = 1")),
    ("physics:jointEnabled", ("bool {} = 0",)),
    ("drive:angular:physics:stiffness", ("float {} = 10", "float {} = inf", "float {} = 0.1")),
    ("drive:a:b:physics:stiffness", ("float {} = 10",)),
    ("physxJoint:maxJointVelocity", ("float {} = 5", "float {} = None", "float {}.timeSamples = {{0: 1}}")),
    ("physxJointAxis:angular:armature", ("float {} = 0.25",)),
    ("size", ("double {} = 3",)),
    ("radius", ("double {} = 0.3",)),
    ("physics:unknown", ("float {} = 1",)),
    ("points", ("point3f[] {} = [(0, 0, 0), (1, 0.5, 0)]", "point3f[] {} = []")),
    ("faceVertexCounts", ("int[] {} = [3, 3]",)),
)
RELATIONSHIPS = ("physics:body0", "physics:body1", "physics:filteredPairs", "other")
OPS = {
    "xformOp:translate": ("double3 {} = (1, 2, 3)", "float3 {} = (0.1, 0.2, 0.3)", "double3 {}"),
    "xformOp:orient": ("quatf {} = (0.70710677, 0.70710677, 0, 0)", "quatd {} = (0.5, 0.1, 0.2, 0.3)"),
    "xformOp:scale": ("float3 {} = (1, 2, 0.5)",),
    "xformOp:rotateXYZ": ("float3 {} = (10, 20, 30)",),
    "xformOp:rotateZ:spin": ("double {} = 33.3",),
    "xformOp:transform": ("matrix4d {} = ((1,0,0,0), (0,0,1,0), (0,-1,0,0), (5,6,7,1))",),
}


@dataclass(frozen=True)
class Scene:
    """Layers as text by file name; the first is the root layer."""

    layers: dict[str, str]

    def write(self, folder: Path, suffix: str) -> Path:
        """Write all layers with the suffix .usda or .usdc; returns the root layer's file."""
        for name, text in self.layers.items():
            layer = Sdf.Layer.CreateAnonymous(".usda")
            assert layer.ImportFromString(text.replace(".SUFFIX", suffix))
            layer.Export(str(folder / f"{name}{suffix}"))
        return folder / f"{next(iter(self.layers))}{suffix}"


class _Writer:
    """Spells one layer. `assets`: other layers that it may bring in."""

    def __init__(self, rng: random.Random, assets: list[str], arcs: float) -> None:
        self.rng, self.assets, self.arcs = rng, assets, arcs
        self.lines: list[str] = []

    def layer(self, sublayers: list[str], roots: int) -> str:
        rng = self.rng
        head = ["#usda 1.0", "("]
        if rng.random() < 0.9:
            head.append('    defaultPrim = "A"')
        if rng.random() < 0.5:
            head.append(f"    metersPerUnit = {rng.choice((1, 0.01, 2.5))}")
        if rng.random() < 0.5:
            head.append(f'    upAxis = "{rng.choice("YZ")}"')
        if rng.random() < 0.2:
            head.append("    kilogramsPerUnit = 3")
        if sublayers:
            head.append("    subLayers = [" + ", ".join(f"@./{s}.SUFFIX@" for s in sublayers) + "]")
        head.append(")")
        for name in NAMES[:roots]:
            self.prim(name, f"/{name}", 1)
        return "\n".join(head + self.lines) + "\n"

    def prim(self, name: str, path: str, depth: int) -> None:
        rng, pad = self.rng, "    " * (depth - 1)
        specifier = rng.choice(("def", "def", "def", "def", "over", "class"))
        type_name = rng.choice(TYPES)
        self.lines.append(
            f'{pad}{specifier} {type_name} "{name}" ('.replace("  ", " ", 1) if not type_name else f'{pad}{specifier} {type_name} "{name}" ('
        )
        self.metadata(path, depth, pad + "    ")
        self.lines.append(f"{pad})")
        self.lines.append(f"{pad}{{")
        self.properties(path, pad + "    ")
        if depth < 4:
            for child in rng.sample(NAMES, rng.choice((0, 0, 1, 2, 3))):
                self.prim(child, f"{path}/{child}", depth + 1)
        self.lines.append(f"{pad}}}")

    def metadata(self, path: str, depth: int, pad: str) -> None:
        rng = self.rng
        if rng.random() < 0.6:
            for form in rng.sample(("prepend", "append", "delete", "add", "reorder", ""), rng.choice((1, 1, 1, 2))):
                items = rng.sample(APIS, rng.choice((1, 2, 3)))
                self.lines.append(f"{pad}{form} apiSchemas = [{', '.join(repr(i) for i in items)}]".replace("'", '"'))
                if not form:
                    break
        if rng.random() < 0.08:
            self.lines.append(f"{pad}active = {rng.choice(('true', 'false'))}")
        if rng.random() < self.arcs * 0.5:
            self.lines.append(f"{pad}instanceable = {rng.choice(('true', 'true', 'false'))}")
        if rng.random() < 0.1:
            self.lines.append(f'{pad}kind = "component"')
        if rng.random() < self.arcs:
            self.arc(rng.choice(("references", "references", "payload")), path, pad)

    def arc(self, slot: str, path: str, pad: str) -> None:
        rng = self.rng
        targets = []
        for _ in range(rng.choice((1, 1, 1, 2))):
            inside = rng.choice(("/A", "/A", "/A", "/A", "/B", "/A/B", "/A/C"))
            if self.assets and rng.random() < 0.75:
                asset = rng.choice(self.assets)
                targets.append(f"@./{asset}.SUFFIX@" + (f"<{inside}>" if rng.random() < 0.6 else ""))
            elif not path.startswith(inside) and not inside.startswith(path):
                targets.append(f"<{inside}>")
        if targets:
            form = rng.choice(("prepend ", "prepend ", "append ", "add ", ""))
            self.lines.append(f"{pad}{form}{slot} = [{', '.join(dict.fromkeys(targets))}]")

    def properties(self, path: str, pad: str) -> None:
        rng = self.rng
        for name, forms in rng.sample(ATTRIBUTES, rng.choice((0, 1, 2, 4))):
            self.lines.append(pad + rng.choice(forms).format(name))
        for name in rng.sample(RELATIONSHIPS, rng.choice((0, 0, 1, 2))):
            self.relationship(name, pad)
        if rng.random() < 0.4:
            self.transform(pad)

    def relationship(self, name: str, pad: str) -> None:
        rng = self.rng
        form = rng.choice(("", "", "", "prepend ", "append ", "add "))
        targets = ["/" + "/".join(rng.sample(NAMES, rng.choice((1, 2, 2, 3)))) for _ in range(rng.choice((0, 1, 1, 2)))]
        targets = [t + (".x" if rng.random() < 0.1 else "") for t in dict.fromkeys(targets)]
        value = rng.choice((" = []", "", " = None")) if not targets else f" = [{', '.join(f'<{t}>' for t in targets)}]"
        self.lines.append(f"{pad}{'' if not targets else form}rel {name}{value}")

    def transform(self, pad: str) -> None:
        rng = self.rng
        names = rng.sample(tuple(OPS), rng.choice((1, 2, 3)))
        for name in names:
            self.lines.append(pad + rng.choice(OPS[name]).format(name))
        order = [("!invert!" if rng.random() < 0.15 and "transform" not in n else "") + n for n in names]
        if rng.random() < 0.1:
            order.insert(rng.randrange(len(order) + 1), "!resetXformStack!")
        self.lines.append(f"{pad}uniform token[] xformOpOrder = [{', '.join(f'{chr(34)}{o}{chr(34)}' for o in order)}]")


def scene(seed: int) -> Scene:
    """A scene from a seed: one to four layers, sublayers, references and payloads between them."""
    rng = random.Random(seed)
    count = rng.choice((1, 1, 2, 3, 4))
    names = [f"layer{i}" for i in range(count)]
    layers = {}
    for i, name in enumerate(names):
        later = names[i + 1 :]
        subs = [n for n in later if rng.random() < 0.3][:2]
        writer = _Writer(rng, [n for n in later if n not in subs], rng.choice((0.0, 0.15, 0.3)))
        layers[name] = writer.layer(subs, rng.choice((1, 2, 3)))
    return Scene(layers)


def clones(seed: int) -> Scene:
    """Environments that reference one robot, some with overrides of the same or of different shape, below one world."""
    rng = random.Random(seed)
    robot = _Writer(rng, [], 0.1).layer([], 2)
    body = []
    for i in range(rng.choice((2, 5, 9))):
        shape = rng.choice(("", "", "place", "deep", "deep"))
        arc = rng.choice(("prepend references = @./robot.SUFFIX@<{}>", "payload = @./robot.SUFFIX@<{}>")).format(
            f"/{NAMES[0] if rng.random() < 0.7 else NAMES[1]}"
        )
        extra = rng.choice(("", "", "instanceable = true"))
        lines = [f'    def Xform "env_{i}" (', f"        {arc}", f"        {extra}", "    )", "    {"]
        if shape:
            lines += [f"        double3 xformOp:translate = ({i}, 0, 1)", '        uniform token[] xformOpOrder = ["xformOp:translate"]']
        if shape == "deep":
            lines += [f'        over "{NAMES[2]}" (', '            prepend apiSchemas = ["PhysicsRigidBodyAPI"]', "        )", "        {"]
            lines += [f"            float physics:mass = {i + 1}", f"            rel physics:body0 = </World/env_{i}/{NAMES[1]}>"]
            lines += [f'            def PhysicsFixedJoint "own" {{ rel physics:body1 = </World/env_{i}/{NAMES[2]}>', "            }", "        }"]
        body += [*lines, "    }"]
    root = '#usda 1.0\n(\n    metersPerUnit = 1\n)\ndef Xform "World"\n{\n' + "\n".join(body) + "\n}\n"
    return Scene({"root": root.replace("{ rel", "{\n            rel"), "robot": robot})


SCENES = st.integers(0, 2**48).map(scene)
CLONES = st.integers(0, 2**48).map(clones)
