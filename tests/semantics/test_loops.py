from __future__ import annotations

import numpy as np

from tests.semantics.support import call, check


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
