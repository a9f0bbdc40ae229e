"""What libraries say, without what means nothing to a reader: addresses of objects, which differ from run to run, and names of grammar rules."""

from __future__ import annotations

import re

# Addresses of USD's objects differ from run to run: a stage's description, an anonymous layer's name, and whatever else a message quotes. Parts of
# names that merely look like one stay: an address stands alone, after a word, an @, an = or within angle brackets.
_ADDRESS = r"0x[0-9a-fA-F]{4,16}"
_NOISE = re.compile(
    rf"\(\w+ stage on stage @[^@]*@ <{_ADDRESS}>\)|(?<=@anon:){_ADDRESS}:?|\s*<{_ADDRESS}>|(?:\s+(?:at|@|in stage|stage))?[ =]{_ADDRESS}(?![\w./:@-])"
)
# USD's text parser names the rule that did not match, a C++ type of up to a page.
_GRAMMAR = re.compile(r"parse error matching .*?(?= at '|$)", re.DOTALL)
_BREAK = re.compile(r"\s*\n\s*")


def without_addresses(message: str) -> str:
    """A USD message in one line, without names of grammar rules and without addresses, which make two runs, and two equal complaints, differ."""
    line = _BREAK.sub(" ", _GRAMMAR.sub("syntax error", message)).replace(" . ", ". ")
    return _NOISE.sub("", line).strip().removesuffix(" .")
