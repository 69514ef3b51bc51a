"""Reductions on the native engine: along any axes, of any dtype and layout, with what uses their results."""

from __future__ import annotations

import linecache
import warnings

import numpy as np
import pytest

import gjit
from gjit.runtime import native

pytestmark = [
    pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler"),
    pytest.mark.usefixtures("kernels"),
]

BOUNDS = {"e": 2e-2, "f": 1e-4, "d": 1e-11, "F": 1e-4, "D": 1e-11}


def values(dtype, shape, seed=0):
    random, kind = np.random.default_rng(seed), np.dtype(dtype)
    if kind.kind == "b":
        return random.random(shape) < 0.5
    if kind.kind in "iu":
        return random.integers(0, 5, shape).astype(kind)
    found = random.standard_normal(shape) + (1j * random.standard_normal(shape) if kind.kind == "c" else 0)
    return found.astype(kind)


LAYOUTS = {
    "C": lambda x: x.copy(),
    "F": np.asfortranarray,
    "every other row": lambda x: np.repeat(x, 2, 0)[::2],
    "every other column": lambda x: np.repeat(x, 2, 1)[:, ::2],
}


def check(function, *inputs, launches=True):
    """The same kinds, dtypes, shapes, strides and exceptions as NumPy's, and values within the bound of the dtype."""
    compiled = gjit.script(function, engine="native")
    ours, theirs = (list(map(_copy, inputs)) for _ in range(2))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected, found = _outcome(function, theirs), _outcome(compiled, ours)
    bound = max(BOUNDS.get(np.asarray(each).dtype.char, 0) for each in inputs)
    assert_near((found, *ours), (expected, *theirs), bound)
    assert not launches or compiled.statistics.launches == 1, compiled.code
    return compiled


def _copy(value):
    """A copy with the same strides."""
    if value.flags.forc:
        return value.copy(order="K")
    base = value.base.copy()
    return np.ndarray(value.shape, value.dtype, base, 0, value.strides)


def _outcome(function, inputs):
    try:
        return function(*inputs)
    except Exception as error:
        return type(error), str(error)


def assert_near(found, expected, bound):
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        for pair in zip(found, expected, strict=True):
            assert_near(*pair, bound)
    elif isinstance(expected, np.ndarray | np.generic):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        assert found.strides == expected.strides
        own = max(bound, BOUNDS.get(expected.dtype.char, 0)) if expected.dtype.kind in "fc" else 0
        np.testing.assert_allclose(found, expected, rtol=own, atol=own)
    else:
        assert found == expected


NUMBERS = "sum prod max min mean var std any all argmax argmin count_nonzero ptp nansum nanprod".split()
AXES = {
    "all": {},
    "first": {"axis": 0},
    "last": {"axis": -1},
    "first, kept": {"axis": 0, "keepdims": True},
    "last, kept": {"axis": 1, "keepdims": True},
    "all, kept": {"keepdims": True},
}


def reducing(names, axes):
    """A function of all these reductions of a product."""
    arguments = "".join(f", {key}={value!r}" for key, value in axes.items())
    calls = ", ".join(f"np.{name}(z{arguments})" for name in names)
    text = f"def reduce(x, y):\n    z = x * y\n    return {calls}\n"
    file, namespace = f"<{calls}>", {"np": np}
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), namespace)
    return namespace["reduce"]


DTYPES = ["f8", "f4", "i4", "?", "f2", "u1", "i8"]
PRODUCTS = [(axes, dtype) for place, axes in enumerate(AXES) for dtype in (DTYPES * 2)[place : place + 2]]


@pytest.mark.parametrize(("axes", "dtype"), PRODUCTS)
def test_reductions_of_a_product(axes, dtype):
    layout = list(LAYOUTS.values())[DTYPES.index(dtype) % 4]
    x, y = (layout(values(dtype, (37, 53), seed)) for seed in range(2))
    left_out = {"ptp"} if dtype == "?" else set()
    left_out |= {"argmax", "argmin"} if axes == "all, kept" else set()
    names = [name for name in NUMBERS if name not in left_out]
    check(reducing(names, AXES[axes]), x, y)


def centred(x):
    return x - x.mean()


def standardised(x):
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 0.5)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum(), e


def softmax_of_columns(x):
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(axis=0)


def in_place(x):
    x -= x.mean()
    x /= x.std() + 1
    return x.max(axis=0)


def in_place_by_columns(x):
    x -= x.mean(axis=0)
    return x


def two_axes(x):
    rows = (x * 2).sum(axis=1)
    return rows + x.max(axis=1), rows.max(), (x * 2).sum(axis=0)


def normalised(x):
    total = (x * 2).sum(axis=1, keepdims=True)
    return x / (abs(total) + 1), total


def variance_by_hand(x):
    return ((x - x.mean(axis=0, keepdims=True)) ** 2).mean()


def masked(x):
    return np.sum(x * 2, where=x > 0), np.sum(x * 2, axis=0, where=x > 0), np.max(x, axis=1, where=x < 2, initial=-3)


def begun(x):
    return np.sum(x * 2, axis=1, initial=4), np.prod(x * 0.5, initial=2), np.min(x * 2, axis=0, initial=-1)


def cast(x):
    return (
        np.sum(x * 2, dtype="f8"),
        np.mean(x * 2, axis=0, dtype="f8"),
        np.var(x + 1, axis=1, ddof=1),
        np.std(x, ddof=2),
    )


def outer_product(x):
    rows = (x * 1).sum(axis=1)
    return rows[:, None] * rows[None, :], rows


def weighted(x):
    weights = (x * x).sum(axis=-1)
    weights = weights / weights.sum()
    return weights * 2, (weights[:, None] * x).sum(axis=0)


def scaled_in_place(x):
    x *= 1 / (x.std() + 1)
    x += x.max(axis=0)
    return x.sum()


def across(x):
    top = (x * 1).max(axis=0)
    return x - top, (x.T * 2).sum(axis=0) + top.sum()


def stored(x):
    x[1:-1] = x[:-2] + x[2:] + x.sum(axis=0)
    return x * 1


PROGRAMS = [
    *(outer_product, weighted, scaled_in_place, across, stored),
    *(centred, standardised, softmax, softmax_of_columns, in_place, in_place_by_columns, two_axes, normalised),
    *(variance_by_hand, masked, begun, cast),
]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("layout", ["C", "F", "every other column"])
def test_programs_that_use_results(program, layout):
    needs_c = program in (scaled_in_place, stored) and layout != "C"  # what is kept for later lies in C order
    check(program, LAYOUTS[layout](values("f8", (61, 47))), launches=not needs_c)


@pytest.mark.parametrize("program", [centred, standardised, two_axes])
@pytest.mark.parametrize("dtype", ["f4", "f2", "i2", "c16"])
def test_programs_of_other_dtypes(program, dtype):
    check(program, values(dtype, (61, 47)), launches=dtype != "c16")


def complex_sums(x):
    product = x * 2
    return product.sum(), product.mean(), product.sum(axis=0), product.mean(axis=1), product.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_sums(dtype):
    check(complex_sums, values(dtype, (40, 30)))


def pairs(points, weights):
    difference = points[:, None, :] - points[None, :, :]
    squares = (difference * difference).sum(axis=-1) + 0.01
    weight = weights / (squares * np.sqrt(squares))
    pull = (difference * weight[..., None]).sum(axis=1)
    return points + pull * 0.1, squares.max(), squares


@pytest.mark.parametrize("width", [2, 3, 4, 5, 7])
def test_pairs_of_points(width):
    check(pairs, values("f8", (50, width)), values("f8", 50, 1))


def lengths(points):
    return np.sqrt((points * points).sum(axis=-1)), points / np.sqrt((points**2).sum(axis=1, keepdims=True) + 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("width", [2, 3, 4])
def test_rows_with_few_elements(layout, width):
    check(lengths, LAYOUTS[layout](values("f8", (500, width))))


def middle(x):
    return (x * 2).sum(axis=1), x.max(axis=(0, 2)), (x + 1).mean(axis=(1, 2)), (x * x).sum(axis=(0, 1), keepdims=True)


@pytest.mark.parametrize("order", "CF")
def test_axes_in_the_middle(order):
    check(middle, np.asarray(values("f8", (12, 15, 17)), order=order))


def places(x):
    return np.argmax(x * 2, axis=0), np.argmin(x * 2, axis=-1), np.argmax(x * 2), np.argmin(x + 0.0)


@pytest.mark.parametrize("special", [[], [np.nan], [np.nan, np.inf], [-np.inf, np.inf], [-0.0, 0.0]])
def test_first_places(special):
    x = np.round(values("f8", (40, 3000)), 1)
    for place, value in enumerate(special):
        x.flat[7 + place :: 1013] = value
    check(places, x)
    check(places, x.T)


def extremes(x):
    return (x * 2).max(axis=0), (x * 2).min(axis=1), x.max(), np.ptp(x * 2, axis=0), (x > 0).any(axis=0), (x > 0).all()


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_extremes_see_what_is_not_finite(special):
    x = values("f8", (300, 41))
    x[150, 20] = special
    check(extremes, x)


def total_of_zeros(x):
    return (x * 1).sum(), (x * 1).sum(axis=0), (x * 1).mean(axis=1), (x[:, :3] * 1).sum(axis=1)


def test_sums_of_negative_zeros():
    found = gjit.script(total_of_zeros, engine="native")(np.full((300, 40), -0.0))
    expected = total_of_zeros(np.full((300, 40), -0.0))
    for left, right in zip(found, expected, strict=True):
        assert np.array_equal(np.signbit(left), np.signbit(right))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
@pytest.mark.parametrize("name", ["max", "sum", "mean", "argmax"])
def test_empty_arrays_are_numpys(name, shape):
    check(reducing([name], {"axis": 0}), np.zeros(shape), np.zeros(shape), launches=False)
    check(reducing([name], {}), np.zeros(shape), np.zeros(shape), launches=False)


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_variances_are_as_accurate_as_in_two_passes(name, offset):
    x = np.random.default_rng(0).random(100_003) + offset
    function = reducing([name], {})
    found = gjit.script(function, engine="native")(x, np.ones_like(x))
    exact = getattr(np, name)(x.astype("g"))
    assert abs(found - exact) <= 1e-12 * exact + abs(function(x, np.ones_like(x)) - exact)


def test_places_along_several_axes_that_stay_are_numpys():
    x = LAYOUTS["every other column"](values("f8", (37, 53)))
    check(reducing(["argmax"], AXES["all, kept"]), x, x, launches=False)


def alone(x):
    return np.std(x)


def alone_by_rows(x):
    return x.var(axis=1)


@pytest.mark.parametrize("function", [alone, alone_by_rows])
def test_one_operation_for_which_numpy_is_slow_is_a_region(function):
    assert check(function, values("f8", (50, 60))).statistics.regions == 1


@pytest.mark.parametrize("function", [standardised, softmax_of_columns, two_axes, pairs])
def test_threads_give_the_same_bits(function, monkeypatch):
    monkeypatch.setattr("gjit.runtime.native_kernel.THREADED_WORK", 1)
    inputs = [values("f4", (400, 3)), values("f4", 400)] if function is pairs else [values("f4", (91, 1037))]
    found = []
    for count in (1, 3):
        with gjit.config(threads=count):
            results = gjit.script(function, engine="native")(*inputs)
            results = results if isinstance(results, tuple) else (results,)
            found.append([np.asarray(each).tobytes() for each in results])
    assert found[0] == found[1]
