"""Products, decompositions and transforms: NumPy's own on the CPU, never fused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gjit.ops.effects import computes
from gjit.ops.probe import probed
from gjit.ops.row import ALL_INPUTS, Kind, Op, table


def _row(name: str, function: Callable, data: str, *, sizes: str = "", weak: str = "", **rest) -> None:
    rest = {"types": probed(function, data, sizes, weak), "effects": computes, "layout_free": False, **rest}
    table.add(Op(name=f"numpy.{name}", kind=Kind.LINALG, function=function, **rest))


_row("dot", np.dot, "a b")
_row("matmul", np.matmul, "x1 x2")
_row("vecdot", np.vecdot, "x1 x2")
_row("matvec", np.matvec, "x1 x2")
_row("vecmat", np.vecmat, "x1 x2")
_row("vdot", np.vdot, "a b")
_row("inner", np.inner, "a b")
_row("outer", np.outer, "a b")
_row("kron", np.kron, "a b")
_row("tensordot", np.tensordot, "a b")
_row("einsum", np.einsum, "operands", views=(1,))
_row("trace", np.trace, "a", sizes="offset", method="trace")
_row("convolve", np.convolve, "a v")
_row("correlate", np.correlate, "a v")
_row("cov", np.cov, "", types=None)
_row("corrcoef", np.corrcoef, "", types=None)
_row("polyfit", np.polyfit, "x y", views=ALL_INPUTS)
_row("polyval", np.polyval, "", types=None)

_LINALG = {
    "solve": "a b",
    "inv": "a",
    "pinv": "a",
    "det": "a",
    "cholesky": "a",
    "norm": "x",
    "eigvalsh": "a",
    "svdvals": "x",
    "matrix_rank": "A",
    "cond": "x",
    "vector_norm": "x",
    "matrix_norm": "x",
    "multi_dot": "arrays",
    "tensorsolve": "a b",
}
_row("linalg.matrix_power", np.linalg.matrix_power, "a", views=(0,))
for _name, _data in _LINALG.items():
    _row(f"linalg.{_name}", getattr(np.linalg, _name), _data)
for _name in ("eig", "eigh", "eigvals", "svd", "qr", "slogdet", "lstsq"):
    # Named tuples, or values that decide the dtype: their types are not known.
    _row(f"linalg.{_name}", getattr(np.linalg, _name), "", types=None)
for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _row(f"fft.{_name}", getattr(np.fft, _name), "a", sizes="n")
for _name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
    _row(f"fft.{_name}", getattr(np.fft, _name), "a", views=(0,))
_row("fft.fftshift", np.fft.fftshift, "x")
_row("fft.ifftshift", np.fft.ifftshift, "x")
_row("fft.fftfreq", np.fft.fftfreq, "d", sizes="n")
_row("fft.rfftfreq", np.fft.rfftfreq, "d", sizes="n")
