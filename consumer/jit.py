"""The kernel decorators of `ovsim.jit`, under the name by which this package knows them."""

from ovsim.jit import at, kernel, ranged, readonly, rule, serial

__all__ = ["at", "kernel", "ranged", "readonly", "rule", "serial"]
