"""Saved programs do what they did, with their sharing, and saving them again gives the same bytes."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import importlib
import io
import pkgutil
import sys
import zipfile
import zlib
from typing import NamedTuple

import numpy as np
import pytest

import examples
import gjit
import tests.semantics.programs
from gjit.interchange.archive import upgrades
from gjit.testing import assert_same_as_numpy
from tests.interchange.support import contents, loaded, saved

SCALE = np.array([1.0, 2.0, 3.0])
TABLE = {"rows": [SCALE, SCALE[1:]], "name": "table", 3: (SCALE, 1.5)}


class Colour(enum.Enum):
    RED = 1
    GREEN = (2, "g")

    def darker(self):
        return Colour.RED if self is Colour.GREEN else self


class Planet(enum.Enum):
    EARTH = (5.97e24, 6.37e6)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def gravity(self):
        return 6.67e-11 * self.mass / self.radius**2


class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()


class Point(NamedTuple):
    x: float
    y: float = 2.0

    def norm(self):
        return np.hypot(self.x, self.y)


@dataclasses.dataclass(order=True)
class Plan:
    score: float
    steps: list = dataclasses.field(default_factory=list, compare=False)

    def add(self, step):
        self.steps.append(step)
        self.score += step
        return self


@dataclasses.dataclass(frozen=True, slots=True)
class Key:
    name: str
    number: int = 0

    def __post_init__(self):
        if self.number < 0:
            raise ValueError("negative")


class Base:
    count = 0

    def __init__(self, start):
        self.total = start

    def step(self, x):
        self.total = self.total + x
        return self.total

    @staticmethod
    def double(x):
        return 2 * x

    @classmethod
    def named(cls):
        return cls.__name__

    @property
    def half(self):
        return self.total / 2

    @half.setter
    def half(self, value):
        self.total = value * 2


class Derived(Base):
    __slots__ = ("_private",)

    def step(self, x):
        self._private = x
        return super().step(self.double(x))

    def __add__(self, other):
        return Derived(self.total + other)

    def __len__(self):
        return 7


class Refusal(ValueError):
    def __init__(self, code):
        super().__init__(f"refused: {code}")
        self.code = code


class Layer(gjit.Module):
    def __init__(self, inputs, outputs, seed):
        super().__init__()
        generator = np.random.default_rng(seed)
        self.weight = gjit.Parameter(generator.normal(size=(inputs, outputs)))
        self.register_buffer("calls", np.zeros(1))

    def forward(self, x):
        self.calls += 1
        return np.tanh(x @ self.weight)

    @gjit.export
    def norm(self):
        return np.sqrt((self.weight**2).sum())


class Net(gjit.Module):
    def __init__(self):
        super().__init__()
        self.first = Layer(3, 4, 0)
        self.layers = gjit.ModuleList([Layer(4, 4, 1), self.first if False else Layer(4, 2, 2)])
        self.tied = self.first

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return x


def programs():
    for file in sorted(file.name for file in pkgutil.iter_modules(tests.semantics.programs.__path__)):
        for program in getattr(importlib.import_module(f"tests.semantics.programs.{file}"), "PROGRAMS", ()):
            yield pytest.param(program, id=f"{file}.{program.name}")


@pytest.mark.parametrize("program", list(programs()))
def test_every_program_is_saved_and_loaded(program):
    function = loaded(gjit.script(program.function))
    generator = np.random.default_rng(zlib.crc32(program.name.encode()))
    arguments = program.make_arguments(program.sizes[0], generator)
    # warnings and exceptions name the file in the archive, which has the same lines
    assert_same_as_numpy(function, *arguments, plain=program.function, check_warnings=False)
    assert function.statistics.host_calls == 0


def example_programs():
    for file in sorted(file.name for file in pkgutil.iter_modules(examples.__path__)):
        for compiled, plain, make_arguments in importlib.import_module(f"examples.{file}").PROGRAMS:
            yield pytest.param(compiled, plain, make_arguments, id=f"{file}.{plain.__name__}")


@pytest.mark.parametrize(("compiled", "plain", "make_arguments"), list(example_programs()))
def test_every_example_is_saved_and_loaded(compiled, plain, make_arguments):
    assert_same_as_numpy(loaded(compiled), *make_arguments(64), plain=plain)


def test_arrays_that_share_memory_share_it_again():
    @gjit.script
    def use(x):
        TABLE["rows"][0][1] += x
        return TABLE["rows"], TABLE[3][0], SCALE

    function = loaded(use)
    (whole, part), again, scale = function(10.0)
    assert whole is again is scale
    np.testing.assert_array_equal(whole, [1.0, 12.0, 3.0])
    np.testing.assert_array_equal(part, [12.0, 3.0])
    assert np.shares_memory(whole, part)
    np.testing.assert_array_equal(SCALE, [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(20)[::-3],
        np.zeros((0, 3), "f2"),
        np.array(5, ">i4"),
        np.broadcast_to(np.float32(2), (3, 2)),
        np.array(["ä", "bc"]),
        np.array(["2020-01-01", "NaT"], "M8[D]"),
        np.array([(1, 2.5)], [("a", "i1"), ("b", "f8", (2,))]),
        np.arange(1 << 14, dtype=np.complex64),
        np.array([1, "text", None], object),
        np.frombuffer(bytes(range(33)), np.uint8)[1:].view("f8"),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_keep_dtype_shape_strides_and_flags(array):
    found = loaded(gjit.script(lambda: array))()
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    if array.size > 1:
        assert np.argsort(found.strides).tolist() == np.argsort(array.strides).tolist()
    assert (found.flags.writeable, found.flags.aligned) == (array.flags.writeable, True)
    assert found.tobytes() == array.tobytes() if array.dtype != object else found.tolist() == array.tolist()


def test_containers_and_objects_of_python():
    generator = np.random.default_rng(5)
    things = [
        [1, [2.5, None]],
        {"a": {1, 2}, (1, 2): frozenset({3})},
        collections.OrderedDict(a=1),
        collections.deque([1, 2], maxlen=3),
        collections.defaultdict(list, {1: [2]}),
        collections.Counter("abca"),
        bytearray(b"ab"),
        range(3, 9, 2),
        functools.partial(np.full, (2,)),
        generator,
        np.random.RandomState(3),
        np.float32(0.5),
        -0.0,
        float("nan"),
        1 << 200,
        np.sqrt,
        int,
    ]
    things[0].append(things)
    function = loaded(gjit.script(lambda: things))
    found = function()
    assert found[0][2] is found
    assert found[1:8] == things[1:8]
    assert [type(thing) for thing in found] == [type(thing) for thing in things]
    np.testing.assert_array_equal(found[8](7.0), [7.0, 7.0])
    assert found[9].random() == generator.random()
    assert np.signbit(found[12])
    assert found[15] is np.sqrt


def test_classes_come_along_as_graphs():
    @gjit.script
    def run(x):
        thing = Derived(x)
        first = thing.step(3)
        thing.half = 10.0
        other = thing + 1
        return first, thing.half, other.total, len(other), Derived.named(), isinstance(other, Base), Base.count

    function = loaded(run)
    assert function(1.0) == run(1.0) == (7.0, 10.0, 21.0, 7, "Derived", True, 0)
    assert function.statistics.host_calls == 0


def test_classes_inside_functions_come_along():
    @gjit.script
    def run(x):
        @dataclasses.dataclass
        class Part:
            size: float = 1.0

            def grown(self, by):
                return Part(self.size + by * x)

        return repr(Part().grown(2)).rpartition(">.")[2]

    assert loaded(run)(3.0) == "Part(size=7.0)"

    @gjit.script
    def hostile(x):
        class Strange:
            def __reduce__(self):
                return len, ()

        return Strange()

    with pytest.raises(gjit.ArchiveError, match="__reduce__"):
        saved(hostile)


def test_enums_named_tuples_and_dataclasses_come_along():
    @gjit.script
    def run(x):
        plan = Plan(1.0).add(x)
        point = Point(3.0, y=4.0)
        match point:
            case Point(x=a, y=b):
                total = a + b
        key = Key("k", 2)
        flags = Access.READ | Access.WRITE
        names = Colour.GREEN.darker().name, Colour["RED"].value, Planet.EARTH.gravity, Access.READ in flags
        return (
            plan.score,
            plan.steps,
            point.norm(),
            point._replace(x=0.0),
            total,
            key == Key("k", 2),
            names,
            Plan(0.5) < plan,
        )

    function = loaded(run)
    assert_same_results(function(2.5), run(2.5))


def assert_same_results(found, expected):
    """Equal, but for the classes of instances, which are the archive's own."""
    assert repr(found) == repr(expected)


def test_classes_of_the_caller_take_the_place_of_saved_ones():
    @gjit.script
    def best(plans):
        plans = sorted(plans)
        return plans[0], Plan(-1.0), isinstance(plans[0], Plan)

    file = saved(best)
    plans = [Plan(2.0), Plan(1.0)]
    assert gjit.load(file, classes={"Plan": Plan})(plans) == (plans[1], Plan(-1.0), True)
    assert not gjit.load(file)(plans)[2]

    @dataclasses.dataclass
    class Other:
        weight: float

    with pytest.raises(gjit.ArchiveError, match="has the fields"):
        gjit.load(file, classes={"Plan": Other})


def test_exceptions_keep_class_arguments_and_attributes():
    @gjit.script
    def refuse(code):
        if code:
            raise Refusal(code)
        try:
            raise Refusal(7)
        except Refusal as error:
            return error.code, str(error)

    function = loaded(refuse)
    assert function(0) == (7, "refused: 7")
    with pytest.raises(ValueError, match="refused: 3") as caught:
        function(3)
    assert (type(caught.value).__name__, caught.value.code) == ("Refusal", 3)


def test_modules_are_saved_with_parameters_entry_points_and_sharing():
    net = gjit.script(Net())
    x = np.linspace(-1, 1, 6).reshape(2, 3)
    file = saved(net)
    copy = gjit.load(file)
    np.testing.assert_array_equal(copy(x), net(x))
    assert copy.first is copy.tied
    assert copy.first.norm() == net.first.norm()
    assert list(copy.state_dict()) == list(net.state_dict())
    assert copy.first.calls[0] == 1
    assert (type(copy).__qualname__, isinstance(copy, gjit.Module), isinstance(copy, Net)) == ("Net", True, False)
    copy.load_state_dict({name: np.zeros_like(array) for name, array in net.state_dict().items()})
    np.testing.assert_array_equal(copy(x), np.zeros((2, 2)))


def test_several_entry_points_share_what_they_hold():
    weights = np.ones(3)

    @gjit.script
    def grow(x):
        weights[:] += x
        return weights

    read = gjit.script(lambda: weights)
    file = saved({"grow": grow, "read": read})
    found = gjit.load(file)
    assert list(found) == ["grow", "read"]
    found["grow"](1.0)
    np.testing.assert_array_equal(found["read"](), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(weights, [1.0, 1.0, 1.0])


def test_traced_functions_are_saved():
    traced = gjit.trace(lambda x: np.sqrt(x) + x.shape[0], np.ones(3))
    np.testing.assert_array_equal(loaded(traced)(np.full(5, 4.0)), np.full(5, 7.0))


def test_extra_files_come_along(tmp_path):
    path = tmp_path / "f.gjit"
    gjit.save(gjit.script(lambda x: x), path, extra_files={"notes/read me.txt": "hello", "data": b"\x00\x01"})
    found = {"notes/read me.txt": "", "data": ""}
    gjit.load(path, extra_files=found)
    assert found == {"notes/read me.txt": b"hello", "data": b"\x00\x01"}
    with pytest.raises(gjit.ArchiveError, match="missing"):
        gjit.load(path, extra_files={"other": ""})
    for name in ("../up", "/abs", "a//b", "", "c:\\x", "a/./b"):
        with pytest.raises(gjit.ArchiveError, match="extra file"):
            gjit.save(gjit.script(lambda x: x), io.BytesIO(), extra_files={name: ""})
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_in_a_loaded_program_shows_the_users_line():
    function = loaded(gjit.script(lambda x: x[10]))
    with pytest.raises(IndexError) as caught:
        function(np.ones(3))
    import traceback

    assert "function = loaded(gjit.script(lambda x: x[10])" in "".join(traceback.format_tb(caught.tb))


def test_the_path_of_the_source_is_not_in_the_file():
    names = contents(saved(gjit.script(lambda x: x + 1)))
    assert not any(__file__.encode() in data for data in names.values())


def test_a_large_file_is_mapped_and_private(tmp_path):
    weights = np.arange(1 << 20, dtype=np.float64)
    path = tmp_path / "large.gjit"
    gjit.save(gjit.script(lambda: weights), path)
    before = path.read_bytes()
    found = gjit.load(path)()
    assert found.ctypes.data % 64 == 0
    found[:] = 0
    assert path.read_bytes() == before
    np.testing.assert_array_equal(gjit.load(path)(), weights)


def test_what_reaches_further_is_refused(tmp_path):
    import os

    handle = sys.stdout

    @gjit.ignore
    def outside(x):
        return x

    class Meta(type):
        pass

    class Strange(metaclass=Meta):
        pass

    strange = Strange()
    cases = [
        (lambda x: np.save("a", x), "numpy.save"),
        (lambda x: open("a"), "builtin.open"),
        (lambda x: x.tofile("a"), "tofile"),
        (lambda x: x.ctypes, "ctypes"),
        (lambda x: x.__reduce__(), "__reduce__"),
        (lambda x: (lambda: 0).__globals__, "__globals__"),
        (lambda x: outside(x), "left to the interpreter"),
        (lambda x: handle.write("a"), "TextIOWrapper"),
        (lambda x: os.getcwd(), "os"),
        (lambda x: strange, "metaclass"),
        (lambda x: list(map(np.load, x)), "numpy.load"),
    ]
    for function, named in cases:
        with pytest.raises(gjit.ArchiveError, match=named):
            gjit.save(gjit.script(function), tmp_path / "refused.gjit")
    assert list(tmp_path.iterdir()) == []


def test_wrong_objects_are_type_errors():
    for thing in (3, np.ones(2), {"a": 3}, {3: gjit.script(lambda x: x)}):
        with pytest.raises(TypeError):
            gjit.save(thing, io.BytesIO())


def test_names_made_when_the_program_runs_are_checked_then():
    get = loaded(gjit.script(lambda x, name: getattr(x, name)))
    assert get(np.ones(3), "size") == 3
    text = loaded(gjit.script(lambda text, x: text.format(x)))
    assert text("{0.shape} {0!r:>3}", np.ones(2)) == "(2,) array([1., 1.])"
    write = loaded(gjit.script(lambda x, name: setattr(x, name, 1)))
    for call in (
        lambda: get(np.ones(3), "tofile"),
        lambda: get(len, "__self__"),
        lambda: text("{0.__class__.__init__.__globals__}", Plan),
        lambda: text("{0:{0.ctypes}}", np.ones(1)),
        lambda: write(Plan(1.0), "__class__"),
    ):
        with pytest.raises(gjit.ArchiveError, match="may not use"):
            call()


def test_a_method_that_cannot_be_saved_says_so_when_it_is_called():
    class Log:
        def show(self, x):
            with open("log") as file:
                return file.read(), x

        def twice(self, x):
            return 2 * x

    log = Log()

    function = loaded(gjit.script(lambda name: getattr(log, name)(3)))
    assert function("twice") == 6
    with pytest.raises(gjit.ArchiveError, match="show"):
        function("show")


def test_old_versions_are_upgraded_and_later_ones_refused(monkeypatch):
    file = saved(gjit.script(lambda x: x - 1))

    def to_two(manifest):
        return {**manifest, "format": 2}

    def swap(node):
        node.set_inputs(node.inputs[::-1])

    monkeypatch.setattr(upgrades, "FORMAT", 2)
    with pytest.raises(gjit.ArchiveError, match="format 1"):
        gjit.load(file)
    monkeypatch.setitem(upgrades.UPGRADES, 1, to_two)
    assert gjit.load(file)(3) == 2
    monkeypatch.setitem(upgrades.OP_VERSIONS, "operator.sub", 2)
    with pytest.raises(gjit.ArchiveError, match=r"version 1 of 'operator\.sub'"):
        gjit.load(file)
    monkeypatch.setitem(upgrades.OP_UPGRADES, ("operator.sub", 1), swap)
    assert gjit.load(file)(3) == -2


def test_the_file_is_a_plain_zip():
    with zipfile.ZipFile(saved(gjit.script(lambda x: x * SCALE))) as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == ["buffers/0", "graphs/0", "manifest.json", "sources/0"]
