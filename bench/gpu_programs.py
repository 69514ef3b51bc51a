"""What the check of a device runs: programs over dtypes and layouts, and every elementwise function by itself."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gjit
from gjit.ops.row import Kind, table

ULPS = 8
"""How far functions may be from NumPy's, in units of the last place."""


@dataclass(frozen=True, slots=True)
class Check:
    """One program on one kind of arguments: its name, and what went wrong, if anything did."""

    name: str
    problem: str = ""


def scaled(x, y):
    return x * 2 + y - x / 3


def masked(x, y):
    return np.where(x > y, x, y) + np.maximum(x, 1) * np.minimum(y, 2)


def stencil(x, y):
    x[1:-1] = (x[:-2] + x[2:]) * 0.5
    x += y * 0.25
    return x


def views(x, y):
    return (x[::2] + y[::2])[::-1] - 1, x.T + y.T, (x[None] * y).sum()


def normalised(x, y):
    z = x - x.mean(axis=-1, keepdims=True)
    return z / np.sqrt((z * z).mean(axis=-1, keepdims=True) + 1.0) + y


def softmax(x, y):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * y


def totals(x, y):
    return (x * y).sum(), (x + y).max(), x.min(), (x > y).any(), (x - y).mean(), (x * x).argmax()


def columns(x, y):
    return (x * y).sum(axis=0), (x + y).max(axis=0), x.std(axis=0)


def steps(x, y):
    for _ in range(7):
        x = x + 0.1 * (y - x * x * x)
    return x


def host_between(x, y):
    z = x * 2 + y
    if z.size and z.ravel()[0] > 0:
        z[0] = 3
    order = np.sort(z, axis=-1)
    return order * 2 - x, z.shape, float(z.sum()) > 0


def masks(x, y):
    chosen = x[x > y] * 2
    x[x < 0] = 0
    return chosen.shape, x * y + 1, np.count_nonzero(x)


EXACT = (scaled, masked, stencil, views, steps, host_between, masks)
"""Programs whose bits have to be NumPy's on floating-point arrays, but for sums."""
CLOSE = (normalised, softmax, totals, columns)
_REAL = frozenset((steps, host_between))
"""Programs that complex numbers are no arguments for: they have no order, and last bits of products grow in steps."""


def arguments() -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Pairs of arrays of every dtype and many layouts, with NaN, infinities, -0.0 and subnormal numbers among them."""
    rng = np.random.default_rng(5)
    for name in ("f8", "f4", "f2", "i8", "i4", "i2", "u1", "c16", "c8", "?"):
        dtype = np.dtype(name)
        for shape in ((97,), (33, 65), (5, 7, 9), (1, 1), (0, 4)):
            yield f"{name}{shape}", (_values(rng, shape, dtype), _values(rng, shape, dtype))
    x, y = (_values(rng, (40, 64), np.dtype("f8")) for _ in range(2))
    yield "fortran order", (np.asfortranarray(x), np.asfortranarray(y))
    yield "mixed orders", (np.asfortranarray(x), y)
    yield "strided", (x[::2, ::3], y[::2, ::3])
    yield "backwards", (x[::-1], y[:, ::-1])
    yield "broadcast", (x.copy(), np.broadcast_to(y[:1], y.shape))
    yield "a row", (x, y[0])


def _values(rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -50, 50, shape).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) > 0.5
    values = rng.normal(size=shape) * 3
    if dtype.kind == "c":
        return (values + 1j * rng.normal(size=shape)).astype(dtype)
    flat, small = values.ravel(), float(np.finfo(dtype).smallest_subnormal)
    for place, special in enumerate((np.nan, np.inf, -np.inf, -0.0, 3 * small)):
        flat[place * 13 : place * 13 + 1] = special
    return values.astype(dtype)


def semantics(device: str, every: int = 1) -> Iterator[Check]:
    """Each program with NumPy arrays on the device, and with arrays that lie there, against NumPy."""
    for place, (name, pair) in enumerate(arguments()):
        if place % every:
            continue
        for program in (*EXACT, *CLOSE):
            if program in _REAL and pair[0].dtype.kind == "c":
                continue
            yield _against_numpy(program, pair, name, device, lies_there=False)
            yield _against_numpy(program, pair, name, device, lies_there=True)


def _against_numpy(program: Callable, pair: tuple, kind: str, device: str, lies_there: bool) -> Check:
    where = "device arrays" if lies_there else "NumPy arrays"
    name = f"{program.__name__} {kind} {where}"
    expected = _outcome(program, tuple(each.copy("K") for each in pair))
    compiled = gjit.script(program, device=device)
    given = tuple(each.copy("K") for each in pair)
    try:
        if lies_there:
            given = tuple(gjit.asarray(each, device) for each in given)
        found = _outcome(compiled, given)
    except gjit.GjitError as error:
        return Check(name, f"{type(error).__name__}: {error}")
    return Check(name, _difference(expected, found, is_close=program in CLOSE))


def _outcome(function: Callable, given: tuple) -> tuple[object, tuple]:
    with np.errstate(all="ignore"):
        try:
            return function(*given), given
        except (ArithmeticError, AttributeError, IndexError, TypeError, ValueError) as error:
            return type(error), given


def _difference(expected: tuple[object, tuple], found: tuple[object, tuple], is_close: bool) -> str:
    if isinstance(expected[0], type) or isinstance(found[0], type):
        return "" if expected[0] is found[0] else f"expected {str(expected[0])[:80]}, got {str(found[0])[:80]}"
    for one, other in zip(_flat(expected), _flat(found), strict=True):
        problem = _compared(np.asarray(one), gjit.to_numpy(other), is_close)
        if problem:
            return problem
    return ""


def _flat(value: object) -> list:
    if isinstance(value, tuple | list):
        return [part for each in value for part in _flat(each)]
    return [value]


def _compared(one: np.ndarray, other: np.ndarray, is_close: bool) -> str:
    if one.dtype != other.dtype or one.shape != other.shape:
        return f"expected {one.dtype}{one.shape}, got {other.dtype}{other.shape}"
    if one.dtype.kind not in "fc":
        return "" if np.array_equal(one, other) else "values differ"
    tolerance = 64 if is_close or one.dtype.kind == "c" else 0
    worst = ulps(one, other)
    return "" if worst <= tolerance or (is_close and _is_near(one, other)) else f"{worst:.0f} units in the last place"


def _is_near(one: np.ndarray, other: np.ndarray) -> bool:
    epsilon = np.finfo(one.dtype).eps
    return bool(np.allclose(one, other, rtol=1000 * epsilon, atol=1000 * epsilon, equal_nan=True))


def ulps(one: np.ndarray, other: np.ndarray) -> float:
    """The largest distance of two arrays in units of the last place; infinite where only one is NaN or infinite."""
    if one.dtype.kind == "c":
        return max(ulps(one.real, other.real), ulps(one.imag, other.imag))
    with np.errstate(all="ignore"):
        same = (one == other) | (np.isnan(one) & np.isnan(other))
        distance = np.abs(one.astype("f8") - other.astype("f8")) / np.spacing(np.abs(one)).astype("f8")
    worst = np.where(same, 0.0, np.where(np.isfinite(distance), distance, np.inf))
    return float(worst.max(initial=0.0))


def functions() -> list[tuple[str, int]]:
    """The names and numbers of operands of all elementwise functions that kernels have for floating-point numbers."""
    found = []
    for name, row in table.rows.items():
        ufunc = row.function
        if row.kind is not Kind.ELEMENTWISE or not name.startswith("numpy.") or not isinstance(ufunc, np.ufunc):
            continue
        loops = (np.dtype("f4"),) * (ufunc.nin + 1)
        if ufunc.nout == 1 and ufunc.nin < 3 and "ff->f"[2 - ufunc.nin :] in ufunc.types and row.kernel_text(loops):
            found.append((name.removeprefix("numpy."), ufunc.nin))
    return found


def sweep(device: str, elements: int) -> dict[str, dict[str, float]]:
    """The distance from NumPy of every function, for float32 and float64, in units of the last place."""
    module = _generated(functions())
    rng, found = np.random.default_rng(9), {}
    for name, count in functions():
        for dtype in ("f4", "f8"):
            operands = [(rng.normal(size=elements) * 10.0 ** rng.integers(-3, 3, elements)).astype(dtype)]
            operands += [rng.uniform(0.5, 4.0, elements).astype(dtype)] * (count - 1)
            plain = getattr(module, name)
            with np.errstate(all="ignore"):
                wanted = plain(*operands)
            found.setdefault(name, {})[dtype] = ulps(wanted, gjit.script(plain, device=device)(*operands))
    return found


def _generated(names: list[tuple[str, int]]) -> object:
    """A module with a program for each function; times 1, which is exact, so that it is a region."""
    lines = ["import numpy as np"]
    for name, count in names:
        operands = ", ".join("xy"[:count])
        lines.append(f"def {name}({operands}):\n    return np.{name}({operands}) * 1.0")
    path = Path(tempfile.mkdtemp(prefix="gjit-sweep-"), "sweep.py")
    path.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location("sweep", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


__all__ = ["Check", "functions", "semantics", "sweep", "ulps"]
