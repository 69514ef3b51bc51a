from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

import gjit
from tests.semantics.support import call, check


class Layer:
    instances = 0

    def __init__(self, weights):
        self.weights = weights
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x @ self.weights

    def __call__(self, x):
        return self.forward(x)

    @property
    def size(self):
        return self.weights.size

    @size.setter
    def size(self, value):
        self.weights = np.ones((value, value))

    @staticmethod
    def scale(x, factor):
        return x * factor

    @classmethod
    def identity(cls, size):
        return cls(np.eye(size))


class Residual(Layer):
    def forward(self, x):
        return super().forward(x) + x


def test_a_stack_of_layers():
    def run(layers, x):
        for layer in layers:
            x = layer(x) if layer.size > 1 else Layer.scale(x, 3)
        first = layers[0]
        return (
            x,
            Residual.identity(2)(x),
            isinstance(first, Layer),
            hasattr(first, "bias"),
            getattr(first, "bias", None),
        )

    check(
        run,
        call([Residual(np.eye(2)), Layer(np.ones((1, 1)))], np.array([1.0, 2.0])),
        call([Layer(np.ones((2, 2)))], np.ones(2)),
    )


def test_properties_and_attributes_are_written():
    def resize(layer, size):
        before = layer.size
        layer.size = size
        layer.note = "resized"
        layer.calls -= 1
        del layer.note
        layer.weights *= 2
        setattr(layer, "extra", before)
        return layer.size, layer.weights

    check(resize, call(Layer(np.eye(2)), 3), call(Residual(np.zeros(1)), 0))


def test_missing_attributes_raise():
    def read(value, kind):
        if kind == 0:
            return value.missing
        if kind == 1:
            value.shape = 3
        if kind == 2:
            del value.missing
        return value

    for kind in range(3):
        check(read, call(np.ones((2, 3)), kind), call(1, kind), call(Layer(1), kind))


@dataclass
class Settings:
    scale: float
    bias: float = 0.5
    history: list = field(default_factory=list)

    def apply(self, x):
        self.history.append(len(x))
        return x * self.scale + self.bias


def test_dataclasses_are_made_compared_and_changed():
    def apply(settings, x):
        y = settings.apply(x)
        settings.scale += 1
        other = Settings(3.0, history=[1])
        return y, settings == Settings(3.0, 0.5, [1]), other, repr(other), settings is other

    check(apply, call(Settings(2.0), np.array([1.0])), call(Settings(1, 0), np.ones((2, 2), "f4")))


class Mode(enum.Enum):
    SUM = 1
    MEAN = "mean"

    def label(self):
        return f"<{self.name}>"


class Flags(enum.IntFlag):
    READ = 1
    WRITE = 2


def test_enumerations():
    def reduce(x, mode):
        if mode is Mode.SUM:
            result = x.sum()
        elif mode == Mode.MEAN:
            result = x.mean()
        else:
            result = None
        names = [member.name for member in Mode]
        return (
            result,
            mode,
            names,
            Mode("mean") is Mode.MEAN,
            {Mode.SUM: 1}.get(mode),
            Flags.READ | Flags.WRITE,
            Mode["SUM"].label(),
        )

    check(reduce, call(np.array([1.0, 3.0]), Mode.SUM), call(np.array([1.0, 3.0]), Mode.MEAN), call(np.ones(2), "mean"))


class Point(NamedTuple):
    x: float
    y: float = 2.0

    def length(self):
        return (self.x**2 + self.y**2) ** 0.5


def test_typed_named_tuples():
    def move(point, step):
        moved = point._replace(x=point.x + step)
        x, y = moved
        return moved, Point(y), moved.length(), x * y, point < moved, Point(*moved)

    check(move, call(Point(3.0, 4.0), 1), call(Point(0), 2.5), call(Point(1, 1), 0))


class Vector:
    created = []

    def __init__(self, values):
        self.values = values

    def __add__(self, other):
        return Vector(self.values + (other.values if isinstance(other, Vector) else other))

    __radd__ = __add__

    def __iadd__(self, other):
        self.values += other
        return self

    def __matmul__(self, other):
        return float((self.values * other.values).sum())

    def __neg__(self):
        return Vector(-self.values)

    def __len__(self):
        return self.values.size

    def __getitem__(self, index):
        return self.values[index]

    def __setitem__(self, index, value):
        self.values[index] = value

    def __iter__(self):
        return iter(self.values.tolist())

    def __eq__(self, other):
        return isinstance(other, Vector) and np.array_equal(self.values, other.values)

    def __lt__(self, other):
        return self.values.sum() < other.values.sum()

    def __call__(self, factor):
        return self.values * factor

    def __repr__(self):
        return f"Vector({self.values.tolist()})"

    def __format__(self, spec):
        return f"<{spec}>"

    def __bool__(self):
        return bool(len(self) > 1)

    def __index__(self):
        return len(self)


class Shifted(Vector):
    def __call__(self, factor):
        return super().__call__(factor) - 1


class Empty:
    pass


def test_magic_methods_with_reflected_and_in_place_forms():
    def use(v, w, factor):
        total = 1.0 + v + w
        v += 2.0
        v[0] = -v[1]
        p, q = Empty(), Empty()
        return (
            total,
            len(v),
            v[1],
            3.0 in v,
            99.0 in v,
            v == w,
            v != w,
            bool(v),
            p == q,
            p == p,
            w(factor),
            [value for value in v],
            isinstance(w, Vector),
            w.__class__.__name__,
            v @ w,
            -v,
            sorted([w, v]),
            f"{v:x} {v!r}",
            [10, 20, 30][w],
            "yes" if v else "no",
        )

    check(use, call(Vector(np.array([1.0, 2.0])), Shifted(np.array([5.0, 7.0])), 3))


def test_operators_between_arrays_and_instances():
    def mix(x, v):
        return v + x, x * 2 + v.values, np.add(x, v.values), v.values @ x

    check(mix, call(np.array([1.0, 2.0]), Vector(np.array([3.0, 4.0]))))


class Unhelpful:
    def __add__(self, other):
        return NotImplemented

    def __bool__(self):
        raise RuntimeError("no truth")

    def __getattr__(self, name):
        if name.startswith("with_"):
            return name[5:]
        raise AttributeError(name)


def test_magic_methods_that_refuse():
    def use(value, kind):
        if kind == 0:
            return value + 1
        if kind == 1:
            return "yes" if value else "no"
        if kind == 2:
            return value.with_something, value.other
        if kind == 3:
            return value and 1
        return not value

    check(use, *[call(Unhelpful(), kind) for kind in range(5)])


class ArrayLike:
    __array_priority__ = 100

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype)

    def __radd__(self, other):
        return "radd"

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return "ufunc", ufunc.__name__, method


def test_instances_that_take_over_numpy_operators():
    def mix(x, other):
        return x + other, np.sqrt(other), np.multiply(x, other)

    check(mix, call(np.ones(2), ArrayLike([1.0, 2.0])), call(np.float64(1), ArrayLike([1])))


class Tagged(np.ndarray):
    def __array_finalize__(self, source):
        self.tag = getattr(source, "tag", None)


def test_array_subclasses_keep_their_class():
    def use(x):
        return x + 1, x[0], x[:1] * 2, np.sqrt(x), x.sum(), np.where(x > 1, x, 0)

    check(
        use,
        call(np.ones(3).view(Tagged)),
        call(np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])),
        call(np.matrix([[1.0, 2.0]])),
        host_calls=None,
    )


def test_class_attributes_are_shared():
    def record(x):
        Vector.created.append(float(x.sum()))
        return len(Vector.created), Vector.created[-1]

    Vector.created.clear()
    compiled = gjit.script(record)
    assert [compiled(np.array([1.0, k])) for k in range(3)] == [(1, 1.0), (2, 2.0), (3, 3.0)]
    assert Vector.created == [1.0, 2.0, 3.0]
    Vector.created.clear()


def test_a_scripted_class():
    @gjit.script
    class Oscillator:
        def __init__(self, rate):
            self.rate = rate
            self.state = np.zeros(2)

        def step(self, force):
            self.state[1] += force - self.rate * self.state[0]
            self.state[0] += self.state[1]
            return self.state.copy()

        @property
        def energy(self):
            return (self.state**2).sum()

        @staticmethod
        def double(x):
            return x * 2

    def drive(oscillator, forces):
        return [oscillator.step(force) for force in forces], oscillator.energy, Oscillator.double(2), oscillator

    check(drive, call(Oscillator(0.5), [1.0, 0.0, 0.0]), call(Oscillator(0), [1]))


def test_instances_made_inside_a_program():
    def make(x, count):
        layers = [Residual(np.eye(2) * index) for index in range(count)]
        for layer in layers:
            x = layer(x)
        return x, [layer.calls for layer in layers], layers

    check(make, call(np.ones(2), 3), call(np.ones(2), 0))
