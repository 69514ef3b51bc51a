"""From live objects to records: what JSON can hold, with arrays and graphs as members of their own.

A reference is a number, that of a record, or a text, that of a constant of the graph language. An object that is
reached twice has one record, so what is shared stays shared.
"""

from __future__ import annotations

import collections
import enum
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.errors import ArchiveError
from gjit.interchange.archive.arrays import Buffers, Record
from gjit.interchange.archive.classes import class_record, state_of
from gjit.interchange.archive.functions import MISSING, graph_and_captures, without_folders
from gjit.interchange.archive.graphs import graph_text, ops_of
from gjit.interchange.archive.known import BIT_GENERATORS, KnownObjects, described
from gjit.interchange.archive.sources import Lines, excerpts, kept_name, renamed
from gjit.ir.capturable import has_graph
from gjit.ir.constants import constant_text
from gjit.ir.printer import called_graphs
from gjit.ops.archived import MODULES, is_allowed_function
from gjit.ops.guarded import ModuleView

Reference = int | str
CONTENTS = (
    collections.OrderedDict,
    collections.defaultdict,
    collections.Counter,
    dict,
    list,
    tuple,
    set,
    frozenset,
    collections.deque,
    bytearray,
    str,
    bytes,
    int,
    float,
    complex,
    BaseException,
    np.ndarray,
)
"""Built-in classes whose instances have a content besides their attributes."""


class Encoder:
    """Collects the records of the objects of one archive.

    records   by number
    graphs    texts of graphs, each once
    sources   lines that they were written in, by the name of the file in the archive
    ops       that the graphs use
    """

    def __init__(self, known: KnownObjects):
        self.records: list[Record] = []
        self.graphs: dict[str, int] = {}
        self.sources: dict[str, Lines] = {}
        self.ops: set[str] = set()
        self.buffers = Buffers()
        self.entries: list[Reference] = []
        self._known = known
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []  # so that an id stays theirs

    def reference(self, value: Any, where: str) -> Reference:
        """The reference of an object, with records for all that it reaches.

        Raises:
            ArchiveError: it has no form in an archive; the message says what it is and where.
        """
        text = _constant(value, where)
        if text is not None:
            return text
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self.records)
            self._kept.append(value)
            self.records.append({})
            self.records[number] = self._record(value, where)
        return number

    def _record(self, value: Any, where: str) -> Record:
        name = self._known.name_of(value)
        if name is not None:
            return {"kind": "known", "name": name}
        writer = _WRITERS.get(type(value))
        if writer is not None:
            return writer(self, value, where)
        parts = getattr(type(value), "__gjit_archive__", None)
        if parts is not None:
            maker, arguments = parts(value)
            return {"kind": "made", "by": self.reference(maker, where), "of": self._all(arguments, where)}
        if has_graph(value):
            return self._function(value, where)
        if isinstance(value, type):
            if not _is_user_class(value, self._known):
                raise ArchiveError(f"{where} is {described(value)}: an archive cannot hold it")
            return class_record(value, self.reference, self._member)
        if isinstance(value, enum.Enum):
            return self._enum_member(value, where)
        return self._instance(value, where)

    def _all(self, values: Any, where: str) -> list[Reference]:
        return [self.reference(value, where) for value in values]

    def _items(self, value: dict, where: str) -> list[list[Reference]]:
        pairs = value.items()
        return [[self.reference(key, where), self.reference(item, f"{where}[{key!r}]")] for key, item in pairs]

    def _member(self, member: Any, where: str) -> Reference:
        """A member of a class; a function that cannot be saved leaves a note, for it may never be called."""
        mark = len(self.records), self.buffers.mark(), dict(self.graphs), dict(self.sources), set(self.ops)
        try:
            return self.reference(member, where)
        except ArchiveError as error:
            if not isinstance(member, types.FunctionType | property | staticmethod | classmethod):
                raise
            self._forget(*mark)
            number = len(self.records)
            self.records.append(
                {"kind": "missing", "name": where.rpartition(".")[2], "reason": without_folders(str(error))}
            )
            return number

    def _forget(self, count: int, buffers: dict[int, int], graphs: dict, sources: dict, ops: set[str]) -> None:
        del self.records[count:]
        self._numbers = {key: number for key, number in self._numbers.items() if number < count}
        self.buffers.forget(buffers)
        self.graphs, self.sources, self.ops = graphs, sources, ops

    def _function(self, value: Any, where: str) -> Record:
        if MISSING in value.__dict__:
            return {"kind": "missing", "name": value.__name__, "reason": getattr(value, MISSING)}
        graph, captures = graph_and_captures(value)
        text = graph_text(graph)
        names = {}
        for file, lines in excerpts(graph).items():
            names[file] = kept_name(file, lines)
            self.sources.setdefault(names[file], {}).update(lines)
        self.ops |= ops_of(graph)
        number = self.graphs.setdefault(renamed(text, names), len(self.graphs))
        found = [
            [name, [[key, self.reference(each, f"{name}: {key}")] for key, each in captures[name].items()]]
            for name in (key or graph.name for _, key in called_graphs(graph))
            if captures.get(name)
        ]
        return {"kind": "function", "graph": number, "captures": found}

    def _method(self, value: types.MethodType, where: str) -> Record:
        parts = {"function": self.reference(value.__func__, where), "self": self.reference(value.__self__, where)}
        return {"kind": "method", **parts}

    def _property(self, value: property, where: str) -> Record:
        functions = (value.fget, value.fset, value.fdel)
        parts = {"functions": self._all(functions, where), "doc": self.reference(value.__doc__, where)}
        return {"kind": "property", **parts}

    def _partial(self, value: functools.partial, where: str) -> Record:
        parts = {"function": self.reference(value.func, where), "arguments": self._all(value.args, where)}
        return {"kind": "partial", **parts, "keywords": self._items(value.keywords, where)}

    def _array(self, value: np.ndarray, where: str) -> Record:
        if not value.dtype.hasobject:
            return self.buffers.add(value)
        if value.dtype.kind != "O":
            raise ArchiveError(f"{where} is an array of {value.dtype}, which an archive cannot hold")
        items = [self.reference(item, f"{where}[{place}]") for place, item in enumerate(value.ravel().tolist())]
        return {"kind": "object array", "shape": list(value.shape), "items": items}

    def _bit_generator(self, value: Any, where: str) -> Record:
        seeds = value.seed_seq
        parts: Record = {"name": type(value).__name__, "state": self.reference(value.state, where)}
        if type(seeds) is np.random.SeedSequence:
            arguments = (seeds.entropy, seeds.spawn_key, seeds.pool_size, seeds.n_children_spawned)
            parts["seeds"] = self._all(arguments, where)
        return {"kind": "bit generator", **parts}

    def _random_state(self, value: Any, where: str) -> Record:
        bits = self.reference(value._bit_generator, where)
        return {"kind": "random state", "bits": bits, "state": self.reference(value.get_state(legacy=False), where)}

    def _default_dict(self, value: collections.defaultdict, where: str) -> Record:
        factory = self.reference(value.default_factory, where)
        return {"kind": "defaultdict", "factory": factory, "items": self._items(value, where)}

    def _enum_member(self, value: enum.Enum, where: str) -> Record:
        cls = self.reference(type(value), where)
        if value._name_ in type(value).__members__:
            return {"kind": "member", "class": cls, "name": value._name_}
        return {"kind": "member", "class": cls, "value": self.reference(value._value_, where)}

    def _instance(self, value: Any, where: str) -> Record:
        cls = type(value)
        if not _is_user_class(cls, self._known):
            raise ArchiveError(f"{where} is {described(value)}: an archive cannot hold it")
        record: Record = {"kind": "instance", "class": self.reference(cls, where)}
        content = next((base for base in CONTENTS if issubclass(cls, base)), None)
        if content is not None:
            record["content"] = self.reference(_content(value, content), where)
        if isinstance(value, BaseException):
            state = {key: each for key, each in state_of(value).items() if not key.startswith("__")}
        else:
            state = state_of(value)
        record["state"] = [[name, self.reference(each, f"{where}.{name}")] for name, each in state.items()]
        return record


def _content(value: Any, base: Any) -> object:
    """What an instance of a subclass of a built-in class holds, as an instance of that class."""
    if base is BaseException:
        return tuple(value.args)
    if base is np.ndarray:
        return value.view(np.ndarray)
    if base is collections.defaultdict:
        return collections.defaultdict(value.default_factory, dict.items(value))
    if issubclass(base, dict):
        return base(dict.items(value))
    if base in (str, bytes):
        return base.__getitem__(value, slice(None)) if base is bytes else str.__str__(value)
    if base in (int, float, complex):
        return complex(value.real, value.imag) if base is complex else base.__add__(value, base(0))
    return base(base.__iter__(value))


def _is_user_class(cls: type, known: KnownObjects) -> bool:
    """Whether instances of a class are made of attributes: it has a record, or a name, or is an exception."""
    if known.name_of(cls) is not None or issubclass(cls, BaseException):
        return True
    top = cls.__module__.partition(".")[0]
    return top not in sys.stdlib_module_names and top != "numpy"


def _constant(value: Any, where: str) -> str | None:
    """The text of a constant, or None."""
    if type(value) in (tuple, slice):
        parts = value if type(value) is tuple else (value.start, value.stop, value.step)
        if any(_constant(part, where) is None for part in parts):
            return None
    elif isinstance(value, np.void) and value.dtype.names is not None:
        return None
    try:
        text = constant_text(value)
    except (ValueError, RecursionError):
        return None
    is_scalar_class = isinstance(value, type) and issubclass(value, np.generic)
    is_function = callable(value) and not is_scalar_class and not isinstance(value, np.generic)
    if is_function and not is_allowed_function(text.removeprefix('named("').removesuffix('")')):
        raise ArchiveError(f"{where} is {described(value)}, which a loaded program may not use")
    return text


def _steps(kind: str) -> Callable[[Encoder, Any, str], Record]:
    """For what has a start, a stop and a step."""
    return lambda encoder, value, where: {
        "kind": kind,
        "of": encoder._all((value.start, value.stop, value.step), where),
    }


def _plain(kind: str) -> Callable[[Encoder, Any, str], Record]:
    """For containers that are made of their elements."""
    return lambda encoder, value, where: {"kind": kind, "items": encoder._all(value, where)}


def _wrapper(kind: str, attribute: str) -> Callable[[Encoder, Any, str], Record]:
    """For what wraps a function."""
    return lambda encoder, value, where: {
        "kind": kind,
        "function": encoder.reference(getattr(value, attribute), where),
    }


def _mapping(kind: str) -> Callable[[Encoder, Any, str], Record]:
    return lambda encoder, value, where: {"kind": kind, "items": encoder._items(value, where)}


def _module(encoder: Encoder, value: types.ModuleType | ModuleView, where: str) -> Record:
    if value.__name__ not in MODULES.values():
        raise ArchiveError(f"{where} is the module {value.__name__!r}, which an archive cannot hold")
    return {"kind": "module", "name": value.__name__}


_WRITERS: dict[type, Callable[[Encoder, Any, str], Record]] = {
    list: _plain("list"),
    tuple: _plain("tuple"),
    set: _plain("set"),
    frozenset: _plain("frozenset"),
    dict: _mapping("dict"),
    collections.OrderedDict: _mapping("OrderedDict"),
    collections.Counter: _mapping("Counter"),
    collections.defaultdict: Encoder._default_dict,
    collections.deque: lambda encoder, value, where: {**_plain("deque")(encoder, value, where), "most": value.maxlen},
    bytearray: lambda encoder, value, where: {"kind": "bytearray", "bytes": encoder.reference(bytes(value), where)},
    range: _steps("range"),
    slice: _steps("slice"),
    np.ndarray: Encoder._array,
    np.void: lambda encoder, value, where: {"kind": "void", "of": encoder.reference(np.array(value), where)},
    np.random.Generator: lambda encoder, value, where: {
        "kind": "generator",
        "bits": encoder.reference(value.bit_generator, where),
    },
    np.random.RandomState: Encoder._random_state,
    **{getattr(np.random, name): Encoder._bit_generator for name in BIT_GENERATORS},
    types.FunctionType: Encoder._function,
    types.MethodType: Encoder._method,
    types.ModuleType: _module,
    ModuleView: _module,
    property: Encoder._property,
    functools.partial: Encoder._partial,
    staticmethod: _wrapper("staticmethod", "__func__"),
    classmethod: _wrapper("classmethod", "__func__"),
    functools.cached_property: _wrapper("cached_property", "func"),
}
