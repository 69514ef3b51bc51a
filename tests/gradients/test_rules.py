"""Every rule against central differences, to second order: the table of calls covers each row that has one."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.ops import table
from gjit.ops.gradients import Standing, gradient_of, gradients
from gjit.ops.row import Kind
from gjit.testing import check_grads

A = np.array([[0.3, 1.2, -0.7], [2.1, -1.4, 0.9]])
P = np.abs(A) + 0.2
S = A * 0.25
V = np.array([0.4, -1.3, 2.2])
ROW = np.array([[0.5, 1.5, -0.8]])
COLUMN = np.array([[0.6], [-1.1]])
M = np.array([[2.0, 0.3, -0.1], [0.2, 1.5, 0.4], [-0.3, 0.1, 1.8]])
Z = A[0] + 1j * np.array([0.5, -0.2, 0.8])
W = V + 1j * np.array([-0.4, 0.9, 0.1])
CUBE = np.arange(24.0).reshape(2, 3, 4) * 0.1 - 1.0


def spd(a):
    return a @ a.T + 3 * np.eye(3)


CALLS = {
    # arithmetic, with every way of broadcasting
    "add": (lambda x, y: (x + y) * x, A, ROW),
    "subtract": (lambda x, y: (x - y) * y, COLUMN, A),
    "multiply": (lambda x, y: x * y * y, A, 1.5),
    "divide": (lambda x, y: x / y, A, P),
    "divide by number": (lambda x: (x / 3) * x, A),
    "power": (lambda x: x**3 + x**2 + x**1 + x**0, A),
    "power half": (lambda x: x**0.5 + x**-1.5, P),
    "power both": (lambda x, y: x**y, P, A),
    "power exponent": (lambda y: 2.0**y, A),
    "float_power": (lambda x, y: np.float_power(x, y), P, V),
    "remainder": (lambda x, y: np.remainder(x, y) * x, A, P),
    "fmod": (lambda x, y: np.fmod(x, y) * x, A, P),
    "operators": (lambda x: (+x) * (-x) * abs(x), A),
    "matmul operator": (lambda x, y: x @ y, A, M),
    "negative": (lambda x: np.negative(x) * np.positive(x), A),
    "absolute": (lambda x: np.absolute(x) * np.fabs(x) * x, A),
    "reciprocal": (lambda x: np.reciprocal(x), P),
    "square": (lambda x: np.square(x) * x, A),
    "roots": (lambda x: np.sqrt(x) * np.cbrt(x), P),
    "exp": (lambda x: np.exp(x) + np.exp2(x) + np.expm1(x), A),
    "log": (lambda x: np.log(x) + np.log2(x) + np.log10(x) + np.log1p(x), P),
    "logaddexp": (lambda x, y: np.logaddexp(x, y) + np.logaddexp2(x, y), A, ROW),
    "sin": (lambda x: np.sin(x) * np.cos(x) + np.tan(S * x), A),
    "arcs": (lambda x: np.arcsin(x) + np.arccos(x) * x + np.arctan(x), S),
    "arctan2": (lambda x, y: np.arctan2(x, y), A, P),
    "hypot": (lambda x, y: np.hypot(x, y), A, P),
    "hyperbolic": (lambda x: np.sinh(x) + np.cosh(x) * np.tanh(x), A),
    "area": (lambda x: np.arcsinh(x) + np.arccosh(x + 3) + np.arctanh(x / 2), S),
    "angles": (lambda x: np.degrees(x) * np.radians(x) + np.deg2rad(x) * np.rad2deg(x), A),
    "maximum": (lambda x, y: np.maximum(x, y) * x + np.fmax(x, y), A, ROW),
    "minimum": (lambda x, y: np.minimum(x, y) * x + np.fmin(x, y), A, ROW),
    "copysign": (lambda x, y: np.copysign(x, y) * x, A, -A),
    "ldexp": (lambda x: np.ldexp(x, 2) * x, A),
    "nextafter": (lambda x: np.nextafter(x, 10.0) * x, A),
    "sinc": (lambda x: np.sinc(x), A),
    "where": (lambda x, y: np.where(x > 0.5, x * y, y * y), A, ROW),
    "clip": (lambda x: np.clip(x, -0.5, 1.0) * x, A),
    "clip bounds": (
        lambda x, lo, hi: np.clip(x, lo, hi) * x,
        A,
        np.array([-0.5, 0.5, -1.0]),
        np.array([1.0, 1.1, 0.6]),
    ),
    "clip method": (lambda x: x.clip(-0.5, 1.0) * x, A),
    "nan_to_num": (lambda x: np.nan_to_num(x) * x, A),
    "select": (lambda x: np.select([x > 1, x > 0], [x * x, x * 3], 0.0), A),
    "interp": (lambda x, fp: np.interp(x, np.array([-1.0, 0.0, 1.0, 2.0]), fp), S, np.array([1.0, 0.5, 2.0, -1.0])),
    "unwrap": (lambda x: np.unwrap(x) * x, np.array([0.1, 3.0, 6.5])),
    "casts": (lambda x: x.astype(np.float64) * np.astype(x, np.complex128), A),
    # complex
    "complex product": (lambda z, w: z * w / (z + 2.0), Z, W),
    "complex functions": (lambda z: np.exp(z) + np.sin(z) * np.cosh(z) + np.sqrt(z) + np.log(z), Z),
    "complex powers": (lambda z: z**3 + z**0.5 + np.square(z) * np.reciprocal(z), Z),
    "complex parts": (lambda z: z.real * z.imag + np.abs(z) + np.angle(z), Z),
    "conjugate": (lambda z: np.conjugate(z) * z * z + z.conj(), Z),
    "real meets complex": (lambda x, z: x * z + x, V, Z),
    "imag of function": (lambda z: np.imag(z * z) + np.real(z), Z),
    # reductions
    "sum": (lambda x: x.sum() * np.sum(x, axis=0) + np.sum(x * x, axis=-1, keepdims=True), A),
    "sum axes": (lambda x: np.sum(x * x, axis=(0, 2)) * x.sum(axis=1).mean(), CUBE),
    "sum where": (lambda x: np.sum(x * x, axis=1, where=x > 0, initial=2.0), A),
    "mean": (lambda x: x.mean() * np.mean(x * x, axis=1) + np.mean(x, axis=(0,), keepdims=True).sum(), A),
    "mean where": (lambda x: np.mean(x * x, axis=1, where=A > 0), A),
    "var": (lambda x: np.var(x) * x.var(axis=0, ddof=1) + x.std(axis=0), A),
    "var where": (lambda x: np.var(x, axis=1, where=A > -1) + np.std(x, axis=1, where=A > -1), A),
    "max": (lambda x: x.max() * np.max(x * x, axis=0) + np.amax(x, axis=1, keepdims=True).sum(), A),
    "min": (lambda x: x.min() * np.min(x * x, axis=0) + np.amin(x, axis=(0, 1)), A),
    "ptp": (lambda x: np.ptp(x, axis=0) * np.ptp(x), A),
    "prod": (lambda x: x.prod() * np.prod(x, axis=0) + np.prod(x, axis=1, keepdims=True).sum(), A),
    "prod with zeros": (lambda x: np.prod(x, axis=1), np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 4.0]])),
    "cumsum": (lambda x: np.cumsum(x * x).sum() + np.cumsum(x, axis=0) * x.cumsum(axis=1), A),
    "cumprod": (lambda x: np.cumprod(x, axis=1) + np.cumprod(x).reshape(2, 3), A),
    "cumulative_sum": (lambda x: np.cumulative_sum(x * x, axis=1, include_initial=True), A),
    "average": (lambda x, w: np.average(x * x, axis=1, weights=w), A, np.array([0.2, 0.5, 0.9])),
    "median": (lambda x: np.median(x * x, axis=1) + np.median(x), A),
    "quantile": (lambda x: np.quantile(x, 0.3, axis=1) * np.percentile(x, 60), A),
    "quantiles": (lambda x: np.quantile(x * x, [0.1, 0.5, 0.8], axis=0), A),
    "trapezoid": (lambda y, x: np.trapezoid(y * y, x), V, np.array([0.0, 0.7, 1.9])),
    "trapezoid steps": (lambda y: np.trapezoid(y * y, dx=0.5, axis=0), A),
    "nan reductions": (lambda x: np.nansum(x * x, axis=0) + np.nanmean(x, axis=0) * np.nanmax(x) + np.nanmin(x), A),
    "nan spread": (lambda x: np.nanvar(x, axis=1) + np.nanstd(x, axis=1) + np.nanprod(x, axis=1), A),
    "nancumsum": (lambda x: np.nancumsum(x * x, axis=0), A),
    # shapes
    "reshape": (lambda x: np.reshape(x, (3, 2)) @ x.reshape(2, -1) + x.ravel()[0] * x.flatten()[1], A),
    "transpose": (lambda x: np.transpose(x, (2, 0, 1)) * x.transpose(2, 0, 1) + x.T.sum(), CUBE),
    "swaps": (
        lambda x: np.swapaxes(x, 0, 2) * np.moveaxis(x, 0, -1).transpose(1, 0, 2) + np.rollaxis(x, 2).sum(),
        CUBE,
    ),
    "squeeze": (lambda x: np.squeeze(x[None] * x[None], 0) + np.expand_dims(x, (0, 3)).sum(), A),
    "broadcast_to": (lambda x: np.broadcast_to(x, (2, 3)) * x, ROW),
    "broadcast_arrays": (lambda x, y: np.broadcast_arrays(x, y)[0] * np.broadcast_arrays(x, y)[1], COLUMN, ROW),
    "flips": (lambda x: np.flip(x) * np.fliplr(x) * np.flipud(x) + np.rot90(x).sum(), A),
    "diagonal": (lambda x: np.diagonal(x) * np.trace(x) + np.diagonal(x, 1).sum(), M),
    "atleast": (lambda x: np.atleast_1d(x) * np.atleast_2d(x) + np.atleast_3d(x).sum(), V),
    "concatenate": (lambda x, y: np.concatenate((x * y, y), axis=0) * 2, A, ROW),
    "concatenate flat": (lambda x, y: np.concatenate([x * x, y], axis=None) ** 2, A, ROW),
    "stack": (lambda x, y: np.stack([x, y * x], axis=1) ** 2, V, V + 1),
    "stacks": (lambda x, y: np.hstack((x, y)) * np.vstack((x, y)).sum() + np.dstack((x, y)).sum(), V, V * 2),
    "column_stack": (lambda x, y: np.column_stack((x * x, y)), V, np.ones((3, 2))),
    "append": (lambda x, y: np.append(x, y * y) ** 2, V, V),
    "split": (lambda x: np.split(x * x, 3, axis=1)[0] * np.split(x, [1], axis=1)[1].sum(), A),
    "splits": (lambda x: np.hsplit(x, 3)[1] * np.vsplit(x, 2)[0].sum() + np.array_split(x, 2, axis=1)[0].sum(), A),
    "pad": (lambda x: np.pad(x * x, ((1, 0), (2, 1))) + np.pad(x, ((1, 0), (2, 1)), mode="edge"), A),
    "roll": (lambda x: np.roll(x, 1, axis=0) * np.roll(x, 2) * x, A),
    "tile": (lambda x: np.tile(x * x, (2, 1)) + np.repeat(x, 2, axis=0) * np.repeat(x, [1, 3], axis=0), A),
    "delete": (lambda x: np.delete(x * x, 1, axis=1) + np.resize(x, (2, 2)), A),
    "insert": (lambda x, y: np.insert(x * x, 1, y, axis=0), A, V),
    "take": (lambda x: np.take(x * x, [2, 0, 2], axis=1) + np.take(x, [[5, 5, 1]]), A),
    "take_along_axis": (lambda x: np.take_along_axis(x * x, np.array([[0, 0], [2, 1]]), axis=1), A),
    "choose": (lambda x, y: np.choose(np.array([0, 1, 1]), [x * x, y]), V, V),
    "compress": (lambda x: np.compress([True, False, True], x * x, axis=1) + np.extract(A > 1, x).sum(), A),
    "sort": (lambda x: np.sort(x, axis=1) * np.sort(x * x, axis=0) + np.sort(x, axis=None)[:3], A),
    "partition": (lambda x: np.partition(x * x, 1, axis=1)[:, 1], A),
    "diff": (lambda x: np.diff(x * x, axis=1)[:, :1] * np.diff(x, n=2, axis=1) + np.ediff1d(x).sum(), A),
    "bincount": (lambda w: np.bincount(np.array([0, 2, 2]), w * w), V),
    "full": (lambda x: np.full((2, 3), x * x) + np.full_like(A, x), 1.5),
    "linspace": (lambda a, b: np.linspace(a * a, b, 5) ** 2, 0.5, 2.0),
    "triangles": (lambda x: np.tril(x * x) @ np.triu(x, 1), M),
    "diag": (lambda x: np.diag(x * x) @ np.diag(np.diag(x)) + np.diagflat(x[0]), M),
    "vander": (lambda x: np.vander(x, 4) ** 2, V),
    "meshgrid": (lambda x, y: np.meshgrid(x, y)[0] * np.meshgrid(x, y)[1], V, np.array([1.0, 2.0])),
    "array": (lambda x: np.array([x * x, x]) * np.asarray(x), V),
    "array of numbers": (lambda x: np.array([x[0] * x[1], x[2]]) ** 2, V),
    "copies": (lambda x: x.copy() * np.copy(x) + np.ascontiguousarray(x) + np.asfortranarray(x), A),
    "item": (lambda x: x[:1].item() * x, V),
    "getitem": (lambda x: x[0] * x[1, 2] + x[:, 1:].sum() * x[::-1, ::2].sum() + x[..., None].sum(), A),
    "getitem arrays": (lambda x: x[[0, 0, 1], [1, 1, 2]] ** 2 + x[A > 1.0].sum() + x[:, [2, 2, 0]].sum(), A),
    # products
    "dot": (lambda x, y: np.dot(x, y) * x.dot(y), A, V),
    "dot matrices": (lambda x, y: np.dot(x, y), CUBE, CUBE.transpose(0, 2, 1).copy()),
    "matmul vectors": (lambda x, y: np.matmul(x, y) * x, V, V + 1),
    "matmul mixed": (lambda x, y: x @ (y @ x), V, M),
    "matmul batches": (lambda x, y: x @ y, CUBE, np.ones((4, 2)) * 0.3),
    "vecdot": (lambda x, y: np.vecdot(x, y * y), A, V),
    "vecdot complex": (lambda x, y: np.vecdot(x, y), Z, W),
    "matvec": (lambda x, y: np.matvec(x, y) + np.vecmat(y, M).sum(), M, V),
    "inner": (lambda x, y: np.inner(x, y) * np.vdot(x, x), A, A * 2),
    "vdot complex": (lambda x, y: np.vdot(x, y) * np.dot(x, y), Z, W),
    "outer": (lambda x, y: np.outer(x * x, y), V, V[:2]),
    "kron": (lambda x, y: np.kron(x, y), A, COLUMN),
    "tensordot": (lambda x, y: np.tensordot(x, y, axes=([1, 0], [0, 1])), CUBE, np.ones((3, 2)) * 0.7),
    "tensordot count": (lambda x, y: np.tensordot(x, y, 1), A, M),
    "einsum": (lambda x, y: np.einsum("ij,jk->ik", x, y * y), A, M),
    "einsum trace": (lambda x: np.einsum("ii->i", x * x) + np.einsum("ii", x) + np.einsum("ij->j", x), M),
    "einsum batch": (lambda x, y, z: np.einsum("...ij,jk,k->...i", x, y, z), CUBE, np.ones((4, 3)) * 0.4, V),
    "convolve": (lambda x, y: np.convolve(x, y) * 2, V, np.array([0.5, -1.0])),
    "convolve same": (lambda x, y: np.convolve(x, y, "same"), np.arange(5.0), V),
    "convolve valid": (lambda x, y: np.convolve(x, y, mode="valid"), np.arange(5.0), V),
    "correlate": (lambda x, y: np.correlate(x, y, "full") * 2, np.arange(4.0), V),
    "polyval": (lambda p, x: np.polyval(p, x), V, A[0]),
    # linear algebra
    "solve": (lambda a, b: np.linalg.solve(a, b), M, V),
    "solve matrix": (lambda a, b: np.linalg.solve(a, b), M, M[:, :2] + 1),
    "inv": (lambda a: np.linalg.inv(a), M),
    "det": (lambda a: np.linalg.det(a) * a, M),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1] * np.linalg.slogdet(a).logabsdet, M),
    "cholesky": (lambda a: np.linalg.cholesky(spd(a)), M),
    "eigh": (lambda a: np.linalg.eigh(a + a.T)[0] * np.abs(np.linalg.eigh(a + a.T).eigenvectors), M),
    "eigvalsh": (lambda a: np.linalg.eigvalsh(a + a.T) ** 2, M),
    "svd": (lambda a: np.abs(np.linalg.svd(a, full_matrices=False)[0]) * np.linalg.svd(a, full_matrices=False)[1], M),
    "svd wide": (lambda a: np.abs(np.linalg.svd(a, full_matrices=False).Vh), A),
    "svd values": (lambda a: np.linalg.svd(a, compute_uv=False) * np.linalg.svdvals(a), A),
    "qr": (lambda a: np.linalg.qr(a)[0] * np.linalg.qr(a).R, M),
    "norm": (lambda x: np.linalg.norm(x) * np.linalg.norm(x, axis=1) + np.linalg.norm(x, 3, axis=1), A),
    "norm orders": (lambda x: np.linalg.norm(x, 1) * np.linalg.norm(x, np.inf) + np.linalg.norm(x, -np.inf), V),
    "norm matrices": (lambda x: np.linalg.norm(x, "fro") * np.linalg.norm(x, "nuc"), M),
    "vector_norm": (lambda x: np.linalg.vector_norm(x, axis=0) * np.linalg.matrix_norm(x), A),
    "matrix_power": (lambda x: np.linalg.matrix_power(x, 3) + np.linalg.matrix_power(x, -1), M),
    "multi_dot": (lambda x, y: np.linalg.multi_dot([x, y, x]), M, M + 1),
    # transforms
    "fft": (lambda z: np.fft.fft(z) * np.fft.ifft(z, norm="ortho") + np.fft.fft(z, 2, norm="forward").sum(), Z),
    "fft real": (lambda x: np.abs(np.fft.fft(x, 5)) ** 2, V),
    "rfft": (lambda x: np.fft.rfft(x) * np.fft.rfft(x * x, norm="ortho"), np.arange(5.0)),
    "irfft": (lambda z: np.fft.irfft(z) * np.fft.irfft(z * z), np.array([1.0 + 0j, 0.5 - 1j, 2.0 + 0.3j])),
    "hfft": (lambda z: np.fft.hfft(z) ** 2, np.array([1.0 + 0j, 0.5 - 1j, 2.0 + 0j])),
    "ihfft": (lambda x: np.fft.ihfft(x * x), np.arange(4.0)),
    "fft2": (lambda x: np.abs(np.fft.fft2(x) * np.fft.ifft2(x)), A),
    "fftn": (lambda x: np.real(np.fft.fftn(x, axes=(0, 2)) * np.fft.ifftn(x, axes=(0, 2))), CUBE),
    "rfft2": (lambda x: np.fft.irfft2(np.fft.rfft2(x * x), (2, 3)), A),
    "rfftn": (lambda x: np.fft.irfftn(np.fft.rfftn(x * x), (2, 3, 4)), CUBE),
    "fftshift": (lambda x: np.fft.fftshift(x) * np.fft.ifftshift(x), A),
    # numbers
    "python sum": (lambda x: sum([x[0] * x[1], x[2], 3.0]) * x, V),
    "python functions": (lambda x: abs(x) * float(x) * pow(x, 3), 1.3),
}


@pytest.mark.parametrize("order", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CALLS)
def test_a_rule_agrees_with_differences(name, order):
    function, *arguments = CALLS[name]
    check_grads(function, tuple(arguments), order, rtol=2e-4, atol=2e-4)


NO_DATA = {Kind.CONTROL, Kind.CONTAINER}


def test_every_row_says_what_its_derivative_is():
    open_ends = [name for name, row in table.rows.items() if gradient_of(row) is None and row.kind not in NO_DATA]
    assert {name for name in open_ends if name.startswith(("numpy.", "ndarray.", "operator.", "math.", "cmath."))} == {
        "ndarray.transpose",
        "ndarray.fill",
        "ndarray.sort",
        "numpy.copyto",
        "numpy.putmask",  # rewritten before
    }


def test_no_rule_is_for_an_op_that_does_not_exist():
    strange = [name for name in gradients if name not in table and not name.startswith("scipy.")]
    assert strange == []


def test_refusals_say_what_to_do_instead():
    assert all(gradient.reason for gradient in gradients.values() if gradient.standing is Standing.REFUSED)
