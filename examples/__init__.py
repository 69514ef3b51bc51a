"""Programs to read and run: `python examples/NAME.py`.

Each holds `PROGRAMS`, a list of (compiled function, plain function, make_arguments): `make_arguments(size)` gives
arguments that hold about `size` elements. The tests compare every program with plain NumPy bit by bit; the benchmarks
time them.
"""
