"""Examples: copies of the user's objects, on which a trace computes what its operations give."""

from __future__ import annotations

import copy
import types
from collections.abc import Iterator

from gjit.capture.held import held_of, is_copied_instance, original_class
from gjit.ir.capturable import has_graph

Made = dict[int, tuple[object, object]]
"""Containers that were built for examples: by the id of the one in the traced code, that one and the built one."""


class Examples:
    """Turns what traced code holds into what the operations can run on."""

    def __init__(self) -> None:
        self.functions: dict[int, tuple[object, types.FunctionType]] = {}  # by id of the copy: copy, original
        self._copies: dict[int, object] = {}
        self._kept: list[object] = []  # what was copied, so that an id stays its own

    def example_of(self, thing: object, made: Made | None = None) -> object:
        """`thing` with examples in the place of stand-ins; `made` collects the containers built for it."""
        held = held_of(thing)
        if held is not None:
            return held.example
        made = {} if made is None else made
        if id(thing) not in made:
            made[id(thing)] = thing, self._example(thing, made)
        return made[id(thing)][1]

    def _example(self, thing: object, made: Made) -> object:
        kind = type(thing)
        if kind in (tuple, list, set):
            return kind(self.example_of(element, made) for element in thing)
        if kind is dict:
            return {self.example_of(key, made): self.example_of(element, made) for key, element in thing.items()}
        if kind is slice:
            return slice(*(self.example_of(part, made) for part in (thing.start, thing.stop, thing.step)))
        if isinstance(thing, tuple) and hasattr(kind, "_fields"):
            return original_class(kind)(*(self.example_of(element, made) for element in thing))
        if kind is types.MethodType and held_of(thing.__self__) is not None:
            return getattr(self.example_of(thing.__self__), thing.__name__)
        if is_copied_instance(thing):
            instance: object = object.__new__(original_class(kind))
            vars(instance).update(self.example_of(vars(thing), made))
            return instance
        if isinstance(thing, type):
            return original_class(thing)
        return self.functions[id(thing)][1] if id(thing) in self.functions else thing

    def is_changed(self, thing: object, example: object) -> bool:
        """Whether a call wrote to the example of a container: the traced code would go on with the old contents."""
        if type(thing) not in (list, dict, set):
            return False
        if len(thing) != len(example):
            return True
        if type(thing) is list:
            return any(self._differs(old, new) for old, new in zip(thing, example, strict=True))
        return type(thing) is dict and any(self._differs(old, example.get(key)) for key, old in thing.items())

    def _differs(self, old: object, new: object) -> bool:
        held = held_of(old)
        if held is not None:
            return held.example is not new
        atom = isinstance(old, (str, bytes, int, float, complex, type(None)))
        return atom and old is not new and old != new

    def copy(self, thing: object) -> object:
        """A copy to compute examples with, so that the user's object stays as it is; aliases stay aliases."""
        if id(thing) in self._copies:
            return self._copies[id(thing)]
        copies = dict(self._copies)
        copies.update((id(compiled), compiled) for compiled in _compiled_parts(thing, set()))
        try:
            found = copy.deepcopy(thing, copies)
        except Exception:  # something in there (a file, a lock, a module) cannot be copied
            copies = dict(self._copies)
            found = copies[id(thing)] = _shallow_copy(thing)
        self._kept.append((thing, copies))
        self._copies = {id(part): part for part in copies.values()} | copies  # a copy is its own copy
        return found


def _shallow_copy(thing: object) -> object:
    """A copy that holds the same parts, or `thing` itself where not even that can be."""
    try:
        return copy.copy(thing)
    except Exception:
        return thing


def _compiled_parts(thing: object, seen: set[int]) -> Iterator[object]:
    """The compiled functions that an object holds: like plain functions they are never copied."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if has_graph(thing):
        yield thing
    elif isinstance(thing, (list, tuple)):
        for part in thing:
            yield from _compiled_parts(part, seen)
    else:
        for part in (thing if isinstance(thing, dict) else getattr(thing, "__dict__", {})).values():
            yield from _compiled_parts(part, seen)
