"""Definitions in a module whose annotations are evaluated, and the order in which the parts of a definition are."""

import numpy as np

from tests.semantics.support import call, check


def test_the_parts_of_definitions_are_evaluated_in_order():
    def run():
        log = []

        def note(name, value=None):
            log.append(name)
            return value

        def decorator(name):
            log.append(name)
            return lambda made: (log.append(f"apply {name}"), made)[1]

        @decorator("first")
        @decorator("second")
        def function(
            a: note("a", int),
            b: note("b", str) = note("default b", 3),
            /,
            c: note("c", 1) = note("default c", 4),
            *args: note("args", 5),
            k: note("k", 6) = note("default k", 7),
            **rest: note("rest", 8),
        ) -> note("result", 9):
            """Text."""
            return a, b, c, args, k, rest

        @decorator("class")
        class Body(note("base", object), metaclass=note("metaclass", type)):
            z: note("z", int) = note("value z", 1)

            @decorator("method")
            def method(self, q: note("q", 1) = note("default q", 2)): ...

        names = function.__name__, function.__qualname__, function.__doc__
        return log, function(1), function.__annotations__, names, Body.__annotations__, Body.method.__annotations__

    check(run, call())


def test_annotations_of_variables():
    def run(x):
        kind = float

        class Body:
            a: int
            b: kind = x
            (c): list[int] = [1]
            pair = [0, 0]
            pair[0]: str = "item"
            if x:
                d: "text" = 2  # noqa: F821

        def inner():
            y: undefined_name = x  # noqa: F821
            z: int  # noqa: F842
            return y

        return Body.__annotations__, Body.b, Body.c, Body.pair, inner()

    check(run, call(0), call(np.float32(1)))


def test_an_annotation_that_fails():
    def run():
        def inner(x: undefined_name): ...  # noqa: F821

        return inner

    check(run, call())


def test_a_decorator_that_fails():
    def run(x):
        def broken(made):
            return made / x

        @len
        @broken
        def inner():
            return 1

        return inner

    check(run, call(1))


def test_what_a_class_body_computes_with_arrays():
    def run(x):
        class Constants:
            a = np.sqrt(x) * 2 + np.exp(x)
            b = a / 0
            total = (a * a).sum()
            a[1:-1] = a[:-2] + a[2:]
            a += 1
            if total > 1:
                a = a * np.log(x + 1)

        return Constants.a, Constants.b, Constants.total, sorted(key for key in vars(Constants) if "_" not in key)

    check(run, call(np.linspace(0, 1, 5)), call(np.linspace(0, 1, 70000)), call(np.float64(0.5) * np.ones((2, 3)).T))


def test_a_namespace_that_makes_up_what_is_missing():
    def run(x):
        class Members(dict):
            def __missing__(self, key):
                if key.startswith("__"):
                    raise KeyError(key)
                self[key] = len(self) * x
                return self[key]

        class Meta(type):
            @classmethod
            def __prepare__(mcs, name, bases):
                return Members()

            def __new__(mcs, name, bases, namespace):
                return super().__new__(mcs, name, bases, dict(namespace))

        class Listed(metaclass=Meta):
            FIRST  # noqa: B018, F821
            SECOND  # noqa: B018, F821

        return Listed.FIRST, Listed.SECOND

    check(run, call(3))
