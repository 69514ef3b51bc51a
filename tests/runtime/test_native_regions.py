"""Regions on the native engine against their twins: kernel shapes, writes, numbers, threads, what NumPy has to run."""

from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest

from gjit import settings
from gjit.runtime import compiler, native, native_kernel, native_region
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.tiles import TiledRegion
from tests.runtime.native_programs import NativeProgram, assert_alike, assert_values, check_native
from tests.runtime.region_programs import chain, copies, in_place, risky, special_values

pytestmark = [
    pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler"),
    pytest.mark.usefixtures("kernels"),
]

FLOATS = ["f4", "f8"]


def values(dtype, *shape, seed=0):
    return special_values(dtype, int(np.prod(shape)), seed).reshape(shape)


def tame(dtype, *shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def ran(program) -> bool:
    return all(region.tiled > 0 and region.fallbacks == 0 for region in program.regions)


def hypotenuse(nodes, x, y):
    squares = nodes("operator.add", nodes("operator.mul", x, x), nodes("operator.mul", y, y))
    return [nodes("numpy.sqrt", squares), nodes("operator.lt", x, y)]


def softmax(nodes, x):
    e = nodes("numpy.exp", nodes("operator.sub", x, nodes("numpy.max", x, axis=-1, keepdims=True)))
    return [nodes("operator.truediv", e, nodes("numpy.sum", e, axis=-1, keepdims=True)), e]


def layer_norm(nodes, x, weight, bias):
    mean = nodes("numpy.mean", x, axis=-1, keepdims=True)
    deviation = nodes("numpy.sqrt", nodes("operator.add", nodes("numpy.var", x, axis=-1, keepdims=True), 1e-5))
    scaled = nodes("operator.truediv", nodes("operator.sub", x, mean), deviation)
    return [nodes("operator.add", nodes("operator.mul", scaled, weight), bias), mean]


def totals(nodes, x):
    square = nodes("operator.mul", x, x)
    names = ("sum", "mean", "max", "min", "any", "all")
    return [*(nodes(f"numpy.{name}", square) for name in names), square]


# Shapes of kernels


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1"])
@pytest.mark.parametrize("size", [1, 63, 1000, 5000])
def test_elements_of_contiguous_arrays(dtype, size):
    assert ran(check_native(hypotenuse, values(dtype, size), values(dtype, size, seed=1)))


LAYOUTS = {
    "every other": lambda x: x[:, ::2],
    "a window": lambda x: x[3:-2, 5:95],
    "transposed": lambda x: x.T,
    "fortran order": np.asfortranarray,
    "three axes": lambda x: x.reshape(10, 6, 100)[:, 1:, ::3],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_elements_of_views(layout):
    x, y = (LAYOUTS[layout](values("f8", 60, 100, seed=seed)) for seed in range(2))
    program = check_native(hypotenuse, x, y)
    assert ran(program)


@pytest.mark.parametrize("shape", [(60, 100), (100,), (60, 1), (1, 1), ()])
def test_operands_that_repeat(shape):
    assert ran(check_native(chain, values("f4", 60, 100), values("f4", *shape, seed=1)))


def test_axes_that_repeat_in_the_middle():
    assert ran(check_native(chain, values("f8", 8, 9, 10, 11), values("f8", 9, 1, 11, seed=1)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(7, 13), (5, 1024), (3, 2500), (2, 3, 70)])
def test_softmax(dtype, shape):
    assert ran(check_native(softmax, tame(dtype, *shape), bound=1e-5 if dtype == "f4" else 1e-13))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(7, 13), (3, 2500), (2, 3, 70)])
def test_layer_norm(dtype, shape):
    weight, bias = tame(dtype, shape[-1], seed=1), tame(dtype, shape[-1], seed=2)
    assert ran(check_native(layer_norm, tame(dtype, *shape), weight, bias, bound=1e-4 if dtype == "f4" else 1e-12))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "any", "all", "var", "std"])
@pytest.mark.parametrize("dtype", ["i4", "?", "f4"])
@pytest.mark.parametrize("keepdims", [True, False])
def test_reductions_of_rows(name, dtype, keepdims):
    def build(nodes, x, y):
        found = nodes(f"numpy.{name}", nodes("operator.mul", x, x), axis=-1, keepdims=keepdims)
        return [found, nodes("operator.mul", found, 2), *([nodes("operator.add", found, y)] if keepdims else [])]

    x = tame("f4", 9, 70) if dtype == "f4" else values(dtype, 9, 70)
    program = check_native(build, x, tame("f4", 9, 70, seed=1), bound=1e-4)
    assert ran(program)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(5,), (1024,), (5000,), (30, 70)])
def test_totals(dtype, shape):
    assert ran(check_native(totals, tame(dtype, *shape), bound=1e-5))


@pytest.mark.parametrize("dtype", ["?", "i2", "u8"])
def test_totals_of_integers(dtype):
    def build(nodes, x):
        square = nodes("operator.mul", x, x)
        return [*(nodes(f"numpy.{name}", square) for name in ("sum", "max", "min", "any", "all")), square]

    assert ran(check_native(build, values(dtype, 5000)))


def test_totals_of_views():
    assert ran(check_native(totals, tame("f8", 40, 80)[::2, 3:60], bound=1e-12))


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_are_as_accurate_as_pairwise_ones(dtype):
    def build(nodes, x):
        return [nodes("numpy.sum", nodes("operator.mul", x, 1.0)), nodes("numpy.max", x)]

    x = np.random.default_rng(0).random(1_000_003).astype(dtype)
    total = NativeProgram(build, x).tiled(x)[0]
    exact = float(np.sum(x.astype(np.longdouble)))
    assert abs(float(total) - exact) <= 2 * np.finfo(dtype).eps * exact


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_reductions_see_what_is_not_finite(special):
    x = tame("f8", 3, 3000)
    x[1, 2222] = special
    assert ran(check_native(totals, x, bound=1e-12))
    assert ran(check_native(softmax, x, bound=1e-12))


# Writes


def test_in_place_operators_write_their_operand():
    assert ran(check_native(in_place, values("f8", 3000), values("f8", 3000, seed=1)))


def test_in_place_operators_keep_the_dtype():
    def build(nodes, x, y):
        x = nodes("operator.iadd", x, y)
        return [nodes("operator.mul", x, 3), nodes("operator.sub", x, y)]

    assert ran(check_native(build, values("f4", 3000), values("f4", 3000, seed=1)))


def test_writing_what_is_read_under_another_name_is_left_to_the_twin():
    x = values("f8", 3000)
    program = check_native(in_place, x[1:], x[:-1])
    assert program.region.tiled == 0
    assert check_native(in_place, x, x[:]).region.tiled == 0


def test_small_operands_are_read_after_what_was_written_before():
    def build(nodes, x, row):
        x = nodes("operator.iadd", x, 1)
        return [nodes("operator.mul", x, nodes("operator.mul", row, 2))]

    x = tame("f8", 30, 70)
    assert ran(check_native(build, x, tame("f8", 70, seed=1)))
    assert check_native(build, x, x[3]).region.tiled == 0


def blur(nodes, left, right, out):
    nodes("setitem", out, ..., nodes("operator.mul", nodes("operator.add", left, right), 0.5))
    return []


@pytest.mark.parametrize(("start", "stop"), [(0, -2), (1, -1), (2, None)])
def test_stores_where_memory_overlaps(start, stop):
    x = values("f8", 3002)
    assert ran(check_native(blur, x[:-2], x[2:], x[start:stop]))


def test_stores_into_rows_of_the_array_that_is_read():
    x = values("f4", 70, 80)
    assert ran(check_native(blur, x[:-2, 1:-1], x[2:, 1:-1], x[1:-1, 1:-1]))
    assert ran(check_native(blur, x[:, ::2], x[:, 1::2], x[:, ::2]))


@pytest.mark.parametrize("dtype", ["f4", "i4", "?", "f8"])
def test_stores_convert(dtype):
    x = np.linspace(-100, 100, 3000)
    assert ran(check_native(blur, x, x, np.zeros(3000, dtype)))


def test_read_only_arrays_raise_what_numpy_raises():
    x = values("f8", 3000)
    x.flags.writeable = False
    check_native(in_place, x, values("f8", 3000, seed=1))
    check_native(blur, values("f8", 3000), values("f8", 3000), x)


# Numbers


def linear(nodes, x, a, b):
    return [nodes("operator.add", nodes("operator.mul", x, a), b)]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "u1", "i8"])
@pytest.mark.parametrize("number", [2, 2.5, True, np.float32(0.1), np.float64(0.1), np.int8(3), np.array(3.5)])
def test_numbers_are_passed_by_value(dtype, number):
    x = values(dtype, 1000)
    program = NativeProgram(linear, x, number, 3)
    with np.errstate(all="ignore"):
        assert np.array_equal(program.tiled(x, number, 3), program.twin(x, number, 3), equal_nan=dtype[0] == "f")
        assert np.array_equal(program.tiled(x, number, 4), program.twin(x, number, 4), equal_nan=dtype[0] == "f")
    assert len(program.region.programs()) == 1


def test_numbers_that_do_not_fit_raise_what_numpy_raises():
    x = values("u1", 1000)
    program = NativeProgram(linear, x, 1, 2)
    program.tiled(x, 1, 2)
    for number in (300, -1):
        with pytest.raises(OverflowError) as expected:
            program.twin(x, number, 2)
        with pytest.raises(OverflowError) as found:
            program.tiled(x, number, 2)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, -0.0, 5e-324, 1e308])
def test_constants_are_exact(number):
    def build(nodes, x):
        return [nodes("operator.add", nodes("operator.mul", x, number), 0.1)]

    assert ran(check_native(build, values("f8", 1000)))


# The engine


def test_the_native_engine_gives_no_floating_point_warnings():
    x, y = values("f8", 3000), np.zeros(3000)
    program = NativeProgram(risky, x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program.tiled(x, y)
    assert ran(program)


@pytest.mark.parametrize("build", [hypotenuse, totals, softmax])
def test_threads_give_the_same_bits(build, monkeypatch):
    monkeypatch.setattr(native_kernel, "THREADED_WORK", 1)
    inputs = [tame("f4", 61, 1037, seed=seed) for seed in range(build.__code__.co_argcount - 1)]
    found = []
    for count in (1, 2, 5):
        with settings.config(threads=count):
            program = NativeProgram(build, *inputs)
            found.append([np.asarray(value).tobytes() for value in program.tiled(*inputs)])
            assert ran(program)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("shapes", [[(3000,), (4001,), (3000,)], [(30, 50), (41, 7), (3, 4, 5)]])
@pytest.mark.parametrize("step", [1, 2])
def test_other_shapes_use_the_same_kernel(shapes, step):
    def build(nodes, x, y):
        return [*hypotenuse(nodes, x, y), nodes("numpy.mean", x), nodes("numpy.max", y)]

    arrays = [[tame("f8", *shape, seed=seed)[::step] for seed in range(2)] for shape in shapes]
    program = NativeProgram(build, *arrays[0])
    for x, y in arrays:
        for left, right in zip(program.tiled(x, y), program.twin(x, y), strict=True):
            assert_alike(left, right)
            assert_values(left, right, 1e-14)
    assert program.region.tiled == len(arrays)
    assert len(program.region.programs()) == 1 or len({len(shape) for shape in shapes}) > 1


def test_an_extent_of_one_repeats_and_any_other_does_not():
    program = NativeProgram(chain, np.zeros(4), np.zeros(4))
    for sizes in ((4, 4), (4, 1), (1, 4), (1, 1), (5, 5), (5, 1)):
        x, y = (values("f8", size, seed=size) for size in sizes)
        assert np.array_equal(program.tiled(x, y), program.twin(x, y), equal_nan=True)


def test_new_axes_bring_results_of_rows_back_to_their_rows():
    def build(nodes, x):
        top = nodes("numpy.max", x, axis=-1)
        return [nodes("operator.sub", x, nodes("getitem", top, (slice(None), None)))]

    assert ran(check_native(build, tame("f8", 30, 70)))


def test_other_dtypes_get_their_own_kernel():
    program = NativeProgram(hypotenuse, values("f8", 3000), values("f8", 3000))
    for dtype in ("f8", "f4", "f8"):
        x, y = values(dtype, 3000), values(dtype, 3000, seed=1)
        assert program.tiled(x, y)[0].dtype == dtype
    assert len(program.region.programs()) == 2


@pytest.mark.parametrize("x", [np.zeros(0), np.zeros(3000, object), np.zeros(3000, ">f8"), np.ma.zeros(3000)])
def test_what_kernels_do_not_take_runs_on_numpy(x):
    program = NativeProgram(hypotenuse, np.zeros(3000), np.zeros(3000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = program.twin(x, x)
        except TypeError:
            pytest.skip("NumPy does not take it either")
        found = program.tiled(x, x)
    assert program.region.fallbacks == 1
    assert type(found[0]) is type(expected[0])


def test_small_arrays_run_on_numpy(monkeypatch):
    monkeypatch.setattr(native_region, "MINIMUM_ELEMENTS", 100)
    program = NativeProgram(hypotenuse, np.ones(99), np.ones(99))
    for size in (99, 100, 98):
        program.tiled(np.ones(size), np.ones(size))
    assert (program.region.tiled, program.region.fallbacks) == (1, 2)


def test_without_a_compiler_numpy_runs_the_region(monkeypatch, caplog):
    monkeypatch.setenv("CXX", "no-such-compiler")
    compiler.find_compiler.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "gjit"):
            node = NativeProgram(hypotenuse, np.ones(1000), np.ones(1000)).region.node
            for _ in range(2):
                assert type(native_region.make_region(node, None, RegionSource({}))) is TiledRegion
        assert len([record for record in caplog.records if "no C++ compiler" in record.message]) == 1
    finally:
        compiler.find_compiler.cache_clear()


def test_a_refused_kernel_runs_on_numpy(monkeypatch, caplog):
    monkeypatch.setattr(native, "_kernels", {})
    monkeypatch.setattr(native, "unit_text", lambda *parts: "this is not C++")
    x = values("f8", 1000)
    with caplog.at_level(logging.WARNING, "gjit"):
        program = NativeProgram(hypotenuse, x, x)
        with np.errstate(all="ignore"):
            assert np.array_equal(program.tiled(x, x)[0], program.twin(x, x)[0], equal_nan=True)
    assert program.region.fallbacks == 1
    assert "this is not C++" in caplog.text


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_bits_do_not_depend_on_where_an_element_lies(dtype):
    def build(nodes, x, y):
        product = nodes("operator.mul", x, y)
        return [product, nodes("operator.truediv", x, y), nodes("numpy.square", x)]

    random = np.random.default_rng(0)
    x, y = ((random.standard_normal(7) + 1j * random.standard_normal(7)).astype(dtype) for _ in range(2))
    for one, other in zip(x, y, strict=True):
        arrays = np.full(37, one), np.full(37, other)
        for found in NativeProgram(build, *arrays).tiled(*arrays):
            assert len({value.tobytes() for value in found}) == 1


def test_results_are_ordinary_arrays():
    x = tame("f8", 50, 60)
    program = NativeProgram(hypotenuse, x, x)
    first, second = program.tiled(x, x)[0], program.tiled(x, x)[0]
    assert first.base is None
    assert first.flags.owndata
    assert not np.shares_memory(first, second)


def test_copies_of_inputs_are_not_written():
    x, y = copies((values("f8", 3000), values("f8", 3000, seed=1)))
    kept = x.copy(), y.copy()
    NativeProgram(hypotenuse, x, y).tiled(x, y)
    assert np.array_equal(x, kept[0], equal_nan=True)
    assert np.array_equal(y, kept[1], equal_nan=True)
