"""The array of the emulated device: NumPy's memory and arithmetic behind the manners of a CuPy array."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gjit.runtime.emulated.memory import check_alive, pool
from gjit.runtime.emulated.streams import Stream

_ALLOWED = "?bBhHiIlLqQefdFD"
_REFUSED = (
    "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array explicitly."
)
_ABSENT = """
    asmatrix block bmat busday_count busday_offset datetime_as_string einsum_path frompyfunc geomspace
    histogram_bin_edges insert is_busday isnat matvec nanpercentile nanquantile ndenumerate polyder polydiv polyint
    spacing unstack vecdot vecmat linalg.diagonal linalg.matrix_norm linalg.multi_dot linalg.outer linalg.svdvals
    linalg.tensordot linalg.trace linalg.vecdot linalg.vector_norm
"""
ABSENT = frozenset(_ABSENT.split())
"""Functions of NumPy that CuPy has not."""


class Place:
    """Which emulated device an array lies on."""

    __slots__ = ("id",)

    def __init__(self, id: int):
        self.id = id

    def __repr__(self) -> str:
        return f"<emulated device {self.id}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)


class Pointer:
    """Where an array begins."""

    __slots__ = ("ptr",)

    def __init__(self, ptr: int):
        self.ptr = ptr


class EmulatedArray:
    """An array on the emulated device. `cells` is the NumPy array that holds its elements; nobody but the device
    looks at it.

    Operators, NumPy's functions and methods work as CuPy's do: results lie on the device, a reduction gives an array
    without axes, and an operand that is a NumPy array with axes is a TypeError.
    """

    __slots__ = ("cells", "place", "__weakref__")
    __array_priority__ = 100

    def __init__(self, cells: np.ndarray, place: int = 0):
        self.cells, self.place = cells, place

    shape = property(lambda self: self.cells.shape, lambda self, shape: setattr(self.cells, "shape", shape))
    dtype = property(lambda self: self.cells.dtype)
    ndim = property(lambda self: self.cells.ndim)
    size = property(lambda self: self.cells.size)
    nbytes = property(lambda self: self.cells.nbytes)
    itemsize = property(lambda self: self.cells.itemsize)
    strides = property(lambda self: self.cells.strides)
    flags = property(lambda self: self.cells.flags)
    device = property(lambda self: Place(self.place))
    data = property(lambda self: Pointer(self.cells.__array_interface__["data"][0]))
    base = property(lambda self: None if self.cells.base is None else self)
    T = property(lambda self: EmulatedArray(self.cells.T, self.place))
    real = property(lambda self: EmulatedArray(self.cells.real, self.place))
    imag = property(lambda self: EmulatedArray(self.cells.imag, self.place))

    # To and from the host

    def get(self, stream: Stream | None = None, order: str = "C", out: np.ndarray | None = None) -> np.ndarray:
        """A copy on the host."""
        check_alive()
        if out is None:
            return self.cells.copy(order)
        np.copyto(out, self.cells, casting="no")
        return out

    def set(self, array: np.ndarray) -> None:
        """Copy a NumPy array of the same shape and dtype into this one."""
        check_alive()
        if array.shape != self.shape or array.dtype != self.dtype:
            raise ValueError(f"Shape or dtype mismatch: {array.dtype}{array.shape} into {self.dtype}{self.shape}")
        self.cells[...] = array

    def item(self, *place: int) -> Any:
        """One element as a Python number."""
        return self.get().item(*place)

    def tolist(self) -> Any:
        """The elements as Python numbers in lists."""
        return self.get().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of the elements."""
        return self.get().tobytes(order)

    def __array__(self, *arguments: object, **keywords: object) -> np.ndarray:
        raise TypeError(_REFUSED)

    def __float__(self) -> float:
        return float(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[EmulatedArray]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.get()[()] if not self.ndim else self.get(), spec)

    __hash__ = None  # type: ignore[assignment]

    # Elements

    def __getitem__(self, index: Any) -> EmulatedArray:
        index = tuple(map(_index, index)) if isinstance(index, tuple) else _index(index)
        found = self.cells[_wrapped_index(index, self.shape)]
        if isinstance(found, np.generic):  # CuPy gives a view without axes
            found = self.cells[(*(index if isinstance(index, tuple) else (index,)), ...)]
        return wrap(found, self.place, self.cells)

    def __setitem__(self, index: Any, value: Any) -> None:
        index = tuple(map(_index, index)) if isinstance(index, tuple) else _index(index)
        with np.errstate(all="ignore"):
            self.cells[_wrapped_index(index, self.shape)] = unwrap(value)

    # NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        if ufunc.__name__ in ABSENT:
            return NotImplemented
        outputs = keywords.pop("out", ())
        if any(not isinstance(output, EmulatedArray) for output in outputs if output is not None):
            raise TypeError("return arrays must be of ArrayType")
        if outputs:
            keywords["out"] = outputs
        result = run(getattr(ufunc, method), *inputs, **keywords)
        return outputs[0] if len(outputs) == 1 else result

    def __array_function__(self, function: Callable, types: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        name = function.__name__
        module = function.__module__ or ""
        qualified = f"linalg.{name}" if module.endswith("linalg") else name
        if qualified in ABSENT or not module.startswith("numpy"):
            return NotImplemented
        return run(function, *args, **kwargs)


_METHODS = """
all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy cumprod cumsum diagonal dot
fill flatten max mean min nonzero partition prod put ravel repeat reshape round searchsorted sort squeeze std sum
swapaxes take trace transpose var view
"""


def _add_methods() -> None:
    for name in _METHODS.split():
        setattr(EmulatedArray, name, _method(name))


_BINARY = "add sub mul truediv floordiv mod pow lshift rshift and or xor matmul"
_COMPARISONS = "lt le gt ge eq ne"


def _add_operators() -> None:
    for name in _BINARY.split():
        function = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        in_place = getattr(operator, f"i{name}")
        setattr(EmulatedArray, f"__{name}__", _operator(function))
        setattr(EmulatedArray, f"__r{name}__", _operator(lambda right, left, function=function: function(left, right)))
        setattr(EmulatedArray, f"__i{name}__", _operator(in_place))
    for name in _COMPARISONS.split():
        setattr(EmulatedArray, f"__{name}__", _operator(getattr(operator, name)))
    for name in ("neg", "pos", "abs", "invert"):
        setattr(EmulatedArray, f"__{name}__", _operator(getattr(operator, name)))
    for function in (divmod, lambda right, left: divmod(left, right)):
        setattr(EmulatedArray, "__divmod__" if function is divmod else "__rdivmod__", _operator(function))


def _operator(function: Callable) -> Callable:
    """An operator on what the device holds; a result that is the operand itself is the array itself."""

    def method(self: EmulatedArray, *others: Any) -> Any:
        return run(function, self, *others)

    return method


def _method(name: str) -> Callable:
    plain = getattr(np.ndarray, name)

    def method(self: EmulatedArray, *arguments: Any, **keywords: Any) -> Any:
        return run(plain, self, *arguments, **keywords)

    method.__name__, method.__doc__ = name, f"As `numpy.ndarray.{name}`."
    return method


def run(function: Callable, *arguments: Any, **keywords: Any) -> Any:
    """Call a function of NumPy on device arrays; without warnings, as on a GPU."""
    check_alive()
    arrays = list(_arrays_in((arguments, keywords)))
    places = {array.place for array in arrays}
    if len(places) > 1:
        raise ValueError(f"arrays lie on several devices: {sorted(places)}")
    outputs = keywords.get("out")
    with np.errstate(all="ignore"):
        result = function(*map(unwrap, arguments), **{name: unwrap(value) for name, value in keywords.items()})
    if isinstance(outputs, EmulatedArray):
        return outputs
    if type(result) is np.ndarray:
        own = next((array for array in arrays if array.cells is result), None)
        if own is not None:
            return own
    return wrap(result, places.pop() if places else 0, *(array.cells for array in arrays))


def unwrap(value: Any) -> Any:
    """What NumPy computes with in the place of a device array; TypeError for a NumPy array, as in CuPy."""
    if isinstance(value, EmulatedArray):
        return value.cells
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (tuple, list):
        return type(value)(map(unwrap, value))
    return value


def wrap(value: Any, place: int = 0, *operands: np.ndarray) -> Any:
    """Results as device arrays: views of operands stay views, everything else is copied into the device's memory."""
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if any(np.may_share_memory(array, operand) for operand in operands) and array.size:
            return EmulatedArray(array, place)
        return placed(array, place)
    if isinstance(value, tuple):
        parts = [wrap(part, place, *operands) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return [wrap(part, place, *operands) for part in value] if isinstance(value, list) else value


def placed(array: np.ndarray, place: int) -> EmulatedArray:
    """A copy of a NumPy array on the device, in the same memory order."""
    made = allocated(array.shape, array.dtype, place, _strides_of(array))
    made.cells[...] = array
    return made


def allocated(
    shape: tuple[int, ...], dtype: Any, place: int = 0, strides: tuple[int, ...] | None = None
) -> EmulatedArray:
    """An array that holds junk."""
    dtype = np.dtype(dtype)
    if dtype.char not in _ALLOWED:
        raise ValueError(f"Unsupported dtype {dtype}")
    memory = pool.take(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)
    return EmulatedArray(np.ndarray(shape, dtype, memory.data, 0, strides), place)


def _strides_of(array: np.ndarray) -> tuple[int, ...]:
    """The strides of a dense copy in the order of the axes of `array`."""
    return np.empty_like(array).strides


def _arrays_in(value: Any) -> Iterator[EmulatedArray]:
    if isinstance(value, EmulatedArray):
        yield value
    elif isinstance(value, dict):
        yield from _arrays_in(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _arrays_in(part)


def _index(part: Any) -> Any:
    return part.cells if isinstance(part, EmulatedArray) else part


def _wrapped_index(index: Any, shape: tuple[int, ...]) -> Any:
    """Arrays of indices that are out of range wrap around, as CuPy lets them."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(isinstance(part, np.ndarray) and part.dtype.kind in "iu" for part in parts):
        return index
    if Ellipsis in [part for part in parts if not isinstance(part, np.ndarray)]:
        return index
    wrapped, axis = [], 0
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype.kind in "iu" and axis < len(shape) and shape[axis]:
            part = part % shape[axis]
        axis += 0 if part is None else part.ndim if isinstance(part, np.ndarray) and part.dtype.kind == "b" else 1
        wrapped.append(part)
    return tuple(wrapped)


_add_methods()
_add_operators()
