"""Which prims a mistaken path may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

MOST = 20_000  # paths that are compared letter by letter
_SHOWN = 5


def near(path: str, joints: Sequence[str], others: Sequence[str]) -> str:
    """A sentence for an error: the rows whose paths are like the wanted one, joints before others where they are equally alike."""
    hits: dict[str, None] = {}
    for found in zip(_alike(path, joints), _alike(path, others)):
        hits.update(dict.fromkeys(p for group in found for p in group))
    if hits:
        return f"did you mean {' or '.join(list(hits)[:_SHOWN])}?"
    if not joints:
        return "the stage has no joints"
    return f"joints are, for example, {', '.join(joints[:3])}"


def _alike(path: str, known: Sequence[str]) -> Iterator[list[str]]:
    """Groups of paths, the likest first: of the same name, of the same name but for case, below the path, of like spelling, of a like name."""
    last = path.rstrip("/").rpartition("/")[2]
    names = [k.rpartition("/")[2] for k in known]
    yield [k for k, name in zip(known, names) if name == last]
    yield [k for k, name in zip(known, names) if name.lower() == last.lower()]
    yield [k for k in known if len(path) > 1 and k.startswith(path.rstrip("/") + "/")]
    few = len(known) <= MOST
    yield difflib.get_close_matches(path, known, _SHOWN, 0.6) if few else []
    alike = difflib.get_close_matches(last, list(dict.fromkeys(names)), 3, 0.6) if few else []
    yield [k for k, name in zip(known, names) if name in alike]
