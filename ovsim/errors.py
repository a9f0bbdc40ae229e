"""One exception per cause. Each message says what, where (file, prim path, column) and what to do."""

from __future__ import annotations


class OvsimError(Exception):
    """Base of everything that ovsim raises on purpose; the command line prints it without a traceback."""


class SourceError(OvsimError):
    """A stage file cannot be opened: missing, not USD, truncated, unreadable."""


class CrateError(SourceError):
    """A .usdc file is corrupt or hostile; `position` is the byte offset, -1 unknown, `file` the file, "" unknown."""

    def __init__(self, message: str, position: int = -1, file: str = "") -> None:
        where = f"{file} is not a readable USD stage: " if file else ""
        super().__init__(where + (f"{message} (byte {position})" if position >= 0 else message))
        self.message, self.position, self.file = message, position, file

    def of(self, file: str) -> CrateError:
        """The same error with the file's name, unless it has one."""
        return self if self.file else CrateError(self.message, self.position, file)


class SpoolError(OvsimError):
    """Columns that are to be kept on disk while a stage is populated cannot be written there."""


class SnapshotError(OvsimError):
    """A snapshot directory is incomplete, truncated, foreign or of an unsupported version."""


class ColumnError(OvsimError):
    """A column handed to the builder has the wrong type, lanes, length, or holds nulls."""


class PathError(OvsimError):
    """A path string is malformed, or a row lacks its ancestors."""


class ContractError(OvsimError):
    """The contract data names no such component, column or version."""


class TableError(OvsimError):
    """A table (Parquet, Arrow IPC) lacks what it needs: a path column of strings, distinct paths, columns of usable types."""


class DiffError(OvsimError):
    """Two things cannot be compared: unknown sides, no joint in common, no level that both have."""


class CustomJointError(OvsimError):
    """A custom joint type is no type name, or is one that the parser reads anyway."""


class RulesError(OvsimError):
    """An unknown rule set or switch."""


class BridgeError(OvsimError):
    """A stage cannot go into or come out of ovstage: not installed, another version, sealed ordinal, foreign ids, another contract."""
