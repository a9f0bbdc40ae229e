"""Where a value came from, kept beside the columns for people (ARCHITECTURE, "Stage"); the consumer never sees it.

A property of a prim is in one of these states at the default time; its state, not its value, decides what the row shows:

| state | means | the row shows |
|---|---|---|
| `DEFAULT` | a default value is authored | that value, as AUTHORED |
| `SAMPLES` | only time samples | the fallback (rule 10), never a derived value (rule 11) |
| `EMPTY` | authored without any value (a connection, a comment) | the derived value, else the fallback |
| `BLOCKED` | `= None` | the derived value, else nothing (rule 8) |
| `HIDDEN` | `= None` and time samples | nothing |
"""

from __future__ import annotations

from ovsim.stage import AUTHORED, DERIVED, FALLBACK

DEFAULT, SAMPLES, EMPTY, BLOCKED, HIDDEN = "default", "samples", "empty", "blocked", "hidden"

__all__ = ["AUTHORED", "BLOCKED", "DEFAULT", "DERIVED", "EMPTY", "FALLBACK", "HIDDEN", "SAMPLES"]
