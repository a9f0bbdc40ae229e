"""Canary of type-derived: a schema type that derives from a joint type, registered by a plugin of its own, in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

_GENERATED = """#usda 1.0
(
)
class MyHinge "MyHinge"
{
    uniform token physics:axis = "X"
    float physics:lowerLimit = -inf
    float physics:upperLimit = inf
    rel physics:body0
    rel physics:body1
}
"""
_PLUG = {
    "Plugins": [
        {
            "Info": {
                "Types": {
                    "ExampleMyHinge": {
                        "alias": {"UsdSchemaBase": "MyHinge"},
                        "schemaIdentifier": "MyHinge",
                        "bases": ["UsdPhysicsRevoluteJoint"],
                        "schemaKind": "concreteTyped",
                    }
                }
            },
            "LibraryPath": "",
            "Name": "myHinges",
            "ResourcePath": ".",
            "Root": ".",
            "Type": "resource",
        }
    ]
}


def test_type_derived(tmp_path):
    """USD finds the derived hinge, columns do not; registered as a custom token both do."""
    (tmp_path / "plugInfo.json").write_text(json.dumps(_PLUG))
    (tmp_path / "generatedSchema.usda").write_text(_GENERATED)
    program = textwrap.dedent(
        """
        import json, sys
        from pxr import Plug
        Plug.Registry().RegisterPlugins(sys.argv[1])
        sys.path.insert(0, sys.argv[2])
        from bench_stages import AB, against, joint, world
        found = against(world(*AB, joint("MyHinge", "J", "/W/A", "/W/B")))
        print(json.dumps([[d.level, d.path, d.field, d.left, d.right, d.finding] for d in found.differences]))
        """
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(__file__).rpartition("/")[0]], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    rows = json.loads(run.stdout.strip().splitlines()[-1])
    assert ["descriptors", "/W/J", "", "/W/J", None, "type-derived"] in rows
    assert {r[5] for r in rows} == {"type-derived"}
