"""Classes of every kind made inside scripted functions: bases, metaclasses, decorators, dataclasses, enums."""

from __future__ import annotations

import abc
import enum
import functools
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from tests.semantics.support import call, check

T = TypeVar("T")


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


class Named:
    """A descriptor that knows its name."""

    def __set_name__(self, owner, name):
        self.name = f"{owner.__name__}.{name}"

    def __get__(self, instance, owner):
        return self.name if instance is None else instance.__dict__.get(self.name, 0)

    def __set__(self, instance, value):
        instance.__dict__[self.name] = value * 2


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
        return (
            tuple(pair.swapped()),
            pair._fields,
            found,
            colours,
            int(Flags.BOTH),
            Colour(2) is Colour.GREEN,
            Pair.__doc__,
        )

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
