"""What USD says when something is wrong, in one line a reader can use: the text of a complaint, and why a stage file cannot be opened.

Nothing here imports USD: its diagnostics and errors come as the objects that they are.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ovsim.addresses import without_addresses
from ovsim.packages import package_fault

_PLACE = re.compile(r"(.*?):(\d+):(\d+): (.*)$")
_QUOTED = re.compile(r"(?<= at ')(.{60}).{4,}(?=' in <)", re.DOTALL)  # the rest of the line, which may be a large array
_GARBAGE = re.compile("\ufffd{2,}")


def text(complaint: Any) -> str:
    """A USD diagnostic or composition error as one line, what it quotes of a file cut short.

    Quoted bytes of a broken file that are no text become one replacement character.
    """
    try:
        said = str(complaint.commentary) if hasattr(type(complaint), "commentary") else str(complaint)
    except UnicodeDecodeError as e:
        said = _GARBAGE.sub("\ufffd", e.object.decode("utf-8", "replace"))
    return _QUOTED.sub(r"\1...", without_addresses(said))


def reason(error: Exception, name: str) -> str:
    """Why USD cannot open the stage file `name`, from its exception.

    That is the fault of a package, else the first complaint that has a place, else the first. A place comes as line and column, with the file where
    that is another one than `name`.
    """
    fault = package_fault(name)
    if fault:
        return fault
    texts = [text(a) for a in error.args] or ["unknown error"]
    found = next(filter(None, map(_PLACE.match, texts)), None)
    if found is None:
        return texts[0]
    file, line, column, said = found.groups()
    where = "" if os.path.realpath(name) == os.path.realpath(file) else f"{file}, "
    return f"{where}line {line}, column {column}: {said}"
