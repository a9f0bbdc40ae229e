"""What the columnar reader leaves to the composed route."""

from __future__ import annotations

from ovsim.errors import CrateError


class Unprovable(CrateError):  # noqa: N818 - no fault of the file
    """The file is sound but holds something whose result the columnar reader cannot prove; `reason` says what."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the columnar reader cannot prove its result: {reason}; use route auto or composed")
        self.reason = reason

    def of(self, file: str) -> Unprovable:
        """Itself: the reason names its places."""
        return self
