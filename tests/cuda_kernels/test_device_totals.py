"""Kernels that reduce all elements, emulated, against NumPy: every way, dtype, size and order of blocks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gjit.cuda_kernels.device_layout import Finish
from gjit.cuda_kernels.program import Combine, KernelProgram, Level, Output, Reduction
from tests.cuda_kernels.device_cases import Case, array_of, emulated, guarded, moved, reference, run, same_bits
from tests.cuda_kernels.support import COMPILER, edges
from tests.cuda_kernels.test_device_elementwise import LAYOUTS, operation

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no g++")

WAYS = (Combine.SUM, Combine.PRODUCT, Combine.MAXIMUM, Combine.MINIMUM, Combine.FIRST_MAXIMUM, Combine.FIRST_MINIMUM)
KINDS = ("i1", "u1", "i4", "u8", "i8", "f4", "f8")
SIZES = (1, 2, 31, 255, 257, 2047, 2049, 5000, 70_001)
SHAPES = ((3, 5), (200, 3), (2, 700), (3, 4, 5), (2, 3, 2, 7))


def total(way, dtype, name="total") -> Reduction:
    dtype = np.dtype(dtype)
    return Reduction(name, np.dtype("i8") if way.is_place else dtype, way, "x", dtype, Level.LAUNCH)


def whole_numbers(shape, dtype, seed) -> np.ndarray:
    """Small numbers, whose sums and products are exact in any order."""
    values = np.random.default_rng(seed).integers(0, 3, shape)
    return values.astype(dtype)


def case_of(x: np.ndarray, ways=WAYS, finishes=()) -> Case:
    steps = tuple(total(way, x.dtype, f"r{place}") for place, way in enumerate(ways))
    program = KernelProgram("region", x.ndim, (array_of("x", x),), (), steps, ())
    return Case(program, x.shape, {"x": x}, {}, finishes=finishes)


def wanted(case: Case) -> dict[str, np.generic]:
    x = case.arrays["x"]
    ways = {Combine.FIRST_MAXIMUM: np.argmax, Combine.FIRST_MINIMUM: np.argmin}
    plain = {
        Combine.SUM: np.add,
        Combine.PRODUCT: np.multiply,
        Combine.MAXIMUM: np.maximum,
        Combine.MINIMUM: np.minimum,
    }
    found = {}
    for step in case.program.totals:
        if step.combine.is_place:
            found[step.result] = ways[step.combine](x)
        else:
            found[step.result] = plain[step.combine].reduce(x, axis=None, dtype=x.dtype)
    return found


def check(unit, case: Case, order: int = 0) -> None:
    got, right = run(unit, case, order), wanted(case)
    for step in case.program.totals:
        value = got[step.result]["place"] if step.combine.is_place else got[step.result]
        assert same_bits(np.asarray(value), np.asarray(right[step.result], value.dtype)), (step.combine, value)


CASES = [case_of(moved(whole_numbers(2500, kind, 1), place % 2)) for place, kind in enumerate(KINDS)]
CASES += [
    case_of(LAYOUTS[name](moved(whole_numbers(shape, ("i8", "f4")[place % 2], 2), 0)), (WAYS[0], WAYS[4]))
    for place, (shape, name) in enumerate(
        itertools.product(SHAPES, ("line", "every_other", "backwards", "rows_of_one"))
    )
]


@pytest.fixture(scope="module")
def unit():
    return emulated(CASES)


@pytest.mark.parametrize("place", range(len(CASES)))
def test_totals_are_those_of_numpy(unit, place):
    for order in (0, 1, 5):
        check(unit, CASES[place], order)


@pytest.mark.parametrize("place", range(len(KINDS)))
def test_one_kernel_serves_every_size(unit, place):
    for size in SIZES:
        case = case_of(moved(whole_numbers(size, KINDS[place], size), place % 2))
        case.kernel = CASES[place].kernel
        check(unit, case, order=size % 3)


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_the_first_nan_and_the_first_of_equals_are_found(unit, kind):
    place = KINDS.index(kind)
    for size, where in ((3000, (2900, 17)), (3000, (1500,)), (40, (39,)), (3000, ())):
        x = moved(whole_numbers(size, kind, 3), place % 2)
        x[list(where)] = np.nan
        case = case_of(x)
        case.kernel = CASES[place].kernel
        check(unit, case, order=2)


@pytest.mark.parametrize("kind", KINDS)
def test_extreme_values(unit, kind):
    place = KINDS.index(kind)
    values = edges(np.dtype(kind))
    values = values[~np.isnan(values)]
    for x in (values, values[:1], values[-1:], values.min(keepdims=True), values.max(keepdims=True)):
        case = case_of(moved(x, place % 2), WAYS)
        case.kernel = CASES[place].kernel
        with np.errstate(all="ignore"):
            got, right = run(unit, case), wanted(case)
        for step in case.program.totals[2:]:
            value = got[step.result]["place"] if step.combine.is_place else got[step.result]
            assert value == right[step.result], step.combine


def test_the_sum_of_negative_zeros_is_the_positive_one(unit):
    place = KINDS.index("f8")
    for x in ([-0.0], [-0.0] * 3000, [-0.0, 0.0]):
        case = case_of(moved(np.array(x), place % 2))
        case.kernel = CASES[place].kernel
        assert np.signbit(run(unit, case)["r0"]) == np.signbit(np.sum(x))


def test_the_sum_of_nothing_is_zero(unit):
    case = case_of(np.empty(0))
    case.kernel = CASES[KINDS.index("f8")].kernel
    got = run(unit, case)
    assert got["r0"] == 0
    assert not np.signbit(got["r0"])
    assert got["r1"] == 1


def test_sums_are_as_close_as_pairwise_ones():
    x = moved(np.random.default_rng(0).standard_normal(300_000).astype("f4") + np.float32(10), 0)
    case = case_of(x, (Combine.SUM, Combine.DEVIATION))
    unit = emulated([case])
    results = [run(unit, case, order) for order in (0, 1, 7)]
    exact = x.astype("f8")
    assert len({result["r0"].tobytes() + result["r1"].tobytes() for result in results}) == 1
    assert abs(results[0]["r0"] / exact.sum() - 1) < 3e-7
    assert abs(results[0]["r1"]["squares"] / (exact.var() * x.size) - 1) < 3e-6
    assert results[0]["r1"]["count"] == x.size


def test_alignment_changes_no_bit_of_a_sum():
    values = np.random.default_rng(1).standard_normal(100_000).astype("f4")
    cases = [case_of(moved(values, offset), (Combine.SUM,)) for offset in (0, 1)]
    unit = emulated(cases)
    assert cases[0].kernel.text.replace("k0", "k1") != cases[1].kernel.text
    assert run(unit, cases[0])["r0"].tobytes() == run(unit, cases[1])["r0"].tobytes()


def test_totals_are_finished_on_the_device():
    x = moved(np.random.default_rng(2).standard_normal(5000), 0)
    finishes = (
        ("r0", Finish(np.dtype("f4"), is_mean=True)),
        ("r1", Finish(np.dtype("f8"), is_mean=True, lost=1, is_root=True)),
        ("r2", Finish(np.dtype("i8"))),
    )
    case = case_of(x, (Combine.SUM, Combine.DEVIATION, Combine.FIRST_MAXIMUM), finishes)
    got = run(emulated([case]), case)
    assert [got[f"r{place}"].dtype for place in range(3)] == ["f4", "f8", "i8"]
    assert np.isclose(got["r0"], x.mean(), rtol=1e-6)
    assert np.isclose(got["r1"], x.std(ddof=1), rtol=1e-12)
    assert got["r2"] == x.argmax()


def test_what_makes_the_elements_is_written_on_the_way():
    x = moved(whole_numbers((70, 33), "f8", 4), 0)
    out = guarded(x.shape, "f8")
    steps = (
        operation("square", "numpy.multiply", ("x", "x"), ("f8",) * 3),
        Reduction("total", np.dtype("f8"), Combine.SUM, "square", np.dtype("f8"), Level.LAUNCH),
    )
    outputs = (Output(array_of("out", out), "square"),)
    program = KernelProgram("region", 2, (array_of("x", x),), (), steps, outputs)
    case = Case(program, x.shape, {"x": x}, {"out": out})
    got = run(emulated([case]), case, order=3)
    assert got["total"] == (x * x).sum()
    assert same_bits(out, reference(case)["out"])
