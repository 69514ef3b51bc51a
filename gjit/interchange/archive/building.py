"""Classes and instances from their records."""

from __future__ import annotations

import abc
import collections
import dataclasses
import functools
import keyword
import types
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from gjit.errors import ArchiveError
from gjit.interchange.archive.arrays import Record
from gjit.interchange.archive.classes import FIELD_SWITCHES, PARAMETERS, slot_names
from gjit.ops.archived import SPECIAL_METHODS


class Objects(Protocol):
    """What makes the objects of an archive."""

    def value(self, reference: object) -> Any:
        """The object of a reference."""

    def later(self, work: Callable[[], None]) -> None:
        """Do something when all that is being made exists."""

    def last(self, work: Callable[[], object]) -> None:
        """Do something when all containers are filled."""


class ClassBuilder:
    """Makes the classes of one archive.

    Args:
        objects: gives the object of a reference, and postpones work until what it needs exists.
        classes: the caller's, by name or qualified name.
    """

    def __init__(self, objects: Objects, classes: Mapping[str, type]):
        self.value, self.later, self.last = objects.value, objects.later, objects.last
        self._classes = classes

    def make(self, record: Record) -> type:
        """The class of a record, whose members follow later; the caller's class where it gave one."""
        name, qualname = _identifier(record.get("name")), str(record.get("qualname"))
        own = self._classes.get(qualname, self._classes.get(name))
        if own is not None:
            _check_fields(own, record)
            return own
        maker = _MAKERS.get(str(record.get("style")))
        if maker is None:
            raise ArchiveError(f"there is no style of class {record.get('style')!r}")
        cls = maker(self, name, record)
        cls.__qualname__, cls.__module__ = qualname, str(record.get("module"))
        cls.__doc__ = record.get("doc")
        self.later(lambda: self._add_members(cls, record))
        return cls

    def _add_members(self, cls: Any, record: Record) -> None:
        for name, reference in record.get("members", ()):
            _check_member(name)
            member = self.value(reference)
            type.__setattr__(cls, name, member)
            if hasattr(type(member), "__set_name__"):
                type(member).__set_name__(member, cls, name)
        if record.get("abstract"):
            abc.update_abstractmethods(cls)

    def _bases(self, record: Record) -> tuple[type, ...]:
        bases = tuple(self.value(reference) for reference in record["bases"])
        if not all(isinstance(base, type) for base in bases):
            raise ArchiveError(f"the class {record.get('name')!r} derives from something that is no class")
        return bases

    def plain(self, name: str, record: Record) -> type:
        namespace: dict[str, object] = {}
        if "slots" in record:
            namespace["__slots__"] = tuple(map(_identifier, record["slots"]))
        if "match" in record:
            namespace["__match_args__"] = tuple(map(str, record["match"]))
        metaclass = {"metaclass": abc.ABCMeta} if record.get("abstract") else {}
        return types.new_class(name, self._bases(record), metaclass, lambda body: body.update(namespace))

    def enumeration(self, name: str, record: Record) -> type:
        items = record["items"]

        def fill(body: Any) -> None:
            for item in items:
                body[_identifier(item[0])] = self.value(item[1])

        cls: Any = types.new_class(name, self._bases(record), None, fill)
        for item in items:
            self._add_state(vars(cls[item[0]]), item[2] if len(item) > 2 else ())
        return cls

    def _add_state(self, state: dict[str, Any], attributes: Any) -> None:
        def fill() -> None:
            state.update({_identifier(name): self.value(reference) for name, reference in attributes})

        self.later(fill)

    def dataclass(self, name: str, record: Record) -> type:
        """Fields need their defaults now; the methods that the user wrote follow as members."""
        body: dict[str, object] = {"__annotations__": {}}
        for field in record["fields"]:
            self._add_field(body, field)
        if any(member[0] == "__post_init__" for member in record["members"]):
            body["__post_init__"] = lambda self: None  # `dataclass` looks whether there is one
        metaclass = {"metaclass": abc.ABCMeta} if record.get("abstract") else {}
        cls = types.new_class(name, self._bases(record), metaclass, lambda namespace: namespace.update(body))
        switches = {key: bool(record["switches"][key]) for key in PARAMETERS if key in record["switches"]}
        return dataclasses.dataclass(**switches)(cls)

    def _add_field(self, body: dict[str, Any], field: Record) -> None:
        name = _identifier(field["name"])
        body["__annotations__"][name] = dataclasses.InitVar[object] if field["is"] == "argument" else object
        switches = {key: field[key] for key in FIELD_SWITCHES if field.get(key) in (True, False, None) and key in field}
        if "default" in field:
            switches["default"] = self.value(field["default"])
        if "factory" in field:
            switches["default_factory"] = self.value(field["factory"])
        body[name] = dataclasses.field(**switches)

    def named_tuple(self, name: str, record: Record) -> type:
        fields = [_identifier(field) for field in record["fields"]]
        defaults = [self.value(reference) for reference in record["defaults"]]
        return collections.namedtuple(name, fields, defaults=defaults, module=str(record.get("module")))

    def instance(self, record: Record) -> Any:
        """An instance whose attributes follow later."""
        cls = self.value(record["class"])
        if not isinstance(cls, type):
            raise ArchiveError("an instance is of something that is no class")
        made = self._empty(cls, record)
        self.later(lambda: self._fill(made, record))
        return made

    def _empty(self, cls: type, record: Record) -> Any:
        if "content" not in record:
            return object.__new__(cls)
        content = self.value(record["content"])
        if issubclass(cls, np.ndarray):
            return content.view(cls)
        if issubclass(cls, BaseException):
            return cls.__new__(cls, *content)
        base: Any = next(each for each in cls.__mro__ if each in _BUILT_IN)
        if base in _MUTABLE:
            made = base.__new__(cls)
            self.last(functools.partial(_MUTABLE[base], made, content))
            return made
        return base.__new__(cls, content)

    def _fill(self, made: Any, record: Record) -> None:
        attributes = getattr(made, "__dict__", None)
        slots = set(slot_names(type(made)))
        for name, reference in record["state"]:
            value = self.value(reference)
            if name in slots:
                object.__setattr__(made, name, value)
            elif attributes is not None and not str(name).startswith("__"):
                attributes[str(name)] = value
            else:
                raise ArchiveError(f"an instance of {type(made).__name__!r} has no attribute {name!r}")


def _identifier(name: object) -> str:
    if name == "__dict__":
        return "__dict__"  # among the slots of a class it brings the dictionary back
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        raise ArchiveError(f"{name!r} cannot be a name in a class")
    return name


def _check_member(name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise ArchiveError(f"{name!r} cannot be the name of a member")
    if name.startswith("__") and name.endswith("__") and name not in SPECIAL_METHODS:
        raise ArchiveError(f"a loaded class may not define {name!r}")


def _check_fields(cls: Any, record: Record) -> None:
    """A class of the caller's takes the place of a saved one only with the same fields."""
    wanted = [field if isinstance(field, str) else field["name"] for field in record.get("fields", ())]
    match record["style"]:
        case "dataclass":
            own = vars(cls).get("__annotations__", {})
            found = [name for name in getattr(cls, "__dataclass_fields__", ()) if name in own]
        case "named tuple":
            found = list(getattr(cls, "_fields", ()))
        case "enum":
            wanted, found = [item[0] for item in record["items"]], list(getattr(cls, "__members__", ()))
        case _:
            wanted, found = list(record.get("slots", ())), list(vars(cls).get("__slots__", ()))
    if wanted != found:
        raise ArchiveError(f"the class {cls.__qualname__!r} has the fields {found}, and the saved one {wanted}")


_BUILT_IN = (
    *(collections.OrderedDict, collections.defaultdict, collections.Counter, collections.deque),
    *(dict, list, set, bytearray, tuple, frozenset, str, bytes, int, float, complex),
)
_MUTABLE: dict[type, Callable[[Any, Any], object]] = {
    dict: dict.update,
    collections.OrderedDict: collections.OrderedDict.update,
    collections.defaultdict: dict.update,
    collections.Counter: dict.update,
    list: list.extend,
    set: set.update,
    collections.deque: collections.deque.extend,
    bytearray: bytearray.extend,
}
_MAKERS: dict[str, Callable[[ClassBuilder, str, Record], type]] = {
    "plain": ClassBuilder.plain,
    "enum": ClassBuilder.enumeration,
    "dataclass": ClassBuilder.dataclass,
    "named tuple": ClassBuilder.named_tuple,
}
