"""Gates and the instance matrix (spec 2.2, 2.3): every API instance on every joint type."""

from __future__ import annotations

import pytest
from hand import one

from consumer.blocks import RECORDS
from ovsim import contract
from ovsim.contract.joints import D6, D6_INSTANCES, DISTANCE, JOINT_TYPES, PRISMATIC, REVOLUTE, SPHERICAL

_TRANS, _ROT = D6_INSTANCES[:3], D6_INSTANCES[3:6]
# spec 2.3, row by row: which instances a joint type reads
MATRIX = {
    "PhysicsLimitAPI": {D6: D6_INSTANCES},
    "PhysicsDriveAPI": {REVOLUTE: ("angular",), PRISMATIC: ("linear",), D6: D6_INSTANCES},
    "PhysicsJointStateAPI": {REVOLUTE: ("angular",), PRISMATIC: ("linear",), D6: _TRANS + _ROT},
    "PhysxLimitAPI": {REVOLUTE: ("angular",), PRISMATIC: ("linear",), SPHERICAL: ("cone",), DISTANCE: ("distance",), D6: D6_INSTANCES},
    "PhysxJointAxisAPI": {REVOLUTE: ("angular",), PRISMATIC: ("linear",), SPHERICAL: _ROT, D6: _ROT},
    "PhysxDrivePerformanceEnvelopeAPI": {REVOLUTE: ("angular",), PRISMATIC: ("linear",), D6: _ROT},
}
INSTANCES = ("angular", "linear", "cone", *D6_INSTANCES)
PLAIN = {"PhysxPhysicsDistanceJointAPI": (DISTANCE,), "PhysxJointAPI": JOINT_TYPES}
_COMPANION = {"PhysxLimitAPI": "PhysicsLimitAPI", "PhysxDrivePerformanceEnvelopeAPI": "PhysicsDriveAPI"}


def _columns(api, instance):
    """Every float column of an API with a value that no default has."""
    return {c.instance(instance): 3.5 for c in contract.load().component(api).columns if c.dtype == "float32"}


@pytest.mark.parametrize("api", MATRIX)
@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_spec_2_3_instance_matrix(kind, api):
    """spec 2.3: an instance changes the descriptor exactly where the matrix has it; 2.2: never when it is not listed."""
    read = MATRIX[api].get(kind, ())
    assert contract.load().instances(api, kind) == read
    for instance in INSTANCES:
        columns = _columns(api, instance)
        beside = [f"{_COMPANION[api]}:{instance}"] if api in _COMPANION else []
        bare = one(kind, columns, beside)
        assert (one(kind, columns, [*beside, f"{api}:{instance}"]) != bare) == (instance in read), instance
        if beside != [f"PhysicsLimitAPI:{instance}"]:
            assert bare == one(kind, {}, beside), instance


@pytest.mark.parametrize("api", PLAIN)
@pytest.mark.parametrize("kind", JOINT_TYPES)
def test_spec_2_3_plain_apis(kind, api):
    """spec 2.3: PhysxPhysicsDistanceJointAPI on a distance joint, PhysxJointAPI (at least its friction) on every type."""
    columns = _columns(api, "")
    bare = one(kind, columns)
    assert bare == one(kind)
    assert (one(kind, columns, [api]) != bare) == (kind in PLAIN[api])


def test_records_follow_the_contract():
    """spec 2.3: the blocks' record lists are the contract's, in its order."""
    load = contract.load()
    for kind, records in RECORDS.items():
        assert records["drive"] == load.instances("PhysicsDriveAPI", kind)
        assert records["state"] == load.instances("PhysicsJointStateAPI", kind)
        assert records["properties"] == load.instances("PhysxJointAxisAPI", kind)
        assert records["limit"] == load.instances("PhysxLimitAPI", kind)


@pytest.mark.parametrize(
    "listed", ["PhysicsDriveAPI", "PhysicsDriveAPI:", "PhysicsDriveAPI:angular:x", "physicsdriveapi:angular", "PhysicsDriveAPI:Angular"]
)
def test_spec_2_2_token_is_exact(listed):
    """spec 2.2: the token is the API's name and instance, nothing near it."""
    assert not one(REVOLUTE, {}, [listed])["drive"]["enabled"]
