"""Addresses of objects in what libraries say: they differ from run to run and mean nothing to a reader."""

from __future__ import annotations

import re

# Addresses of USD's objects differ from run to run: a stage's description, an anonymous layer's name, and whatever else a message quotes. Parts of
# names that merely look like one stay: an address stands alone, after a word, an @, an = or within angle brackets.
_ADDRESS = r"0x[0-9a-fA-F]{4,16}"
_NOISE = re.compile(
    rf"\(\w+ stage on stage @[^@]*@ <{_ADDRESS}>\)|(?<=@anon:){_ADDRESS}:?|\s*<{_ADDRESS}>|(?:\s+(?:at|@|in stage|stage))?[ =]{_ADDRESS}(?![\w./:@-])"
)


def without_addresses(message: str) -> str:
    """A USD message without addresses of objects, which would make two runs, and two equal complaints, differ."""
    return _NOISE.sub("", message).strip()
