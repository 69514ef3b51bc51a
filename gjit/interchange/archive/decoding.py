"""From records to live objects. Mutable objects are made empty and filled when all that they need exists."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gjit.errors import ArchiveError
from gjit.interchange.archive.arrays import Memory, Record
from gjit.interchange.archive.building import ClassBuilder
from gjit.interchange.archive.functions import missing
from gjit.interchange.archive.graphs import check_constant
from gjit.interchange.archive.known import BIT_GENERATORS, KnownObjects
from gjit.ir.graph import Graph
from gjit.ir.lexer import GraphTextError
from gjit.ir.literals import parse_constant
from gjit.ops.archived import MODULES
from gjit.ops.guarded import ModuleView

MakeFunction = Callable[[Graph, Mapping[str, Mapping[str, object]]], Any]
_DEEPEST = 500


class Decoder:
    """Makes the objects of one archive.

    Args:
        records: what the manifest holds of them.
        graph_of: gives a fresh graph of the archive by its number.
        memory: the arrays.
        known: the objects that have names.
        classes: of the caller's, by name: they take the place of saved ones.
        make_function: a function of a graph and what it refers to.
    """

    def __init__(
        self,
        records: Any,
        graph_of: Callable[[object], Graph],
        memory: Memory,
        known: KnownObjects,
        classes: Mapping[str, type],
        make_function: MakeFunction,
    ):
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise ArchiveError("the manifest does not list the objects")
        self.records: list[Record] = records
        self.memory = memory
        self._known, self._graph_of, self._make_function = known, graph_of, make_function
        self._classes = ClassBuilder(self, classes)
        self._made: dict[int, Any] = {}
        self._making: set[int] = set()
        self._waiting: collections.deque[Callable[[], None]] = collections.deque()
        self._hashed: collections.deque[Callable[[], None]] = collections.deque()
        self._last: collections.deque[Callable[[], object]] = collections.deque()
        for record in records:
            if record.get("kind") == "array":
                memory.count(record)

    def complete(self, reference: object) -> Any:
        """The object of a reference, complete.

        Raises:
            ArchiveError: records that make no object.
        """
        try:
            value = self.value(reference)
            while self._waiting or self._hashed or self._last:
                (self._waiting or self._hashed or self._last).popleft()()
        except ArchiveError:
            raise
        except Exception as error:  # whatever a wrong record leads to: it has no other meaning than that it is wrong
            raise ArchiveError(f"the archive is damaged: {type(error).__name__}: {error}") from error
        return value

    def later(self, work: Callable[[], None]) -> None:
        """Do something when all that is being made exists."""
        self._waiting.append(work)

    def last(self, work: Callable[[], object]) -> None:
        """Do something when all containers are filled."""
        self._last.append(work)

    def value(self, reference: object) -> Any:
        """The object of a reference; mutable ones may be filled later."""
        if isinstance(reference, str):
            return self._constant(reference)
        if type(reference) is not int or not 0 <= reference < len(self.records):
            raise ArchiveError(f"there is no object {reference!r}")
        if reference not in self._made:
            if reference in self._making or len(self._making) > _DEEPEST:
                raise ArchiveError("objects that cannot change hold each other, or nest too deeply")
            self._making.add(reference)
            record = self.records[reference]
            reader = _READERS.get(str(record.get("kind")))
            if reader is None:
                raise ArchiveError(f"there is no kind of object {record.get('kind')!r}")
            self._made[reference] = reader(self, record)
            self._making.discard(reference)
        return self._made[reference]

    def values(self, references: Any) -> list[Any]:
        """The objects of a list of references."""
        return [self.value(reference) for reference in references]

    def _constant(self, text: str) -> object:
        try:
            value = parse_constant(text)
        except (GraphTextError, RecursionError) as error:
            raise ArchiveError(f"the archive is damaged: {error}") from None
        check_constant(value)
        return value

    def _filled(self, container: Any, fill: Callable[[], None]) -> Any:
        self.later(fill)
        return container

    def _filled_with_keys(self, container: Any, keys: Any, fill: Callable[[], None]) -> Any:
        """Keys are hashed, so they have to be complete before."""
        self.later(lambda: self.values(keys).clear())
        self._hashed.append(fill)
        return container

    def _list(self, record: Record) -> list:
        made: list = []
        return self._filled(made, lambda: made.extend(self.values(record["items"])))

    def _set(self, record: Record) -> set:
        made: set = set()
        return self._filled_with_keys(made, record["items"], lambda: made.update(self.values(record["items"])))

    def _frozenset(self, record: Record) -> frozenset:
        """The elements are hashed now, so what has been started is finished before."""
        elements = self.values(record["items"])
        while self._waiting:
            self._waiting.popleft()()
        return frozenset(elements)

    def _deque(self, record: Record) -> collections.deque:
        made: collections.deque = collections.deque(maxlen=record.get("most"))
        return self._filled(made, lambda: made.extend(self.values(record["items"])))

    def _mapping(self, record: Record, made: Any) -> Any:
        def fill() -> None:
            for key, item in record["items"]:
                made[self.value(key)] = self.value(item)

        return self._filled_with_keys(made, [key for key, _ in record["items"]], fill)

    def _object_array(self, record: Record) -> np.ndarray:
        shape = tuple(int(extent) for extent in record["shape"])
        if len(record["items"]) != int(np.prod(shape, dtype=object)):
            raise ArchiveError("an array of objects has an impossible shape")
        made = np.empty(len(record["items"]), object)

        def fill() -> None:
            for place, reference in enumerate(record["items"]):
                made[place] = self.value(reference)

        return self._filled(made, fill).reshape(shape)

    def _function(self, record: Record) -> Any:
        captures = {
            str(name): {str(key): self.value(each) for key, each in values} for name, values in record["captures"]
        }
        return self._make_function(self._graph_of(record.get("graph")), captures)

    def _property(self, record: Record) -> property:
        getter, setter, deleter = self.values(record["functions"])
        return property(getter, setter, deleter, self.value(record["doc"]))

    def _partial(self, record: Record) -> functools.partial:
        keywords = {str(self.value(key)): self.value(item) for key, item in record["keywords"]}
        return functools.partial(self.value(record["function"]), *self.values(record["arguments"]), **keywords)

    def _known_object(self, record: Record) -> object:
        try:
            return self._known.named(record.get("name"))
        except KeyError:
            raise ArchiveError(f"nothing is known by the name {record.get('name')!r}") from None

    def _module(self, record: Record) -> ModuleView:
        if record.get("name") not in MODULES.values():
            raise ArchiveError(f"an archive cannot hold the module {record.get('name')!r}")
        return ModuleView(record["name"])

    def _bit_generator(self, record: Record) -> Any:
        if record["name"] not in BIT_GENERATORS:
            raise ArchiveError(f"there is no random generator {record['name']!r}")
        if "seeds" in record:
            made = getattr(np.random, record["name"])(_seeds(self.values(record["seeds"])))
        else:
            made = np.random.RandomState(0)._bit_generator  # the only one that comes without a seed sequence

        state = self.value(record["state"])
        self.last(lambda: setattr(made, "state", state))
        return made

    def _random_state(self, record: Record) -> np.random.RandomState:
        made, state = np.random.RandomState(self.value(record["bits"])), self.value(record["state"])
        self.last(lambda: made.set_state(state))
        return made

    def _member(self, record: Record) -> Any:
        cls = self.value(record["class"])
        return cls[str(record["name"])] if "name" in record else cls(self.value(record["value"]))

    def _made_by(self, record: Record) -> Any:
        return self.value(record["by"])(*self.values(record["of"]))


def _seeds(parts: list[Any]) -> np.random.SeedSequence:
    entropy, spawn_key, pool_size, spawned = parts
    numbers = {"pool_size": min(pool_size, 64), "n_children_spawned": spawned}
    return np.random.SeedSequence(entropy, spawn_key=spawn_key, **numbers)


_READERS: dict[str, Callable[[Decoder, Record], Any]] = {
    "array": lambda decoder, record: decoder.memory.array(record),
    "object array": Decoder._object_array,
    "void": lambda decoder, record: decoder.value(record["of"])[()],
    "list": Decoder._list,
    "tuple": lambda decoder, record: tuple(decoder.values(record["items"])),
    "set": Decoder._set,
    "frozenset": Decoder._frozenset,
    "dict": lambda decoder, record: decoder._mapping(record, {}),
    "OrderedDict": lambda decoder, record: decoder._mapping(record, collections.OrderedDict()),
    "Counter": lambda decoder, record: decoder._mapping(record, collections.Counter()),
    "defaultdict": lambda decoder, record: decoder._mapping(
        record, collections.defaultdict(decoder.value(record["factory"]))
    ),
    "deque": Decoder._deque,
    "bytearray": lambda decoder, record: bytearray(decoder.value(record["bytes"])),
    "range": lambda decoder, record: range(*decoder.values(record["of"])),
    "slice": lambda decoder, record: slice(*decoder.values(record["of"])),
    "generator": lambda decoder, record: np.random.Generator(decoder.value(record["bits"])),
    "bit generator": Decoder._bit_generator,
    "random state": Decoder._random_state,
    "function": Decoder._function,
    "missing": lambda decoder, record: missing(str(record["name"]), str(record["reason"])),
    "method": lambda decoder, record: types.MethodType(
        decoder.value(record["function"]), decoder.value(record["self"])
    ),
    "property": Decoder._property,
    "partial": Decoder._partial,
    "staticmethod": lambda decoder, record: staticmethod(decoder.value(record["function"])),
    "classmethod": lambda decoder, record: classmethod(decoder.value(record["function"])),
    "cached_property": lambda decoder, record: functools.cached_property(decoder.value(record["function"])),
    "known": Decoder._known_object,
    "made": Decoder._made_by,
    "module": Decoder._module,
    "class": lambda decoder, record: decoder._classes.make(record),
    "member": Decoder._member,
    "instance": lambda decoder, record: decoder._classes.instance(record),
}
