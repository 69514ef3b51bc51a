from __future__ import annotations

import copy
import functools
import itertools
import math
from functools import partial, reduce
from operator import mul

import numpy as np
import pytest
from numpy import exp as exponential
from numpy import linalg

import gjit
from tests.semantics.support import call, check

SCALE = 3


def affine(x, a=2, *, b=1):
    return x * a + b


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


def test_calls_of_user_functions_with_every_kind_of_argument():
    def calls(x, factors):
        return (
            affine(x),
            affine(x, 3),
            affine(x, b=x),
            affine(a=1, x=x),
            affine(x, *factors),
            affine(x, **{"a": 5, "b": 0}),
        )

    check(calls, call(np.array([1.0, 2.0]), (4,)), call(3, []), call(np.float32(2), [np.int8(2)]))


def test_wrong_calls_raise_as_python_does():
    def wrong(x, kind):
        if kind == 0:
            return affine(x, 1, 2)
        if kind == 1:
            return affine(x, c=2)
        if kind == 2:
            return affine()
        if kind == 3:
            return affine(x, x=1)
        return x()

    check(wrong, *[call(1, kind) for kind in range(5)])


def test_every_spelling_of_the_arguments_of_the_compiled_function():
    def collect(x, y=2.0, *rest, scale=1, **options):
        return x * y + scale * len(rest) + sum(options.values())

    check(
        collect,
        call(np.array([1.0]), 3.0),
        call(np.array([1.0]), y=3.0),
        call(y=3.0, x=np.array([1.0])),
        call(np.array([1.0])),
        call(np.array([1.0]), 3.0, 4, 5, scale=2),
        call(np.array([1.0]), b=1, a=2),
        call(),
        call(np.array([1.0]), 1.0, y=3),
        call(1, 2, 3, unknown=0.5, scale=np.int8(2)),
    )


def test_positional_only_and_keyword_only_parameters():
    def strict(a, b=1, /, c=2, *, d, e=3):
        return a, b, c, d, e

    check(
        strict, call(0, d=1), call(0, 1, 2, d=3, e=4), call(0), call(a=0, d=1), call(0, 1, 2, 3, d=1), call(0, c=5, d=6)
    )


def test_recursion_and_mutual_recursion():
    def tree(depth, values):
        if depth == 0 or is_odd(depth):
            return values.sum() + depth
        return tree(depth - 1, values * 2) + tree(depth - 2, values)

    def even(n):
        return is_even(n), is_odd(n)

    check(even, call(0), call(7), call(40))
    check(factorial, call(0), call(20), call(25))
    check(ackermann, call(2, 3), call(1, 0))
    check(quicksort, call([3, 1, 2, 3]), call([]))
    check(tree_sum, call((1, (2, (3, None)), 4)), call(None))


def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def quicksort(items):
    if len(items) < 2:
        return items
    pivot, *rest = items
    return quicksort([x for x in rest if x < pivot]) + [pivot] + quicksort([x for x in rest if x >= pivot])


def tree_sum(node):
    if node is None:
        return 0
    if isinstance(node, tuple):
        return sum(tree_sum(child) for child in node)
    return node


def test_recursion_without_end_raises():
    def forever(n):
        return forever(n + 1)

    check(endless, call(0))


def endless(n):
    return endless(n + 1)


def test_closures_capture_values_and_arrays():
    def make():
        factor, weights = 3, np.array([10.0, 20.0])

        def inner(x):
            return x * factor + weights

        return inner

    check(make(), call(np.array([1.0, 2.0])), call(2), call(np.ones((2, 2), "f4")))


def test_nonlocal_names_keep_their_state():
    def make():
        count = 0

        def bump(step):
            nonlocal count
            count += step
            return count

        return bump

    plain, compiled = make(), gjit.script(make())
    assert [plain(2) for _ in range(3)] == [compiled(2) for _ in range(3)] == [2, 4, 6]
    assert compiled.__wrapped__.__closure__[0].cell_contents == 6


def test_a_mutable_default_is_one_object():
    def make():
        def collect(value, kept=[]):  # the persistence is what is tested
            kept.append(value)
            return list(kept)

        return collect

    plain, compiled = make(), gjit.script(make())
    assert [plain(1), plain(2)] == [compiled(1), compiled(2)] == [[1], [1, 2]]
    assert compiled.__wrapped__.__defaults__[0] == [1, 2]


def test_functions_are_values():
    def apply(x, functions):
        double = lambda value: value * 2
        shift = functools.partial(affine, a=1, b=3)

        def compose(first, second):
            return lambda value: second(first(value))

        for function in functions:
            x = function(x)
        return compose(double, shift)(x)

    check(
        apply, call(np.array([1.0]), [np.negative, np.exp]), call(2, [abs, float, math.sqrt]), call(np.float32(1), [])
    )


def test_inner_functions_with_defaults_and_shared_names():
    def outer(x):
        total = 0

        def add(amount=x.size, *more, times=2):
            nonlocal total
            total += amount * times + sum(more)
            return total

        add()
        add(5)
        add(1, 2, 3, times=0)
        total *= 2
        return total, [add(index) for index in range(2)]

    check(outer, call(np.ones(3)), call(np.zeros((0, 2))))


def test_closures_in_a_loop_share_the_loop_variable():
    def make(count):
        functions = []
        for index in range(count):
            functions.append(lambda x, fixed=index: (x + index, x + fixed))
        return [function(10) for function in functions]

    check(make, call(3), call(1), call(0))


def test_names_are_deleted_and_bound_again():
    def rebind(x):
        value = x + 1
        del value
        value = x * 2
        items = [value, x]
        del items[0]
        if x.size > 1:
            del value
        return value, items

    check(rebind, call(np.array([1])), call(np.array([1, 2])))


def test_imports_inside_a_function():
    def imports(x):
        import math as m
        from operator import mul as times

        import numpy.linalg

        return m.floor(x), times(2, 3), numpy.linalg.norm(np.ones(4)), m.__name__

    check(imports, call(2.7), call(np.float64(-1.5)))


def test_an_import_that_fails():
    def optional(x):
        try:
            import a_package_that_is_not_there as missing
        except ImportError as error:
            return x, type(error).__name__
        return missing

    check(optional, call(1))


def test_names_imported_from_numpy():
    def program(x):
        return exponential(x) + linalg.norm(x), np.linalg.norm(x) * np.pi

    check(program, call(np.array([3.0, 4.0])), call(np.ones(2, "f4")))


def test_the_standard_library_in_place():
    def program(numbers):
        product = reduce(mul, numbers, 1)
        halved = partial(affine, a=0.5)(product)
        pairs = list(itertools.combinations(numbers, 2))
        chained = [*itertools.chain(numbers, [9])]
        running = list(itertools.accumulate(numbers))
        deep = copy.deepcopy([numbers])
        deep[0].append(1)
        return product, halved, pairs, chained, running, deep, numbers, list(itertools.product("ab", repeat=2))

    check(program, call([1, 2, 3]), call([]), call([0.5, 4]))


def test_evaluation_order():
    def order(log):
        def say(value):
            log.append(value)
            return value

        table = {say("k1"): say(1), say("k2"): say(2)}
        pair = (say(3), [say(4)][say(0)])
        say([10, 20])[say(1)] = say(30)
        affine(say(1), b=say(2), a=say(3))
        total = say(1) + say(2) * say(3)
        log[say(0)] = say("first")
        return table, pair, say(5) if say(False) else say(6), total, say(1) < say(2) < say(0) < say(9)

    check(order, call([]))


def test_defaults_are_evaluated_once_where_the_function_is_made():
    def outer(log):
        def tick():
            log.append("tick")
            return len(log)

        def inner(x=tick()):
            return x

        return inner(), inner(), inner(5), log

    check(outer, call([]))


def test_optional_parameters_and_annotations_are_hints():
    def scaled(x: np.ndarray | None, w: float | None = None, names: list[int] = ()) -> np.ndarray | float:
        given = x is not None
        if not given:
            return -1.0
        factor: float = w or 1.0
        untouched: int  # noqa: F842 - an annotation alone binds nothing
        return x * factor

    check(
        scaled, call(None), call(np.array([2.0]), 0.0), call(np.array([2.0]), 3), call("ab", 2), call([1], np.int64(2))
    )


def test_global_constants_and_shadowed_builtins():
    def program(x, len=len):
        sum = x * SCALE
        abs = [sum]
        return len(abs), sum

    check(program, call(np.array([1.0])), call(2, str))


def test_decorated_functions_call_each_other():
    @gjit.script
    def inner(x):
        return x * 2 + 1

    def outer(x):
        return inner(x) - inner(inner(x))

    check(outer, call(np.arange(3.0)), call(2))


def test_a_lambda_is_compiled():
    check(lambda x, y=2: (x * y + 1, [value for value in range(y)]), call(np.ones(3)), call(3, 4))


def test_two_lambdas_on_one_line():
    first, second = (lambda x: x + 1), (lambda x: x * 10)
    check(first, call(np.ones(2)))
    check(second, call(np.ones(2)))


def test_higher_order_builtins_with_user_functions():
    def program(items):
        return (
            sorted(items, key=lambda item: (-item % 3, item)),
            list(map(affine, items)),
            max(items, key=lambda item: item % 4),
            [function(2) for function in (is_even, is_odd)],
            any(map(is_even, range(1, 3))),
        )

    check(program, call([5, 3, 8, 1]), call([0]))


def test_getattr_hasattr_isinstance_and_friends():
    def ask(value):
        return (
            isinstance(value, np.ndarray),
            isinstance(value, (int, np.floating)),
            hasattr(value, "shape"),
            getattr(value, "ndim", "none"),
            callable(value),
            issubclass(type(value), object),
            type(value) is float,
            id(value) == id(value),
            len(repr(value)) > 0,
        )

    check(ask, call(np.ones(2)), call(1), call(2.5), call(np.float32(1)), call("x"), call(len), call(None))


def test_a_function_around_sees_what_inner_ones_assign():
    def make():
        count = 0

        def add():
            nonlocal count
            count += 1

        def run(step):
            def inner():
                nonlocal count
                count += step

                def innermost():
                    return count

                return innermost()

            add()
            first = count
            return first, inner(), count

        return run

    plain, compiled = make(), gjit.script(make())
    for _ in range(3):
        assert compiled(10) == plain(10)


def test_names_bound_by_expressions_in_generators_and_guards():
    def run(values):
        if any((hit := value) > 1 for value in values):
            return hit
        match values:
            case [first, *_] if rest := [value for value in values if (last := value)]:
                return first, rest, last
        return None

    check(run, call([0, 1, 2, 3]), call([0, 1, 1]), call([0]))


OFFSET = "global"


def test_global_statements_inside_a_function_that_hides_the_name():
    def run(x):
        OFFSET = x

        def inner():
            global OFFSET

            def innermost():
                return OFFSET

            return OFFSET, innermost()

        return inner(), OFFSET

    check(run, call(7))


@pytest.mark.parametrize(
    "function",
    [
        np.reshape,
        np.zeros_like,
        np.where,
        np.sqrt,
        np.sum,
        np.transpose,
        abs,
        len,
        math.floor,
        np.ndarray.item,
        np.stack,
    ],
    ids=lambda function: function.__name__,
)
def test_a_call_without_operands_raises_as_python_does(function):
    def wrong():
        return function()

    check(wrong, call())
