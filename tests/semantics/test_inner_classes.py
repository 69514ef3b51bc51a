"""`class` statements inside scripted functions."""

from __future__ import annotations

import abc
import enum
import functools
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import pytest

from tests.semantics.support import call, check

T = TypeVar("T")
LIMIT = 7
limit = "global"
REGISTRY: list[type] = []


def register(kind):
    """A user's decorator."""
    kind.registered = True
    return kind


def tagged(tag):
    def decorate(kind):
        kind.tags = (*getattr(kind, "tags", ()), tag)
        return kind

    return decorate


class Base:
    def __init__(self, value):
        self.value = value

    def __init_subclass__(cls, /, scale=1, **rest):
        super().__init_subclass__(**rest)
        cls.scale = scale

    def scaled(self):
        return self.value * self.scale


class Meta(type):
    def __new__(mcs, name, bases, namespace, flavour="plain"):
        made = super().__new__(mcs, name, bases, namespace)
        made.flavour = flavour
        made.order = [key for key in namespace if not key.startswith("__")]
        return made

    def __init__(cls, name, bases, namespace, flavour="plain"):
        super().__init__(name, bases, namespace)

    def __len__(cls):
        return len(cls.order)


class Recording(dict):
    def __init__(self):
        super().__init__(injected="from the namespace", limit="in the namespace")
        self.log = []

    def __setitem__(self, key, value):
        self.log.append(key)
        super().__setitem__(key, value)


class Prepared(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Recording()

    def __new__(mcs, name, bases, namespace):
        made = super().__new__(mcs, name, bases, dict(namespace))
        made.log = [key for key in namespace.log if key not in ("__module__", "__qualname__")]
        return made


class Named:
    """A descriptor that knows its name."""

    def __set_name__(self, owner, name):
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance, owner):
        return self.name if instance is None else instance.__dict__.get(self.name, 0)

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value * 2


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


def test_names_and_documents():
    def run():
        class Outer:
            class Inner:
                """Inside."""

                def method(self, x: int, *args: str, key: float = 2.0, **rest: bytes) -> list[int]:
                    """Doc of the method."""

                def bare(self):
                    return 1

            def make(self):
                class Deep:
                    pass

                return Deep.__qualname__

        method = Outer.Inner.method
        return (
            [Outer.__qualname__, Outer.Inner.__qualname__, method.__qualname__, Outer().make()],
            [Outer.__module__ == method.__module__, Outer.__doc__, Outer.Inner.__doc__, method.__doc__],
            [method.__annotations__, method.__kwdefaults__, Outer.Inner.bare.__doc__, method.__name__],
            [key for key in vars(Outer.Inner) if key not in ("__dict__", "__weakref__")],
        )

    check(run, call())


def test_names_in_a_class_body():
    def run(x, flag):
        local = x + 1
        limit = "local"

        class Body:
            first = limit  # a local of the function: the class does not bind the name
            LIMIT = LIMIT  # not bound yet: the global
            inner = LIMIT + 1
            if flag:
                chosen = "yes"
            else:
                chosen = "no"
            squares = [i * i for i in range(3)]
            outer = [local for _ in range(2)]
            total = 0
            for index in range(4):
                if index == 2:
                    continue
                total += index
            else:
                ended = True
            while total > 2:
                total -= 1
            a, (b, *c) = 1, (2, 3, 4)
            try:
                missing = undefined_name
            except NameError as error:
                message = str(error)
            with np.errstate(all="ignore"):
                managed = np.float64(1.0) / 0
            temporary = 1
            del temporary
            text = f"{a}{b!r}"
            walrus = (named := 5) + named
            lam = staticmethod(lambda value: value + local)

            def limit_of(self):
                return limit, LIMIT

        names = [key for key in vars(Body) if not key.startswith("__")]
        found = [Body.first, Body.inner, Body.chosen, Body.squares, Body.outer, Body.total, Body.index, Body.ended]
        more = [Body.a, Body.b, Body.c, Body.message, Body.managed, Body.text, Body.walrus, Body.named, Body.lam(1)]
        return names, found, more, Body().limit_of()

    check(run, call(1, True), call(np.float32(2), False))


def test_a_name_that_the_class_binds_hides_the_local_from_its_body():
    def run():
        limit = "local"

        class Body:
            if False:
                limit = 1
            seen = limit  # the class binds the name, so this is the global

            def method(self):
                return limit

        return Body.seen, Body().method()

    check(run, call())


def test_nonlocal_and_global_in_a_class_body():
    def run(x):
        count = x
        limit = "local"

        class Body:
            nonlocal count
            global limit
            count += 1
            seen = count, limit

            def method(self):
                return limit

        return count, Body.seen, Body().method(), "count" in vars(Body)

    check(run, call(1), call(2.5))


def test_bases_keywords_and_super():
    def run(x):
        bases = (Base,)

        class Child(*bases, scale=x + 1):
            def scaled(self):
                inner = super().scaled()
                return inner, __class__ is Child

        class Grandchild(Child, scale=10, **{}):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                self.more = super().value if hasattr(super(), "value") else None

            @classmethod
            def make(cls, value):
                return cls(value)

            def scaled(self):
                return [super().scaled(), *super(Child, self).__dict__]

        child, grandchild = Child(2), Grandchild.make(3)
        return child.scaled(), Child.scale, grandchild.scaled(), Grandchild.__mro__[1:] == Child.__mro__

    check(run, call(1), call(2))


def test_metaclasses():
    def run(flavour):
        class Thing(metaclass=Meta, flavour=flavour):
            b = 1
            a = 2

            def method(self):
                return super().__repr__() is not None

        class Abstract(abc.ABC):
            @property
            @abc.abstractmethod
            def area(self): ...

        class Square(Abstract):
            area = 4

        try:
            Abstract()
        except TypeError as error:
            message = str(error)
        return Thing.flavour, Thing.order, len(Thing), Thing().method(), message, Square().area

    check(run, call("sweet"))


def test_a_namespace_that_a_metaclass_prepares():
    def run(x):
        limit = "local"

        class Thing(metaclass=Prepared):
            seen = injected, limit, LIMIT, x
            part = x * 2
            part += 1
            array = np.arange(3) + part

            def method(self):
                return limit, x

        return Thing.log, Thing.seen, Thing.array, Thing().method()

    check(run, call(2), call(np.float32(3)))


def test_decorators():
    def run(x):
        log = []

        def note(kind):
            log.append(kind.__name__)
            return kind

        @register
        @tagged(x)
        @note
        @functools.total_ordering
        class Ordered:
            def __init__(self, key):
                self.key = key

            def __eq__(self, other):
                return self.key == other.key

            def __lt__(self, other):
                return self.key < other.key

        def replaced(kind):
            return kind.__name__

        @replaced
        class Gone:
            pass

        return Ordered(1) >= Ordered(0), Ordered.registered, Ordered.tags, log, Gone, max(Ordered(2), Ordered(5)).key

    check(run, call("tag"), call(3))


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
        return entered, point.y, message, reveals, kinds, [*Point(1, 3)], Point(4)[0], Point.of(7, 8)[1].x, Point.origin(2)

    check(run, call(1), call(np.int16(3)))


def test_descriptors_get_their_names():
    def run(x):
        class Owner:
            first = Named()
            second = Named()

        owner = Owner()
        owner.first = x
        return Owner.first, Owner.second, owner.first, owner.second

    check(run, call(2), call(np.arange(2.0)))


def test_dataclasses():
    def run(x):
        @dataclass(order=True)
        class Item:
            key: int
            value: float = field(default=0.5, compare=False)
            parts: list = field(default_factory=list)

            def __post_init__(self):
                self.parts.append(self.key)

            def total(self):
                return self.key + self.value

        @dataclass(frozen=True)
        class Fixed(object):  # noqa: UP004
            a: np.ndarray
            b: "int" = 3

        first, second = Item(1), Item(2, x)
        fixed = Fixed(np.arange(2))
        try:
            fixed.b = 1
        except AttributeError as error:
            message = type(error).__name__
        shown = repr(first).rpartition(".")[2]
        return first < second, second.total(), first.parts, shown, message, fixed.a + 1, Item.__annotations__

    check(run, call(1.5), call(np.float32(2)))


def test_named_tuples_and_enums():
    def run(x):
        class Pair(NamedTuple):
            """Two."""

            left: int
            right: float = 2.5

            def swapped(self):
                return Pair(self.right, self.left)

        class Colour(enum.Enum):
            RED = 1
            GREEN = RED + 1
            BLUE = enum.auto()

            @property
            def lower(self):
                return self.name.lower()

        class Flags(enum.IntFlag):
            A = enum.auto()
            B = enum.auto()
            BOTH = A | B

        pair = Pair(x)
        match pair:
            case Pair(left=1, right=r):
                found = r
            case Pair(a, b):
                found = (a, b)
        colours = [(colour.name, colour.value, colour.lower) for colour in Colour]
        return tuple(pair.swapped()), pair._fields, found, colours, int(Flags.BOTH), Colour(2) is Colour.GREEN, Pair.__doc__

    check(run, call(1), call(3))


def test_exceptions():
    def run(x):
        class Problem(ValueError):
            def __init__(self, size):
                super().__init__(f"size {size}")
                self.size = size

        class Worse(Problem):
            pass

        try:
            if x > 2:
                raise Worse(x)
            raise Problem(x) from KeyError(x)
        except Worse as error:
            return "worse", error.args, error.size
        except Problem as error:
            return "problem", str(error), repr(error.__cause__)

    check(run, call(1), call(5))


def test_generic_classes():
    def run(x):
        class Box(Generic[T]):
            def __init__(self, item: T):
                self.item = item

            def get(self) -> T:
                return self.item

        class Numbers(Box[int], list[int]):
            def __init__(self, *items):
                list.__init__(self, items)

        return Box[float](x).get(), len(Numbers(1, 2)), Box.__parameters__, Numbers.__orig_bases__[1]

    check(run, call(2), call(np.arange(2)))


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


def test_match_in_a_class_body():
    def run(x):
        class Body:
            match x:
                case {"a": value}:
                    kind = "mapping"
                case [first, *rest]:
                    kind = "sequence"
                case _:
                    kind = None

        return sorted(name for name in vars(Body) if not name.startswith("__")), Body.kind

    check(run, call({"a": 1}), call([1, 2]), call(5))


def test_an_exception_in_a_class_body():
    def run(x):
        log = []
        try:

            class Broken:
                log.append("begin")
                value = 1 / x
                log.append("end")

        except ZeroDivisionError as error:
            return log, str(error)
        return log, Broken.value

    check(run, call(0), call(2))


def test_errors_leave_from_the_line_of_the_user():
    def run(x):
        class Broken:
            a = 1
            value = a / x

        return Broken

    check(run, call(0))


def test_an_imported_name_in_a_class_body():
    def run():
        class Body:
            import math
            from itertools import chain as linked

            root = math.sqrt(4)
            parts = list(linked([1], [2]))

        return Body.root, Body.parts, Body.math.pi

    check(run, call())


def test_annotations_are_evaluated_or_kept_as_text():
    def run():
        class Body:
            a: int
            b: undefined = 3  # noqa: F821
            (c): int = 4

            def method(self, x: missing, /) -> also_missing:  # noqa: F821
                y: nowhere = x  # noqa: F821
                return y

        def inner(a: int, b: "text" = 2) -> None:  # noqa: F821
            """Inner."""

        return Body.__annotations__, Body.b, Body.c, Body().method(2), Body.method.__annotations__, inner.__annotations__, inner.__doc__

    check(run, call())


def test_private_names():
    def run(x):
        __private = x

        class _Owner:
            __value = __private_global = 3
            copied = __value

            def __init__(self, __argument=2):
                self.__field = __argument

            def get(self):
                __local = self.__field
                return [__local, self.__value, self._Owner__field]

            class __Nested:
                __value = 4

                def name(self):
                    return self.__value

            def nested(self):
                return self.__Nested().name(), self.__Nested.__name__, self.__Nested.__qualname__

        owner = _Owner(5)
        names = sorted(name for name in vars(_Owner) if not name.startswith("__"))
        return owner.get(), owner.nested(), names, sorted(vars(owner)), __private, hasattr(owner, "__field")

    check(run, call(1))


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
