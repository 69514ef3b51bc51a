"""Stand-ins for lists and dictionaries of the user's program: read through, elements assigned, never resized."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator

from gjit.capture.assumptions import assume_equal, assume_length, rely_on
from gjit.capture.held import Held, StandIn, depends_on_trace, held_by
from gjit.capture.resolve import is_immutable
from gjit.ir.graph import Constant, Value


class Container(StandIn):
    """What lists and dictionaries share. Elements that traced code assigns are kept in `_written`."""

    _written: dict[object, object]

    def __init__(self, held: Held):
        super().__init__(held)
        object.__setattr__(self, "_written", {})

    def __getitem__(self, key: object) -> object:
        held = held_by(self)
        if depends_on_trace(key):
            return _picked(held, key)
        return self._written[key] if key in self._written else _element(held, key)

    def __setitem__(self, key: object, thing: object) -> None:
        held = held_by(self)
        recorder = held.recorder
        if depends_on_trace(key) or isinstance(key, slice):
            recorder.refuse("an element that depends on data is assigned in a container outside the traced function")
        value = recorder.value_of(thing)
        recorder.effect("setitem", [held.value(), recorder.value_of(key), value])
        recorder.run(operator.setitem, self, key, thing)
        self._written[key] = recorder.stored(thing, value)


class Items(Container, list):
    """Stands for a list: elements are stand-ins that are loaded from the list itself."""

    def __init__(self, thing: list, held: Held):
        list.__init__(self, thing)
        Container.__init__(self, held)

    def __getitem__(self, index: object) -> object:
        if isinstance(index, slice) and not depends_on_trace(index):
            return [self[place] for place in range(*index.indices(len(self)))]
        if isinstance(index, int) and index < 0:
            index += len(self)
        return super().__getitem__(index)

    def __setitem__(self, index: object, thing: object) -> None:
        super().__setitem__(index + len(self) if isinstance(index, int) and index < 0 else index, thing)

    def __len__(self) -> int:
        held = held_by(self)
        assume_length(held.recorder, held, held.example, "a list")
        return list.__len__(self)

    def __iter__(self) -> Iterator[object]:
        return (self[index] for index in range(len(self)))

    def __reversed__(self) -> Iterator[object]:
        return (self[index] for index in reversed(range(len(self))))

    def __add__(self, other: object) -> list:
        return [*self, *other]

    def __radd__(self, other: object) -> list:
        return [*other, *self]

    def __mul__(self, count: int) -> list:
        return list(self) * count


class Entries(Container, dict):
    """Stands for a dictionary: values are stand-ins that are loaded from the dictionary itself."""

    def __init__(self, thing: dict, held: Held):
        dict.__init__(self, thing)
        Container.__init__(self, held)

    def __setitem__(self, key: object, thing: object) -> None:
        self._rely_on_keys()
        super().__setitem__(key, thing)
        dict.__setitem__(self, key, None)  # the key takes its place; the value is in `_written`

    def __len__(self) -> int:
        self._rely_on_keys()
        return dict.__len__(self)

    def __iter__(self) -> Iterator[object]:
        self._rely_on_keys()
        return dict.__iter__(self)

    def __contains__(self, key: object) -> bool:
        self._rely_on_keys()
        return dict.__contains__(self, key)

    def keys(self) -> list:
        return list(self)

    def values(self) -> list:
        return [self[key] for key in self]

    def items(self) -> list:
        return [(key, self[key]) for key in self]

    def get(self, key: object, default: object = None) -> object:
        if key not in self:
            return default
        return self[key]

    def _rely_on_keys(self) -> None:
        held = held_by(self)
        recorder, keys = held.recorder, tuple(dict.__iter__(self))
        if self._written or not is_immutable(keys):
            return
        load = lambda: recorder.add("call", [Constant(tuple), held.value()])  # noqa: E731
        assume_equal(recorder, (held, "keys"), load, keys, "the list of keys", early=True)


def _element(held: Held, key: object) -> object:
    recorder, thing = held.recorder, held.example[key]

    def load() -> Value:
        return recorder.add("getitem", [held.value(), recorder.value_of(key)])

    rely_on(recorder, (held, "element", key), load, thing, f"element {key!r} of a {type(held.example).__name__}")
    return recorder.stand_in(thing, load)


def _picked(held: Held, key: object) -> object:
    """An element that is chosen when the graph runs."""
    recorder = held.recorder
    example = recorder.run(held.example.__getitem__, key)
    return recorder.result(example, recorder.add("getitem", [held.value(), recorder.value_of(key)]))


def _refuse_changes(kind: type, base: str, methods: str) -> None:
    def refusal(name: str) -> Callable:
        def refuse(self: StandIn, *arguments: object, **keywords: object) -> None:
            held_by(self).recorder.refuse(f"`{name}` changes a {base} that lives outside the traced function")

        return refuse

    for name in methods.split():
        setattr(kind, name, refusal(name))


_CHANGES = "pop clear __delitem__"
_refuse_changes(Items, "list", f"{_CHANGES} append extend insert remove sort reverse __iadd__ __imul__")
_refuse_changes(Entries, "dictionary", f"{_CHANGES} update popitem setdefault __ior__")
