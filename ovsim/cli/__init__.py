"""The commands. Each module of this package is one command; heavy imports wait until a command runs."""

from ovsim.cli.app import main

__all__ = ["main"]
