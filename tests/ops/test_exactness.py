"""Rows that claim the same bits for every layout: contiguous against other layouts, offsets and pieces."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.ops import is_layout_free, is_tile_free, table
from gjit.ops.elementwise import UFUNCS

COUNT = 1029


def loops():
    for ufunc in UFUNCS:
        for loop in ufunc.types:
            inputs = loop.split("->")[0]
            if set(inputs) & set("efdFD") and not set(loop) & set("gGOmM"):
                yield pytest.param(ufunc, inputs, id=f"{ufunc.__name__}-{inputs}")


def values(code: str, rng: np.random.Generator) -> np.ndarray:
    dtype = np.dtype(code)
    if dtype.kind in "iu":
        return rng.integers(-5, 6, COUNT).astype(dtype)
    parts = np.where(rng.random((2, COUNT)) < 0.5, rng.random((2, COUNT)), rng.standard_normal((2, COUNT)) * 1e3)
    special = [np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-310, 4.0]
    parts = np.where(rng.random((2, COUNT)) < 0.1, rng.choice(special, (2, COUNT)), parts)
    return (parts[0] + 1j * parts[1]).astype(dtype) if dtype.kind == "c" else parts[0].astype(dtype)


def laid_out(array: np.ndarray):
    """The same elements in other layouts, and pieces, each with the slice of elements that it holds."""
    wide = np.zeros(3 * COUNT, array.dtype)
    for view in (wide[::3], wide[COUNT : 2 * COUNT][::-1]):
        view[:] = array
        yield view, slice(None)
    yield from ((array[part], part) for part in (slice(1, None), slice(3, 10), slice(64, 67), slice(5, 6)))


def evaluate(ufunc, operands) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        results = ufunc(*operands)
    return list(results) if isinstance(results, tuple) else [results]


def bits(array: np.ndarray) -> bytes:
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize(("ufunc", "inputs"), list(loops()))
def test_layout_free_rows_give_the_same_bits(ufunc, inputs):
    if not is_layout_free(table.of_function(ufunc), [np.dtype(code) for code in inputs]):
        pytest.skip("claims nothing")
    rng = np.random.default_rng(0)
    operands = [values(code, rng) for code in inputs]
    whole = evaluate(ufunc, operands)
    for pieces in zip(*map(laid_out, operands), strict=True):
        part = pieces[0][1]
        found = evaluate(ufunc, [view for view, _ in pieces])
        assert [bits(result) for result in found] == [bits(result[part]) for result in whole]


@pytest.mark.parametrize(("ufunc", "inputs"), list(loops()))
def test_tile_free_rows_give_the_same_bits_in_pieces(ufunc, inputs):
    if not is_tile_free(table.of_function(ufunc), [np.dtype(code) for code in inputs]):
        pytest.skip("claims nothing")
    rng = np.random.default_rng(1)
    operands = [values(code, rng) for code in inputs]
    whole = evaluate(ufunc, operands)
    for start in range(0, COUNT, 128):
        part = slice(start, start + 128)
        found = evaluate(ufunc, [operand[part] for operand in operands])
        assert [bits(result) for result in found] == [bits(result[part]) for result in whole]


@pytest.mark.parametrize(
    ("name", "dtype", "free"),
    [
        ("numpy.add", "f4", True),
        ("operator.mul", "f8", True),
        ("operator.mul", "c8", False),
        ("numpy.exp", "f2", False),
        ("numpy.sin", "f8", False),
        ("numpy.power", "i8", True),
        ("numpy.sum", "f4", False),
    ],
)
def test_claims(name, dtype, free):
    assert is_layout_free(table[name], [np.dtype(dtype)] * 2) is free


def test_casts_to_integers_depend_on_the_instruction():
    row = table["ndarray.astype"]
    assert is_layout_free(row, [np.dtype("f8"), np.dtype("f4")])
    assert not is_layout_free(row, [np.dtype("f8"), np.dtype("i4")])
