from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check

fallback = "a global that no local of the same name may turn into"


def test_a_branch_on_a_reduction_follows_the_data():
    def shift_towards_zero(values):
        if values.mean() < 0:
            return values + 0.5
        return values - 0.5

    check(
        shift_towards_zero,
        call(np.array([-3.0, 1.0])),
        call(np.array([3.0, 1.0])),
        call(np.array([[2, 3]], "i2")),
        call(np.float32(-1)),
        call(np.zeros(0)),
    )


def test_an_elif_chain_picks_one_arm():
    def pick(values, mode):
        if mode < 0:
            result = values * mode
        elif mode == 0:
            result = values
        elif mode in (1, 2):
            result = values // (mode + 1)
        else:
            result = -values
        return result

    values = np.array([7, 8, -9])
    check(pick, *[call(values, mode) for mode in (-2, 0, 1, 2, 3, 0.0, np.int8(2))])


def test_a_name_bound_on_one_path_is_unbound_on_the_other():
    def double_if(flag, values):
        if flag:
            fallback = values * 2
        return fallback

    check(double_if, call(True, np.array([1])), call(False, np.array([1])), call(np.array([0.0]), 3))


def test_two_names_bound_on_different_paths():
    def classify(values, kind):
        if kind > 0:
            first = values + 1
        elif kind < 0:
            first = values * 0.5
            second = "negative"
        if kind == 7:
            return second
        return first

    values = np.array([3, 4])
    check(classify, *[call(values, kind) for kind in (1, -1, 0, 7)])


def test_a_branch_may_change_the_type():
    def count_or_scale(values, count):
        answer = values.size if count else values / 2
        if count:
            label = None
        else:
            label = "scaled"
        return answer, label

    check(count_or_scale, call(np.array([2.0, 4.0]), True), call(np.array([2, 4]), False))


def test_conditional_expressions_nest():
    def describe(number):
        return "odd" if number % 2 else "four" if number == 4 else "even"

    check(describe, call(3), call(4), call(6), call(np.int16(4)), call(2.5))


def test_and_or_give_an_operand_and_stop_early():
    def combine(left, right, items):
        return left or right, left and right, bool(items) and items[0], not left, (left or items) and right

    check(combine, call(0, "x", []), call([], 0, [5]), call(2, None, [0]), call(np.float32(0), np.array(3), (1,)))


def test_arms_that_are_not_taken_are_not_evaluated():
    def guarded(values, log):
        positive = values > 0
        if positive:
            extra = values - 1
        log.append("test")
        first = positive and extra > 2
        second = not positive or (log.append("second") is None and extra >= 1)
        return first, second, None if positive else extra

    check(guarded, call(5, []), call(1, []), call(0, []), call(-2, []))


def test_a_chained_comparison_evaluates_its_middle_once():
    def between(low, items, high):
        inside = low < items.pop() <= high < 100
        return inside, items

    check(between, call(0, [9, 3], 5), call(4, [9, 3], 5), call(0, [9, 3], 500), call(0, [], 1))


def test_a_chained_comparison_of_arrays_is_ambiguous():
    def between(low, values, high):
        return low < values < high

    check(between, call(0, np.array([1, 2]), 3), call(0, np.array([1]), 3), call(0, np.array(1.5), 1))


def test_an_assignment_expression_binds_where_it_stands():
    def halve(items):
        total = 0
        while (item := items.pop() if items else None) is not None:
            total += (half := item / 2) + half
        return total, item, [last := value for value in range(3)], last

    check(halve, call([1, 2, 3]), call([]))


@pytest.mark.parametrize("condition", [np.array([1, 2]), np.zeros(0), np.array([[1]]), np.array(0), [0], ""])
def test_the_truth_of_anything_is_python_s(condition):
    def truth(value):
        if value:
            return "yes"
        return "no"

    check(truth, call(condition))
