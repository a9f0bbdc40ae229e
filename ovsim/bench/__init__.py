"""Benchmark suite: synthetic stages, phases, peers in processes of their own, reports. `ovsim bench` is its command."""
