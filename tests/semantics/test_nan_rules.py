from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check

INF, NAN = float("inf"), float("nan")
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.5, 1e300, 5e-324]


def special(dtype):
    with np.errstate(all="ignore"):
        return np.array(SPECIAL).astype(dtype)


@pytest.mark.parametrize("length", [1, 5, 8, 37, 1000])
def test_nan_anywhere_is_found_by_extremes(length):
    def extremes(values):
        return values.max(), values.min(), values.argmax(), values.argmin(), np.nanmax(values), values.max(axis=0)

    sets = []
    for place in {0, length // 2, length - 1}:
        values = np.linspace(1, 2, length)
        values[place] = NAN
        sets += [call(values), call(values.astype("f4")), call(values[::-1]), call(np.repeat(values, 2)[::2])]
    check(extremes, *sets)


def test_minimum_and_maximum_propagate_nan_and_fmin_does_not():
    def four(a, b):
        return np.minimum(a, b), np.maximum(a, b), np.fmin(a, b), np.fmax(a, b)

    check(four, call(special("f8"), special("f8")[::-1]), call(special("f4"), 1.0), call(NAN, special("f8")))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_arithmetic_of_special_values(dtype):
    def combine(a, b):
        return a + b, a - b, a * b, a / b, a // b, a % b, -a, abs(a), a < b, a == b, a != a

    with np.errstate(all="ignore"):
        a, b = np.meshgrid(special(dtype), special(dtype))
    check(combine, call(a, b))


def test_rounding_is_half_to_even_and_keeps_the_sign_of_zero():
    def rounded(values, places):
        return (
            np.round(values, places),
            values.round(places),
            np.rint(values),
            np.floor(values),
            np.ceil(values),
            np.trunc(values),
        )

    check(
        rounded,
        call(np.array([0.5, 1.5, 2.5, -0.5, -1.5, 1e300, NAN, -0.0]), 0),
        call(np.array([25, 35, -25, 15]), -1),
        call(np.array([1.25, 2.675, -0.125]), 2),
        call(np.array([255, 250, 244], "u1"), -1),
        call(np.array([0.5, 1.5, 2.5], "f4"), 0),
        call(np.float64(2.5), 0),
    )


def test_a_power_of_one_half_is_not_always_the_square_root():
    def powers(values, half, halves):
        return (
            values**half,
            np.power(values, halves),
            np.sqrt(values),
            values**2,
            values**-1.0,
            values**0,
            values**1,
            values**3,
        )

    for dtype in ("f4", "f8"):
        values = np.array([-0.0, -INF, -1, 4, 0, NAN], dtype)
        check(powers, call(values, 0.5, np.full(6, 0.5, dtype)), call(values, np.float64(0.5), np.full(6, 0.5)))


def test_the_truth_of_nan_and_negative_zero():
    def truths(values):
        return (
            values.astype(bool),
            np.any(values),
            np.all(values),
            np.logical_not(values),
            bool(values[0]),
            np.logical_and(values, True),
            values != values,
            np.where(values, 1, 2),
        )

    check(
        truths, call(np.array([NAN, 0.0, -0.0])), call(np.array([NAN, NAN], "f4")), call(np.array([complex(0, NAN), 0]))
    )


@pytest.mark.parametrize("values", [np.array([1e-45, 1e-40, -1e-45], "f4"), np.array([5e-324, 1e-310])])
def test_subnormal_numbers_survive(values):
    def keep(values):
        same = values * values.dtype.type(1)
        return same, same > 0, same + same, values / 2, values - 0, values.sum()

    check(keep, call(values))


def test_negated_comparisons_are_not_the_opposite_comparison():
    def opposites(values):
        return ~(values > 0), values <= 0, np.where(~(values < 1), values, -values), not (values[0] >= 0)

    check(opposites, call(np.array([NAN, 0.0, 2.0])), call(np.array([NAN], "f4")))


def test_signs():
    def signs(values):
        return (
            np.sign(values),
            np.signbit(values),
            np.copysign(3.0, values),
            np.abs(values),
            np.heaviside(values, 0.5),
            -values,
        )

    check(signs, call(special("f8")), call(special("f4")), call(np.array([0, -1, 3])))


def test_replacing_and_testing_special_values():
    def clean(values):
        return (
            np.nan_to_num(values),
            np.nan_to_num(values, nan=7.0, posinf=1.0, neginf=-1.0),
            np.isnan(values),
            np.isinf(values),
            np.isfinite(values),
            np.isclose(values, values, equal_nan=True),
            np.where(np.isnan(values), 0, values),
        )

    check(clean, call(special("f8")), call(special("f2")), call(np.array([complex(NAN, INF), 1j])), call(np.arange(3)))


def test_sums_that_ignore_nan():
    def ignoring(values):
        return (
            np.nansum(values),
            np.nanmean(values, axis=0),
            np.nanstd(values),
            np.nanargmax(values),
            np.nanprod(values),
        )

    check(
        ignoring, call(np.array([1.0, NAN, 3.0])), call(np.array([NAN, NAN])), call(np.array([[1, NAN], [2, 3]], "f4"))
    )


def test_order_of_nan_in_sorting_and_searching():
    def order(values):
        return (
            np.sort(values),
            np.argsort(values, kind="stable"),
            np.unique(values),
            np.searchsorted(np.sort(values), 1.0),
        )

    check(order, call(special("f8")), call(np.array([2, NAN, 1], "f4")))


# ------------------------------------------------------------------------------------------------------- warnings


def test_floating_point_warnings_are_numpy_s():
    def warn(values):
        first = 1 / values
        second = np.log(values)
        third = np.sqrt(values) + np.exp(values * 1000)
        return first, second, third

    check(
        warn, call(np.array([0.0, 2.0])), call(np.array([-1.0, 0.0], "f4")), call(np.array([1, 2])), call(np.float64(0))
    )


def test_each_evaluation_in_a_loop_warns_again():
    def repeat(values, count):
        for _ in range(count):
            values = np.log(values) * 2
        return values

    check(repeat, call(np.array([0.5, 2.0]), 4), call(np.array([0.0, 1.0]), 2), call(np.array([1.5]), 0))


def test_operations_that_ignore_errors_do_not_warn_later():
    def quiet(values):
        with np.errstate(all="ignore"):
            inner = 1 / values
        return inner - inner

    check(quiet, call(np.array([0.0, 1.0])), call(np.array([0.0], "f4")))


def test_errors_can_be_raised():
    def strict(values, log):
        log.append("start")
        with np.errstate(divide="raise"):
            doubled = values * 2
            doubled[0] = 5
            log.append("before")
            inverse = 1 / values
            log.append("after")
        return doubled, inverse

    check(strict, call(np.array([1.0, 2.0]), []), call(np.array([1.0, 0.0]), []), call(np.array([0.0], "f4"), []))


def test_a_store_before_a_raising_operation_has_happened():
    def partial(values, divisor):
        with np.errstate(all="raise"):
            values[:] = values + 1
            values[:] = values / divisor
            values[:] = values * 100
        return values

    check(partial, call(np.array([1.0, 2.0]), np.array([1.0, 2.0])), call(np.array([1.0, 2.0]), np.array([1.0, 0.0])))


def test_an_error_handler_is_called():
    def handled(values, log):
        with np.errstate(divide="call", call=lambda kind, flag: log.append((kind, flag))):
            return 1 / values + 1, log

    check(handled, call(np.array([0.0, 1.0]), []), call(np.array([1.0]), []))


def test_errors_can_be_printed():
    def printed(values):
        with np.errstate(divide="print"):
            return 1 / values

    check(printed, call(np.array([0.0, 1.0])))


def test_selected_operands_still_warn():
    def safe(values, limit):
        return np.where(values > limit, 1 / values, 0.0)

    check(safe, call(np.array([0.0, 2.0]), 1), call(np.array([1.0, 2.0], "f4"), 1))
