"""Fields by name: what composition and population read, what they may ignore, and that anything else is left to the composed route.

The lists are facts of the Sdf schema (the fields that pxr registers for prims, properties and layers).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

I32 = npt.NDArray[np.int32]

UNKNOWN, IGNORED = -1, -2


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# slots of a prim's fields
PRIM_SLOTS = (
    "specifier",
    "typeName",
    "active",
    "instanceable",
    "apiSchemas",
    "references",
    "payload",
    "inheritPaths",
    "specializes",
    "variantSelection",
    "primChildren",
    "primOrder",
    "properties",
    "customData",
    "subLayers",
    "subLayerOffsets",
    "defaultPrim",
    "upAxis",
    "metersPerUnit",
    "kilogramsPerUnit",
)
SLOT = {name: i for i, name in enumerate(PRIM_SLOTS)}
PRIM_IGNORED = _words(
    """
    accessibility assetInfo comment customLayerData displayGroupOrder displayName documentation endFrame endTimeCode framePrecision
    framesPerSecond hasOwnedSubLayers hidden kind owner playbackMode prefix propertyOrder providesUsdShadeConnectableAPIBehavior
    renderSettingsPrimPath sdrMetadata sessionOwner startFrame startTimeCode suffix timeCodesPerSecond uiHints variantSetChildren
    variantSetNames autoPlay colorConfiguration colorManagementSystem colorSpace colorSpaceConfiguration isPlayable omniverse:streaming
    hide_in_stage_window no_delete
    """
)

# slots of a property's fields
DEFAULT, TARGETS, SAMPLES, TYPE_NAME = range(4)
PROPERTY_SLOT = {"default": DEFAULT, "targetPaths": TARGETS, "timeSamples": SAMPLES, "spline": SAMPLES, "typeName": TYPE_NAME}
PROPERTY_IGNORED = _words(
    """
    allowedTokens arraySizeConstraint assetInfo bindMaterialAs colorManagementSystem colorSpace comment connectability connectionChildren
    connectionPaths constraintTargetIdentifier custom customData displayGroup displayName displayUnit documentation elementSize hidden
    inbetween interpolation limits noLoadHint outputName prefix renderType sdrMetadata suffix symmetricPeer symmetryArguments
    symmetryFunction targetChildren uiHints unauthoredValuesIndex uncomposedTargets unitMultiplier variability weight
    """
)


def slots(index: Mapping[str, int], slot: Mapping[str, int], ignored: frozenset[str], count: int) -> I32:
    """Slot number by token index, shape (count,): a slot, `IGNORED` or `UNKNOWN`. `index`: token to its index."""
    out = np.full(count, UNKNOWN, np.int32)
    out[[index[t] for t in ignored if t in index]] = IGNORED
    for name, number in slot.items():
        if name in index:
            out[index[name]] = number
    return out
