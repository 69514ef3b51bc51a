"""Branches, loops, exceptions, managers and patterns. PYTEST_DONT_REWRITE: `assert` stands in programs under test."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check

# ------------------------------------------------------------------------------------------------------- branches

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


# ---------------------------------------------------------------------------------------------------------- loops


def test_bisection_stops_by_its_condition():
    def root(target):
        low, high, steps = 0.0, max(target, 1.0), 0
        while high - low > 1e-9:
            middle = (low + high) / 2
            if middle * middle > target:
                high = middle
            else:
                low = middle
            steps += 1
        return low, steps

    check(root, call(2.0), call(9), call(0.25), call(np.float64(3)))


def test_iteration_over_the_rows_of_an_array():
    def longest(matrix):
        winner = matrix[0] * 0
        for row in matrix:
            if (row * row).sum() > (winner * winner).sum():
                winner = row
        return winner

    matrix = np.array([[1.0, 2.0], [-4.0, 0.0], [3.0, 1.0]])
    check(longest, call(matrix), call(matrix.T), call(matrix[::-1].astype("f4")), call(np.zeros((1, 0))))


def test_iteration_over_a_zero_d_array_raises():
    def collect(values):
        return [value for value in values]

    check(collect, call(np.array(3.0)), call(np.array([1, 2])), call(np.zeros((0, 2))), call(np.float64(1)))


def test_break_and_continue_leave_the_right_loop():
    def walk(limit):
        trail = []
        for outer in range(limit):
            if outer % 3 == 1:
                continue
            inner = outer
            while True:
                inner -= 1
                if inner < 0:
                    break
                if inner == 2:
                    continue
                trail.append((outer, inner))
            if len(trail) > 6:
                break
        return trail, outer

    check(walk, call(4), call(9), call(1), call(0))


def test_return_from_nested_loops():
    def find(matrix, wanted):
        for i in range(matrix.shape[0]):
            for j in range(matrix.shape[1]):
                if matrix[i, j] == wanted:
                    return i, j
        return None

    matrix = np.arange(6).reshape(2, 3)
    check(find, call(matrix, 4), call(matrix, 9), call(matrix.T, 0), call(np.zeros((0, 3)), 0), call(matrix * 0.5, 2.5))


def test_else_of_a_for_runs_without_break():
    def first_divisor(numbers, number):
        for place, candidate in enumerate(numbers):
            if number % candidate == 0:
                found = place
                break
        else:
            found = -1
        return found

    check(first_divisor, call([4, 7, 9], 14), call([4, 7, 9], 11), call([], 3), call((0,), 3))


def test_else_of_a_while_runs_without_break():
    def countdown(start, stop):
        path = []
        while start > 0:
            start -= 1
            if start == stop:
                path.append("break")
                break
            path.append(start)
        else:
            path.append("else")
        return path, start

    check(countdown, call(4, 2), call(4, 9), call(0, 0), call(-1, -1), call(2.5, 0.5))


def test_nested_else_with_continue_of_the_outer_loop():
    def scan(matrix, limit):
        last = -1
        for i in range(len(matrix)):
            for j in range(len(matrix[i])):
                if matrix[i][j] < 0:
                    continue
                if matrix[i][j] > limit:
                    return i, j, last
                last = j
            else:
                last = -5
                continue
            last = 99
        while limit > 0:
            limit -= 1
            if limit == 3:
                break
        else:
            last = -9
        return last, limit

    matrix = np.arange(6.0).reshape(2, 3)
    check(scan, call(matrix, 2), call(matrix - 9, 1), call(matrix, 8), call(np.zeros((0, 2)), 0), call([[], [1]], 1))


def test_the_loop_variable_keeps_its_last_value():
    def last_of(items):
        for index, item in enumerate(items[:-1]):
            pass
        return index, item

    check(last_of, call(np.ones(4)), call([1, 2]), call(np.ones(1)), call(np.ones(0)), call(np.arange(3, dtype="u1")))


def test_a_loop_variable_bound_before_an_empty_loop():
    def last(limit):
        item = "before"
        for item in range(limit):
            pass
        return item

    check(last, call(3), call(0))


def test_the_bounds_of_a_range_are_fixed_at_entry():
    def consume(limit):
        seen = []
        for number in range(limit, -1, -3):
            limit = -100
            seen.append(number)
            number = 50
        return seen, limit, number

    check(consume, call(7), call(0), call(-1), call(np.int32(4)))


def test_a_range_with_step_zero_raises():
    def count(start, stop, step):
        return sum(1 for _ in range(start, stop, step)), [number for number in range(start, stop, step)]

    check(count, call(5, -5, -3), call(0, 3, 1), call(0, 3, 0), call(0, 3.0, 1), call(0, 10**20, 10**19))


def test_nested_loops_over_one_name():
    def total(limit):
        result = 0
        for k in range(limit):
            result += k
            for k in range(10, 12):
                result += k
        return result, k

    check(total, call(3), call(1), call(0))


def test_names_swap_on_every_round():
    def fibonacci(count, swap):
        low, high = 0, 1
        for _ in range(count):
            low, high = high, low + high
        first, second, third = 1, 2, 3
        if swap:
            first, second, third = third, first, second
        return low, high, first, second, third

    check(fibonacci, call(10, True), call(0, False), call(200, 1))


def test_a_carried_array_may_grow():
    def mirror(values, rounds):
        for _ in range(rounds):
            values = np.concatenate([values, values[::-1] + 1])
        return values

    check(mirror, call(np.array([1.0]), 3), call(np.array([1, 2], "i2"), 1), call(np.zeros(0), 2), call(np.ones(2), 0))


def test_a_carried_array_may_shrink_until_it_is_empty():
    def sieve(numbers):
        primes = []
        while True:
            if not len(numbers):
                break
            primes.append(numbers[0])
            numbers = numbers[numbers % numbers[0] != 0]
        return primes, numbers

    check(sieve, call(np.arange(2, 40)), call(np.arange(0)), call(np.arange(2, 9, dtype="u1")))


def test_a_condition_may_turn_from_a_python_number_into_a_numpy_scalar():
    def relax(values):
        change, rounds = 1, 0
        while change > 1e-3:
            new = values / 2
            change = np.abs(new - values).max()
            values = new
            rounds += 1
        return change, rounds, values

    check(relax, call(np.array([1.0, -3.0])), call(np.array([1.0], "f4")))


def test_iteration_over_complex_values_and_dictionaries():
    def energy(values, table):
        total = 0
        for value in values:
            total += value * value.conjugate()
        for key in table:
            total += table[key]
        for key, value in table.items():
            total += value * len(key)
        return total

    check(energy, call(np.array([1 + 2j, 3j]), {"a": 1, "bc": 2}), call([1, 2.0], {}), call(np.zeros(0, "c8"), {"": 1}))


def test_a_loop_that_is_left_by_an_exception_keeps_what_it_did():
    def fill(values, source):
        for index in range(len(values)):
            values[index] = source[index]
        return values

    check(fill, call(np.zeros(3), np.array([1.0, 2.0])), call([0, 0, 0], [1, 2]), call(np.zeros(1), [4]))


def test_deep_nesting_of_blocks():
    def nest(limit):
        hits = 0
        for a in range(limit):
            if a:
                for b in range(a):
                    while b:
                        if b % 2:
                            for c in (1, 2):
                                if c == a:
                                    break
                                hits += 1
                            else:
                                hits += 10
                        b -= 1
        return hits

    check(nest, call(5), call(0))


# ----------------------------------------------------------------------------------------------------- exceptions


def test_try_except_else_finally_in_every_combination():
    def read(items, index, log):
        try:
            value = items[index]
        except (KeyError, IndexError) as error:
            log.append(type(error).__name__)
            value = None
        else:
            log.append("else")
            value = value + 1
        finally:
            log.append("finally")
        return value, log

    check(read, call([1, 2], 1, []), call([1], 5, []), call({}, "a", []), call(np.ones(2), 7, []), call([None], 0, []))


def test_the_name_of_a_caught_exception_is_unbound_afterwards():
    def swallow(text):
        try:
            number = int(text)
        except ValueError as error:
            message = str(error)
            number = -1
        if text == "late":
            return error  # noqa: F821 - unbound here, which is what is tested
        return number, message

    check(swallow, call("x"), call("12"), call("late"))


def test_raise_with_cause_and_without():
    def refuse(kind):
        try:
            if kind == 0:
                raise KeyError("inner")
            if kind == 1:
                return "fine"
            raise TypeError("other", kind)
        except KeyError as error:
            raise ValueError("outer") from error
        except TypeError:
            if kind == 2:
                raise
            raise RuntimeError("hidden") from None

    check(refuse, *[call(kind) for kind in range(4)])


def test_return_in_finally_and_in_a_loop_with_finally():
    def leave(mode, log):
        for index in range(3):
            try:
                if mode == index:
                    return "returned"
                if mode == 10 + index:
                    continue
                if mode == 20 + index:
                    break
                log.append(index)
            finally:
                log.append("finally")
                if mode == 99:
                    return "overridden"
        return "end"

    check(leave, *[call(mode, []) for mode in (0, 2, 11, 21, 99, -1)])


def test_nested_try_blocks():
    def nested(values, index):
        steps = []
        try:
            try:
                steps.append(values[index] / values[0])
            except IndexError:
                steps.append("index")
                values["wrong"]
            finally:
                steps.append("inner")
        except (TypeError, IndexError) as error:
            steps.append(type(error).__name__)
        return steps

    check(nested, call([2, 4], 1), call([2, 4], 9), call(np.ones(2), 5), call([], 0))


def test_an_exception_keeps_class_arguments_and_text():
    class Refused(ValueError):
        def __init__(self, code, detail):
            super().__init__(code, detail)
            self.code = code

    def refuse(values):
        if values.ndim != 1:
            raise Refused(values.ndim, f"rank {values.ndim}")
        try:
            raise Refused(0, "caught")
        except Refused as error:
            return error.code, error.args, str(error)

    check(refuse, call(np.ones(2)), call(np.ones((2, 2))))


def test_assert_with_and_without_a_message():
    def transpose(matrix):
        assert matrix.size
        assert matrix.ndim == 2, f"rank {matrix.ndim} is not 2"
        return matrix.T

    check(transpose, call(np.ones((1, 2))), call(np.ones(3)), call(np.ones((0, 2))))


def test_raise_on_a_path_that_is_not_taken():
    def checked(values, limit=None):
        if limit is not None and limit < 0:
            raise ValueError("a limit below zero")
        return values if limit is None else np.minimum(values, limit)

    check(checked, call(np.arange(3)), call(np.arange(3), 1), call(np.arange(3), -1))


# ----------------------------------------------------------------------------------------------------------- with


class Recorder:
    def __init__(self, swallow=None):
        self.events = []
        self.swallow = swallow

    def __enter__(self):
        self.events.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.events.append("exit" if kind is None else kind.__name__)
        return self.swallow is not None and kind is not None and issubclass(kind, self.swallow)


def test_a_context_manager_enters_exits_and_suppresses():
    def guarded(recorder, table, key):
        with recorder as entered:
            entered.events.append(table[key])
            return "left early"
        return "went on"

    check(
        guarded,
        call(Recorder(), {"k": 1}, "k"),
        call(Recorder(LookupError), {}, "k"),
        call(Recorder(), {}, "k"),
        call(Recorder(ValueError), [1], "k"),
    )


def test_several_managers_in_one_with():
    def guarded(outer, inner, divisor):
        value = "unset"
        with outer as one, inner as two:
            value = 12 // divisor
            one.events.append(value)
        two.events.append("after")
        return value, outer.events, inner.events

    check(
        guarded,
        call(Recorder(), Recorder(), 4),
        call(Recorder(ZeroDivisionError), Recorder(), 0),
        call(Recorder(), Recorder(ZeroDivisionError), 0),
        call(Recorder(), Recorder(), 0),
    )


def test_break_continue_and_return_out_of_with():
    def walk(start, recorder):
        total = both = 0
        for step in range(30):
            with np.errstate(all="ignore"):
                doubled = step * 2
                if (start + step) % 5 == 0:
                    continue
                with recorder:
                    if (start + step) % 3 == 0:
                        continue
                    square = step * step
                if (start + step) % 29 == 28:
                    break
                total += square - doubled
            both += square + doubled
        else:
            both = -both
        return total, both, len(recorder.events)

    check(walk, *[call(start, Recorder()) for start in range(4)])


def test_errstate_covers_its_block_only():
    def divide(values):
        with np.errstate(divide="ignore", invalid="ignore"):
            quiet = 1 / values
        return quiet, 2 / values

    check(divide, call(np.array([0.0, 2.0])), call(np.array([1.0])), call(np.array([0, 1], "f4")))


def test_print_options_cover_their_block_only(capsys):
    def show(values):
        with np.printoptions(precision=2):
            short = str(values)
        print(values)
        return short

    check(show, call(np.array([1 / 3])), call(np.array([1.0, 2.5])))


# ---------------------------------------------------------------------------------------------------------- match


class Pair:
    __match_args__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


def test_match_over_every_kind_of_pattern():
    def dispatch(command, values):
        match command:
            case None:
                return "nothing"
            case True:
                return "true"
            case "negate" | "flip":
                return -values
            case ("add", amount) if amount != 0:
                return values + amount
            case ("add", _):
                return values
            case (first, *middle, last) if middle:
                return first, middle, last
            case {"scale": scale, **rest}:
                return values * scale, rest
            case Pair(left=0, right=right):
                return "zero", right
            case Pair(left, [inner]):
                return left, inner
            case int(number) | float(number):
                return number + 1
            case str() as text:
                return text.upper()
            case _:
                return "other"

    values = np.array([1.0, 2.0])
    commands = [
        None,
        True,
        "negate",
        "flip",
        ("add", 3),
        ("add", 0),
        [1, 2, 3, 4],
        {"scale": 2, "more": 1},
        Pair(0, 5),
        Pair(7, [8]),
        Pair(7, 8),
        4,
        2.5,
        "other text",
        (1,),
        {},
        b"bytes",
    ]
    check(dispatch, *[call(command, values) for command in commands])


def test_match_without_a_matching_case_goes_on():
    def pick(value):
        match value:
            case 1:
                found = "one"
            case [x, y]:
                found = x + y
        return found

    check(pick, call(1), call([2, 3]), call(5))


def test_match_binds_names_that_live_on():
    def shape_of(values):
        match values.shape:
            case ():
                kind = 0
            case (rows,):
                kind = rows
            case (rows, columns) if rows == columns:
                kind = "square"
            case (rows, columns):
                kind = rows * columns
        return kind, rows

    check(shape_of, call(np.ones(3)), call(np.ones((2, 2))), call(np.ones((2, 3))), call(np.ones(())))


# -------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("condition", [np.array([1, 2]), np.zeros(0), np.array([[1]]), np.array(0), [0], ""])
def test_the_truth_of_anything_is_python_s(condition):
    def truth(value):
        if value:
            return "yes"
        return "no"

    check(truth, call(condition))
