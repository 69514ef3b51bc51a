"""Every row that has a kernel, for every dtype, as one C++ unit; and operands that try the edges."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gjit.cuda_kernels.dialect import Dialect
from gjit.cuda_kernels.prelude import prelude
from gjit.ops import Kind, Op, table
from gjit.ops.kernels import c_type

DTYPES = [np.dtype(character) for character in "?bBhHiIlLefdFD"]
FLAGS = ["-O1", "-ffp-contract=off", "-std=c++17", "-fPIC", "-shared"]


@dataclass(frozen=True)
class Case:
    """One row on one loop: dtypes of the operands, then of the result."""

    op: Op
    dtypes: tuple[np.dtype, ...]

    @property
    def name(self) -> str:
        return f"{self.op.name}-{''.join(dtype.char for dtype in self.dtypes)}"

    @property
    def symbol(self) -> str:
        return self.name.replace(".", "_").replace("-", "_").replace("?", "q")

    @property
    def operands(self) -> tuple[np.dtype, ...]:
        return self.dtypes[:-1]


def loops(op: Op) -> list[tuple[np.dtype, ...]]:
    """The loops of a row: those of its ufunc, every cast, or the same dtype throughout."""
    ufunc = ufunc_of(op)
    if ufunc is not None:
        types = [loop.replace("->", "") for loop in ufunc.types if "->" in loop and ufunc.nout == 1]
        characters = {dtype.char for dtype in DTYPES} | set("qQ")
        found = {tuple(map(np.dtype, loop)) for loop in types if set(loop) <= characters}
        return sorted({tuple(np.dtype(dtype.name) for dtype in loop) for loop in found}, key=str)
    if op.name.endswith("astype"):
        return list(itertools.product(DTYPES, DTYPES))
    if op.name == "numpy.where":
        return [(np.dtype(bool), dtype, dtype, dtype) for dtype in DTYPES]
    if op.name.endswith("clip"):
        return [(dtype,) * 4 for dtype in DTYPES]
    return [(dtype, op.function(np.ones(1, dtype)).dtype) for dtype in DTYPES]


def ufunc_of(op: Op) -> np.ufunc | None:
    """The ufunc that a row is or stands for."""
    function = getattr(np, op.ufunc.removeprefix("numpy."), None) if op.ufunc else op.function
    return function if isinstance(function, np.ufunc) and function.signature is None else None


def cases() -> list[Case]:
    """Every row of numbers on every loop for which it has a kernel; operators are their ufuncs."""
    rows = [op for op in table.rows.values() if op.kind is Kind.ELEMENTWISE and op.kernel is not None]
    return [Case(op, dtypes) for op in rows for dtypes in loops(op) if op.kernel_text(dtypes) is not None]


def body(case: Case) -> str:
    """One element of a case, as the function `f_<symbol>` with operands `x0`, `x1`."""
    parameters = ", ".join(f"{c_type(dtype)} x{index}" for index, dtype in enumerate(case.operands))
    names = [f"x{index}" for index in range(len(case.operands))]
    text = case.op.kernel_text(case.dtypes).format(*names)
    return f"{c_type(case.dtypes[-1])} f_{case.symbol}({parameters}) {{ return {text}; }}\n"


def unit(chosen: list[Case], dialect: Dialect, loop: bool) -> str:
    """The source of all cases; with `loop` each has a function over arrays as well."""
    bodies = "".join(f"{dialect.function} {body(case)}" for case in chosen)
    text = bodies + ("".join(map(_loop, chosen)) if loop else "".join(map(_kernel, chosen)))
    return prelude(text, dialect) + text


def _loop(case: Case) -> str:
    return (
        f'extern "C" void {case.symbol}(const void *const *x, void *y, long n) {{\n'
        f"    for (long i = 0; i < n; i++) (({c_type(case.dtypes[-1])} *)y)[i] = {_call(case)};\n}}\n"
    )


def _kernel(case: Case) -> str:
    return (
        f'extern "C" __global__ void {case.symbol}(const void *const *x, void *y, int n) {{\n'
        f"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        f"    if (i < n) (({c_type(case.dtypes[-1])} *)y)[i] = {_call(case)};\n}}\n"
    )


def _call(case: Case) -> str:
    operands = (f"((const {c_type(dtype)} *)x[{index}])[i]" for index, dtype in enumerate(case.operands))
    return f"f_{case.symbol}({', '.join(operands)})"


def build(source: str, folder: Path, flags: list[str] = FLAGS) -> ctypes.CDLL:
    """The unit as a loaded library."""
    path = folder / "rows.cpp"
    path.write_text(source)
    command = [shutil.which("g++") or "c++", *flags, str(path), "-o", str(folder / "rows.so"), "-lm"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return ctypes.CDLL(str(folder / "rows.so"))


def run(library: ctypes.CDLL, case: Case, operands: list[np.ndarray]) -> np.ndarray:
    """The compiled row on contiguous operands."""
    result = np.zeros(operands[0].size, case.dtypes[-1])
    pointers = (ctypes.c_void_p * len(operands))(*(operand.ctypes.data for operand in operands))
    function = getattr(library, case.symbol)
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    function.restype = None
    function(ctypes.cast(pointers, ctypes.c_void_p), result.ctypes.data, operands[0].size)
    return result


def expected(case: Case, operands: list[np.ndarray]) -> np.ndarray:
    """What NumPy gives."""
    with np.errstate(all="ignore"):
        if case.op.name.endswith("astype"):
            return operands[0].astype(case.dtypes[-1])
        ufunc = ufunc_of(case.op)
        if ufunc is not None:
            return ufunc(*operands)
        return case.op.function(*operands)


def edges(dtype: np.dtype) -> np.ndarray:
    """Values of a dtype at which its arithmetic is special."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        return _integers(dtype)
    if dtype.kind == "c":
        parts = edges(np.dtype(f"f{dtype.itemsize // 2}"))[::3]
        values = np.empty((parts.size, parts.size), dtype)
        values.real, values.imag = np.meshgrid(parts, parts)
        return values.ravel()
    return _floats(dtype)


def _integers(dtype: np.dtype) -> np.ndarray:
    limits = np.iinfo(dtype)
    if dtype.itemsize == 1:
        return np.arange(limits.min, limits.max + 1, dtype=dtype)
    near = [limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2, limits.min // 2]
    near += [sign * value for value in (*range(20), 31, 32, 33, 63, 64, 65, 100, 127, 255, 256, 12345) for sign in (1, -1)]
    near += [sign * (1 << bit) for bit in range(8, dtype.itemsize * 8 - 1, 5) for sign in (1, -1)]
    return np.array(sorted({value for value in near if limits.min <= value <= limits.max}), dtype)


def _floats(dtype: np.dtype) -> np.ndarray:
    limits = np.finfo(dtype)
    plain = [0, 0.1, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, np.pi, 7, 10, 88.5, 100, 127.5, 255, 300, 709, 65504, 0.3333, 1e-3, 1e-4]
    wide = [2.0**31, 2.0**32, 2.0**52, 2.0**63, 2.0**64, 3e9, 1e19, 1e30, 1e-30, 1e-44, 1e300, 5e-324, 1e-310]
    values = [*plain, *wide, limits.max, limits.tiny, limits.eps, limits.smallest_subnormal, np.inf]
    with np.errstate(all="ignore"):
        array = np.array(values).astype(dtype)
        array = np.concatenate([array, np.nextafter(array, dtype.type(0)), np.array([np.nan], dtype)])
    return np.unique(np.concatenate([array, -array]).view(f"u{dtype.itemsize}")).view(dtype)


def operands_of(case: Case) -> list[np.ndarray]:
    """Every combination of edge values, thinned where there are very many."""
    sides = [edges(dtype) for dtype in case.operands]
    if len(sides) > 2:
        sides = [side[:: max(1, side.size // 40)] for side in sides]
    if case.op.name == "numpy.power" and case.dtypes[1].kind == "i":
        sides[1] = sides[1][sides[1] >= 0]
    grids = np.meshgrid(*sides, indexing="ij")
    return [np.ascontiguousarray(grid.ravel()) for grid in grids]
