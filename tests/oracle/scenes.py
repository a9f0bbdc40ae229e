"""Random stages for the live comparison: bodies in namespace groups and nested, odd bodies, colliders, plain targets, every joint type with random
limits, drives, states, axis APIs, gears, cycles, excluded and disabled joints, several roots, scales and shear."""

from __future__ import annotations

import math
import random

from oracle.usda import Scene, number, tuple_
from random_worlds import random_world

from ovsim.contract.joints import D6, DISTANCE, FIXED, GEAR, PRISMATIC, RACK, REVOLUTE, SPHERICAL

TYPES, WEIGHTS = (FIXED, REVOLUTE, PRISMATIC, SPHERICAL, DISTANCE, D6), (3, 8, 4, 4, 2, 5)
LINEAR, ROTATIONAL = ("transX", "transY", "transZ"), ("rotX", "rotY", "rotZ")
INSTANCES = {
    REVOLUTE: ("angular",),
    PRISMATIC: ("linear",),
    SPHERICAL: ROTATIONAL,
    D6: (*LINEAR, *ROTATIONAL, "distance"),
}
INF = math.inf


class Maker:
    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.s = Scene(self.r.choice((1.0, 1.0, 1.0, 0.01, 0.001)))
        self.odd = self.r.random() < 0.4  # whether values of this stage may be hostile

    def some(self, p: float) -> bool:
        return self.r.random() < p

    def value(self, scale: float, odd: tuple[float, ...] = (INF, -INF, math.nan, 0.0)) -> float:
        if self.odd and self.some(0.08):
            return self.r.choice(odd)
        return round(self.r.uniform(-scale, scale), 2)

    def positive(self, scale: float) -> float:
        if self.odd and self.some(0.08):
            return self.r.choice((0.0, -1.0, INF, math.nan, -INF))
        return round(self.r.uniform(0, scale), 2)

    # -- bodies -----------------------------------------------------------------------------------------------------

    def place(self, plain: bool) -> list[str]:
        r = self.r
        ops = [("double3 xformOp:translate", tuple_(tuple(float(r.randint(-3, 3)) for _ in range(3))))]
        if not plain and self.some(0.5):
            q = [r.uniform(-1, 1) for _ in range(4)]
            n = math.sqrt(sum(x * x for x in q))
            ops.append(("quatd xformOp:orient", tuple_(tuple(x / n for x in q))))
        if not plain and self.some(0.4):
            k = r.choice((1.0, 2.0, 0.5))
            scale = (k, k, k) if self.some(0.5) else tuple(r.choice((0.5, 1.0, 2.0, 3.0)) for _ in range(3))
            if self.some(0.1):
                scale = (-scale[0], *scale[1:])
            ops.append(("double3 xformOp:scale", tuple_(scale)))
        names = ", ".join(f'"{name.split()[1]}"' for name, _ in ops)
        reset = '"!resetXformStack!", ' if not plain and self.some(0.1) else ""
        return [*(f"{name} = {v}" for name, v in ops), f"uniform token[] xformOpOrder = [{reset}{names}]"]

    def bodies(self) -> None:
        r = self.r
        plain = self.some(0.4)
        self.groups = r.sample(["/W/g", "/W/h", "/W/g/in", "/W/m", "/W/G"], r.randint(1, 4))
        for g in self.groups:
            self.s.prim(g, "Xform", lines=self.place(plain) if self.some(0.5) else [])
        self.names: list[str] = []
        for i in range(r.randint(1, 9)):
            above = r.choice(self.names) if self.names and self.some(0.2) else r.choice(self.groups)
            path = f"{above}/{r.choice('abxyzAZ')}{i}"
            lines = [*self.place(plain), "float physics:mass = 1", "float3 physics:diagonalInertia = (1, 1, 1)"]
            apis = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
            if self.some(0.06):
                lines.append("bool physics:kinematicEnabled = 1")
            if self.some(0.06):
                lines.append("bool physics:rigidBodyEnabled = 0")
            type_ = "Xform"
            if self.some(0.3):
                type_, apis = "Cube", [*apis, "PhysicsCollisionAPI"]
            self.s.prim(path, type_, apis, lines)
            self.names.append(path)
        self.targets = ["", "", f"{r.choice(self.groups)}/missing"]
        if self.some(0.4):
            self.targets.append(f"{r.choice(self.groups)}/static")
            self.s.prim(self.targets[-1], "Cube", ["PhysicsCollisionAPI"], self.place(plain))
        if self.some(0.4):
            self.targets.append(f"{r.choice(self.groups)}/plain")
            self.s.prim(self.targets[-1], r.choice(("Xform", "Cube")), [], self.place(plain))
        if self.some(0.4):
            self.targets.append(f"{r.choice(self.names)}/inner")
            self.s.prim(self.targets[-1], r.choice(("Xform", "Cube")), r.choice(([], ["PhysicsCollisionAPI"])), self.place(plain))
        self.targets.append(r.choice(self.groups))

    # -- joints -----------------------------------------------------------------------------------------------------

    def add(self, a: str, b: str, type_: str = "") -> str:
        r = self.r
        type_ = type_ or r.choices(TYPES, WEIGHTS)[0]
        if self.some(0.5):
            a, b = b, a
        path = f"{r.choice([*self.groups, '/W', *self.names])}/j{r.randint(0, 99):02}_{len(self.joints)}"
        apis, lines = self.details(type_)
        self.s.joint(path, type_, a, b, tuple(apis), tuple(lines))
        self.joints.append(path)
        return path

    def frame(self) -> list[str]:
        r, lines = self.r, []
        for k in (0, 1):
            if self.some(0.6):
                odd = self.some(0.2)
                p = tuple(self.value(2, (INF, math.nan)) if odd else round(r.uniform(-2, 2), 2) for _ in range(3))
                lines.append(f"point3f physics:localPos{k} = {tuple_(p)}")
            if self.some(0.5):
                q = r.choice(((1.0, 0.0, 0.0, 0.0), (0.7071, 0.7071, 0.0, 0.0), tuple(r.uniform(-1, 1) for _ in range(4)), (2.0, 0.0, 0.0, 1.0)))
                if self.odd and self.some(0.1):
                    q = r.choice(
                        ((0.0, 0.0, 0.0, 0.0), (math.nan, 0.0, 0.0, 0.0), (1e-24, 0.0, 0.0, 0.0), (1e30, 0.0, 0.0, 0.0), (-1.0, 0.0, 0.0, 0.0))
                    )
                lines.append(f"quatf physics:localRot{k} = {tuple_(q)}")
        return lines

    def tuning(self, instance: str, apis: list[str], lines: list[str]) -> None:
        if self.some(0.3):
            apis.append(f"PhysxLimitAPI:{instance}")
            for name, scale in (("restitution", 1.0), ("bounceThreshold", 3.0), ("stiffness", 50.0), ("damping", 9.0)):
                if self.some(0.6):
                    lines.append(f"float physxLimit:{instance}:{name} = {number(self.positive(scale))}")

    def bounds(self, low: str, high: str, scale: float, lines: list[str]) -> None:
        extreme = (INF, -INF, math.nan, 1e37, -6e37, 6e37, 3.4e38, 400.0, -400.0, 180.0, 180.01, 180.02, -190.0, 360.0, 720.0, 0.0)
        a, b = sorted((self.value(scale, extreme), self.value(scale, extreme)), key=lambda x: 0 if math.isnan(x) else x)
        if self.some(0.1):
            a, b = b, a
        if self.some(0.9):
            lines.append(f"float {low} = {number(a)}")
        if self.some(0.9):
            lines.append(f"float {high} = {number(b)}")

    def details(self, type_: str) -> tuple[list[str], list[str]]:
        r = self.r
        apis: list[str] = []
        lines = self.frame()
        if self.some(0.05):
            lines.append("bool physics:jointEnabled = 0")
        if self.some(0.1):
            lines.append("bool physics:excludeFromArticulation = 1")
        if self.some(0.1):
            lines.append("bool physics:collisionEnabled = 1")
        if self.some(0.1):
            lines.append(f"float physics:breakForce = {number(self.positive(100))}")
        if self.some(0.1):
            lines.append(f"float physics:breakTorque = {number(self.positive(100))}")
        if type_ in (REVOLUTE, PRISMATIC, SPHERICAL) and self.some(0.6):
            lines.append(f'uniform token physics:axis = "{r.choice("XYZ")}"')
        if type_ in (REVOLUTE, PRISMATIC) and self.some(0.6):
            self.bounds("physics:lowerLimit", "physics:upperLimit", 120 if type_ == REVOLUTE else 3, lines)
            self.tuning(INSTANCES[type_][0], apis, lines)
        if type_ == SPHERICAL and self.some(0.6):
            for k in (0, 1):
                v = self.r.uniform(0, 170) if not self.odd or self.some(0.8) else r.choice((-1.0, 0.0, 180.0, 200.0, INF, math.nan))
                lines.append(f"float physics:coneAngle{k}Limit = {number(round(v, 2))}")
            self.tuning("cone", apis, lines)
        if type_ == DISTANCE:
            for name in ("min", "max"):
                if self.some(0.6):
                    lines.append(f"float physics:{name}Distance = {number(self.value(4))}")
            self.tuning("distance", apis, lines)
            if self.some(0.3):
                apis.append("PhysxPhysicsDistanceJointAPI")
                lines.append(f"bool physxPhysicsDistanceJoint:springEnabled = {int(self.some(0.7))}")
                lines.append(f"float physxPhysicsDistanceJoint:springStiffness = {number(self.positive(30))}")
                lines.append(f"float physxPhysicsDistanceJoint:springDamping = {number(self.positive(30))}")
        if type_ == D6:
            for i in INSTANCES[D6]:
                if self.some(0.35):
                    apis.append(f"PhysicsLimitAPI:{i}")
                    self.bounds(f"limit:{i}:physics:low", f"limit:{i}:physics:high", 100 if i in ROTATIONAL else 3, lines)
                    self.tuning(i, apis, lines)
        if self.some(0.2):
            apis.append("PhysxJointAPI")
            for name, scale in (("jointFriction", 2), ("armature", 1), ("maxJointVelocity", 300)):
                if self.some(0.6):
                    lines.append(f"float physxJoint:{name} = {number(self.positive(scale))}")
        if self.some(0.1):
            apis.append("NewtonJointAPI")
            lines.append(f"float newton:velocityLimit = {number(self.positive(300))}")
        for i in INSTANCES.get(type_, ()):
            self.instance(i, type_, apis, lines)
        return apis, lines

    def instance(self, i: str, type_: str, apis: list[str], lines: list[str]) -> None:
        r, n = self.r, number
        if type_ != SPHERICAL and self.some(0.35):
            apis.append(f"PhysicsDriveAPI:{i}")
            d = f"drive:{i}:physics:"
            if self.some(0.3):
                lines.append(f'uniform token {d}type = "{r.choice(("acceleration", "force"))}"')
            for name, v in (
                ("stiffness", self.positive(100)),
                ("damping", self.positive(10)),
                ("targetPosition", self.value(r.choice((40, 40, 900)))),
                ("targetVelocity", self.value(50)),
                ("maxForce", self.positive(100)),
            ):
                if self.some(0.6):
                    lines.append(f"float {d}{name} = {n(v)}")
            if self.some(0.3) and i not in LINEAR and i != "distance":
                apis.append(f"PhysxDrivePerformanceEnvelopeAPI:{i}")
                for name in ("maxActuatorVelocity", "velocityDependentResistance", "speedEffortGradient"):
                    if self.some(0.6):
                        lines.append(f"float physxDrivePerformanceEnvelope:{i}:{name} = {n(self.positive(90))}")
        if type_ != SPHERICAL and i != "distance" and self.some(0.2):
            apis.append(f"PhysicsJointStateAPI:{i}")
            lines.append(f"float state:{i}:physics:position = {n(self.value(r.choice((20, 500))))}")
            lines.append(f"float state:{i}:physics:velocity = {n(self.value(20))}")
        if i not in LINEAR and i != "distance" and self.some(0.3):
            apis.append(f"PhysxJointAxisAPI:{i}")
            for name, scale in (
                ("armature", 1),
                ("maxJointVelocity", 200),
                ("staticFrictionEffort", 9),
                ("dynamicFrictionEffort", 9),
                ("viscousFrictionCoefficient", 3),
            ):
                if self.some(0.6):
                    lines.append(f"float physxJointAxis:{i}:{name} = {n(self.positive(scale))}")

    def gears(self) -> None:
        r = self.r
        for _ in range(r.choice((0, 0, 0, 1, 2))):
            type_ = r.choice((GEAR, RACK))
            names = ("hinge0", "hinge1") if type_ == GEAR else ("hinge", "prismatic")
            pick = lambda: r.choice([*self.joints, *self.joints, "", "/W/none"]) if self.joints else ""
            lines = [f"rel physics:{n} = <{p}>" for n, p in zip(names, (pick(), pick())) if p]
            if self.some(0.7):
                lines.append(f"float physics:{'gearRatio' if type_ == GEAR else 'ratio'} = {number(self.value(90))}")
            a, b = (r.choice(self.names) for _ in range(2))
            if self.some(0.3):
                a, b = "", ""
            path = self.add(a, b, type_)
            self.s.prims[path].lines += lines

    def instances(self) -> None:
        """A native instance or a point instancer over a group that holds bodies and joints, and a joint from outside to inside."""
        r = self.r
        group = r.choice(self.groups)
        if self.some(0.5):
            for i in range(r.randint(1, 2)):
                prim = self.s.prim(f"/I/inst{i}", "Xform", lines=self.place(True))
                prim.meta = ["instanceable = true", f"prepend references = <{group}>"]
            self.targets.append("/I/inst0" + r.choice(["", *(n.removeprefix(group) for n in self.names if n.startswith(group))]))
        else:
            self.s.prims.setdefault(group, self.s.prim(group)).type = "PointInstancer"
        self.add(r.choice(self.names), r.choice(self.targets))

    def make(self) -> str:
        r = self.r
        self.joints: list[str] = []
        self.bodies()
        for i in range(1, len(self.names)):
            if self.some(0.9):
                self.add(self.names[r.randrange(i)] if self.some(0.5) else self.names[i - 1], self.names[i])
        for _ in range(r.choice((0, 0, 0, 1, 2, 4))):
            self.add(r.choice(self.names), r.choice(self.names))
        for _ in range(r.choice((0, 0, 1, 1, 2))):
            self.add(r.choice(self.names), r.choice(self.targets))
        if self.some(0.1):
            self.add(r.choice(self.targets), r.choice(self.targets))
        self.gears()
        if self.some(0.12):
            self.instances()
        places = ["/W", *self.groups, *self.names, *self.joints]
        roots = [r.choice(["/W", *self.groups])] if self.some(0.6) else r.sample(places, min(len(places), r.choice((0, 1, 1, 2, 3))))
        for root in roots:
            prim = self.s.prims.get(root) or self.s.prim(root)
            prim.apis.append("PhysicsArticulationRootAPI")
            if self.some(0.1):
                prim.apis.append("PhysxArticulationAPI")
                prim.lines.append(f"bool physxArticulation:articulationEnabled = {int(self.some(0.5))}")
        return self.s.text()


def graph_stage(seed: int) -> str:
    """Text of a stage made of one random joint graph: larger, more cycles, no values."""
    world = random_world(seed, 16)
    s = Scene()
    odd = {"kinematic": "bool physics:kinematicEnabled = 1", "disabled": "bool physics:rigidBodyEnabled = 0"}
    for path, state in world.bodies.items():
        s.body(path, lines=(odd[state],) if state in odd else ())
    for path in world.statics:
        s.prim(path, "Cube", ["PhysicsCollisionAPI"])
    for j in world.joints:
        lines = [] if j.enabled else ["bool physics:jointEnabled = 0"]
        lines += ["bool physics:excludeFromArticulation = 1"] if j.excluded else []
        s.joint(j.path, j.type, j.body0, j.body1, lines=tuple(lines))
    for root in world.roots:
        (s.prims.get(root) or s.prim(root)).apis.append("PhysicsArticulationRootAPI")
    return s.text()


def random_stage(seed: int) -> str:
    """Text of a random stage: every fourth one a larger graph, the others with bodies, frames and values of every kind."""
    return graph_stage(seed) if seed % 4 == 3 else Maker(seed).make()
