"""Ops that users add to the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gjit.ir.graph import Node
from gjit.ir.protocols import known_names
from gjit.ir.types import Type
from gjit.ops.row import OPAQUE, Effect, Kind, Op, table

F = TypeVar("F", bound=Callable)
PREFIX = "user."


def register_op(
    function: Any = None,
    *,
    name: str = "",
    types: Callable[..., Type | list[Type]] | None = None,
    pure: bool = False,
    writes: tuple[int, ...] = (),
    views: tuple[int, ...] = (),
) -> Any:
    """Make a function one op of the graph: it is called as it is, and its body is not captured.

    A scripted program that calls `function`, by whatever name, holds the node `user.<name>`; the node prints, parses,
    is typed by `types`, and takes part in every pass as a row of the table does.

    Args:
        function: any callable; without it, a decorator comes back.
        name: of the op, an identifier; the function's own by default.
        types: gives the type of the result (or a list of them) for the types of the inputs; unknown without it.
        pure: it has no effect but to raise, and reads nothing but its arguments. Otherwise it may do anything.
        writes: positions of arguments whose memory it writes.
        views: positions of arguments whose memory its result may share.

    Returns:
        The function itself.

    Raises:
        ValueError: the name is no identifier, or is taken by another function.
        TypeError: `function` cannot be called.

    >>> from gjit.ir.types import FLOAT
    >>> @register_op(types=lambda *inputs: FLOAT, pure=True)
    ... def half(x):
    ...     return x / 2
    >>> table.of_function(half).name
    'user.half'
    """
    if function is None:
        return lambda given: register_op(given, name=name, types=types, pure=pure, writes=writes, views=views)
    if not callable(function):
        raise TypeError(f"gjit.register_op takes a function, not {type(function).__name__}")
    plain = name or getattr(function, "__name__", "")
    if not plain.isidentifier():
        raise ValueError(f"{plain!r} cannot be the name of an op; give name=, an identifier")
    known = table.get(PREFIX + plain)
    if known is not None and known.function is not function:
        raise ValueError(f"there is an op {PREFIX + plain!r} already")
    if known is None:
        effects = Effect.RAISES | Effect.READS | Effect.ALLOCATES if pure else OPAQUE
        effects |= Effect.WRITES if writes else Effect.NONE
        rule = None if types is None else _rule(types)
        table.add(
            Op(
                name=PREFIX + plain,
                kind=Kind.LIBRARY,
                function=function,
                types=rule,
                effects=effects,
                views=views,
                writes=writes,
            )
        )
    return function


def _rule(types: Callable[..., Type | list[Type]]) -> Callable[[Node], list[Type]]:
    def rule(node: Node) -> list[Type]:
        found = types(*(value.type for value in node.inputs))
        return found if isinstance(found, list) else [found]

    return rule


def _lookup(name: str) -> object:
    row = table.get(name) if name.startswith(PREFIX) else None
    if row is None:
        raise LookupError(f"no op is named {name!r}")
    return row.function


def _name_of(value: object) -> str | None:
    row = table.of_function(value)
    return row.name if row is not None and row.name.startswith(PREFIX) else None


known_names.register(_lookup, _name_of)
