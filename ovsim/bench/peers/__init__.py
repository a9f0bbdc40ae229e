"""Peers: scripts that stand alone, each run by the Python of its own environment, with one stage file as their argument.

Each prints one line `@@{...}` with `seconds` by step, `joints`, `versions` and `peak_bytes`, and imports nothing of ovsim.
"""
