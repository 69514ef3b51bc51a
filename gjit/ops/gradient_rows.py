"""The ops that gradient graphs are made of, besides those of NumPy.

The *shadow* of a value is where its cotangent is added up: for an array or number an array of its dtype and shape, for
a container or object the same container with shadows in it, and None for what has no derivative. A *tape* is a list of
records: tuples of the number of a segment and of what its reverse needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gjit.errors import UnsupportedError
from gjit.ir.graph import Node
from gjit.ir.parser import parse_type
from gjit.ir.types import COMPLEX, FLOAT, INT, UNKNOWN, ArrayType, ScalarType, Type
from gjit.ops import names
from gjit.ops.gradient_containers import Shadows, finished_container, paired, stacked_container
from gjit.ops.row import OPAQUE, Effect, Kind, Op, table

FRESH = Effect.RAISES | Effect.READS | Effect.ALLOCATES


def zeros(value: Any) -> Any:
    """The shadow of a value: zeros for inexact arrays and numbers, the same with shadows for containers, else None."""
    if isinstance(value, np.ndarray | np.inexact):
        return np.zeros_like(value, subok=False) if value.dtype.kind in "fc" else None
    kind = type(value)
    if kind in (float, complex):
        return np.zeros((), kind)
    return None if kind in _PLAIN else Shadows(zeros).of(value)


_PLAIN = frozenset({int, bool, str, bytes, type(None), slice, range})


def fit(cotangent: Any, like: Any) -> Any:
    """A cotangent with the shape of an operand that was broadcast, and real where the operand is.

    >>> fit(np.ones((2, 3)), np.ones((2, 1)))
    array([[3.],
           [3.]])
    """
    if isinstance(like, list | tuple):
        return [fit(part, each) for part, each in zip(cotangent, like, strict=True)]
    shape = np.shape(like)
    found = np.shape(cotangent)
    if found != shape:
        extra = len(found) - len(shape)
        axes = tuple(range(extra)) + tuple(
            axis + extra for axis, extent in enumerate(shape) if extent == 1 and found[axis + extra] != 1
        )
        cotangent = np.asarray(np.sum(cotangent, axis=axes)).reshape(shape)
    return cotangent.real if np.iscomplexobj(cotangent) and not np.iscomplexobj(like) else cotangent


def unfit(cotangent: Any, like: Any) -> Any:
    """The adjoint of `fit`: a cotangent broadcast to the shape of what was summed."""
    if like is None or cotangent is None:
        return None
    if isinstance(like, list | tuple):
        return [None if part is None else unfit(part, each) for part, each in zip(cotangent, like, strict=True)]
    return np.broadcast_to(cotangent, np.shape(like))


def accumulate(shadow: Any, cotangent: Any) -> None:
    """Add a cotangent to a shadow, element by element in containers; nothing where one of them is None."""
    if shadow is None or cotangent is None:
        return
    if isinstance(shadow, np.ndarray):
        shadow += fit(cotangent, shadow)
    elif isinstance(shadow, np.generic):
        raise UnsupportedError("there are no second derivatives through a sum of a list of numbers", hint="numpy.sum")
    else:
        for each, part in paired(shadow, cotangent):
            accumulate(each, part)


def take(shadow: Any) -> Any:
    """What a shadow holds, which then is zero again."""
    if shadow is None:
        return None
    found = shadow.copy()
    shadow[...] = 0
    return found


def accumulate_copied(shadow: Any, cotangent: Any, result: Any) -> None:
    """Add to the shadow of an operand, unless that of the result is a view of it."""
    if isinstance(shadow, list | tuple):
        for each, part in paired(shadow, cotangent) if cotangent is not None else ():
            accumulate_copied(each, part, result)
    elif shadow is not None and not _shares(shadow, result):
        accumulate(shadow, cotangent)


def _shares(shadow: np.ndarray, result: Any) -> bool:
    """Whether the shadow of a result, or of each of several, is a view of that of the operand."""
    parts = result if isinstance(result, list | tuple) else [result]
    return any(isinstance(part, np.ndarray) and np.may_share_memory(shadow, part) for part in parts)


def move(source: Any, target: Any) -> None:
    """The adjoint of `take`: a shadow becomes what is in the shadow of what was taken from it."""
    if source is not None and target is not None:
        source[...] = target


def in_place(target: Any, result: Any, shadow: Any) -> Any:
    """The shadow of what an in-place operator gave: that of its target where it gave the target itself."""
    return shadow if result is target else zeros(result)


def scatter(target: np.ndarray, index: Any, cotangent: Any) -> None:
    """Add at chosen elements; one that is chosen twice gets both."""
    np.add.at(target, index, cotangent)


def take_chosen(shadow: np.ndarray, index: Any) -> np.ndarray:
    """What the shadow holds for each element of a store at an index of arrays; those elements become zero.

    An element that was stored several times got the last value, so the others have no cotangent.
    """
    taken = np.array(shadow[index])
    if taken.ndim and not _is_mask(index):
        order = np.full(shadow.shape, -1, np.intp)
        numbers = np.arange(taken.size).reshape(taken.shape)
        order[index] = numbers
        taken[order[index] != numbers] = 0
    shadow[index] = 0
    return taken


def put_chosen(shadow: np.ndarray, index: Any, cotangent: np.ndarray) -> None:
    """The adjoint of `take_chosen`: the elements become the cotangents of what was taken."""
    order = np.full(shadow.shape, -1, np.intp)
    numbers = np.arange(np.size(cotangent)).reshape(np.shape(cotangent))
    order[index] = numbers
    last = order[index] == numbers
    shadow[index] = 0
    np.add.at(shadow, index, np.where(last, cotangent, 0))


def put_back(cotangent: Any, index: Any, like: Any) -> np.ndarray:
    """A cotangent of elements that were gathered, for the array: `index` numbers them in memory order C."""
    found = np.zeros(np.size(like), np.result_type(cotangent))
    np.add.at(found, index, cotangent)
    return found.reshape(np.shape(like))


def einsum_parts(subscripts: str, operands: tuple, index: int) -> tuple[str, tuple[int, ...], np.ndarray | None]:
    """The sum that is the adjoint of `einsum` for one operand.

    Returns:
        The subscripts for the cotangent and the other operands; the shape of that sum with an extent of one for each
        axis that was summed away; and where an axis is repeated, the mask of the diagonal.
    """
    terms, result = _einsum_terms(subscripts, operands)
    own = terms[index]
    others = [term for place, term in enumerate(terms) if place != index]
    reachable = {*result, *"".join(others)}
    shape = np.shape(operands[index])
    letters = [letter for place, letter in enumerate(own) if letter in reachable and letter not in own[:place]]
    seen = [letter in reachable and letter not in own[:place] for place, letter in enumerate(own)]
    target = tuple(extent if is_seen else 1 for extent, is_seen in zip(shape, seen, strict=True))
    return f"{','.join([result, *others])}->{''.join(letters)}", target, _diagonal(own, shape)


def _einsum_terms(subscripts: str, operands: tuple) -> tuple[list[str], str]:
    """Subscripts without blanks and ellipses, one for each operand and the result."""
    text = subscripts.replace(" ", "")
    left, arrow, result = text.partition("->")
    terms = left.split(",")
    free = [letter for letter in _LETTERS if letter not in text]
    most = max((np.ndim(a) - len(t) + 3 for t, a in zip(terms, operands, strict=True) if "..." in t), default=0)
    wide = "".join(free[:most])
    for place, (term, array) in enumerate(zip(terms, operands, strict=True)):
        if "..." in term:
            count = np.ndim(array) - len(term) + 3
            terms[place] = term.replace("...", wide[most - count :])
    if not arrow:
        every = "".join(terms)
        result = wide + "".join(sorted(x for x in {*every} if every.count(x) == 1 and x not in wide))
    return terms, result.replace("...", wide)


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _diagonal(letters: str, shape: tuple[int, ...]) -> np.ndarray | None:
    if len({*letters}) == len(letters):
        return None
    grid = np.indices(shape, sparse=True)
    mask = np.ones(shape, bool)
    for place, letter in enumerate(letters):
        mask &= grid[place] == grid[letters.index(letter)]
    return mask


def unfit_copied(cotangent: Any, like: Any, shadow: Any, result: Any) -> Any:
    """The adjoint of `accumulate_copied`: nothing where it did nothing."""
    if isinstance(shadow, list | tuple) and cotangent is not None:
        groups = zip(cotangent, like, shadow, strict=True)
        return [unfit_copied(part, each, inner, result) for part, each, inner in groups]
    nothing = shadow is None or cotangent is None or _shares(shadow, result)
    return np.zeros_like(like) if nothing else unfit(cotangent, like)


def _is_mask(index: Any) -> bool:
    return isinstance(index, np.ndarray) and index.dtype == bool


def one(result: Any) -> Any:
    """The cotangent of a result that is differentiated: one.

    Raises:
        TypeError: the result is not one real number.
    """
    kind = type(result)
    if kind is float:
        return 1.0
    if isinstance(result, np.ndarray | np.generic) and result.ndim == 0 and result.dtype.kind == "f":
        return result.dtype.type(1)
    shown = (
        f"an array of shape {np.shape(result)} and dtype {result.dtype}" if hasattr(result, "dtype") else kind.__name__
    )
    raise TypeError(
        f"gjit.grad needs a function that returns one real number, not {shown}; see gjit.vjp and gjit.jacobian"
    )


def cotangent(given: Any, result: Any) -> Any:
    """A cotangent as the caller gives it, checked against the result.

    Raises:
        ValueError: its shape is not that of the result.
    """
    if isinstance(result, np.ndarray | np.inexact | float | complex) and np.shape(given) != np.shape(result):
        raise ValueError(f"the cotangent has the shape {np.shape(given)}, the result {np.shape(result)}")
    return given


def null(value: Any) -> Any:
    """A zero for each element of a result."""
    return finished(value, None)


def count(value: Any) -> int:
    """How many rows the Jacobian of a result has.

    Raises:
        TypeError: it is no real array or number.
    """
    if type(value) is float or (isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"):
        return int(np.size(value))
    dtype = f" of {value.dtype}" if hasattr(value, "dtype") else ""
    raise TypeError(f"gjit.jacobian needs a function that returns a real array, not {type(value).__name__}{dtype}")


def unit(value: Any, index: int) -> Any:
    """One for an element of a result, zero for all others."""
    if type(value) is float:
        return 1.0
    found = np.zeros_like(value)
    found.reshape(-1)[index] = 1
    return found if isinstance(value, np.ndarray) else found[()]


def stacked(rows: list, value: Any, like: Any) -> Any:
    """The rows of a Jacobian as one array, for each array in the argument."""
    if isinstance(like, np.ndarray | np.inexact | float | complex):
        shape = (*np.shape(value), *np.shape(like))
        dtype = getattr(like, "dtype", np.dtype(type(like)))
        return np.stack(rows).reshape(shape) if rows else np.zeros(shape, dtype)
    return stacked_container(rows, value, like, stacked)


def leaf_shadow(value: Any) -> Any:
    """The shadow of an argument.

    Raises:
        TypeError: it is no inexact array, number, or container of such.
    """
    shadow = zeros(value)
    if shadow is None:
        dtype = f" of {value.dtype}" if hasattr(value, "dtype") else ""
        raise TypeError(f"a gradient is asked for an argument that has none: {type(value).__name__}{dtype}")
    return shadow


def finished(value: Any, gradient: Any) -> Any:
    """The gradient of an argument as the caller gets it: of its type, shape and dtype; None where there is none."""
    kind = type(value)
    if kind in (float, complex):
        return kind(0 if gradient is None else fit(gradient, value))
    if isinstance(value, np.ndarray | np.inexact):
        if value.dtype.kind not in "fc":
            return None
        found = np.zeros_like(value, subok=False) if gradient is None else _own(fit(gradient, value), value.dtype)
        return found if isinstance(value, np.ndarray) else found[()]
    return None if kind in _PLAIN else finished_container(value, gradient, finished)


def _own(gradient: Any, dtype: np.dtype) -> np.ndarray:
    return np.array(gradient, dtype=dtype, copy=True)


def array(value: Any) -> Any:
    """An array or NumPy number, whose method is called.

    Raises:
        TypeError: it is something else, whose methods may be anything.
    """
    if isinstance(value, np.ndarray | np.generic):
        return value
    raise TypeError(f"a gradient cannot pass through a method of {type(value).__name__}, which is no array")


def push(tape: list, *record: Any) -> None:
    """Put a record on the tape."""
    tape.append(record)


def pop(tape: list) -> tuple:
    """Take the last record off the tape."""
    return tape.pop()


def assume(value: Any) -> Any:
    """The value itself; the attribute `type` of the node says what it is known to be."""
    return value


def saved(value: Any) -> Any:
    """A copy of an array that may be written before the reverse reads it; anything else as it is."""
    return value.copy() if isinstance(value, np.ndarray) else value


def shadow_types(node: Node) -> list[Type]:
    """The type of the shadow of the first operand of a node."""
    type_ = node.inputs[0].type
    if isinstance(type_, ArrayType) and type_.dtype is not None and type_.dtype.kind in "fc":
        return [type_]
    if isinstance(type_, ScalarType) and type_.dtype is not None and type_.dtype.kind in "fc":
        return [ArrayType(type_.dtype, 0)]
    numbers = {FLOAT: "f8", COMPLEX: "c16"}
    return [ArrayType(np.dtype(numbers[type_]), 0) if type_ in numbers else UNKNOWN]


def _finished_types(node: Node) -> list[Type]:
    type_ = node.inputs[0].type
    known = isinstance(type_, ArrayType | ScalarType) and type_.dtype is not None and type_.dtype.kind in "fc"
    return [type_ if known or type_ in (FLOAT, COMPLEX) else UNKNOWN]


def _fit_types(node: Node) -> list[Type]:
    value, like = node.inputs[0].type, node.inputs[1].type
    known = isinstance(value, ArrayType) and isinstance(like, ArrayType) and value.rank and like.rank
    known = known and value.dtype is not None and like.dtype is not None
    if not known or value.dtype.kind not in "fc" or (value.dtype.kind == "c" and like.dtype.kind != "c"):
        return [UNKNOWN]
    return [ArrayType(value.dtype, like.rank)]


def _unfit_types(node: Node) -> list[Type]:
    value, like = node.inputs[0].type, node.inputs[1].type
    dtype = getattr(value, "dtype", None)
    rank = like.rank if isinstance(like, ArrayType) else None
    return [UNKNOWN if dtype is None or rank is None else ArrayType(dtype, rank)]


def _assumed(node: Node) -> list[Type]:
    text = node.attributes.get("type")
    return [node.inputs[0].type if text is None else parse_type(str(text))]


def add_row(function, types=None, effects=OPAQUE, **rest) -> None:
    """Add the row of a helper under its own name."""
    name = f"gradient.{function.__name__}"
    names.give_name(name, function)
    table.add(Op(name=name, kind=Kind.LIBRARY, function=function, types=types, effects=effects, **rest))


add_row(zeros, shadow_types, FRESH)
add_row(fit, _fit_types, FRESH, views=(0,))
add_row(unfit, _unfit_types, FRESH, views=(0,))
add_row(accumulate, effects=FRESH | Effect.WRITES, writes=(0,))
add_row(take, lambda node: [node.inputs[0].type], FRESH | Effect.WRITES, writes=(0,))
add_row(accumulate_copied, effects=FRESH | Effect.WRITES, writes=(0,))
add_row(move, effects=FRESH | Effect.WRITES, writes=(0,))
add_row(scatter, effects=FRESH | Effect.WRITES, writes=(0,))
add_row(in_place, effects=FRESH, views=(2,))
add_row(take_chosen, effects=FRESH | Effect.WRITES, writes=(0,))
add_row(put_chosen, effects=FRESH | Effect.WRITES, writes=(0,))
add_row(put_back, effects=FRESH)
add_row(einsum_parts, effects=FRESH)
add_row(unfit_copied, effects=FRESH, views=(0,))
add_row(one, lambda node: [node.inputs[0].type], FRESH)
add_row(cotangent, lambda node: [node.inputs[0].type], FRESH, views=(0,))
add_row(null, _finished_types, FRESH)
add_row(count, lambda node: [INT], FRESH)
add_row(unit, _finished_types, FRESH)
add_row(stacked, effects=FRESH)
add_row(finished, _finished_types, FRESH)
add_row(array, lambda node: [node.inputs[0].type], Effect.RAISES, views=(0,))
add_row(push, effects=FRESH | Effect.WRITES | Effect.ORDERED, writes=(0,))
add_row(pop, effects=FRESH | Effect.WRITES | Effect.ORDERED, writes=(0,), views=(0,))
add_row(assume, _assumed, Effect.RAISES, views=(0,))
add_row(saved, lambda node: [node.inputs[0].type], FRESH)
