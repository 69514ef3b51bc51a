"""Elementwise kernels for a device, emulated, against NumPy: every dtype, memory layout and odd size."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gjit.cuda_kernels.device_layout import vector_width
from gjit.cuda_kernels.program import KernelProgram, Level, Number, Operation, Output
from gjit.ops.row import table
from tests.cuda_kernels.device_cases import Case, array_of, emulated, guarded, moved, reference, run, same_bits
from tests.cuda_kernels.support import COMPILER, DTYPES, edges

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no g++")


def operation(result, row, operands, loops, level=Level.ELEMENT):
    loops = tuple(map(np.dtype, loops))
    return Operation(result, loops[-1], row, table[row].kernel_text(loops), operands, loops, level)


def filled(shape, dtype, seed) -> np.ndarray:
    values = edges(np.dtype(dtype))
    return values[np.random.default_rng(seed).integers(0, values.size, shape)]


def sum_case(x, y, out, number=None) -> Case:
    """`out = x + y`, or `x + y + a`, with `y` perhaps the same along rows."""
    dtype = x.dtype
    steps = [operation("t0", "numpy.add", ("x", "y"), (dtype,) * 3)]
    numbers = ()
    if number is not None:
        steps.append(operation("t1", "numpy.add", ("t0", "a"), (dtype,) * 3))
        numbers = (Number("a", dtype),)
    arrays = (array_of("x", x), array_of("y", y))
    outputs = (Output(array_of("out", out), steps[-1].result),)
    program = KernelProgram("region", x.ndim, arrays, numbers, tuple(steps), outputs)
    return Case(program, x.shape, {"x": x, "y": y}, {"out": out}, {"a": number})


SIZES = (1, 3, 31, 255, 256, 257, 1023, 2048, 2051, 9000)
LAYOUTS = {
    # what is done to an array of shape (n,) or (5, n), and so on
    "line": lambda a: a,
    "unaligned": lambda a: moved(a, 1),
    "every_other": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "backwards": lambda a: a[..., ::-1],
    "broadcast": lambda a: np.broadcast_to(a[..., :1], a.shape),
    "rows_of_one": lambda a: np.broadcast_to(a[:1], a.shape),
}
SHAPES = ((37,), (2500,), (7, 33), (5, 3), (300, 1), (3, 70, 16), (2, 3, 4, 5), (2, 2, 3, 2, 9))


def line_case(dtype, size: int, offset: int = 0) -> Case:
    """`x + y + a` over one line."""
    x, y = (moved(filled((size,), dtype, seed), offset) for seed in (size, size + 1))
    return sum_case(x, y, guarded((size,), dtype), dtype.type(1))


def layout_cases() -> list[Case]:
    """Every pair of layouts in turn over every shape, with 32-bit and 64-bit indices."""
    names, cases = list(LAYOUTS), []
    for place, (shape, first) in enumerate(itertools.product(SHAPES, names)):
        second = names[place % len(names)]
        if len(shape) == 1 and "rows_of_one" in (first, second):
            continue
        dtype = "f4" if place % 2 else "i8"
        x, y = (LAYOUTS[name](moved(filled(shape, dtype, place), 0)) for name in (first, second))
        out = guarded(shape, dtype, offset=place % 3)
        case = sum_case(x, y, out)
        case.wide = place % 5 == 0
        cases.append(case)
    return cases


CASES = [line_case(dtype, 2500) for dtype in DTYPES] + layout_cases()


@pytest.fixture(scope="module")
def unit():
    return emulated(CASES)


@pytest.mark.parametrize("place", range(len(CASES)))
def test_kernels_give_what_numpy_gives(unit, place):
    case = CASES[place]
    run(unit, case, order=place % 3)
    assert same_bits(case.outputs["out"], reference(case)["out"])


@pytest.mark.parametrize("place", range(len(DTYPES)))
def test_one_kernel_serves_every_size(unit, place):
    for size in SIZES:
        case = line_case(DTYPES[place], size)
        case.kernel = CASES[place].kernel
        run(unit, case)
        assert same_bits(case.outputs["out"], reference(case)["out"])


def test_no_elements_are_no_work(unit):
    case = line_case(DTYPES[-3], 0)
    case.kernel = CASES[len(DTYPES) - 3].kernel
    run(unit, case)


def test_vectors_take_sixteen_bytes_and_few_registers():
    assert [vector_width(line_case(np.dtype(kind), 8).program) for kind in "?efdFD"] == [8, 8, 4, 2, 2, 1]


def test_unaligned_arrays_are_read_one_by_one():
    aligned, unaligned = line_case(np.dtype("f4"), 64), line_case(np.dtype("f4"), 64, offset=1)
    assert "Vector<float32, 4>" in aligned.emit("k").text
    assert "Vector<float32, 4>" not in unaligned.emit("k").text


def test_arrays_that_may_share_memory_are_not_restricted():
    case = line_case(np.dtype("f8"), 64)
    case.separate = frozenset({"y"})
    assert [line for line in case.emit("k").text.splitlines() if "__restrict__" in line] == [
        "    const float64 *__restrict__ y_data,"
    ]


def test_an_output_may_be_an_operand():
    case = line_case(np.dtype("i4"), 5000)
    case.separate = frozenset()
    case.outputs["out"] = case.arrays["x"] = case.arrays["x"].copy()
    wanted = reference(case)["out"].copy()
    run(emulated([case]), case, order=7)
    assert same_bits(case.arrays["x"], wanted)


def turned_cases() -> list[Case]:
    """Transposed arrays next to others, in every place."""
    cases = []
    for place, (shape, kind) in enumerate(
        itertools.product(((32, 32), (33, 70), (3, 40, 35), (50, 2, 64), (2, 37, 3, 41)), ("f8", "i2"))
    ):
        x, y = filled(shape, kind, 1), filled(shape, kind, 2)
        axes = [axis for axis in range(len(shape)) if shape[axis] >= 32]
        order = list(range(len(shape)))
        order[axes[0]], order[axes[-1]] = order[axes[-1]], order[axes[0]]
        turned = np.ascontiguousarray(y.transpose(order)).transpose(order)
        out = guarded(shape, kind, like=turned if place % 4 > 1 else None)
        cases.append(sum_case(x, turned, out))
    return cases


TURNED = turned_cases()


def test_transposed_arrays_go_through_shared_memory():
    unit = emulated(TURNED)
    for place, case in enumerate(TURNED):
        assert "_tile[unit + threadIdx.y][threadIdx.x]" in case.kernel.text
        for order in (0, 1, 5):
            run(unit, case, order)
            assert same_bits(case.outputs["out"], reference(case)["out"]), place
