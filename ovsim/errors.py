"""One exception per cause. Each message says what, where (file, prim path, column) and what to do."""

from __future__ import annotations


class OvsimError(Exception):
    """Base of everything that ovsim raises on purpose; the command line prints it without a traceback."""


class SourceError(OvsimError):
    """A stage file cannot be opened: missing, not USD, truncated, unreadable."""


class CrateError(SourceError):
    """A .usdc file is corrupt, hostile or beyond what the columnar reader proves; `position` is the byte offset, -1 unknown."""

    def __init__(self, message: str, position: int = -1) -> None:
        super().__init__(f"{message} (byte {position})" if position >= 0 else message)
        self.position = position


class SnapshotError(OvsimError):
    """A snapshot directory is incomplete, truncated, foreign or of an unsupported version."""


class ColumnError(OvsimError):
    """A column handed to the builder has the wrong type, lanes, length, or holds nulls."""


class PathError(OvsimError):
    """A path string is malformed, or a row lacks its ancestors."""


class ContractError(OvsimError):
    """The contract data names no such component, column or version."""


class RulesError(OvsimError):
    """An unknown rule set or switch."""
