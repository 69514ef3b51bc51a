"""Loop nests on drawn arguments, and drawn loop nests: native code does what Python does, errors included."""

from __future__ import annotations

import importlib.util
import itertools
import linecache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import event, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import gjit
from gjit import settings
from gjit.runtime import nest_region
from gjit.runtime.compiler import find_compiler
from gjit.testing import assert_same_as_numpy
from tests.semantics.random_nests import NestWriter, arguments

pytestmark = [
    pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
_number = itertools.count()


def bounded(x, y, n, k, step):
    """Bounds and steps of ranges, indices from both ends, what is written before an error."""
    s = 0
    for i in range(k, n, step):
        s += x[i]
        y[i - k] = s * 0.5
        for j in range(i, k, -1):
            y[j] -= x[-j]
    else:
        s += 1
    return s


def sliced(x, y, n, k, step):
    """Slices that move, that are clipped, that overlap."""
    m = 0.0
    for i in range(n):
        x[i : i + k] += y[k : k + k] - x[i] if i % 2 else 1
        y[i:] = x[: len(x) - i]
        y[::-2] -= y[k : k + 1].sum()
        m = max(m, x[k:].sum())
    return m


def searched(x, y, n, k, step):
    """Conditions, early exits, a `while` inside a `for`."""
    found = None
    count = 0
    for i, value in enumerate(x):
        if value > n and not y[i] < k:
            found = i
            break
        if value == k or i == n:
            continue
        left = i
        while left > 0 and y[left] > value:
            y[left] = y[left - 1]
            left -= max(step, 1)
            count += 1
    return found, count


def grown(x, y, n, k, step):
    """Integers that leave 64 bits, NumPy integers that overflow, divisions by zero."""
    p, q = k, y[0]
    for i in range(len(x)):
        p = p * (n + i) + step
        q = q * y[i] - k
        y[i] = q // step + p % (i + 1)
    return p, q


PROGRAMS = [bounded, sliced, searched, grown]
NUMBERS = st.integers(-3, 9)
VALUES = st.sampled_from([0.0, -0.0, 1.0, -2.5, 3.0, 7.25, np.nan, np.inf, -np.inf, 1e308, 5e-324])
INTEGERS = st.integers(-128, 127)


@pytest.fixture(scope="module", autouse=True)
def _native(tmp_path_factory):
    """Nests run natively however small their arrays are; kernels are kept in a folder of the test run."""
    before, nest_region.LEAST_ELEMENTS = nest_region.LEAST_ELEMENTS, 0
    with settings.config(cache_dir=str(tmp_path_factory.getbasetemp() / "kernels")):
        yield
    nest_region.LEAST_ELEMENTS = before


@pytest.fixture(scope="module")
def compiled():
    return {program: gjit.script(program, engine="native") for program in PROGRAMS}


@st.composite
def two_arrays(draw):
    """Two arrays that are apart, the same, or overlap."""
    kind = draw(st.sampled_from([np.float64, np.int8]))
    size = draw(st.integers(0, 8))
    values = draw(st.lists(VALUES if kind is np.float64 else INTEGERS, min_size=size + 3, max_size=size + 3))
    memory = np.array(values, kind)
    x = memory[:size]
    others = [memory[1 : size + 1], x, x[::-1], memory[3:], np.array(values[: size + 1], kind)]
    return x, others[draw(st.integers(0, 4))]


@pytest.mark.parametrize("program", PROGRAMS)
@hypothesis_settings(max_examples=60)
@given(arrays=two_arrays(), n=NUMBERS, k=NUMBERS, step=st.sampled_from([1, 2, -1, 0, 1 << 40]))
@example(arrays=(np.arange(6.0), np.arange(6.0)), n=4, k=1, step=1)
def test_nests_on_drawn_arguments(compiled, program, arrays, n, k, step):
    assert_same_as_numpy(compiled[program], *arrays, n, k, step, plain=program)


def test_drawn_arguments_reach_native_code(compiled):
    x = np.arange(6.0)
    for program in PROGRAMS:
        before = compiled[program].statistics.launches
        compiled[program](x.copy(), x + 1.0, 4, 1, 1)
        assert compiled[program].statistics.launches > before


def load(text: str, folder: Path):
    """The function `nest` of a new file with this text."""
    path = folder / f"random_nest_{next(_number)}.py"
    path.write_text("import numpy as np\n\n\n" + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    linecache.checkcache(str(path))
    return module.nest


def run(seed: int, folder: Path) -> int:
    """Compare a random nest with Python on some arguments; how many calls ran natively."""
    program = load(NestWriter(seed).text(), folder)
    native = gjit.script(program, engine="native")
    for each in range(6):
        assert_same_as_numpy(native, *arguments(6 * seed + each), plain=program)
    return native.statistics.launches


@pytest.mark.parametrize("seed", range(8))
def test_random_nests(seed, tmp_path):
    run(seed, tmp_path)


@pytest.mark.slow
@hypothesis_settings(max_examples=2000)
@given(st.integers(8, 1 << 30))
def test_many_random_nests(tmp_path_factory, seed):
    event(f"calls that ran natively: {run(seed, tmp_path_factory.mktemp('nests'))}")
