"""Every example gives NumPy's bits, at sizes from a single element to many tiles, and runs as a script."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import examples
from gjit import demo, trace
from gjit.testing import assert_same_as_numpy

ROOT = Path(__file__).parent.parent
FILES = sorted(file.name for file in pkgutil.iter_modules(examples.__path__))
SIZES = [1, 64, 3_000, 700_000]
LARGE = 1090 * 1090
"""Rows of a length that tiles like, for grids without their borders."""
CHANGES_SHAPES = {"cube_root"}
"""Programs whose arrays shrink with every round: they are soon not planned any more."""
NEVER_TILED = {"hybrid_frontend.factorial", "nbody.energy"}
"""Numbers alone; distances that are combined with an outer product of their own."""


PROGRAMS = [
    pytest.param(compiled, plain, make_arguments, id=f"{file}.{plain.__name__}")
    for file in FILES
    for compiled, plain, make_arguments in importlib.import_module(f"examples.{file}").PROGRAMS
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("compiled", "plain", "make_arguments"), PROGRAMS)
def test_program_gives_the_bits_of_numpy(compiled, plain, make_arguments, size):
    assert compiled.__wrapped__ is plain
    assert_same_as_numpy(compiled, *make_arguments(size))


@pytest.mark.parametrize(("compiled", "plain", "make_arguments"), PROGRAMS)
def test_program_runs_without_the_interpreter(compiled, plain, make_arguments):
    before = compiled.statistics.host_calls
    compiled(*make_arguments(64))
    assert compiled.statistics.host_calls == before


@pytest.mark.parametrize(
    ("compiled", "plain", "make_arguments"), [program for program in PROGRAMS if program.id not in NEVER_TILED]
)
def test_large_arrays_run_tile_by_tile(compiled, plain, make_arguments):
    launches, fallbacks = compiled.statistics.launches, compiled.statistics.fallbacks
    compiled(*make_arguments(LARGE))
    assert compiled.statistics.launches > launches
    assert compiled.statistics.fallbacks == fallbacks or plain.__name__ in CHANGES_SHAPES


@pytest.mark.parametrize("file", [file for file in FILES if importlib.import_module(f"examples.{file}").PROGRAMS])
def test_example_runs_as_a_script(file):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{file}.py")],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) > 2


@pytest.fixture(scope="module")
def net():
    return demo.Net()


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.int16, np.uint8, np.float64, np.float32])
@pytest.mark.parametrize("x", demo.EXPECTED)
def test_hybrid_frontend_gives_the_known_values(net, x, kind):
    value = net(np.array(x, dtype=kind))
    assert value == demo.EXPECTED[x]
    assert type(value) is np.float32


def test_hybrid_frontend_traced_as_a_whole_takes_other_inputs_without_tracing_again(net):
    whole = trace(net, np.array(5))
    captures = whole.statistics.captures
    for x, expected in demo.EXPECTED.items():
        for kind in (np.int64, np.int16, np.float64):
            for sign in (1, -1):
                value, plain = whole(np.array(sign * x, dtype=kind)), net(np.array(sign * x, dtype=kind))
                assert value == expected
                assert type(value) is type(plain)
    assert whole.statistics.captures == captures


def test_normal_distribution_is_as_exact_as_its_source_says():
    special = pytest.importorskip("scipy.special")
    x = np.linspace(-8.0, 8.0, 4001)
    assert np.abs(demo.standard_normal_cdf(x) - special.ndtr(x)).max() < 7.5e-8


def test_black_scholes_prices_are_those_of_the_formula():
    special = pytest.importorskip("scipy.special")
    spot, strike, years, rate, volatility = demo.black_scholes_arguments(1000)
    call, put = demo.black_scholes(spot, strike, years, rate, volatility)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    discounted = strike * np.exp(-rate * years)
    assert np.abs(call - (spot * special.ndtr(d1) - discounted * special.ndtr(d2))).max() < 1e-5
    assert np.abs(put - (discounted * special.ndtr(-d2) - spot * special.ndtr(-d1))).max() < 1e-5
