"""Every diagnostic code that the code can give is documented, and the page is the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ovsim.diagnostic_codes import CODES, PAGE, table
from ovsim.diagnostics import SEVERITIES, Diagnostics

ROOT = Path(__file__).parents[1]
GIVEN = re.compile(r'(?:\.add|_tell|\.tell)\(\s*"([a-z0-9]+(?:-[a-z0-9]+)*)",\s*"(?:info|warning|error)"')


def test_the_page_is_generated_from_the_table():
    assert (ROOT / "docs" / "diagnostics.md").read_text("utf-8") == PAGE + table()


def test_no_code_is_given_that_the_table_lacks():
    given = {}
    for package in ("ovsim", "producer", "consumer"):
        for file in (ROOT / package).rglob("*.py"):
            given |= dict.fromkeys(GIVEN.findall(file.read_text("utf-8")), file.name)
    assert len(given) > 10  # the pattern still finds the calls
    assert {c: f for c, f in given.items() if c not in CODES} == {}


def test_entries_are_complete():
    for name, code in CODES.items():
        assert code.severity in SEVERITIES, name
        assert code.real in ("error", "warning", "silent"), name
        assert code.meaning, name
        assert code.remedy, name


def test_a_diagnostic_has_a_known_severity():
    with pytest.raises(ValueError, match="fatal"):
        Diagnostics().add("x", "fatal", "no such severity")
