"""Copies of arguments keep what a program could see: layouts, shared memory, identities."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from gjit.testing.copying import copy_arguments


def read_only(array):
    array.flags.writeable = False
    return array


def unaligned():
    return np.frombuffer(b"\0" + np.arange(3.0).tobytes(), np.uint8)[1:].view("f8")


LAYOUTS = {
    "plain": lambda: np.arange(6.0),
    "fortran": lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "reversed": lambda: np.arange(6.0)[::-1],
    "strided": lambda: np.arange(24.0).reshape(4, 6)[::2, 1::3],
    "swapped bytes": lambda: np.arange(6.0).astype(">f8"),
    "unaligned": unaligned,
    "read-only": lambda: read_only(np.arange(6.0)),
    "broadcast": lambda: np.broadcast_to(np.arange(3.0), (2, 3)),
    "zero-d": lambda: np.array(2.0),
    "empty": lambda: np.zeros((0, 3)),
    "dates": lambda: np.array(["2020-01-01", "NaT"], "M8[D]")[::-1],
    "records": lambda: np.zeros(3, [("a", "f4"), ("b", "i2")])["b"],
    "window": lambda: np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 3),
    "objects": lambda: np.array([1, [2], None], dtype=object)[::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_copies_of_arrays_keep_layout_and_values(layout):
    array = LAYOUTS[layout]()
    (copied,) = copy_arguments((array,))
    assert (copied.dtype, copied.shape, copied.strides) == (array.dtype, array.shape, array.strides)
    assert copied.flags.aligned == array.flags.aligned
    assert copied.flags.writeable == array.flags.writeable
    assert not np.may_share_memory(copied, array)
    assert copied.tolist() == array.tolist()


def test_copies_of_overlapping_views_overlap_in_the_same_way():
    base = np.arange(8.0)
    low, high, backwards = copy_arguments((base[:5], base[3:], base[::-1]))
    high[0] = 99.0
    assert low[3] == 99.0
    assert backwards[4] == 99.0
    assert base[3] == 3.0


def test_an_array_and_its_view_keep_their_relation():
    base = np.arange(6.0)
    copied, view = copy_arguments((base, [base[2:4]]))
    assert view[0].base is copied


def test_one_object_passed_twice_stays_one_object():
    shared = [1]
    one, two = copy_arguments((shared, {"again": shared}))
    assert two["again"] is one


def test_object_arrays_share_their_elements_with_the_other_arguments():
    shared = [1]
    array, other = copy_arguments((np.array([shared, None], dtype=object), shared))
    assert array[0] is other
    assert other is not shared


def test_compiled_functions_are_not_copied():
    @functools.wraps(len)
    def wrapper(x):
        return len(x)

    assert copy_arguments((wrapper, [wrapper]))[1][0] is wrapper


def test_what_cannot_be_copied_is_refused():
    with pytest.raises(TypeError):
        copy_arguments(((value for value in ()),))
