"""Classes as records: their names, bases, fields and members, never their code objects."""

from __future__ import annotations

import abc
import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

from gjit.errors import ArchiveError
from gjit.interchange.archive.known import described
from gjit.ops.archived import SPECIAL_METHODS

Refer = Callable[[Any, str], Any]
"""Gives the reference of an object; the text says where it was found."""
Record = dict[str, Any]

_REFUSED = ("__new__", "__getattribute__", "__init_subclass__", "__del__", "__set__", "__get__", "__delete__")
_ENUM_INTERNALS = frozenset(vars(enum.IntFlag)) | {"__new_member__", "_new_member_", "_unhashable_values_map_"}
_TUPLE_INTERNALS = frozenset({"_fields", "_field_defaults", "_make", "_asdict", "_replace"})
_DROPPED_BASES = (typing.Generic, typing.Protocol)
PARAMETERS = ("init", "repr", "eq", "order", "unsafe_hash", "frozen", "match_args", "kw_only", "slots")
FIELD_SWITCHES = ("init", "repr", "hash", "compare", "kw_only")


def class_record(cls: type, refer: Refer, members: Callable[[Any, str], Any]) -> Record:
    """The record of a user's class.

    Args:
        cls: the class.
        refer: gives references of bases, defaults and values.
        members: gives the reference of a member; a function that cannot be saved has one too.

    Raises:
        ArchiveError: a class that has no form in an archive, such as one with a metaclass.
    """
    if type(cls) not in (type, abc.ABCMeta) and not isinstance(cls, enum.EnumType):
        raise ArchiveError(f"{described(cls)} has the metaclass {type(cls).__name__!r}, which an archive cannot hold")
    where = cls.__qualname__
    style = _style(cls)
    record: Record = {
        "kind": "class",
        "style": style,
        "name": cls.__name__,
        "qualname": where,
        "module": cls.__module__,
    }
    if type(cls) is abc.ABCMeta:
        record["abstract"] = True
    if cls.__doc__ is not None and "__doc__" in vars(cls):
        record["doc"] = str(cls.__doc__)
    record["bases"] = [refer(base, f"a base of {where}") for base in _bases(cls, style)]
    if "__slots__" in vars(cls) and style == "plain":
        slots = vars(cls)["__slots__"]
        record["slots"] = [slots] if isinstance(slots, str) else [str(slot) for slot in slots]
    record.update(_PARTS[style](cls, refer))
    own = {*record.get("slots", ()), *record.pop("own names", ())}
    record["members"] = [
        [name, members(member, f"{where}.{name}")] for name, member in _members(cls, style) if name not in own
    ]
    return record


def _style(cls: type) -> str:
    if isinstance(cls, enum.EnumType):
        return "enum"
    if "__dataclass_fields__" in vars(cls):
        return "dataclass"
    return "named tuple" if tuple in cls.__bases__ and "_fields" in vars(cls) else "plain"


def _bases(cls: type, style: str) -> list[type]:
    return [] if style == "named tuple" else [base for base in cls.__bases__ if base not in _DROPPED_BASES]


def _members(cls: type, style: str) -> Iterator[tuple[str, Any]]:
    """The members that were written in the class, special methods that do not compute left out."""
    for name, member in list(vars(cls).items()):
        if name in _REFUSED and not (style in ("enum", "named tuple") or _is_generated(member)):
            raise ArchiveError(f"{described(cls)} has a {name!r}, which an archive cannot hold")
        if isinstance(member, types.MemberDescriptorType | types.GetSetDescriptorType):
            continue
        if name.startswith("__") and name.endswith("__") and name not in SPECIAL_METHODS:
            continue
        if name in ("__doc__", "__class__", "__qualname__", "__name__", "_abc_impl", "__match_args__"):
            continue
        if style == "enum" and (name in _ENUM_INTERNALS or name in cls.__members__):  # type: ignore[attr-defined]
            continue
        if style == "named tuple" and (name in _TUPLE_INTERNALS or _is_generated(member)):
            continue
        if style == "dataclass" and (_is_generated(member) or (name == "__hash__" and member is None)):
            continue
        yield name, member


def _is_generated(member: Any) -> bool:
    """Whether a method was made by `dataclass` or `namedtuple`."""
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    if isinstance(function, property):
        return False
    code = getattr(function, "__code__", None)
    file = getattr(code, "co_filename", "")
    return file.startswith("<string>") or file.endswith(("dataclasses.py", "collections/__init__.py", "reprlib.py"))


def _plain_parts(cls: type, refer: Refer) -> Record:
    if "__match_args__" in vars(cls):
        return {"match": [str(name) for name in vars(cls)["__match_args__"]]}
    return {}


def _enum_parts(cls: Any, refer: Refer) -> Record:
    items = []
    for name, member in cls.__members__.items():
        extra = {key: value for key, value in vars(member).items() if not (key.startswith("_") and key.endswith("_"))}
        item = [name, refer(member._value_, f"{cls.__qualname__}.{name}")]
        state = [[key, refer(each, f"{cls.__qualname__}.{name}.{key}")] for key, each in extra.items()]
        items.append([*item, state] if state else item)
    return {"items": items}


def _dataclass_parts(cls: Any, refer: Refer) -> Record:
    parameters = cls.__dataclass_params__
    switches = {name: getattr(parameters, name) for name in PARAMETERS if hasattr(parameters, name)}
    switches["slots"] = "__slots__" in vars(cls)
    own = vars(cls).get("__annotations__", {})
    fields = [field for name, field in cls.__dataclass_fields__.items() if name in own]
    kinds = {"_FIELD": "field", "_FIELD_INITVAR": "argument"}
    found = [_field(cls, f, kinds[f._field_type.name], refer) for f in fields if f._field_type.name in kinds]
    return {"switches": switches, "fields": found, "own names": {field["name"]: None for field in found}}


def _field(cls: type, field: Any, kind: str, refer: Refer) -> Record:
    where = f"{cls.__qualname__}.{field.name}"
    record: Record = {"name": field.name, "is": kind}
    record.update({name: getattr(field, name) for name in FIELD_SWITCHES})
    if field.default is not dataclasses.MISSING:
        record["default"] = refer(field.default, where)
    if field.default_factory is not dataclasses.MISSING:
        record["factory"] = refer(field.default_factory, where)
    return record


def _tuple_parts(cls: Any, refer: Refer) -> Record:
    defaults = [refer(value, f"{cls.__qualname__}.{name}") for name, value in cls._field_defaults.items()]
    return {"fields": list(cls._fields), "defaults": defaults, "own names": dict.fromkeys(cls._fields)}


_PARTS: dict[str, Callable[[Any, Refer], Record]] = {
    "plain": _plain_parts,
    "enum": _enum_parts,
    "dataclass": _dataclass_parts,
    "named tuple": _tuple_parts,
}


def slot_names(cls: type) -> list[str]:
    """The slots of a class and its bases, by the names of their attributes."""
    names: dict[str, None] = {}
    for each in cls.__mro__[::-1]:
        slots = vars(each).get("__slots__", ())
        for slot in [slots] if isinstance(slots, str) else slots:
            if slot in ("__dict__", "__weakref__"):
                continue
            private = slot.startswith("__") and not slot.endswith("__")
            names[f"_{each.__name__.lstrip('_')}{slot}" if private else slot] = None
    return list(names)


def state_of(value: object) -> dict[str, object]:
    """The attributes that an instance has: those in its dictionary, and its slots."""
    state = dict(getattr(value, "__dict__", {}))
    for name in slot_names(type(value)):
        try:
            state[name] = object.__getattribute__(value, name)
        except AttributeError:
            continue
    return state
