"""Section 7 of the joint semantics in plain Python over dictionaries: the slow, literal version that the kernels are held against.

Written from the text alone, with recursion, strings and sets; it shares no code with `consumer`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WORLD = ""
UNSUPPORTED_TYPES = {"PhysicsDistanceJoint", "PhysxPhysicsGearJoint", "PhysxPhysicsRackAndPinionJoint"}


@dataclass
class Joint:
    path: str
    type: str = "PhysicsFixedJoint"
    body0: str = WORLD
    body1: str = WORLD
    enabled: bool = True
    excluded: bool = False


@dataclass
class World:
    """bodies: path to "dynamic" | "kinematic" | "disabled"; joints stand in joint order; roots: root-API prims; statics: collider actors."""

    bodies: dict[str, str]
    joints: list[Joint]
    roots: list[str]
    statics: set[str] = field(default_factory=set)


@dataclass
class Built:
    root: str
    fixed: bool
    root_joint: str | None
    links: list[tuple[str, str | None, str | None]]  # body, parent body, inbound joint


@dataclass
class Result:
    built: list[Built]
    root_joints: set[str]
    link_joints: set[str]
    loops: set[str]
    lost: set[str]


@dataclass
class Record:
    weight: int = 0
    children: list[str] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    root_joint: Joint | None = None
    has_fixed: bool = False


def below(path: str, base: str) -> bool:
    return path == base or path.startswith(base + "/")


class Reference:
    def __init__(self, world: World) -> None:
        self.w = world
        self.body_list = sorted(world.bodies, key=str.encode)
        self.by_path = {j.path: j for j in world.joints}
        self.adj: dict[str, list[Joint]] = {}
        for j in world.joints:
            if not j.enabled:
                continue
            for b in (j.body0, j.body1):
                if world.bodies.get(b) == "dynamic":
                    self.adj.setdefault(b, []).append(j)

    def world_like(self, j: Joint) -> bool:
        return j.body0 not in self.adj or j.body1 not in self.adj

    def accepted(self) -> list[str]:
        out: list[str] = []
        for p in sorted(self.w.roots, key=str.encode):
            if not any(below(p, q) for q in out):
                out.append(p)
        return out

    def search(self, p: str) -> tuple[list[str], str] | None:
        """Named root keys and the search base; None when the root is ignored."""
        if p in self.w.bodies:
            return ([p], p) if self.w.bodies[p] == "dynamic" else None
        j = self.by_path.get(p)
        if j and WORLD in (j.body0, j.body1):
            base = j.body0 or j.body1
            return ([p], base) if base else None
        return [], p

    def link_maps(self, base: str) -> tuple[list[dict[str, Record]], list[str]]:
        maps: list[dict[str, Record]] = []
        order: list[str] = []

        def traverse(b: str, m: dict[str, Record]) -> None:
            if b in m:
                return
            order.append(b)
            if b not in self.adj:
                return
            record = m[b] = Record()
            for j in self.adj[b]:
                record.joints.append(j)
                if self.world_like(j):
                    record.weight += 1000 if j.excluded else 100000
                    if not j.excluded:
                        record.root_joint, record.has_fixed = j, True
                    record.children.append(WORLD)
                else:
                    other = j.body1 if j.body0 == b else j.body0
                    record.children.append(other)
                    if j.excluded:
                        record.weight += 1000
                    else:
                        record.weight += 100
                        traverse(other, m)

        for b in self.body_list:
            if below(b, base) and not any(b in m for m in maps):
                maps.append({})
                traverse(b, maps[-1])
        return maps, order

    def elect(self, m: dict[str, Record], order: list[str]) -> str | None:
        if not any(r.has_fixed for r in m.values()):
            first = next(iter(m), "")
            if first and all(below(b, first) for b in m):  # not in the text: observed, links nested below the first one
                return first
            return self.centre(m, order)
        best, best_weight = None, 0
        for link, r in m.items():
            candidate = r.root_joint.path if r.root_joint else link
            if r.weight > best_weight:
                best, best_weight = candidate, r.weight
            elif r.weight == best_weight:
                for entry in order:
                    if entry == best:
                        break
                    if entry == candidate:
                        best = candidate
                        break
        return best

    def centre(self, m: dict[str, Record], order: list[str]) -> str | None:
        def depths(link: str, depth: int, out: dict[str, int]) -> None:
            out[link] = depth
            for c in m[link].children:
                if c in m and c not in out:
                    depths(c, depth + 1, out)

        def rank(link: str) -> tuple[int, int, int]:
            out: dict[str, int] = {}
            depths(link, 0, out)
            return max(out.values()), -len(m[link].children), order.index(link)

        return min(m, key=rank) if m else None

    def run(self) -> Result:
        res = Result([], set(), set(), set(), set())
        done: set[str] = set()
        taken: set[str] = set()
        for p in reversed(self.accepted()):
            found = self.search(p)
            if found is None:
                continue
            keys, base = found
            maps, order = self.link_maps(base)
            if keys:
                self.build(p, keys[0], self.vector(maps), done, taken, res)
                continue
            elected = [(self.elect(m, order), [m]) for m in maps]  # not in the text: an elected root sees the joints of its own map only
            for key, own in elected:
                if key is not None:
                    self.build(p, key, self.vector(own), done, taken, res)
        return res

    def vector(self, maps: list[dict[str, Record]]) -> list[Joint]:
        names = {j.path for m in maps for r in m.values() for j in r.joints}
        return [j for j in self.w.joints if j.path in names]

    def state(self, b: str) -> str:
        return self.w.bodies.get(b, "static")

    def build(self, p: str, key: str, vector: list[Joint], done: set[str], taken: set[str], res: Result) -> None:
        base, fixed, root_joint = None, False, None
        if key in self.w.bodies:
            base = key
        elif key in {j.path for j in vector}:
            j = self.by_path[key]
            if WORLD in (j.body0, j.body1):
                base = j.body0 or j.body1
            elif self.state(j.body0) in ("static", "disabled"):
                base = j.body1
            elif self.state(j.body1) in ("static", "disabled"):
                base = j.body0
            if not base:
                return
            done.add(key)
            fixed, root_joint = True, key
        usable = base in self.w.bodies and self.w.bodies[base] != "disabled" and base not in taken
        if root_joint and not usable and root_joint not in res.root_joints:
            res.lost.add(root_joint)
        if not usable or base is None:
            return
        if root_joint:
            res.root_joints.add(root_joint)
        links: list[tuple[str, str | None, str | None]] = [(base, None, None)]
        taken.add(base)
        visited = {base}

        def grow(parent: str) -> None:
            child_set: set[str] = set()
            for j in vector:
                if j.path in done or j.excluded or j.type in UNSUPPORTED_TYPES:
                    continue
                if parent == j.body0 and j.body1 != WORLD:
                    new = j.body1
                elif parent == j.body1 and j.body0 != WORLD:
                    new = j.body0
                else:
                    continue
                if self.state(new) in ("static", "disabled") or new in child_set:
                    continue
                child_set.add(new)
                if new in visited:
                    done.add(j.path)
                    res.loops.add(j.path)
                    continue
                visited.add(new)
                if new not in taken:
                    taken.add(new)
                    done.add(j.path)
                    res.link_joints.add(j.path)
                    links.append((new, parent, j.path))
                    grow(new)

        grow(base)
        res.built.append(Built(p, fixed, root_joint, links))


def articulations(world: World) -> Result:
    """Articulations in the order of creation and the joints that they consume."""
    return Reference(world).run()
