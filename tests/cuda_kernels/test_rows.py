"""Every kernel of the op table, compiled, on the edge values of every dtype, against NumPy."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

import numpy as np
import pytest

from gjit.cuda_kernels.dialect import CUDA, NATIVE, with_vector_math
from gjit.ops import Kind, table
from tests.cuda_kernels.support import (
    COMPILER,
    EMULATED,
    FLAGS,
    Case,
    all_halves,
    build,
    cases_of,
    expected,
    operands_of,
    rows,
    run,
    unit,
)

ROWS = rows()
ALL_CASES = [case for op in ROWS for case in cases_of(op)]
MOST_ULP = 8
LOOSE = {"scipy.special.erfc": 64}
"""SciPy's own error is larger there."""


@pytest.fixture(scope="module", params=["native", "emulated"])
def library(request, tmp_path_factory):
    if COMPILER is None:
        pytest.skip("there is no g++")
    dialect, flags = {"native": (NATIVE, FLAGS), "emulated": (CUDA, EMULATED)}[request.param]
    return build(unit(ALL_CASES, dialect), tmp_path_factory.mktemp(request.param), flags)


def same_bits(got: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    return got.view(f"u{got.itemsize}") == wanted.view(f"u{wanted.itemsize}")


def same(case: Case, got: np.ndarray, wanted: np.ndarray, operands: list[np.ndarray]) -> np.ndarray:
    """Where a result has NumPy's bits; which of several NaNs an operation keeps is not fixed."""
    if wanted.dtype.kind == "c":
        parts = [(got.real, wanted.real), (got.imag, wanted.imag)]
        return np.logical_and(*(same_bits(a.copy(), b.copy()) | (np.isnan(a) & np.isnan(b)) for a, b in parts))
    if wanted.dtype.kind != "f":
        return got == wanted
    several = sum(np.isnan(operand).astype(int) for operand in operands) > 1
    return same_bits(got, wanted) | (np.isnan(got) & np.isnan(wanted) & several)


def is_close(case: Case, got: np.ndarray, wanted: np.ndarray, operands: list[np.ndarray]) -> np.ndarray:
    """Where a result is within the bound; both parts of a complex number count by the larger one."""
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(wanted.real), np.abs(wanted.imag))
        if case.op.name in CANCELLING:
            size = np.maximum(size, np.abs(operands).max(axis=0))
        bound = LOOSE.get(case.op.name, MOST_ULP) * np.spacing(size).astype("g")
        near = np.abs(got.astype("G") - wanted.astype("G")) <= bound
    missing = ~np.isfinite(got) & ~np.isfinite(wanted) & (wanted.dtype.kind == "c")
    return near | (got == wanted) | (np.isnan(got) & np.isnan(wanted)) | missing


CANCELLING = {"numpy.logaddexp", "numpy.logaddexp2"}
"""Sums whose result may be much smaller than its terms."""


def check(library, case: Case, operands: list[np.ndarray]) -> None:
    got, wanted = run(library, case, operands), expected(case, operands)
    agrees = same if case.op.kernel_exact(case.dtypes) else is_close
    right = agrees(case, got, wanted, operands)
    first = np.flatnonzero(~right)[:3]
    shown = [(*(operand[index] for operand in operands), wanted[index], got[index]) for index in first]
    assert right.all(), f"{case.symbol}: {right.size - right.sum()} of {right.size} (operands, NumPy, kernel): {shown}"


@pytest.mark.parametrize("op", ROWS, ids=[op.name for op in ROWS])
def test_kernel_gives_what_numpy_gives(library, op):
    assert cases_of(op)
    for case in cases_of(op):
        check(library, case, operands_of(case))
        if len(case.operands) == 1 and case.operands[0] == np.float16 and case.dtypes[-1] != np.uint32:
            check(library, case, [all_halves()])


@pytest.mark.skipif(COMPILER is None, reason="there is no g++")
def test_software_float16(tmp_path):
    """The conversions for compilers without `_Float16`."""
    library = build(unit(HALF_CASES, NATIVE), tmp_path, [*FLAGS, "-U__FLT16_MAX__"])
    for case in HALF_CASES:
        check(library, case, operands_of(case))
        check(library, case, [around_halves(case.operands[0])])


HALF_CASES = [
    Case(table["ndarray.astype"], (np.dtype(source), np.dtype(target)))
    for source, target in ("ef", "ed", "fe", "de", "ie")
]


def around_halves(dtype: np.dtype) -> np.ndarray:
    """All halves, the midpoints between two of them, and the neighbours of both."""
    halves = np.sort(all_halves()[np.isfinite(all_halves())].astype("d"))
    values = np.concatenate([halves, (halves[1:] + halves[:-1]) / 2, [65520.0, 65519.99]])
    if dtype.kind == "i":
        return values.astype(dtype)
    with np.errstate(over="ignore"):
        values = values.astype(dtype)
        return np.concatenate([values, *(np.nextafter(values, dtype.type(end)) for end in (np.inf, -np.inf))])


@pytest.mark.skipif(COMPILER is None, reason="there is no g++")
def test_kernels_of_scipy(tmp_path):
    pytest.importorskip("scipy.special")
    assert table.get("scipy.special.erf") is not None
    chosen = [op for op in table.rows.values() if op.name.startswith("scipy.special.") and op.kernel is not None]
    chosen = [case for op in chosen for case in cases_of(op)]
    library = build(unit(chosen, NATIVE), tmp_path, FLAGS)
    for case in chosen:
        check(library, case, operands_of(case))


HAS_VECTOR_MATH = platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc" and COMPILER is not None


@pytest.mark.skipif(not HAS_VECTOR_MATH, reason="there is no vector math library")
def test_vector_math_is_close(tmp_path):
    minor = int(platform.libc_ver()[1].split(".")[1])
    chosen = [case for case in ALL_CASES if case.dtypes[0].char in "fd" and not case.op.kernel_exact(case.dtypes)]
    flags = ["-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", *FLAGS[1:]]
    library = build(unit(chosen, with_vector_math(minor)), tmp_path, flags, ("-lmvec", "-lm"))
    symbols = subprocess.run(["nm", "-D", str(tmp_path / "rows.so")], capture_output=True, text=True).stdout
    assert "_ZGV" in symbols
    for case in chosen:
        check(library, case, operands_of(case))


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc")
def test_cuda_compiles(tmp_path):
    source = tmp_path / "rows.cu"
    source.write_text(unit(ALL_CASES, CUDA, "kernel"))
    flags = ["-arch=sm_90", "-std=c++17", "--fmad=false", "-diag-suppress=186", "-Werror=all-warnings", "-ptx"]
    done = subprocess.run(["nvcc", *flags, str(source), "-o", os.devnull], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]


def test_every_ufunc_of_one_result_has_a_kernel():
    ufuncs = {op for op in table.rows.values() if op.name.startswith("numpy.") and isinstance(op.function, np.ufunc)}
    numbers = {op for op in ufuncs if op.kind is Kind.ELEMENTWISE}
    assert {op.name for op in numbers if op.kernel is None} == {op.name for op in numbers if op.function.nout > 1}


@pytest.mark.parametrize("op", [op for op in table.rows.values() if op.kind is Kind.OPERATOR], ids=lambda op: op.name)
def test_operators_have_the_kernel_of_their_ufunc(op):
    dtypes = (np.dtype("d"),) * 3
    ufunc = table.get(op.ufunc) if op.ufunc else None
    assert op.kernel_text(dtypes) == (ufunc.kernel_text(dtypes) if ufunc else None)


@pytest.mark.parametrize("character", "gqUSOMmV")
def test_other_dtypes_have_no_kernel(character):
    dtypes = (np.dtype(character),) * 3
    assert table["numpy.add"].kernel_text(dtypes) is None
    assert not table["numpy.add"].kernel_exact(dtypes)


def test_kernel_that_may_differ_says_so():
    def exact(name: str, characters: str) -> bool:
        return table[name].kernel_exact(tuple(map(np.dtype, characters)))

    assert exact("numpy.add", "ddd")
    assert exact("operator.truediv", "fff")
    assert exact("ndarray.astype", "di")
    assert not exact("ndarray.astype", "dI")
    assert not exact("numpy.exp", "dd")
    assert not exact("numpy.multiply", "DDD")
