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
COMPILER = shutil.which("g++")
FLAGS = ["-O1", "-ffp-contract=off", "-std=c++17"]
EMULATED = [*FLAGS, "-D__device__=", "-D__forceinline__=inline", "-D__align__(n)=alignas(n)", "-include", "math.h"]
"""Compiles the CUDA dialect for the CPU."""
MOST_OPERANDS = 40_000


@dataclass(frozen=True)
class Case:
    """One row on one loop: dtypes of the operands, then of the result."""

    op: Op
    dtypes: tuple[np.dtype, ...]

    @property
    def symbol(self) -> str:
        return f"{self.op.name}_{'_'.join(dtype.name for dtype in self.dtypes)}".replace(".", "_")

    @property
    def operands(self) -> tuple[np.dtype, ...]:
        return self.dtypes[:-1]


def rows() -> list[Op]:
    """Every row of numbers that has a kernel of its own."""
    found = [op for op in table.rows.values() if op.kind is Kind.ELEMENTWISE and op.kernel is not None]
    return list({op.kernel: op for op in reversed(found)}.values())


def cases_of(op: Op) -> list[Case]:
    """The row on every loop for which it has a kernel."""
    return [Case(op, dtypes) for dtypes in loops(op) if op.kernel_text(dtypes) is not None]


def loops(op: Op) -> list[tuple[np.dtype, ...]]:
    """The loops of a row: those of its ufunc, every cast, or the same dtype throughout."""
    ufunc = ufunc_of(op)
    if ufunc is not None:
        types = [loop.replace("->", "") for loop in ufunc.types if ufunc.nout == 1]
        numbers = [loop for loop in types if set(loop) <= set("?bBhHiIlLqQefdFD")]
        return list({tuple(np.dtype(np.dtype(character).name) for character in loop): None for loop in numbers})
    if op.name.endswith("astype"):
        return list(itertools.product(DTYPES, DTYPES))
    if op.name == "numpy.where":
        conditions = [(dtype, *[np.dtype("d")] * 3) for dtype in DTYPES[1:]]
        return [(np.dtype(bool), dtype, dtype, dtype) for dtype in DTYPES] + conditions
    if op.name.endswith("clip"):
        return [(dtype,) * 4 for dtype in DTYPES]
    return [(dtype, op.function(np.ones(1, dtype)).dtype) for dtype in DTYPES if dtype.kind in op.kinds]


def ufunc_of(op: Op) -> np.ufunc | None:
    """The ufunc that a row is."""
    return op.function if isinstance(op.function, np.ufunc) else None


def unit(chosen: list[Case], dialect: Dialect, form: str = "loop") -> str:
    """The source of all cases, each a function over arrays: a loop, or a kernel of CUDA."""
    text = "".join(f"{dialect.function} {_element(case)}{_OVER_ARRAYS[form](case)}" for case in chosen)
    return prelude(text, dialect) + text


def _element(case: Case) -> str:
    names = [f"x{index}" for index in range(len(case.operands))]
    parameters = ", ".join(f"{c_type(dtype)} {name}" for dtype, name in zip(case.operands, names))
    text = case.op.kernel_text(case.dtypes).format(*names)
    return f"{c_type(case.dtypes[-1])} f_{case.symbol}({parameters}) {{ return {text}; }}\n"


def _loop(case: Case) -> str:
    return (
        f'extern "C" void {case.symbol}(const void *const *x, void *y, long n) {{\n'
        f"    for (long i = 0; i < n; i++) {_assignment(case)}\n}}\n"
    )


def _kernel(case: Case) -> str:
    return (
        f'extern "C" __global__ void {case.symbol}(const void *const *x, void *y, int n) {{\n'
        f"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {_assignment(case)}\n}}\n"
    )


_OVER_ARRAYS = {"loop": _loop, "kernel": _kernel}


def _assignment(case: Case) -> str:
    operands = (f"((const {c_type(dtype)} *)x[{index}])[i]" for index, dtype in enumerate(case.operands))
    return f"(({c_type(case.dtypes[-1])} *)y)[i] = f_{case.symbol}({', '.join(operands)});"


def build(source: str, folder: Path, flags: list[str], libraries: tuple[str, ...] = ("-lm",)) -> ctypes.CDLL:
    """The unit as a loaded library."""
    path = folder / "rows.cpp"
    path.write_text(source)
    command = [COMPILER, *flags, "-fPIC", "-shared", str(path), "-o", str(folder / "rows.so"), *libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return ctypes.CDLL(str(folder / "rows.so"))


def run(library: ctypes.CDLL, case: Case, operands: list[np.ndarray]) -> np.ndarray:
    """The compiled row on contiguous operands."""
    result = np.zeros(operands[0].size, case.dtypes[-1])
    pointers = (ctypes.c_void_p * len(operands))(*(operand.ctypes.data for operand in operands))
    function = getattr(library, case.symbol)
    function.restype = None
    function(pointers, ctypes.c_void_p(result.ctypes.data), ctypes.c_long(operands[0].size))
    return result


def expected(case: Case, operands: list[np.ndarray]) -> np.ndarray:
    """What NumPy gives."""
    with np.errstate(all="ignore"):
        if not case.op.name.endswith("astype"):
            result = case.op.function(*operands)
        elif case.operands[0].kind == "c" and case.dtypes[-1].kind in "iuf":
            result = operands[0].real.astype(case.dtypes[-1])
        else:
            result = operands[0].astype(case.dtypes[-1])
    assert result.dtype == case.dtypes[-1], case.symbol
    return result


def operands_of(case: Case) -> list[np.ndarray]:
    """Every combination of edge values, thinned where there are very many."""
    most = int(MOST_OPERANDS ** (1 / len(case.operands)))
    sides = [_thinned(edges(dtype), most) for dtype in case.operands]
    if case.op.name == "numpy.power" and case.dtypes[1].kind == "i":
        sides[1] = sides[1][sides[1] >= 0]
    if case.dtypes in UNDEFINED_CASTS:
        whole = sides[0].real.astype(np.float64)
        sides[0] = sides[0][(whole > -1) & (whole < 2.0**32)]
    return [np.ascontiguousarray(grid.ravel()) for grid in np.meshgrid(*sides, indexing="ij")]


UNDEFINED_CASTS = {(np.dtype(source), np.dtype("I")) for source in "efdFD"}
"""Casts whose result NumPy leaves to vector or scalar code where a value does not fit."""


def _thinned(values: np.ndarray, most: int) -> np.ndarray:
    return values[np.linspace(0, values.size - 1, min(most, values.size)).astype(int)]


def edges(dtype: np.dtype) -> np.ndarray:
    """Values of a dtype at which its arithmetic is special."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        return _integers(dtype)
    if dtype.kind == "f":
        return _floats(dtype)
    parts = _floats(np.dtype(f"f{dtype.itemsize // 2}"))[::3]
    values = np.empty((parts.size, parts.size), dtype)
    values.real, values.imag = np.meshgrid(parts, parts)
    return values.ravel()


def _integers(dtype: np.dtype) -> np.ndarray:
    limits = np.iinfo(dtype)
    if dtype.itemsize == 1:
        return np.arange(limits.min, limits.max + 1, dtype=dtype)
    near = [limits.min, limits.min + 1, limits.max, limits.max - 1, limits.max // 2, limits.min // 2]
    near += [sign * value for value in (*range(20), 31, 32, 33, 63, 64, 65, 100, 127, 255, 256) for sign in (1, -1)]
    near += [sign * (1 << bit) for bit in range(8, dtype.itemsize * 8 - 1, 5) for sign in (1, -1)]
    return np.array(sorted({value for value in near if limits.min <= value <= limits.max}), dtype)


def _floats(dtype: np.dtype) -> np.ndarray:
    limits = np.finfo(dtype)
    plain = [0, 0.1, 0.3, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, np.pi, 7, 10, 88.5, 100, 127.5, 255, 300, 709, 65504, 1e-3]
    wide = [2.0**31, 2.0**32, 2.0**52, 2.0**63, 2.0**64, 3e9, 1e19, 1e30, 1e-30, 1e-44, 1e300, 5e-324, 1e-310]
    values = [*plain, *wide, limits.max, limits.tiny, limits.eps, limits.smallest_subnormal, np.inf]
    with np.errstate(all="ignore"):
        array = np.array(values).astype(dtype)
        array = np.concatenate([array, np.nextafter(array, dtype.type(0)), np.array([np.nan], dtype)])
    return np.unique(np.concatenate([array, -array]).view(f"u{dtype.itemsize}")).view(dtype)


def all_halves() -> np.ndarray:
    """Every float16 but the signalling NaNs, which arithmetic does not give."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    return bits[(bits & 0x7C00 != 0x7C00) | (bits & 0x3FF == 0) | (bits & 0x200 != 0)].view(np.float16)
