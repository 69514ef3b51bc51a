"""Gradients of functions that move, choose, join or make elements."""

from __future__ import annotations

import numpy as np

from gjit.ops.gradient_rows import fit, put_back, unfit
from gjit.ops.gradients import differentiate, differentiate_all, refuse, zero
from gjit.ops.gradients_reduce import positions


def reshape_a(g, r, a, shape=None, order="C", *, newshape=None, copy=None):
    """Back to the shape of the operand."""
    return np.reshape(g, np.shape(a), order=order)


def transpose_a(g, r, a, axes=None):
    """The inverse order of the axes."""
    return np.transpose(g) if axes is None else np.transpose(g, np.argsort(np.remainder(axes, np.ndim(a))))


def rollaxis_a(g, r, a, axis, start=0):
    """The axis back to its place."""
    first = axis % np.ndim(a)
    place = start + np.ndim(a) if start < 0 else start
    return np.moveaxis(g, place - 1 if first < place else place, first)


differentiate("numpy.reshape ndarray.reshape", a=reshape_a)
differentiate("numpy.transpose", a=transpose_a)
differentiate("numpy.permute_dims", a=transpose_a)
differentiate("numpy.matrix_transpose", x=lambda g, r, x: np.swapaxes(g, -1, -2))
differentiate("numpy.swapaxes", a=lambda g, r, a, axis1, axis2: np.swapaxes(g, axis1, axis2))
differentiate("numpy.moveaxis", a=lambda g, r, a, source, destination: np.moveaxis(g, destination, source))
differentiate("numpy.rollaxis", a=rollaxis_a)
differentiate("numpy.squeeze", a=lambda g, r, a, axis=None: np.reshape(g, np.shape(a)))
differentiate("numpy.expand_dims", a=lambda g, r, a, axis: np.reshape(g, np.shape(a)))
differentiate("numpy.broadcast_to", array=lambda g, r, array, shape, subok=False: fit(g, array))
differentiate("numpy.flip", m=lambda g, r, m, axis=None: np.flip(g, axis))
differentiate("numpy.fliplr", m=lambda g, r, m: np.fliplr(g))
differentiate("numpy.flipud", m=lambda g, r, m: np.flipud(g))
differentiate("numpy.rot90", m=lambda g, r, m, k=1, axes=(0, 1): np.rot90(g, -k, axes))
differentiate(
    "numpy.ravel", a=lambda g, r, a, order="C": np.reshape(g, np.shape(a), order="C" if order == "K" else order)
)
differentiate("ndarray.flatten", a=lambda g, r, a, order="C": np.reshape(g, np.shape(a), order=order))


def diagonal_a(g, r, a, offset=0, axis1=0, axis2=1):
    """To the elements of the diagonal."""
    return put_back(g, np.diagonal(positions(a), offset, axis1, axis2), a)


def trace_a(g, r, a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    """One for each element of the diagonal."""
    index = np.diagonal(positions(a), offset, axis1, axis2)
    return put_back(unfit(np.expand_dims(g, -1), index), index, a)


differentiate("numpy.diagonal", a=diagonal_a)
differentiate("numpy.trace", a=trace_a)
differentiate_all("numpy.atleast_1d numpy.atleast_2d numpy.atleast_3d", lambda g, r, *arys: each_reshaped(g, arys))


def each_reshaped(g, arys):
    """Each cotangent in the shape of its operand."""
    parts = [g] if len(arys) == 1 else g
    return tuple([np.reshape(part, np.shape(array)) for part, array in zip(parts, arys, strict=True)])


differentiate_all(
    "numpy.broadcast_arrays",
    lambda g, r, *arys: tuple([fit(part, array) for part, array in zip(g, arys, strict=True)]),
)


def pieces(g, arrays, axis):
    """A cotangent cut along an axis, a piece for each of the arrays that were joined there."""
    rows = np.moveaxis(g, axis, 0)
    found = []
    start = 0
    for array in arrays:
        end = start + np.shape(array)[axis]
        found.append(np.moveaxis(rows[start:end], 0, axis))
        start = end
    return found


def concatenate_arrays(g, r, arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """A piece for each array."""
    if axis is None:
        flat = pieces(g, [np.reshape(array, (-1,)) for array in arrays], 0)
        found = [np.reshape(part, np.shape(array)) for part, array in zip(flat, arrays, strict=True)]
    else:
        found = pieces(g, arrays, axis)
    return found


def stack_arrays(g, r, arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """An item for each array."""
    rows = np.moveaxis(g, axis, 0)
    return [rows[index] for index in range(len(rows))]


def shaped_pieces(g, arrays, wide, axis):
    """Pieces along an axis of `wide`, the arrays as they were joined, in the shapes of the arrays themselves."""
    return [np.reshape(part, np.shape(array)) for part, array in zip(pieces(g, wide, axis), arrays, strict=True)]


def hstack_tup(g, r, tup, *, dtype=None, casting="same_kind"):
    """Along the second axis, or the only one."""
    wide = [np.atleast_1d(array) for array in tup]
    return shaped_pieces(g, tup, wide, 0 if np.ndim(r) == 1 else 1)


def vstack_tup(g, r, tup, *, dtype=None, casting="same_kind"):
    """Along the first axis."""
    return shaped_pieces(g, tup, [np.atleast_2d(array) for array in tup], 0)


def dstack_tup(g, r, tup):
    """Along the third axis."""
    return shaped_pieces(g, tup, [np.atleast_3d(array) for array in tup], 2)


def column_stack_tup(g, r, tup):
    """Columns, or blocks of them."""
    wide = [np.reshape(array, (-1, 1)) if np.ndim(array) < 2 else array for array in tup]
    return shaped_pieces(g, tup, wide, 1)


differentiate("numpy.concatenate", arrays=concatenate_arrays)
differentiate("numpy.stack", arrays=stack_arrays)
differentiate("numpy.hstack", tup=hstack_tup)
differentiate("numpy.vstack", tup=vstack_tup)
differentiate("numpy.dstack", tup=dstack_tup)
differentiate("numpy.column_stack", tup=column_stack_tup)


def append_arr(g, r, arr, values, axis=None):
    """The first piece."""
    return concatenate_arrays(g, r, [arr, values], axis)[0]


def append_values(g, r, arr, values, axis=None):
    """The second piece."""
    return concatenate_arrays(g, r, [arr, values], axis)[1]


differentiate("numpy.append", arr=append_arr, values=append_values)


def split_ary(g, r, ary, indices_or_sections, axis=0):
    """The pieces joined again."""
    return np.concatenate(g, axis=axis)


differentiate("numpy.split numpy.array_split", ary=split_ary)
differentiate(
    "numpy.hsplit",
    ary=lambda g, r, ary, indices_or_sections: np.concatenate(g, axis=0 if np.ndim(ary) == 1 else 1),
)
differentiate("numpy.vsplit", ary=lambda g, r, ary, indices_or_sections: np.concatenate(g, axis=0))
differentiate("numpy.dsplit", ary=lambda g, r, ary, indices_or_sections: np.concatenate(g, axis=2))


def pad_array(g, r, array, pad_width, mode="constant", *, constant_values=0):
    """What is inside the border; where the border repeats elements, they get its cotangents too."""
    if mode == "constant":
        inside = np.pad(np.ones(np.shape(array), bool), pad_width)
        part = np.reshape(g[inside], np.shape(array))
    else:
        part = put_back(g, np.pad(positions(array), pad_width, mode=mode), array)
    return part


differentiate("numpy.pad", array=pad_array)
differentiate("numpy.roll", a=lambda g, r, a, shift, axis=None: np.roll(g, np.negative(shift), axis))
differentiate("numpy.tile", A=lambda g, r, A, reps: put_back(g, np.tile(positions(A), reps), A))  # noqa: N803
differentiate(
    "numpy.repeat", a=lambda g, r, a, repeats, axis=None: put_back(g, np.repeat(positions(a), repeats, axis), a)
)
differentiate(
    "numpy.delete", arr=lambda g, r, arr, obj, axis=None: put_back(g, np.delete(positions(arr), obj, axis), arr)
)
differentiate("numpy.resize", a=lambda g, r, a, new_shape: put_back(g, np.resize(positions(a), new_shape), a))


def insert_arr(g, r, arr, obj, values, axis=None):
    """What was there before."""
    index = np.insert(positions(arr), obj, -1, axis)
    return put_back(g[index >= 0], index[index >= 0], arr)


def insert_values(g, r, arr, obj, values, axis=None):
    """What was put between."""
    index = np.insert(np.full(np.shape(arr), -1), obj, positions(values), axis)
    return put_back(g[index >= 0], index[index >= 0], values)


differentiate("numpy.insert", arr=insert_arr, values=insert_values)


def take_a(g, r, a, indices, axis=None, out=None, mode="raise"):
    """Added up where they were taken from."""
    return put_back(g, np.take(positions(a), indices, axis=axis, mode=mode), a)


def take_along_axis_arr(g, r, arr, indices, axis=-1):
    """Added up where they were taken from."""
    return put_back(g, np.take_along_axis(positions(arr), indices, axis), arr)


def choose_choices(g, r, a, choices, out=None, mode="raise"):
    """To the choice of each element."""
    return [fit(np.where(a == index, g, 0), choice) for index, choice in enumerate(choices)]


def compress_a(g, r, condition, a, axis=None, out=None):
    """To the elements that were kept."""
    return put_back(g, np.compress(condition, positions(a), axis=axis), a)


def compress_method(g, r, a, condition, axis=None, out=None):
    """To the elements that were kept."""
    return put_back(g, np.compress(condition, positions(a), axis=axis), a)


differentiate("numpy.take", a=take_a)
differentiate("numpy.take_along_axis", arr=take_along_axis_arr)
differentiate("numpy.choose", choices=choose_choices)
differentiate("numpy.compress", a=compress_a)
differentiate("ndarray.compress", a=compress_method)
differentiate("numpy.extract", arr=lambda g, r, condition, arr: put_back(g, np.extract(condition, positions(arr)), arr))


def sort_a(g, r, a, axis=-1, kind=None, order=None, *, stable=None):
    """Each where it came from; the first of equal elements is the first."""
    rows = np.reshape(a, (-1,)) if axis is None else a
    place = -1 if axis is None else axis
    index = np.take_along_axis(positions(rows), np.argsort(rows, axis=place, kind="stable"), place)
    return put_back(g, index, a)


def partition_a(g, r, a, kth, axis=-1, kind="introselect", order=None):
    """Each where it came from."""
    rows = np.reshape(a, (-1,)) if axis is None else a
    place = -1 if axis is None else axis
    index = np.take_along_axis(positions(rows), np.argpartition(rows, kth, axis=place), place)
    return put_back(g, index, a)


differentiate("numpy.sort", a=sort_a)
differentiate("numpy.partition", a=partition_a)


def diff_a(g, r, a, n=1, axis=-1, prepend=None, append=None):
    """Differences again, the other way round."""
    for _ in range(n):
        edge = np.zeros_like(np.take(g, [0], axis=axis)) if np.shape(g)[axis] else np.zeros(one_long(g, axis))
        g = -np.diff(np.concatenate([edge, g, edge], axis=axis), axis=axis)
    if prepend is not None or append is not None:
        first = 0 if prepend is None else np.shape(prepend)[axis] if np.ndim(prepend) else 1
        g = np.moveaxis(np.moveaxis(g, axis, 0)[first : first + np.shape(a)[axis]], 0, axis)
    return g


def one_long(g, axis):
    """The shape with an extent of one along an axis."""
    return tuple([1 if place == axis % np.ndim(g) else extent for place, extent in enumerate(np.shape(g))])


differentiate("numpy.diff", a=diff_a)
differentiate("numpy.ediff1d", ary=lambda g, r, ary, to_end=None, to_begin=None: ediff1d_ary(g, ary, to_begin))


def ediff1d_ary(g, ary, to_begin):
    """As `diff` of the flat array."""
    first = 0 if to_begin is None else np.size(to_begin)
    count = max(np.size(ary) - 1, 0)
    inner = np.reshape(g, (-1,))[first : first + count]
    edge = np.zeros(1, np.result_type(g))
    part = -np.diff(np.concatenate([edge, inner, edge]))
    return np.reshape(part[: np.size(ary)], np.shape(ary))


def bincount_weights(g, r, x, weights=None, minlength=0):
    """To each number what its bin has."""
    return np.take(g, x)


differentiate("numpy.bincount", weights=bincount_weights)
zero(
    "numpy.nonzero numpy.flatnonzero numpy.argwhere numpy.searchsorted numpy.digitize numpy.argsort "
    "numpy.argpartition numpy.lexsort numpy.isin numpy.ix_ numpy.unravel_index numpy.ravel_multi_index "
    "numpy.triu_indices numpy.tril_indices numpy.diag_indices ndarray.tobytes"
)
refuse("numpy.histogram", "counts have no derivative; use `numpy.bincount` with weights")
refuse("numpy.unique", "how many elements it has depends on the data; use `numpy.sort`")
refuse("numpy.gradient", "write the differences with slices")
refuse(
    "numpy.put numpy.place numpy.put_along_axis numpy.fill_diagonal ndarray.put ndarray.partition ndarray.resize",
    "store with an index",
)

# Arrays that are made

zero(
    "numpy.zeros numpy.ones numpy.empty numpy.zeros_like numpy.ones_like numpy.empty_like numpy.eye numpy.identity "
    "numpy.tri numpy.indices numpy.fft.fftfreq numpy.fft.rfftfreq"
)


def filled(g, r, shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    """The sum of all."""
    return fit(g, fill_value)


def filled_like(g, r, a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    """The sum of all."""
    return fit(g, fill_value)


differentiate("numpy.full", fill_value=filled)
differentiate("numpy.full_like", fill_value=filled_like)


def ramp(r, endpoint, axis):
    """From zero to one along the axis of the points, in the rank of the result."""
    count = np.shape(r)[axis]
    steps = np.arange(count) / max(count - 1 if endpoint else count, 1)
    return np.moveaxis(np.reshape(steps, (-1, *[1] * (np.ndim(r) - 1))), 0, axis)


def linspace_start(g, r, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """One at the start, down to nothing at the end."""
    return fit(np.sum(g * (1 - ramp(r, endpoint, axis)), axis=axis), start)


def linspace_stop(g, r, start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """Nothing at the start, one at the end."""
    return fit(np.sum(g * ramp(r, endpoint, axis), axis=axis), stop)


differentiate("numpy.linspace", start=linspace_start, stop=linspace_stop)
differentiate("numpy.tril", m=lambda g, r, m, k=0: fit(np.tril(g, k), m))
differentiate("numpy.triu", m=lambda g, r, m, k=0: fit(np.triu(g, k), m))


def diag_v(g, r, v, k=0):
    """From a diagonal, or to it."""
    return np.diag(g, k) if np.ndim(v) == 1 else put_back(g, np.diag(positions(v), k), v)


differentiate("numpy.diag", v=diag_v)
differentiate("numpy.diagflat", v=lambda g, r, v, k=0: np.reshape(np.diag(g, k), np.shape(v)))


def vander_x(g, r, x, N=None, increasing=False):  # noqa: N803
    """Each power by its base."""
    count = np.shape(r)[1]
    powers = np.arange(count) if increasing else np.arange(count)[::-1]
    return np.sum(g * powers * np.reshape(x, (-1, 1)) ** np.maximum(powers - 1, 0), axis=1)


differentiate("numpy.vander", x=vander_x)


def meshgrid_all(g, r, *xi, copy=True, sparse=False, indexing="xy"):
    """The sum over all other axes."""
    found = []
    for index, array in enumerate(xi):
        axis = 1 - index if indexing == "xy" and index < 2 and len(xi) > 1 else index
        others = tuple([place for place in range(np.ndim(g[index])) if place != axis])
        found.append(np.reshape(np.sum(g[index], axis=others), np.shape(array)))
    return tuple(found)


differentiate_all("numpy.meshgrid", meshgrid_all)
differentiate(
    "numpy.array",
    object=lambda g, r, object, dtype=None, copy=True, order="K", subok=False, ndmin=0: array_object(g, object),
)


def array_object(g, object):
    """To the array or the nest of lists, without axes that were added in front."""
    return np.reshape(g, np.shape(object)) if np.ndim(g) != np.ndim(object) else g


differentiate("numpy.asarray numpy.asanyarray", a=lambda g, r, a, dtype=None, order=None: g)
differentiate(
    "numpy.ascontiguousarray numpy.asfortranarray",
    a=lambda g, r, a, dtype=None: np.reshape(g, np.shape(a)),
)
differentiate("numpy.copy", a=lambda g, r, a, order="K", subok=False: g)
differentiate("ndarray.copy", a=lambda g, r, a, order="C": g)
differentiate("numpy.float16 numpy.float32 numpy.float64 numpy.complex64 numpy.complex128", x=lambda g, r, x=0: g)
zero("numpy.bool numpy.int8 numpy.int16 numpy.int32 numpy.int64 numpy.uint8 numpy.uint16 numpy.uint32 numpy.uint64")
refuse("numpy.arange numpy.logspace numpy.geomspace", "write it with `numpy.linspace`")
refuse("numpy.fromfunction", "call the function on `numpy.indices`")
refuse("ndarray.view ndarray.byteswap", "it reads the bytes as something else")
differentiate("ndarray.item", a=lambda g, r, a, *args: item_a(g, a))


def item_a(g, a):
    """Of an array with one element."""
    if np.size(a) != 1:
        raise TypeError("the gradient of `item` is that of an array with one element; use an index")
    return np.reshape(g, np.shape(a))


refuse("ndarray.tolist", "index the array")
