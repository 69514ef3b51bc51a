"""Benchmarks of gjit against plain NumPy: `python -m bench --help`.

A workload is a file with `run(options)`, which yields measurements; `harness` has what they share.
"""
