"""`class` statements inside scripted functions: what their methods see, and how the classes are used."""

from __future__ import annotations

import functools
import gc
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import gjit
from tests.semantics.support import call, check


def test_methods_see_the_variables_of_the_function():
    def run(x, factor):
        calls = []

        class Scaler:
            """Scales."""

            offset = 1.5
            doubled = offset * 2

            def __init__(self, bias):
                self.bias = bias

            def __call__(self, values):
                calls.append(len(calls))
                return values * factor + self.bias + self.offset

        scaler = Scaler(2.0)
        result = scaler(x) + scaler(x)
        factor = factor + 1
        return result, scaler(x), calls, Scaler.doubled, Scaler.__doc__, Scaler.__name__

    check(run, call(np.arange(6.0), 3), call(np.arange(4, dtype=np.float32), 2.5), call(np.zeros((0, 3)), 1))


def test_a_method_updates_a_variable_of_the_function():
    def run(x):
        total = 0

        class Adder:
            def add(self, value):
                nonlocal total
                total += value
                return self

        Adder().add(x).add(2)
        return total

    check(run, call(3), call(np.arange(3.0)))


def test_members_of_every_kind():
    def run(x):
        class Point:
            __slots__ = ("_x", "y", "__hidden")
            count = 0

            def __init__(self, x, y=0):
                self._x, self.y = x, y
                self.__hidden = (x, y)
                Point.count += 1

            @property
            def x(self):
                """The first coordinate."""
                return self._x

            @x.setter
            def x(self, value):
                self._x = value + 1

            @x.deleter
            def x(self):
                del self._x

            @staticmethod
            def origin(size):
                return np.zeros(size)

            @classmethod
            def of(cls, *values):
                return [cls(value) for value in values]

            def __private(self):
                return self.__hidden

            def reveal(self):
                return self.__private()

            @functools.cached_property
            def never(self):
                return 1

            def __add__(self, other):
                return Point(self._x + other._x, self.y + other.y)

            def __eq__(self, other):
                return isinstance(other, Point) and (self._x, self.y) == (other._x, other.y)

            def __hash__(self):
                return hash((self._x, self.y))

            def __iter__(self):
                yield self._x
                yield self.y

            def __len__(self):
                return 2

            def __getitem__(self, index):
                return (self._x, self.y)[index]

            def __enter__(self):
                return self.y

            def __exit__(self, *details):
                self.y = None
                return True

        point = Point(x, 2)
        point.x = 5
        moved = point + Point(1, 1)
        with point as entered:
            raise ValueError
        try:
            point.z = 1
        except AttributeError as error:
            message = str(error)
        del moved.x
        reveals = Point._Point__private.__name__, point.reveal(), hasattr(moved, "x"), Point.x.__doc__
        kinds = sorted(name for name in vars(Point) if "_" not in name)
        return (
            entered,
            point.y,
            message,
            reveals,
            kinds,
            [*Point(1, 3)],
            Point(4)[0],
            Point.of(7, 8)[1].x,
            Point.origin(2),
        )

    check(run, call(1), call(np.int16(3)))


def test_classes_in_loops_and_returned_classes():
    def run(n):
        kinds = []
        for i in range(n):

            class Step:
                number = i

                def __call__(self, value):
                    return value * self.number + i

            kinds.append(Step)

        def make(base):
            class Made(base):
                extra = n

            return Made

        made = make(make(kinds[0]))
        return [kind()(10) for kind in kinds], len(set(kinds)), made()(3), made.extra, made.__mro__[1].__qualname__

    check(run, call(3), call(1))


def test_a_class_is_assigned_on_one_path_only():
    def run(flag):
        if flag:

            class Maybe:
                value = 1

        return Maybe.value

    check(run, call(True), call(False))


def test_one_name_for_two_classes():
    def run(x):
        class Same:
            value = x

        first = Same

        class Same(first):
            value = x + 1

            def both(self):
                return super().value, self.value

        return first.value, Same().both(), first.__qualname__, Same.__qualname__, first.__name__

    check(run, call(1))


def test_a_name_that_classes_take_in_turn():
    def run(x):
        class Same:
            x = 1

        class Same(Same):
            y = Same.x + 1

        @functools.total_ordering
        class Same(Same):
            z = x + 1

            def __lt__(self, other):
                return Same.y

        return Same.x, Same.y, Same.z, [kind.__name__ for kind in Same.__mro__], Same() < Same()

    check(run, call(3))


def test_methods_with_arrays():
    def run(x, n):
        class Filter:
            kernel = np.array([0.25, 0.5, 0.25])

            def __init__(self, data):
                self.data = data

            def step(self):
                u = self.data
                u[1:-1] = self.kernel[0] * u[:-2] + self.kernel[1] * u[1:-1] + self.kernel[2] * u[2:]
                return self

            def energy(self):
                return np.sqrt((self.data**2).sum())

        smoother = Filter(x)
        for _ in range(n):
            smoother.step()
        return smoother.energy(), smoother.data is x

    check(run, call(np.linspace(0, 1, 300), 3), call(np.ones(5, np.float32), 2), call(np.arange(3.0)[::-1], 1))


def test_match_finds_classes():
    def run(x):
        class Shape:
            pass

        class Circle(Shape):
            __match_args__ = ("radius",)

            def __init__(self, radius):
                self.radius = radius

        class Box(Shape):
            def __init__(self, width, height):
                self.width, self.height = width, height

        areas = []
        for shape in (Circle(x), Box(2, x), Shape(), 3):
            match shape:
                case Circle(r) if r > 1:
                    areas.append(3 * r * r)
                case Box(width=w, height=h):
                    areas.append(w * h)
                case Shape():
                    areas.append(None)
                case _:
                    areas.append("none")
        return areas

    check(run, call(1), call(2.5))


def test_a_class_that_is_used_as_a_value():
    def run(x):
        class Key:
            def __init__(self, value):
                self.value = value

            def __lt__(self, other):
                return self.value > other.value

            def __repr__(self):
                return f"Key({self.value})"

        keys = list(map(Key, x))
        best = min(keys, key=lambda key: key.value)
        table = {Key: 1, "key": Key}
        return repr(sorted(keys)), repr(best), table[Key], isinstance(keys[0], table["key"]), issubclass(Key, object)

    check(run, call([3, 1, 2]))


@pytest.mark.parametrize("value", [1, 2.5])
def test_a_scripted_function_returns_instances(value):
    def run(x):
        class Held:
            def __init__(self, item):
                self.item = item

            def double(self):
                return self.item * 2

        return Held(x).double

    compiled_run = check(run, stays="a method of a local class")
    assert compiled_run(value)() == run(value)()
    assert compiled_run.statistics.host_calls == 0


class Counted:
    """What local classes inherit from: its methods are scripted when they are called."""

    def __init__(self, value):
        self.value = value

    def doubled(self):
        return self.value * 2


def test_local_classes_do_not_pile_up():
    made = []

    def run(x):
        class Local(Counted):
            def both(self):
                return self.doubled(), self.value

        @dataclass
        class Record:
            field: int

        made.extend((weakref.ref(Local), weakref.ref(Record)))
        return Local(x).both(), Record(x).field

    compiled = gjit.script(run)
    for index in range(120):
        assert compiled(index) == ((2 * index, index), index)
    gc.collect()
    assert sum(reference() is not None for reference in made) < 120
    assert compiled.statistics.host_calls == 0
    assert compiled.statistics.signatures <= 4
