"""USD builds its schema registry once a process; the USD backend says so when it comes too late."""

import subprocess
import sys
from pathlib import Path

ARM = Path(__file__).parents[2] / "examples" / "arm.usda"


def test_a_registry_without_the_physics_schemas_is_an_error():
    code = f"""
from pxr import Usd
stage = Usd.Stage.Open({str(ARM)!r})
from ovsim.errors import SourceError
import consumer.usd
try:
    consumer.usd.resolve({str(ARM)!r})
except SourceError as e:
    print("told", e)
"""
    got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    assert got.stdout.startswith("told USD's schema registry was built")
