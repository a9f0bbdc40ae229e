"""Random stages through the real ovstage and ovphysx and through ovsim: every column and every PhysX joint alike.

Runs when OVSIM_ORACLE names a python that has ovphysx 0.6.3. OVSIM_LIVE_STAGES says how many stages (60), OVSIM_LIVE_SEED where the seeds start.
A stage costs about a tenth of a second, both sides together.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oracle.compare import as_document, differences, renamed
from oracle.scenes import random_stage

from consumer.physx import physx_document, physx_view
from ovsim.interchange import columns_document
from producer import populate

PYTHON = os.environ.get("OVSIM_ORACLE", "")
STAGES = int(os.environ.get("OVSIM_LIVE_STAGES", "60"))
SEED = int(os.environ.get("OVSIM_LIVE_SEED", "0"))
pytestmark = [pytest.mark.oracle, pytest.mark.skipif(not PYTHON, reason="OVSIM_ORACLE names no python with the real system")]


def real_documents(files: list[Path]) -> Iterator[dict[str, Any]]:
    """What the real system says of each file; a process that dies costs the stage that it died of and no other."""
    rest = [str(f) for f in files]
    while rest:
        done = subprocess.run(
            [PYTHON, str(Path(__file__).parent / "real.py")], input="\n".join(rest), capture_output=True, text=True, timeout=3600, check=False
        )
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        yield from documents
        rest = rest[len(documents) :]
        if rest:
            yield {"file": rest.pop(0), "error": f"the real process died with {done.returncode}: {done.stderr[-300:]}"}


def test_random_stages_agree(tmp_path: Path) -> None:
    files = []
    for seed in range(SEED, SEED + STAGES):
        files.append(tmp_path / f"{seed}.usda")
        files[-1].write_text(random_stage(seed))
    wrong: list[str] = []
    joints = 0
    for real in real_documents(files):
        seed = Path(real["file"]).stem
        if "error" in real:
            wrong.append(f"seed {seed}: {real['error']}")
            continue
        stage = populate(real["file"])
        ours = json.loads(json.dumps(columns_document(stage, "")))
        joints += len(real["physx"]["joints"])
        found = list(differences(renamed(real["prims"]), renamed(_contract_rows(ours["prims"]))))
        view = physx_document(physx_view(stage, threads=1), "", every=True)
        found += differences(as_document(real["physx"]), {k: view[k] for k in ("articulations", "joints")})
        wrong += [f"seed {seed}: {p}: real {a!r:.200} ours {b!r:.200}" for p, a, b in found[:3]]
    assert not wrong, "\n".join(wrong[:40])
    assert joints > STAGES  # the stages hold something to compare


def _contract_rows(prims: dict[str, Any]) -> dict[str, Any]:
    return {p: {k: v for k, v in row.items() if k != "omni:fabric:worldMatrix"} for p, row in prims.items()}
