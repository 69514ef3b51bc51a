"""Kernels that reduce rows, emulated, against NumPy: every plan for rows, way, dtype and layout."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.cuda_kernels.device_row_plan import Storage
from gjit.cuda_kernels.program import Access, Array, Combine, KernelProgram, Level, Output, Reduction
from tests.cuda_kernels.device_cases import emulated, moved, random_case, reference, run, same_bits
from tests.cuda_kernels.programs import PROGRAMS, op
from tests.cuda_kernels.support import COMPILER

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no g++")

WAYS = (Combine.SUM, Combine.MAXIMUM, Combine.FIRST_MAXIMUM, Combine.PRODUCT, Combine.MINIMUM, Combine.FIRST_MINIMUM)
LENGTHS = (2, 3, 7, 8, 31, 33, 128, 200, 257, 1000, 1024, 1025, 3001, 9000, 40_000)


def rows(kind: str, access: Access, ways=WAYS, rank: int = 2, reduced: int = 1) -> KernelProgram:
    """Several reductions of each row, and the row less its sum."""
    dtype, place = np.dtype(kind), np.dtype("i8")
    steps = [
        Reduction(f"r{at}", place if way.is_place else dtype, way, "x", dtype, Level.ROW) for at, way in enumerate(ways)
    ]
    outputs = [Output(Array(f"{step.result}_out", step.dtype, Access.REPEATED), step.result) for step in steps]
    steps.append(op("rest", "subtract", "x", "r0", dtype=dtype))
    outputs.append(Output(Array("rest_out", dtype, Access.CONTIGUOUS), "rest"))
    arrays = (Array("x", dtype, access),)
    return KernelProgram("region", rank, arrays, (), tuple(steps), tuple(outputs), reduced)


def case_of(program, extents, seed=0, offset=0, shared=48 << 10):
    case = random_case(program, extents, seed)
    case.shared = shared
    x = case.arrays["x"]
    if offset and x.flags.c_contiguous:
        case.arrays["x"] = moved(x, offset)
    return case


CASES = [
    case_of(
        rows(("f4", "i8", "f8", "i2", "u1")[place % 5], (Access.CONTIGUOUS, Access.STRIDED)[place // 2 % 2], WAYS[:3]),
        (5 if length < 1000 else 2, length),
        place,
        offset=place % 2,
    )
    for place, length in enumerate(LENGTHS)
]
CASES += [
    case_of(rows("f4", Access.CONTIGUOUS, WAYS[:2]), (2, 40_001), shared=200 << 10),
    case_of(rows("f8", Access.STRIDED, WAYS[:1]), (1, 20_003), offset=1, shared=200 << 10),
    case_of(rows("f4", Access.CONTIGUOUS, rank=3), (3, 4, 20)),
    case_of(rows("f4", Access.STRIDED, rank=4), (2, 3, 2, 9)),
    case_of(rows("i4", Access.CONTIGUOUS, WAYS[:2], rank=3, reduced=2), (300, 4, 5)),
    case_of(rows("f8", Access.STRIDED, WAYS[:2], rank=4, reduced=2), (2, 3, 40, 30)),
]


def reduced(kind: str, extents, is_columns: bool, access: Access, ways=WAYS[:3], axes: int = 1):
    """Reductions alone, with what is left of their sum and a number of the row."""
    dtype, place = np.dtype(kind), np.dtype("i8")
    steps = [
        Reduction(f"r{at}", place if way.is_place else dtype, way, "x", dtype, Level.ROW) for at, way in enumerate(ways)
    ]
    steps += [op("rest", "subtract", "w", "r0", dtype=dtype, level=Level.ROW)]
    own = Access.CONTIGUOUS if is_columns else Access.REPEATED
    outputs = tuple(Output(Array(f"{step.result}_out", step.dtype, own, Level.ROW), step.result) for step in steps)
    arrays = (Array("x", dtype, access), Array("w", dtype, own, Level.ROW))
    program = KernelProgram("region", len(extents), arrays, (), tuple(steps), outputs, axes, is_columns)
    return case_of(program, extents, 5)


def split_cases():
    """Few rows, or few columns."""
    return [
        reduced("f4", (3, 40_000), False, Access.CONTIGUOUS),
        reduced("i8", (2, 3, 33_001), False, Access.STRIDED),
        reduced("f4", (3000, 5), True, Access.CONTIGUOUS),
        reduced("f8", (2, 2000, 40), True, Access.STRIDED),
        reduced("i2", (60, 50, 3), True, Access.CONTIGUOUS, WAYS[:2], axes=2),
    ]


SPLIT = split_cases()
COLUMNS = [
    reduced("f4", (7, 5), True, Access.CONTIGUOUS),
    reduced("u1", (200, 4200), True, Access.CONTIGUOUS, WAYS[:2]),
    reduced("f8", (40, 9, 70), True, Access.STRIDED),
    reduced("i4", (3, 5, 6, 7), True, Access.CONTIGUOUS, WAYS[:2], axes=2),
]


@pytest.fixture(scope="module")
def unit():
    return emulated(CASES)


@pytest.mark.parametrize("cases", [SPLIT, COLUMNS], ids=["split", "columns"])
def test_rows_that_blocks_share_and_columns(cases):
    unit = emulated(cases)
    assert all(case.plan.split == (cases is SPLIT) for case in cases)
    for case in cases:
        for order in (0, 1, 4):
            check(unit, case, order)


def test_the_order_of_a_sum_is_that_of_the_extents():
    case = reduced("f4", (2, 50_000), False, Access.CONTIGUOUS, WAYS[:1])
    x = np.random.default_rng(0).normal(3, 1, case.extents).astype("f4")
    case.arrays["x"] = moved(x)
    unit, results = emulated([case]), []
    for order in (0, 1, 6):
        run(unit, case, order)
        results.append(case.outputs["r0_out"][:, 0].copy())
    assert len({result.tobytes() for result in results}) == 1
    np.testing.assert_allclose(results[0], x.astype("f8").sum(1), rtol=3e-7)


def check(unit, case, order=0):
    run(unit, case, order)
    right = reference(case)
    for name, output in case.outputs.items():
        assert same_bits(output, right[name]), name


@pytest.mark.parametrize("place", range(len(CASES)))
def test_rows_are_those_of_numpy(unit, place):
    for order in (0, 1, 3):
        check(unit, CASES[place], order)


def test_all_plans_are_tried():
    plans = [case.kernel.text for case in CASES]
    assert {case.plan.storage for case in CASES} == set(Storage)
    assert {case.plan.team for case in CASES} >= {1, 2, 8, 32, 256, 1024}
    assert len(set(plans)) == len(plans)


@pytest.mark.parametrize("place", range(0, len(LENGTHS), 3))
def test_one_kernel_serves_other_numbers_of_rows(unit, place):
    for count in (1, 2, 11):
        case = case_of(CASES[place].program, (count, LENGTHS[place]), count, offset=place % 2)
        case.kernel = CASES[place].kernel
        check(unit, case, order=count)


def test_nan_and_signs_of_zero(unit):
    program = rows("f8", Access.CONTIGUOUS)
    values = np.array([[1, np.nan, np.nan, 9], [7, 0.0, -5, 0.0], [np.inf, -np.inf, 3, 3], [-0.0] * 4])
    case = case_of(program, values.shape)
    case.arrays["x"] = moved(values)
    unit = emulated([case])
    check(unit, case)
    assert not np.signbit(case.outputs["r0_out"][3]).any()


def softmax_cases():
    """Rows of normal numbers, for each plan."""
    found = []
    for place, length in enumerate((2, 9, 100, 1000, 5000, 17_000, 70_000)):
        for name in ("softmax", "variance"):
            case = case_of(PROGRAMS[name], (3, length), shared=200 << 10 if place > 4 else 48 << 10)
            x = case.arrays["x"]
            case.arrays["x"] = moved(np.random.default_rng(place).normal(5, 2, x.shape).astype(x.dtype))
            found.append(case)
    return found


def test_softmax_and_layer_norm():
    cases = softmax_cases()
    unit = emulated(cases)
    assert {case.plan.storage for case in cases} == set(Storage)
    for case in cases:
        run(unit, case, order=2)
        right, tight = reference(case), 1e-6 if case.arrays["x"].dtype == np.float32 else 1e-13
        for name, output in case.outputs.items():
            np.testing.assert_allclose(output, right[name], rtol=40 * tight, atol=tight)


def test_a_result_may_take_the_memory_of_its_operand():
    for length in (100, 70_000):
        case = case_of(PROGRAMS["variance"], (2, length), 3)
        case.arrays["x"] = case.outputs["scaled_out"] = moved(case.arrays["x"])
        case.separate = frozenset()
        right = reference(case)["scaled_out"].copy()
        run(emulated([case]), case, order=1, fill=False)
        np.testing.assert_allclose(case.arrays["x"], right, rtol=1e-12)
