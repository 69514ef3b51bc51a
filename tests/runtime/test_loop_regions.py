"""Loop regions on both CPU engines against plain NumPy."""

from __future__ import annotations

import warnings
from random import Random

import numpy as np
import pytest

import gjit
from gjit.runtime import native, tile_loop
from gjit.testing import assert_same_as_numpy
from tests.runtime import loop_programs as programs
from tests.runtime.random_loops import Loops, arguments_of, function_of
from tests.runtime.region_programs import special_values

HAS_COMPILER = native.is_available()
SIZE = 2 * 8192 + 117

pytestmark = pytest.mark.usefixtures("kernels", "short_tiles")


@pytest.fixture
def short_tiles(monkeypatch):
    """Loops of arrays of any size run tile by tile, in tiles as short as they may be."""
    monkeypatch.setattr(tile_loop, "MINIMUM_ELEMENTS", 1)
    monkeypatch.setattr(tile_loop, "TILE_BYTES", 1)


@pytest.fixture(params=["numpy", pytest.param("native", marks=pytest.mark.skipif(not HAS_COMPILER, reason="compiler"))])
def engine(request):
    return request.param


def compiled(function, engine):
    return gjit.script(function, engine=engine)


def check(function, engine, *arguments, launches=1):
    """One call does what NumPy does, bit by bit, as one launch of one region."""
    ours = compiled(function, engine)
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("always" if engine == "numpy" else "ignore")
        assert_same_as_numpy(ours, *arguments, check_warnings=engine == "numpy")
    counts = ours.statistics
    assert (counts.regions, counts.launches, counts.fallbacks) == (1, launches, 1 - launches)
    return ours


def values(dtype="f8", size=SIZE, seed=0):
    return np.random.default_rng(seed).standard_normal(size).astype(dtype)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("function", [programs.ode, programs.ode_in_place])
def test_a_differential_equation(function, dtype, engine):
    check(function, engine, values(dtype), 0.01, 20)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_mandelbrot(dtype, engine):
    check(programs.mandelbrot, engine, values(dtype), values(dtype, seed=1), 12)


def test_complex_numbers_keep_numpys_bits_on_numpy():
    c = values(seed=0) + 1j * values(seed=1)
    check(programs.complex_mandelbrot, "numpy", c, 9)
    check(programs.ode, "numpy", c * 0.1, 0.01 + 0.5j, 5)


@pytest.mark.skipif(not HAS_COMPILER, reason="needs a C++ compiler")
def test_complex_numbers_in_native_code():
    c = values(size=1003, seed=0) + 1j * values(size=1003, seed=1)
    ours = compiled(programs.complex_mandelbrot, "native")
    with np.errstate(all="ignore"):
        found, expected = ours(c, 4), programs.complex_mandelbrot(c, 4)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    assert found[1].dtype == expected[1].dtype
    assert (found[1] == expected[1]).mean() > 0.999
    assert ours.statistics.launches == 1


def test_parts_of_complex_numbers(engine):
    c = 0.1 * (values(size=3000, seed=0) + 1j * values(size=3000, seed=1))
    ours = compiled(programs.parts, engine)
    found, expected = ours(c, 4), programs.parts(c, 4)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    np.testing.assert_array_equal(found[1], expected[1])
    assert ours.statistics.launches == 1 or engine == "numpy"


def test_a_part_that_is_a_view_sees_what_is_written(engine):
    z = values(size=3000, seed=0) + 1j * values(size=3000, seed=1)
    np.testing.assert_allclose(compiled(programs.written_part, engine)(z.copy(), 3), programs.written_part(z.copy(), 3))


def test_numbers_of_each_turn(engine):
    y, arguments = values(size=4000), (0.25, 0.05, 9)
    ours = compiled(programs.runge_kutta, engine)
    found, expected = ours(y, *arguments), programs.runge_kutta(y, *arguments)
    assert found.tobytes() == expected.tobytes()
    assert (ours.statistics.launches, ours.statistics.host_calls) == (1, 0)


@pytest.mark.parametrize("function", [programs.oscillator])
def test_several_variables(function, engine):
    check(function, engine, values(), values(seed=1), 0.1, 15)


def test_casts(engine):
    check(programs.casts, engine, values(), 5)


@pytest.mark.parametrize("turns", [1, 2, 5, 6])
def test_variables_that_change_places(turns, engine):
    check(programs.fibonacci, engine, values(), values(seed=1), turns)


@pytest.mark.parametrize("turns", [1, 2, 3, 4, 6, 12])
def test_branches_breaks_and_continues_on_scalars(turns, engine):
    check(programs.branches, engine, values(), values(seed=1), turns)


@pytest.mark.parametrize("limit", [0.1, 1.2, 2.6])
def test_while_with_an_else(limit, engine):
    ours = compiled(programs.until, engine)
    assert_same_as_numpy(ours, values(), limit)
    assert ours.statistics.regions <= 1


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_loops_in_loops(turns, engine):
    check(programs.nested, engine, values(), turns, launches=1)


@pytest.mark.parametrize("function", [programs.ode, programs.ode_in_place])
def test_no_turns_give_the_array_that_came(function, engine):
    ours, x = compiled(function, engine), values()
    assert ours(x, 0.5, 0) is x
    assert (ours.statistics.launches, ours.statistics.fallbacks) == (0, 1)


@pytest.mark.parametrize("turns", [1, 2, 4])
def test_results_that_are_one_array_are_one_array(turns, engine):
    ours = check(programs.several_results_of_one_array, engine, values(), turns)
    x, y = ours(values(), turns)
    assert x is y


@pytest.mark.parametrize("turns", [1, 2, 4])
def test_an_array_of_the_turn_before(turns, engine):
    ours = check(programs.swapped, engine, values(), values(seed=1), turns)
    x = values()
    assert (ours(x, x, turns)[1] is x) == (turns == 1)


def test_results_into_a_given_array(engine):
    check(programs.into_buffer, engine, values(), np.empty(SIZE), 3)


def test_elements_of_arrays_as_numbers(engine):
    check(programs.weighted, engine, values(), values(size=7, seed=1), 7)


def test_numpy_scalars_as_numbers(engine):
    check(programs.fed_by_numpy_scalars, engine, values("f4"), 6)
    check(programs.fed_by_numpy_scalars, engine, values("f8"), 6)


@pytest.mark.parametrize("dtype", ["i8", "i4", "u2", "i1"])
def test_integers_wrap(dtype, engine):
    x = special_values(dtype, SIZE, 3)
    ours = compiled(programs.integers, engine)
    if dtype != "i1":
        assert_same_as_numpy(ours, x, 7)
        assert ours.statistics.launches == 1
    else:
        with pytest.raises(OverflowError):
            ours(x, 1)


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_variables_whose_dtype_the_first_turn_changes(turns, engine):
    check(programs.changing, engine, values(), turns)
    check(programs.complex_mandelbrot, "numpy", values("c16"), turns)


def test_variables_that_take_two_turns_to_settle_run_op_by_op(engine):
    ours = compiled(programs.changing, engine)
    assert_same_as_numpy(ours, np.arange(SIZE), 4)
    assert ours.statistics.launches == 0


def test_special_values_travel(engine):
    x = special_values("f8", SIZE, 5)
    ours = compiled(programs.ode, engine)
    with np.errstate(all="ignore"):
        assert_same_as_numpy(ours, x, 0.5, 6)
        assert_same_as_numpy(compiled(programs.mandelbrot, engine), x, special_values("f8", SIZE, 6), 6)
    assert ours.statistics.launches == 1


LAYOUTS = {
    "every other": lambda x: x[::2],
    "reversed": lambda x: x[::-1],
    "a plane": lambda x: x[:16000].reshape(40, 400),
    "transposed": lambda x: x[:16000].reshape(40, 400).T,
    "a window": lambda x: x[:16000].reshape(40, 400)[3:-1, 5:-7],
    "empty": lambda x: x[:0],
    "one element": lambda x: x[:1],
    "no axes": lambda x: x[0].reshape(()),
    "three axes": lambda x: x[:12000].reshape(20, 30, 20)[:, ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, engine):
    x = LAYOUTS[layout](values())
    for function in (programs.ode, programs.ode_in_place):
        ours = compiled(function, engine)
        assert_same_as_numpy(ours, x, 0.25, 3)
    if engine == "native":
        assert ours.statistics.launches == (layout not in ("reversed", "empty", "one element")) or not x.ndim


def test_operands_that_repeat(engine):
    x, row, column = values(size=12000).reshape(60, 200), values(size=200, seed=1), values(size=60, seed=2)[:, None]
    ours = compiled(programs.broadcast, engine)
    assert_same_as_numpy(ours, x, row, column, 4)
    assert ours.statistics.launches >= (engine == "native")


def test_variables_that_grow_in_the_first_turn_run_op_by_op(engine):
    x, row, column = np.zeros((1, 200)), values(size=200), values(size=60)[:, None]
    assert_same_as_numpy(compiled(programs.broadcast, engine), x, row, column, 4)


def test_variables_without_axes_beside_others_run_op_by_op(engine):
    ours = compiled(programs.without_axes, engine)
    for y in (np.array(0.5), values()):
        assert_same_as_numpy(ours, values(), y, 0.5, 3)


def test_what_is_written_is_read_under_another_name(engine):
    x = values(size=9000)
    for out in (x, x[:-1]):
        ours = compiled(programs.into_buffer, engine)
        assert_same_as_numpy(ours, x if out is x else x[1:], out, 2)


def test_arrays_that_may_not_be_written(engine):
    x = values()
    x.flags.writeable = False
    assert_same_as_numpy(compiled(programs.ode_in_place, engine), x, 0.5, 2)


def test_other_types_run_op_by_op(engine):
    ours = compiled(programs.ode, engine)
    assert_same_as_numpy(ours, values().astype(object), 0.5, 2)
    assert_same_as_numpy(ours, values().astype(">f8"), 0.5, 2)
    assert_same_as_numpy(ours, np.ma.masked_array(values(), values() > 0), 0.5, 2)
    assert ours.statistics.launches == 0


def test_exceptions_come_where_they_belong(engine):
    x, y = values(size=9000), values(size=9000, seed=1)
    ours = compiled(programs.dividing, engine)
    assert_same_as_numpy(ours, x, y, 3, check_warnings=engine == "numpy")
    assert_same_as_numpy(ours, x, y, 6)  # 3 - i becomes 0
    assert_same_as_numpy(ours, x, y, 2.5)
    assert_same_as_numpy(ours, x, y[:-1], 2)


@pytest.mark.parametrize("dtype", ["i8", "i4", "f8", "f4", "u8"])
def test_numbers_that_do_not_fit(dtype, engine):
    x = np.arange(9000).astype(dtype)
    for turns in (1, 3, 12, 30):
        assert_same_as_numpy(compiled(programs.large_numbers, engine), x, turns)


def test_each_op_of_each_turn_warns_once():
    x, y = values(), values(seed=1)
    x[::100], y[::70] = np.inf, 0.0
    ours = check(programs.dividing, "numpy", x, y, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            ours(x, y, 3)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        ours(x, y, 3)


def test_threads_change_nothing(engine, monkeypatch):
    x = values(size=400_000)
    ours = compiled(programs.ode, engine)
    with gjit.config(threads=1):
        alone = ours(x, 0.01, 30)
    with gjit.config(threads=4):
        together = ours(x, 0.01, 30)
    assert alone.tobytes() == together.tobytes() == programs.ode(x, 0.01, 30).tobytes()


def test_kernels_are_for_any_number_of_turns_and_any_numbers():
    ours = compiled(programs.branches, "native")
    x, y = values(size=900), values(size=900, seed=1)
    for turns in (9, 15, 20):
        assert_same_as_numpy(ours, x, y, turns)
    if HAS_COMPILER:
        region = ours.plan_for(x, y, 9).regions[0]
        assert len(region.programs()) == 1


def test_the_kernel_shows_the_loop():
    ours = compiled(programs.ode, "native")
    if HAS_COMPILER:
        ours(values(size=900), 0.5, 3)
        (text,) = ours.plan_for(values(size=900), 0.5, 3).regions[0].programs()
        assert "for (int64 turn = 0; turn < turns; ++turn)" in text
        assert "// x = x + dt * (x - x * x * x)" in text


def test_random_loops_on_numpy():
    ran = 0
    for seed in range(60):
        random = Random(seed)
        ours = compiled(function_of(Loops(random).source(), seed), "numpy")
        assert_same_as_numpy(ours, *arguments_of(random, 20010))
        ran += ours.statistics.launches > 0
    assert ran > 5


@pytest.mark.skipif(not HAS_COMPILER, reason="needs a C++ compiler")
def test_random_loops_in_native_code():
    ran = 0
    for seed in range(1000, 1012):
        random = Random(seed)
        ours = compiled(function_of(Loops(random).source(), seed), "native")
        arguments = arguments_of(random, 700)
        if any(isinstance(value, np.ndarray) and value.dtype.kind == "c" for value in arguments):
            continue  # products differ in the last place
        with np.errstate(all="ignore"):
            assert_same_as_numpy(ours, *arguments)
        ran += ours.statistics.launches > 0
    assert ran > 2
