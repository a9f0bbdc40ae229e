"""Every diagnostic code in one table; `docs/diagnostics.md` is generated from it (`python -m ovsim.diagnostic_codes`)."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True)
class Code:
    """severity: one of `ovsim.diagnostics.SEVERITIES`; real: what the real runtime does, "error", "warning" or "silent"; column "" = the prim."""

    severity: str
    real: str
    meaning: str
    remedy: str
    column: str = ""


def _code(severity: str, real: str, meaning: str, remedy: str, column: str = "") -> Code:
    return Code(severity, real, meaning, remedy, column)


_E, _W, _I = "error", "warning", "info"
LOSSES = frozenset({"unresolved-reference", "reference-cycle"})
"""Codes of population after which a stage is incomplete: an arc brings in nothing."""

CODES: MappingProxyType[str, Code] = MappingProxyType(
    {
        # population
        "route": _code(_I, "silent", "which reader populated the stage, and why", "nothing"),
        "unresolved-reference": _code(_W, "warning", "a layer or prim that an arc names is not there; the rest is populated", "repair the arc"),
        "reference-cycle": _code(_W, "warning", "arcs form a cycle, which USD cuts", "remove one of the arcs"),
        "schema-dropped": _code(_W, "silent", "an applied schema is unknown or misspelled and left out of usd-schemas", "correct its name"),
        "transform-op-skipped": _code(_W, "warning", "a transform op cannot be read, so USD leaves it out", "correct the op or xformOpOrder"),
        "wrong-type": _code(_W, "silent", "a value is of another type than the contract's", "write the type that the contract declares"),
        "schemas-missing": _code(_W, "silent", "a schema package is not installed, so the contract's data serves", "install it"),
        "schema-unknown": _code(_W, "silent", "the attributes of an applied API cannot be known without its schema package", "install it"),
        "usd-warning": _code(_W, "warning", "another warning of USD while the stage was read", "see the message"),
        "missing-ancestor": _code(_W, "silent", "a row lacks its parent's row, whose transform counts as identity", "add a row for the parent"),
        "missing-units": _code(_W, "silent", "there is no row of / with the units, so the stage counts as SI, Z-up", "add it"),
        "usd-parser": _code(_W, "warning", "OpenUSD's own parser said something of the stage (USD backend)", "see the message"),
        "usd-unparsed": _code(_W, "silent", "OpenUSD's own parser gives no descriptor of a joint prim (USD backend)", "see the message"),
        "usd-validator": _code(_W, "silent", "a USD physics validator reports the prim (`ovsim check`)", "see the message"),
        # columns written by hand (`ovsim check`)
        "absent-column": _code(
            _W, "silent", "a column is absent and the parser's default is not what population writes", "write the value given, or use --fix"
        ),
        "inert-column": _code(_W, "silent", "a column of an API that usd-schemas does not list", "list the API"),
        "unread-column": _code(_I, "silent", "a column that nothing reads on a row of this type", "check the name and the type"),
        "unknown-instance": _code(_W, "silent", "an instance of a multi-apply API that this joint type never reads", "use one that it reads"),
        "dangling-id": _code(_E, "silent", "an id that the stage's dictionary does not hold", "intern it"),
        "dangling-target": _code(_W, "silent", "the target of a relationship has no row", "publish it or repair the relationship"),
        "unknown-token": _code(_W, "silent", "a token is none of those that the parser knows, so its default stays", "write one of the tokens given"),
        "w-first-suspected": _code(_W, "silent", "a quaternion looks as if its lanes were w, x, y, z", "write x, y, z, w"),
        "radians-suspected": _code(_W, "silent", "bounds of a rotational limit look like radians", "write degrees"),
        # columns as the parser reads them
        "column-type": _code(
            _W, "silent", "a column has a type that the parser cannot read, so its default stays", "write the type that the contract declares"
        ),
        "column-cast": _code(_I, "silent", "a float64 column or an array is read where one float32 value is declared", "write one float32"),
        "unknown-path-id": _code(_E, "silent", "a relationship holds a path id that the stage's path dictionary lacks", "intern the path"),
        # joints that do not exist
        "joint-disabled": _code(_I, "silent", "the joint is disabled, so it is not created", "enable it", "physics:jointEnabled"),
        "no-bodies": _code(_E, "error", "neither side has an actor, so no joint results", "give at least one body", "physics:body0"),
        "static-bodies": _code(
            _E, "error", "no side is a dynamic body, so no joint results", "make one body dynamic: enabled and not kinematic", "physics:body0"
        ),
        "different-owners": _code(
            _E, "error", "the bodies belong to different scenes, so no joint results", "give both the same physics:simulationOwner", "physics:body0"
        ),
        "mixed-owners": _code(
            _E,
            "error",
            "the links would belong to different scenes, so there is no articulation and its joints stand alone",
            "give all bodies the same physics:simulationOwner",
        ),
        "homeless-body": _code(
            _W,
            "silent",
            "physics:simulationOwner names no scene of the stage, so there is no actor",
            "name a PhysicsScene or none",
            "physics:simulationOwner",
        ),
        "same-body": _code(_E, "error", "both sides are the same body, so no joint results", "target two bodies", "physics:body1"),
        "invalid-frame": _code(
            _E,
            "error",
            "a local frame is zero or not finite, so no joint results",
            "author finite positions and unit quaternions",
            "physics:localRot0",
        ),
        "closed-loop": _code(
            _E,
            "error",
            "the joint closes a loop of its articulation and vanishes",
            "exclude one joint of the loop from the articulation",
            "physics:excludeFromArticulation",
        ),
        "lost-root-joint": _code(
            _W,
            "silent",
            "the joint was consumed as the root of an articulation whose base body already belongs to another one, and vanishes",
            "let one root API reach each body",
        ),
        "below-prototype": _code(
            _W,
            "silent",
            "the joint lies below a prototype of a native instance or below a point instancer, where nothing is created",
            "turn instancing off for prims that hold joints",
        ),
        "gear-hinge-elsewhere": _code(
            _E, "error", "a coupled articulation joint touches neither body of this joint, so no joint results", "couple joints of these bodies"
        ),
        "custom-joint": _code(_I, "silent", "what a registered custom joint becomes is up to its plug-in and not known here", "none"),
        # articulations and their roots
        "nested-root": _code(_E, "error", "a root API above this one already holds, so this one is ignored", "keep one root API a robot"),
        "root-switched-off": _code(
            _I,
            "silent",
            "the articulation is switched off: everything below is plain bodies and standalone joints",
            "enable it",
            "physxArticulation:articulationEnabled",
        ),
        "root-on-disabled-body": _code(
            _W, "warning", "the root API sits on a disabled body and is ignored", "enable the body", "physics:rigidBodyEnabled"
        ),
        "root-on-kinematic-body": _code(
            _W, "warning", "the root API sits on a kinematic body and is ignored", "make the body dynamic", "physics:kinematicEnabled"
        ),
        "root-joint-without-bodies": _code(
            _W, "silent", "the root API sits on a joint without bodies, so there is no articulation", "give it a body"
        ),
        "root-joint-between-bodies": _code(
            _W,
            "silent",
            "the root API sits on a joint with two bodies, which is no fixed base, and no body below it: there is no articulation",
            "put the API on a joint to the world, on a body, or on a prim above the robot",
        ),
        "empty-root": _code(_W, "silent", "no articulation results from this root API", "put it on or above the bodies of a robot"),
        "kinematic-anchor": _code(
            _E,
            "error",
            "the elected root joint ties the robot to a kinematic body, so no articulation results",
            "exclude the joint from the articulation or anchor the robot to the world",
            "physics:excludeFromArticulation",
        ),
        "base-taken": _code(
            _W, "silent", "the bodies of this root already belong to the articulation of another root API", "keep one root API a robot"
        ),
        "standalone-anchor": _code(
            _W,
            "silent",
            "the weld to the world stays a standalone joint because the root API sits on the body: the base is not fixed",
            "put the root API on this joint or on a prim above the robot",
        ),
        "unsupported-in-articulation": _code(
            _W,
            "error",
            "an articulation cannot hold a joint of this type; it becomes a standalone joint",
            "exclude it from the articulation",
            "physics:excludeFromArticulation",
        ),
        "parallel-joint": _code(
            _W, "warning", "another joint already ties these two links; this one becomes a standalone joint", "exclude it from the articulation"
        ),
        "between-articulations": _code(
            _W,
            "silent",
            "the joint leads to a body of another articulation, so it becomes a standalone joint",
            "let one root API reach both bodies",
        ),
        # bodies and targets
        "dead-target": _code(
            _W, "silent", "a target resolves to no body, so that side is the world", "target a body or something below one", "physics:body0"
        ),
        "kinematic-link": _code(_W, "silent", "a kinematic body became an ordinary articulation link", "make it dynamic", "physics:kinematicEnabled"),
        "target-without-row": _code(
            _W,
            "silent",
            "the target has no row, so its own transform counts as identity and is lost",
            "target a published prim: a body, a collider or an ancestor of one",
            "physics:body0",
        ),
        "disjoint-frames": _code(
            _W, "warning", "the two joint frames do not meet in the world, so the bodies snap together", "check localPos and localRot"
        ),
        # limits
        "invalid-limit": _code(
            _E,
            "error",
            "PhysX refuses the limit: a standalone joint keeps the default range, an articulation axis is locked at zero",
            "author finite ordered bounds within its range and a restitution within [0, 1]",
        ),
        "one-sided-limit": _code(_W, "silent", "only one bound of the limit is finite", "author both bounds"),
        "reversed-limit": _code(_W, "silent", "the lower bound lies above the upper one, which does not lock this joint", "swap the bounds"),
        "reversed-distance": _code(
            _W, "silent", "the minimum distance of a distance joint lies above its maximum, and PhysX takes both", "swap them", "physics:minDistance"
        ),
        "clamped-limit": _code(
            _W, "warning", "a bound was clamped: a revolute joint to half a turn, a twist to a turn", "author a bound within the range"
        ),
        "half-pyramid": _code(
            _W, "warning", "one swing is limited and the other is not: the missing half of the pyramid is [0, 0]", "limit or lock both swings"
        ),
        "distance-minimum-ignored": _code(
            _W,
            "warning",
            "the distance limit of a D6 has no minimum; the authored one is ignored",
            "use a distance joint",
            "limit:distance:physics:low",
        ),
        "limit-tuning-ignored": _code(
            _W, "warning", "an articulation ignores restitution, bounce, stiffness and damping of a limit", "remove PhysxLimitAPI"
        ),
        "invalid-distance": _code(
            _E, "error", "a distance or its spring is not finite and is refused", "author finite values", "physics:maxDistance"
        ),
        # drives, states, properties
        "invalid-drive": _code(_E, "error", "a drive with negative or non-finite gains or force limit is refused", "author values >= 0"),
        "invalid-drive-target": _code(_E, "error", "a drive target is out of range or not finite and is refused", "author a target within range"),
        "invalid-envelope": _code(_E, "error", "a negative or NaN envelope parameter or force limit refuses the whole drive", "author values >= 0"),
        "invalid-state": _code(_E, "error", "an initial joint state is out of range or not finite and is refused", "author a state within range"),
        "invalid-friction": _code(
            _E,
            "error",
            "the dynamic friction effort exceeds the static one, so all friction of the axis stays 0",
            "author static >= dynamic",
        ),
        "drive-target-wrapped": _code(
            _W, "warning", "a target of a turn or more on an unlimited revolute joint is reduced by whole turns", "limit the joint"
        ),
        "linear-motion-locked": _code(
            _W, "warning", "a D6 in an articulation has its linear axes locked whatever its limits say", "lock transX, transY and transZ"
        ),
        "linear-drive-ignored": _code(_W, "warning", "a D6 in an articulation ignores linear drives", "use a prismatic joint"),
        "linear-state-ignored": _code(_W, "warning", "a D6 in an articulation ignores linear states", "use a prismatic joint"),
        "collision-ignored": _code(_W, "warning", "an articulation joint ignores collisionEnabled", "use filtered pairs", "physics:collisionEnabled"),
        "break-ignored": _code(_W, "silent", "an articulation joint cannot break", "exclude it from the articulation", "physics:breakForce"),
        "reversed-parent": _code(_W, "warning", "body1 is the parent link: limits, targets and states change sign", "swap body0 and body1"),
        "replaced-pose": _code(
            _E, "error", "PhysX refuses a local frame of the articulation joint and keeps another one", "author finite positions and unit quaternions"
        ),
        "inert-axis-api": _code(_W, "warning", "PhysxJointAxisAPI counts only inside an articulation", "remove it"),
        "inert-envelope": _code(_W, "warning", "a performance envelope counts only inside an articulation", "remove it"),
        "inert-state": _code(_W, "silent", "a joint state counts only inside an articulation", "remove it"),
        "inert-joint-friction": _code(_W, "warning", "joint friction counts only inside an articulation", "remove it", "physxJoint:jointFriction"),
        # couplings
        "coupling-incomplete": _code(_W, "warning", "a coupled joint is missing, so the coupling cannot be simulated", "couple two existing joints"),
        "coupling-refused": _code(
            _E, "error", "a coupled joint is of a type that cannot be coupled, so none is", "couple revolute, prismatic or D6 joints"
        ),
    }
)


def table() -> str:
    """The table as Markdown, for the documentation."""
    head = "| code | severity | real runtime | meaning | what to do |\n|---|---|---|---|---|\n"
    return head + "".join(f"| `{n}` | {c.severity} | {c.real} | {c.meaning} | {c.remedy} |\n" for n, c in CODES.items())


PAGE = """# Diagnostics

A diagnostic is a row (code, severity, path, column, message). `ovsim resolve` and `ovsim physx` print them with `--diagnostics`; `ovsim check` prints
these and its own. The column *real runtime* says how ovphysx 0.6.3 tells of the same thing: as an error, as a warning, or not at all.

"""

if __name__ == "__main__":
    print(PAGE + table(), end="")
