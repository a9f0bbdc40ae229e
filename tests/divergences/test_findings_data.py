"""The findings as data: complete, consistent, each with a predicate and, where it says so, a canary."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from consumer.rulesets import SWITCHES
from ovsim import contract
from ovsim.contract import findings
from ovsim.diff.classify import CASCADED, asked
from ovsim.diff.predicates import PREDICATES
from ovsim.diff.rulesets import HANDLED
from ovsim.errors import ContractError

UNREAD = {"physxLimit:<inst>:contactDistance"}  # no column of the contract, that is the finding
HERE = Path(__file__).parent
_CANARIES = "".join(f.read_text("utf-8") for f in HERE.glob("test_*_findings.py")) + (HERE / "test_type_derived.py").read_text("utf-8")


def test_recorded_counts():
    """The joint domain's defects of the pages, and everything else."""
    data = findings.load()
    assert {f.severity for f in data.values()} == set(findings.SEVERITIES)
    pages = [f.id for f in data.values() if f.severity == "defect" and f.source.startswith("page")]
    assert len(pages) == 11


@pytest.mark.parametrize("finding", findings.load().values(), ids=lambda f: f.id)
def test_finding(finding):
    """Known components, columns of the contract, versions, a sentence each, a predicate that exists, a canary where it claims one."""
    data = contract.load()
    assert set(finding.components) <= set(data.components)
    for column in finding.columns:
        named = column.replace("<inst>", "rotX")
        assert column.startswith(("usd-", "omni:", "_proto")) or data.find(named) or column in UNREAD, column
    assert set(finding.versions) <= {"0.6", "0.7"}
    assert finding.happens.endswith(".")
    assert finding.advice.endswith(".")
    known = {*PREDICATES, *HANDLED, *CASCADED, None}
    assert finding.predicate in known
    if finding.canary:
        switches = {s.finding for s in SWITCHES.values()}
        assert finding.id in switches or f'"{finding.id}"' in _CANARIES


def test_every_predicate_belongs_to_a_finding():
    """No predicate without a finding, and each is asked once at most."""
    used = [f.predicate for f in findings.load().values() if f.predicate]
    assert len(used) == len(set(used))
    assert set(used) == {*PREDICATES, *HANDLED, *CASCADED}
    assert len({i for i, _ in asked()}) == len(asked())


def test_switches_name_findings():
    """Each switch of the rule sets has its finding, which names the switch."""
    for name, switch in SWITCHES.items():
        assert findings.get(switch.finding).switch == name


def test_lookup():
    """By id with near ids, by concrete column, by version."""
    with pytest.raises(ContractError, match="revolute-limit-absent"):
        findings.get("revolute-limit-abset")
    assert "d6-limit-absent" in {f.id for f in findings.touching("limit:rotY:physics:low")}
    assert findings.touching("physics:nothing") == ()
    assert {f.id for f in findings.load().values()} - {f.id for f in findings.of_version("0.7")} >= {"joint-velocity-inf"}


def test_texts_are_plain():
    """Sentences, not code: no markup in what people read."""
    for finding in findings.load().values():
        assert not re.search(r"[`<>{}]", finding.happens + finding.advice), finding.id
