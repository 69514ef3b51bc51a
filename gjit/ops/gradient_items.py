"""Shadows of items and attributes whose owner is only known at run time: an array, a container or an object."""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from gjit.errors import UnsupportedError
from gjit.ops.gradient_containers import held_shadows
from gjit.ops.gradient_outside import has_parts, refuse_store, user_line
from gjit.ops.gradient_rows import FRESH, accumulate, add_row, put_chosen, take_chosen, zeros
from gjit.ops.row import Effect


def item(owner: Any, shadow: Any, index: Any, result: Any) -> Any:
    """The shadow of `owner[index]`: what stands there in the shadow, or a new one where an array gave a copy."""
    if shadow is None:
        return None
    if isinstance(shadow, SimpleNamespace):
        return _held(owner, shadow, result)
    if isinstance(shadow, np.ndarray):
        is_view = isinstance(result, np.ndarray) and np.may_share_memory(result, owner)
        return shadow[index] if is_view else zeros(result)
    return shadow[index] if not isinstance(shadow, dict) else shadow.get(index)


def take_item(owner: Any, shadow: Any, index: Any) -> Any:
    """As `take_chosen` where the owner is an array; None for a container, whose shadow mirrors the store."""
    return take_chosen(shadow, index) if isinstance(owner, np.ndarray) and shadow is not None else None


def item_reverse(owner: Any, shadow: Any, index: Any, result: Any) -> None:
    """Where `item` made a new shadow, what it holds goes to the elements that were chosen."""
    if isinstance(shadow, np.ndarray) and result is not None and not np.may_share_memory(result, shadow):
        np.add.at(shadow, index, result)


def check_items(value: Any) -> None:
    """Refuse to take the numbers of an array one by one where the array may be written afterwards.

    Raises:
        UnsupportedError: the value is an array with one axis, whose items are no views.
    """
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fc":
        message = "the items of an array that may be written are taken"
        raise UnsupportedError(message, user_line(), hint="take those of a copy")


def put_item(owner: Any, shadow: Any, index: Any, cotangent: Any) -> None:
    """The adjoint of `take_item`."""
    if isinstance(owner, np.ndarray) and shadow is not None and cotangent is not None:
        put_chosen(shadow, index, cotangent)


def item_again(shadow: Any, result: Any, second: Any, index: Any, target: Any) -> None:
    """The adjoint of `item_reverse`, for the shadows `second` and `target` of the two shadows."""
    if isinstance(shadow, np.ndarray) and result is not None and not np.may_share_memory(result, shadow):
        accumulate(target, second[index])


def set_item(owner: Any, shadow: Any, index: Any, value: Any, part: Any) -> None:
    """`owner[index] = value` in a container: its shadow gets that of the value. Arrays are for `take_item`."""
    if isinstance(owner, np.ndarray):
        return
    if shadow is not None:
        shadow[index] = part
    elif has_parts(part):
        refuse_store()


_VIEWS = frozenset({"T", "mT", "real", "imag"})


def attribute(owner: Any, shadow: Any, name: str, result: Any) -> Any:
    """The shadow of an attribute: of an array a view of its shadow, of an object what its shadow has."""
    if shadow is None:
        return None
    if isinstance(owner, np.ndarray):
        if name not in _VIEWS and (isinstance(result, np.ndarray | np.flatiter) or name == "data"):
            raise UnsupportedError(f"a gradient cannot pass through the attribute `{name}` of an array")
        return getattr(shadow, name) if isinstance(result, np.ndarray) else None
    if isinstance(result, types.MethodType) and result.__self__ is owner:
        return shadow  # a method has the object that it is bound to
    if not hasattr(shadow, name) and isinstance(inspect.getattr_static(owner, name, property()), property):
        if zeros(result) is not None:
            raise TypeError(f"a gradient cannot pass through the property {name!r} of {type(owner).__name__}")
        return None
    return getattr(shadow, name, None)


def set_attribute(shadow: Any, name: str, part: Any) -> None:
    """`owner.name = value`: the shadow of the object gets that of the value."""
    if shadow is not None:
        setattr(shadow, name, part)
    elif has_parts(part):
        refuse_store()


def parts(value: Any, shadow: Any) -> Any:
    """The shadows of what unpacking gives."""
    if shadow is None:
        return (None,) * len(value)
    return [shadow[index, ...] for index in range(len(shadow))] if isinstance(shadow, np.ndarray) else shadow


def entries(value: Any, shadow: Any) -> dict:
    """The shadows of named arguments that are spread."""
    return dict.fromkeys(value) if shadow is None else shadow


def items(value: Any, shadow: Any) -> Iterator[Any]:
    """The shadows of the items of an iterable, however long it is."""
    if shadow is None or isinstance(value, dict):
        return itertools.repeat(None)
    return iter(parts(value, shadow))


def _held(owner: Any, shadow: SimpleNamespace, part: Any) -> Any:
    """The shadow of what iterating over an object, or an index, gave: that of the attribute that holds it.

    Raises:
        TypeError: no attribute holds it, so that its gradient would be lost.
    """
    known = held_shadows(owner, shadow)
    if id(part) not in known and zeros(part) is not None:
        raise TypeError(f"a gradient cannot pass through items of {type(owner).__name__} that it does not hold itself")
    return known.get(id(part))


def pairs(iterable: Any, shadow: Any) -> Iterator[tuple[Any, Any]]:
    """The items of an iterable, each with its shadow."""
    if shadow is None:
        return ((each, None) for each in iterable)
    if isinstance(shadow, SimpleNamespace):
        return ((each, _held(iterable, shadow, each)) for each in iterable)
    if isinstance(iterable, dict):
        return ((key, None) for key in iterable)
    return zip(iterable, parts(iterable, shadow), strict=False)


_WRITES = FRESH | Effect.WRITES
add_row(item, effects=FRESH, views=(1,))
add_row(item_reverse, effects=_WRITES, writes=(1,))
add_row(check_items, effects=Effect.RAISES)
add_row(put_item, effects=_WRITES, writes=(1,))
add_row(item_again, effects=_WRITES, writes=(4,))
add_row(set_item, effects=_WRITES, writes=(1,))
add_row(take_item, effects=_WRITES, writes=(1,))
add_row(attribute, effects=FRESH, views=(1,))
add_row(set_attribute, effects=_WRITES, writes=(0,))
add_row(parts, effects=FRESH, views=(1,))
add_row(entries, effects=FRESH, views=(1,))
add_row(items, effects=FRESH, views=(1,))
add_row(pairs, effects=FRESH, views=(0, 1))
