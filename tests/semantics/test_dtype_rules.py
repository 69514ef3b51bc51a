from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check, swapped

INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"]
NUMBERS = ["?", *INTEGERS, "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_python_numbers_are_weak_and_numpy_scalars_strong(dtype):
    def promote(values, scalar):
        return values + scalar, scalar * values, values / 2, values**2, 2 * values + 1.5, values + 1j

    values = np.array([1, 0, 3]).astype(dtype)
    scalars = [
        1,
        2.5,
        True,
        np.float64(2.5),
        np.float32(2.5),
        np.int64(2),
        np.int8(2),
        np.array(2.5),
        np.array(2, "f4"),
    ]
    check(promote, *[call(values, scalar) for scalar in scalars])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_a_scaled_product_keeps_numpy_s_dtype(dtype):
    def scaled(values, step):
        return values * (2.0 * step)

    values = np.array([1, 2]).astype(dtype)
    check(
        scaled, *[call(values, step) for step in (1.0, 3, np.float64(1), np.float32(1), np.array(1, "f4"), np.int64(3))]
    )


def test_python_integers_that_do_not_fit_raise():
    def shift(values, amount):
        return values + amount

    check(
        shift,
        call(np.array([1], "u1"), 256),
        call(np.array([1], "u1"), -1),
        call(np.array([1], "i1"), 127),
        call(np.array([2**63], "u8"), 1),
        call(np.array([1], "i4"), 2**31),
        call(np.array([1]), 2**64),
        call(np.array([1.0]), 2**70),
        call(np.array([1.0]), 10**400),
        call(np.uint8(1), 300),
    )


def test_comparisons_with_python_integers_that_do_not_fit_are_exact():
    def compare(values, bound):
        return values < bound, values == bound, values >= bound, bound != values

    check(
        compare,
        call(np.array([0, 1, 2**63, 2**64 - 1], "u8"), -1),
        call(np.array([3, 200], "u1"), 300),
        call(np.array([-1, 1], "i1"), 2**70),
        call(np.array([2048, 2050], "f2"), 2049),
        call(np.array([2.0**53]), 2**53 + 1),
    )


def test_signed_and_unsigned_compare_by_value():
    def compare(left, right):
        return left < right, left == right, left > right, np.maximum(left, right)

    check(
        compare,
        call(np.array([-1, 5], "i8"), np.array([1, 2**63], "u8")),
        call(np.array([-1, 5], "i1"), np.array([255, 5], "u1")),
        call(np.array([-1, 5], "i4"), np.array([2**32 - 1, 5], "u4")),
        call(np.int8(-1), np.uint64(2**64 - 1)),
    )


@pytest.mark.parametrize("dtype", INTEGERS)
def test_narrow_integers_wrap_at_their_own_width(dtype):
    def widen(values):
        return (values + values).astype("i8"), (values * values).astype("f4") - 1, (values - 100) // 2, -values, ~values

    limits = np.iinfo(dtype)
    check(widen, call(np.array([limits.min, limits.max, 100, 17], dtype)))


def test_unary_minus_and_absolute_value_wrap_before_they_meet_a_float():
    def meet(whole, real):
        negative = -whole
        return negative, negative + real, np.abs(whole) + real, negative < 4, abs(whole)

    check(
        meet,
        call(np.array([7, 6], "u1"), np.array([1.5, -0.25], "f4")),
        call(np.array([-128, 3], "i1"), np.array([0.0, 0.5])),
        call(np.array([1, 2], "u8"), np.array([0.5, 1.0], "f4")),
    )


def test_boolean_arrays_in_arithmetic():
    def combine(a, b):
        return (
            a + b,
            a * b,
            ~a,
            a & ~b,
            a ^ b,
            a | b,
            a + 1,
            a * 2.5,
            a / b,
            a**b,
            (a + a + a).sum(),
            a.mean(),
            True + True,
        )

    check(combine, call(np.array([True, False, True]), np.array([True, True, False])))


def test_operators_that_booleans_do_not_have():
    def subtract(a, b, kind):
        return a - b if kind else -a

    check(subtract, call(np.array([True]), np.array([True]), 1), call(np.array([True]), 0, 0), call(np.bool_(1), 1, 1))


def test_clip_bounds_that_do_not_fit():
    def clip(values, low, high):
        return np.clip(values, low, high), values.clip(low, high)

    values = np.array([-128, -3, 0, 5, 127], "i1")
    check(
        clip,
        call(values, -1000, 1000),
        call(values, None, 300),
        call(values, np.int64(-1000), np.int64(2)),
        call(values, -2.5, 2),
        call(values.astype("f4"), -2.5, None),
        call(values, None, None),
        call(values, np.array([0, 1, 2, 3, 4], "i1"), 4),
    )


def test_float16_rounds_after_every_operation():
    def rounded(a, b):
        total = a + b
        return total - a, total == a, (a * 2) / 2, a * b - a, np.sqrt(a) + b

    check(rounded, call(np.array([2048, 60000, 1], "f2"), np.array([1, 60000, 0.0001], "f2")))


def test_float_to_integer_casts_in_range_truncate():
    def cast(values):
        return (
            values.astype(np.int32),
            values.astype("i1"),
            values.astype("u1"),
            values.astype(np.int64),
            values.astype(int),
        )

    check(
        cast,
        call(np.array([2.9, 0.5, 127.0, 0.99999])),
        call(np.array([1.5, 100.0], "f4")),
        call(np.array([3.0], "f2")),
    )


def test_casts_between_every_pair_of_number_dtypes():
    def cast(values, dtype):
        return values.astype(dtype), (values + values).astype(dtype)

    sources = [np.array([0, 1, 2]).astype(dtype) for dtype in NUMBERS]
    check(cast, *[call(values, dtype) for values in sources for dtype in NUMBERS if np.can_cast(values.dtype, dtype)])


def test_integer_division_in_every_spelling():
    def divide(a, b):
        return a / b, a // b, a % b, np.floor_divide(a, b), np.fmod(a, b), np.remainder(a, b), np.divmod(a, b)

    check(
        divide,
        call(np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2])),
        call(np.array([7, 8], "u1"), np.array([2, 3], "u1")),
        call(np.array([7, -7], "i4"), 3),
        call(7, np.array([2, -2])),
        call(np.array([7.5, -7.5]), 2),
        call(np.array([-1, 3], "f2"), np.array([2, -2], "f2")),
    )


def test_integer_division_by_zero_warns_and_gives_zero():
    def divide(a, b):
        return a // b, a % b

    check(
        divide,
        call(np.array([1, -3]), np.array([0, 2])),
        call(np.array([1.0, 0.0]), 0),
        call(np.array([-128], "i1"), -1),
    )


def test_shifts_and_bit_operators():
    def shift(values, amount):
        return values << amount, values >> amount, values & 6, values ^ 3, np.bitwise_not(values), np.invert(values)

    check(
        shift,
        call(np.array([1, 5, 100], "u1"), 3),
        call(np.array([-1, 5, 100], "i2"), np.array([1, 2, 3])),
        call(np.array([1, 2]), 70),
        call(np.array([1, 2], "u4"), np.uint8(2)),
    )


def test_in_place_operators_keep_the_dtype_or_refuse():
    def accumulate(values, other):
        values += other
        values *= 2
        return values

    check(
        accumulate,
        call(np.array([1, 2]), 0.5),
        call(np.array([1.0]), 1),
        call(np.array([1.0], "f4"), np.float64(0.1)),
        call(np.array([1], "i4"), np.int64(2**40)),
        call(np.array([1], "u1"), 300),
        call(np.array([True]), 1),
        call(np.array([True]), True),
        call(np.array([1.0]), 1j),
    )


def test_true_division_in_place_on_integers_refuses():
    def halve(values):
        values /= 2
        return values

    check(halve, call(np.array([1, 2])), call(np.array([1.0, 2.0], "f4")), call(np.array([1j])))


def test_a_dtype_is_an_ordinary_value():
    def make(size, dtype):
        zeros = np.zeros(size, dtype)
        ones = np.ones(size, dtype=dtype)
        return zeros + ones, np.arange(size, dtype=dtype) * 2, zeros.dtype == np.dtype(dtype), np.full(size, 3, dtype)

    dtypes = [np.float32, "i2", np.dtype("c8"), bool, float, int, ">f8", np.uint8, complex]
    check(make, *[call(3, dtype) for dtype in dtypes])


def test_questions_about_dtypes():
    def ask(values):
        dtype = values.dtype
        return (
            dtype,
            dtype.name,
            dtype.kind,
            dtype.itemsize,
            dtype.type,
            dtype == np.float64,
            np.issubdtype(dtype, np.floating),
            np.result_type(dtype, np.float32),
            np.promote_types(dtype, "i4"),
            values.dtype.type(1) + values[0],
            np.finfo(np.float32).eps,
            np.iinfo("i2").max,
        )

    check(ask, *[call(np.ones(2, dtype)) for dtype in ("f8", "f4", "i1", "u8", "c8", ">f4")])


def test_ufuncs_with_a_dtype():
    def add(a, b, dtype):
        return np.add(a, b, dtype=dtype), np.multiply(a, b, dtype=dtype, casting="unsafe")

    values = np.array([1, 2, 100], "i1")
    check(add, *[call(values, values, dtype) for dtype in ("i1", np.int64, "f4", "f8", None, "u1", "M8[s]")])


def test_sums_of_small_integers_are_wide():
    def total(values):
        return values.sum(), values.prod(), values.cumsum(), values.mean(), values.sum(dtype=values.dtype), values.max()

    check(total, *[call(np.array([100, 100, 3]).astype(dtype)) for dtype in ("i1", "u1", "i4", "u8", "?", "f2", "f4")])


def test_byte_swapped_arrays():
    def combine(a, b):
        total = a + b
        a += 1
        return total, a, a * 2, np.sqrt(b), total.dtype.byteorder, a.sum(), np.where(a > 1, a, b)

    check(
        combine,
        call(swapped(np.arange(3.0)), np.arange(3.0)),
        call(swapped(np.arange(3, dtype="i4")), swapped(np.arange(3, dtype="i2"))),
        call(np.arange(3, dtype="f4"), swapped(np.arange(3, dtype="f4"))),
    )


def test_long_double_arrays():
    def combine(a, b):
        return a + b, np.sqrt(a) * 2, a.sum(), a / 3

    check(combine, call(np.array([1, 2], "g"), np.array([0.5, 0.1])), call(np.array([1, 2], "G"), 1))


def test_object_arrays_use_python_s_operators():
    def combine(a, b):
        return a + b, a * 2, a == b, a.sum(), [type(item).__name__ for item in a]

    check(
        combine,
        call(np.array([1, 2**70, 0.5], object), 1),
        call(np.array(["a", "b"], object), np.array(["c", "d"], object)),
    )
    check(combine, call(np.array([None, 1], object), 1))


def test_dates_and_time_spans():
    def spans(dates, days):
        later = dates + days
        return (
            later,
            later - dates,
            dates < later,
            dates.astype("M8[s]"),
            np.isnat(dates),
            (later - dates) / np.timedelta64(1, "h"),
        )

    dates = np.array(["2020-02-28", "1999-12-31", "NaT"], "M8[D]")
    check(spans, call(dates, np.timedelta64(1, "D")), call(dates, np.array([1, 2, 3], "m8[D]")))


def test_records():
    def update(records, amount):
        records["mass"] += amount
        heavy = records[records["mass"] > 2]
        return heavy["name"], records["mass"] * 2, records.dtype.names, records[0]["mass"], heavy

    records = np.array([(1.0, "a"), (2.5, "b")], [("mass", "f4"), ("name", "U3")])
    check(update, call(records, 1), call(records[::-1], 0.5))


def test_characters_and_strings_in_arrays():
    def compare(names, name):
        return names == name, names < name, np.char.upper(names), np.unique(names), names.astype(object)

    check(compare, call(np.array(["b", "a", "b"]), "b"), call(np.array([], "U1"), "x"), call(np.array([b"x"]), b"x"))


def test_the_result_of_mixed_operands_is_the_last_promotion():
    def mix(a, b, c):
        return (a + b) * c, a + (b * c), a - b + 1 - c

    arrays = [np.array([3, 4]).astype(dtype) for dtype in ("i1", "u1", "f2", "f4", "i8", "c8")]
    check(mix, *[call(a, b, c) for a in arrays[:3] for b in arrays[1:5] for c in arrays[2:]])
