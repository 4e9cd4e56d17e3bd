"""Benchmarks: protolearn and its peers on the same data in one run; start them with ``python -m benchmarks``."""
