"""What an optimiser may not do: each program here is one that a wrong rewrite changes."""

from __future__ import annotations

import numpy as np

from tests.semantics.support import call, check

INF, NAN = float("inf"), float("nan")


def test_constants_that_compare_equal_are_not_the_same():
    def constants(values):
        return (
            np.copysign(values, 0.0),
            np.copysign(values, -0.0),
            values + 0.0,
            values - 0.0,
            values + -0.0,
            values * True,
            values * 1,
            values * 1.0,
            values / -0.0,
            values / 0.0,
            (1, 1.0, True, 0.0, -0.0, 0j),
        )

    check(constants, call(np.array([-1.0, 2.0, -0.0])), call(np.array([-1, 2], "i1")), call(np.float32(-0.0)), call(3))


def test_equal_products_subtract_to_zero():
    def difference(x, y):
        return x * x - y * y, x * y - x * y, x * y + x * -y

    values = np.array([0.1, 1 / 3, 1e10 + 0.1, -7.7])
    check(
        difference,
        call(values, values.copy()),
        call(values.astype("f4"), values.astype("f4")),
        call(0.1, np.float64(0.1)),
    )


def test_inverse_functions_do_not_cancel():
    def round_trip(x):
        return np.exp(np.log(x)), np.sqrt(x) ** 2, np.log(np.exp(x)), np.square(np.sqrt(x)), -(-x), 1 / (1 / x)

    check(round_trip, call(np.array([-1.0, 4.0, 0.0, 1000.0, -0.0])), call(np.array([-1.0, 4.0], "f4")))


def test_nothing_times_zero_or_minus_itself_is_folded():
    def fold(x):
        return x * 0, x - x, x / x, 0 * x, x**0, x == x, x + 0, x | x if x.dtype.kind == "i" else x

    check(fold, call(np.array([NAN, INF, -0.0, 1.0])), call(np.array([0, 3])), call(np.array([-1.0], "f2")))


def test_sums_are_not_reassociated():
    def sums(x, y):
        return (x + y) - y, x + (y - y), (x * y) / y, x * 3 * (1 / 3), x + 1 - 1

    check(sums, call(np.array([0.1, 1e-20]), np.array([1e10, 1.0])), call(np.array([1], "i1"), np.array([127], "i1")))


def test_allocations_are_neither_merged_nor_moved_out_of_loops():
    def rows(count):
        first, second = np.zeros(2), np.zeros(2)
        first[0] = 9
        kept = []
        for index in range(count):
            row = np.zeros(3)
            row[index % 3] += index
            kept.append(row)
        one, other = [], []
        one.append(1)
        return kept, first, second, one, other

    check(rows, call(4), call(0))


def test_a_common_expression_is_computed_again_after_a_write():
    def around(x):
        before = x * 2 + 1
        x[0] = 100
        after = x * 2 + 1
        view = x[1:]
        first = view.sum()
        x += 1
        second = view.sum()
        return before, after, first, second

    check(around, call(np.arange(3.0)), call(np.arange(4, dtype="i2")))


def test_writes_through_another_name_are_seen():
    def alias(x, y):
        total = x.sum()
        y[0] = 50
        return total, x.sum(), x + 0

    base = np.arange(4.0)
    check(alias, call(base, base[1:]), call(base, base), call(base, base.copy()))


def test_what_is_constant_in_a_loop_is_not_when_it_is_written():
    def loop(x, count):
        found = []
        for _ in range(count):
            found.append(np.sqrt(x).sum())
            x *= 4
        return found

    check(loop, call(np.ones(3), 3), call(np.ones(0), 2))


def test_dead_code_still_raises_and_warns():
    def dead(values, index):
        values[index]
        1 / values
        folded = values.reshape(2, -1)
        del folded
        return values.size

    check(dead, call(np.array([0.0, 1.0]), 1), call(np.array([1.0, 1.0]), 5), call(np.array([1.0, 2.0, 3.0]), 0))


def test_a_dead_loop_over_nothing_is_still_checked():
    def dead(values, other):
        for _ in range(2):
            values + other
        return "done"

    check(dead, call(np.ones(3), np.ones(3)), call(np.ones(3), np.ones(2)), call(np.ones(3), "text"))


def test_order_of_printing_and_of_draws_is_kept():
    def ordered(rng, values):
        print("start", values.sum())
        first = rng.random(2)
        print("draw", first.shape)
        second = rng.random(2)
        rng.integers(10)
        print(values + 1)
        return second - first, rng.normal()

    check(ordered, call(np.random.default_rng(5), np.arange(3)), calls=2)


def test_equal_draws_are_two_draws():
    def draw(rng):
        return rng.normal(size=3) - rng.normal(size=3), [rng.uniform() for _ in range(3)]

    check(draw, call(np.random.default_rng(1)), call(np.random.RandomState(2)))


def test_the_global_generator_advances():
    def draw(count):
        np.random.seed(3)
        return np.random.rand(count), np.random.randint(0, 9, count), np.random.normal(size=count)

    check(draw, call(3), call(0))


def test_large_constants_are_exact():
    def constants(x):
        return (
            x * 0.1,
            x + INF,
            x * NAN,
            x + 1e10,
            x * -0.0,
            x * 1e-320,
            x + 9007199254740993,
            2**70,
            -(2**63),
            1e400,
            -1e400,
            1j * x,
            "a'b\"c\n\\\u00e9\0",
            b"\x00\xff",
            {"n": None, "t": (1, 2.5, True, ...)},
            0.1 + 0.2,
            1_000_000 * 1_000_000,
        )

    check(constants, call(np.array([1.0, 3.0, -2.0])), call(np.array([1, 2], "f4")))


def test_constant_expressions_that_raise_raise_when_they_run():
    def constant(flag):
        if flag == 1:
            return 1 / 0
        if flag == 2:
            return (1, 2)[5]
        if flag == 3:
            return "a" + 1
        if flag == 4:
            return {}["key"]
        return 2 * 3 + 4

    check(constant, *[call(flag) for flag in range(5)])


def test_softmax_of_large_values_has_an_exact_one():
    def softmax(x, scale):
        scaled = x * scale
        top = scaled.max()
        powers = np.exp(scaled - top)
        return powers, powers / powers.sum(), (scaled - top).max()

    grid = np.linspace(-0.93, 0.97, 25)
    check(softmax, call(grid * 1e14, 1 / 3), call((grid * 1e12).astype("f4"), 0.7), call(grid, 0.1))


def test_float32_programs_do_not_widen():
    def program(x):
        return np.exp(x) * 0.5 + 1, np.sqrt(x) / 3, x.astype(np.float32) * 2.0, (x + 1).mean(), x * np.pi

    check(program, call(np.array([1.0, 4.0], "f4")), call(np.array([1.0, 4.0], "f2")))


def test_selection_is_not_evaluated_lazily():
    def choose(values, log):
        def noisy(number):
            log.append(number)
            return number

        return np.where(values > 0, noisy(1), noisy(2)), log

    check(choose, call(np.array([1, -1]), []))


def test_conversions_that_seem_to_do_nothing():
    def convert(x):
        return (
            x.astype(x.dtype),
            x.astype(x.dtype, copy=False),
            x.copy(),
            np.array(x),
            np.asarray(x),
            +x,
            x[...],
            x.view(),
        )

    check(convert, call(np.arange(3.0)), call(np.asfortranarray(np.ones((2, 3)))), call(np.array(1.0)))


def test_powers_with_small_exponents():
    def powers(x):
        return x**1, x**2, x**3, x**-1, x**0.5, x**0, x**2.0

    check(powers, call(np.array([0.1, -3.3, 1e200])), call(np.array([0.1, 7.7], "f4")), call(np.array([1j + 0.1])))
    check(powers, call(np.float64(0.1)), call(0.1), call(np.array([3, 2])))
