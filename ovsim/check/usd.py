"""For USD stages: what OpenUSD's own physics validators say (`pxr.UsdValidation`)."""

from __future__ import annotations

import os

from ovsim.diagnostics import Diagnostics
from ovsim.errors import SourceError

_KEYWORDS = ("UsdPhysicsValidators",)


def validate(file: str | os.PathLike[str], out: Diagnostics) -> None:
    """Append one `usd-validator` row a finding: its validator and error name, the first site's path. SourceError when the stage cannot be opened."""
    from pxr import UsdValidation

    from consumer.usd.source import open_stage

    stage = open_stage(file)
    registry = UsdValidation.ValidationRegistry()
    validators = registry.GetOrLoadValidatorsByName([m.name for m in registry.GetValidatorMetadataForKeywords(list(_KEYWORDS))])
    for error in UsdValidation.ValidationContext(validators).Validate(stage):
        if error.HasNoError():
            continue
        severity = "error" if error.GetType() == UsdValidation.ValidationErrorType.Error else "warning"
        sites = error.GetSites()
        path = _path(sites[0]) if sites else ""
        out.add("usd-validator", severity, f"{error.GetMessage()} [{error.GetIdentifier()}]", path)


def _path(site: object) -> str:
    prim = site.GetPrim() if site.IsPrim() else None  # type: ignore[attr-defined]
    if prim:
        return str(prim.GetPath())
    found = site.GetProperty() if site.IsProperty() else None  # type: ignore[attr-defined]
    return str(found.GetPath()) if found else ""


__all__ = ["SourceError", "validate"]
