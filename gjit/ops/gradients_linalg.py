"""Gradients of products, decompositions and polynomials."""

from __future__ import annotations

import numpy as np

from gjit.ops.gradient_rows import einsum_parts, fit, unfit
from gjit.ops.gradients import differentiate, differentiate_all, refuse, zero
from gjit.ops.gradients_elementwise import inverse


def adjoint(a):
    """The conjugate transpose of the matrices in the last two axes."""
    return np.conjugate(np.swapaxes(a, -1, -2))


def dot_a(g, r, a, b, out=None):
    """g with b, over the axes of b that are in the result."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        part = fit(g * np.conjugate(b), a)
    elif np.ndim(b) == 1:
        part = np.expand_dims(g, -1) * np.conjugate(b)
    else:
        kept = [*range(np.ndim(b) - 2), np.ndim(b) - 1]
        part = np.tensordot(g, np.conjugate(b), axes=(list(range(np.ndim(a) - 1, np.ndim(g))), kept))
    return part


def dot_b(g, r, a, b, out=None):
    """a with g, over the axes of a that are in the result."""
    rows = list(range(np.ndim(a) - 1))
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        part = fit(g * np.conjugate(a), b)
    elif np.ndim(b) == 1:
        part = np.tensordot(np.conjugate(a), g, axes=(rows, list(range(np.ndim(g)))))
    else:
        part = np.moveaxis(np.tensordot(np.conjugate(a), g, axes=(rows, rows)), 0, -2)
    return part


differentiate("numpy.dot", a=dot_a, b=dot_b)
differentiate("ndarray.dot", a=dot_a, b=dot_b)


def matmul_a(g, r, x1, x2):
    """g x2^H, a vector as a row."""
    if np.ndim(x1) == 1 and np.ndim(x2) == 1:
        part = g * np.conjugate(x2)
    else:
        left = np.expand_dims(x1, 0) if np.ndim(x1) == 1 else x1
        right = np.expand_dims(x2, 1) if np.ndim(x2) == 1 else x2
        full = g
        if np.ndim(x1) == 1:
            full = np.expand_dims(full, -2)
        if np.ndim(x2) == 1:
            full = np.expand_dims(full, -1)
        part = np.reshape(fit(np.matmul(full, adjoint(right)), left), np.shape(x1))
    return part


def matmul_b(g, r, x1, x2):
    """x1^H g, a vector as a column."""
    if np.ndim(x1) == 1 and np.ndim(x2) == 1:
        part = g * np.conjugate(x1)
    else:
        left = np.expand_dims(x1, 0) if np.ndim(x1) == 1 else x1
        right = np.expand_dims(x2, 1) if np.ndim(x2) == 1 else x2
        full = g
        if np.ndim(x1) == 1:
            full = np.expand_dims(full, -2)
        if np.ndim(x2) == 1:
            full = np.expand_dims(full, -1)
        part = np.reshape(fit(np.matmul(adjoint(left), full), right), np.shape(x2))
    return part


differentiate("numpy.matmul", x1=matmul_a, x2=matmul_b)
differentiate(
    "numpy.vecdot",
    x1=lambda g, r, x1, x2: fit(np.conjugate(np.expand_dims(g, -1)) * x2, x1),
    x2=lambda g, r, x1, x2: fit(np.expand_dims(g, -1) * x1, x2),
)
differentiate(
    "numpy.matvec",
    x1=lambda g, r, x1, x2: fit(np.expand_dims(g, -1) * np.conjugate(np.expand_dims(x2, -2)), x1),
    x2=lambda g, r, x1, x2: fit(np.squeeze(np.matmul(adjoint(x1), np.expand_dims(g, -1)), -1), x2),
)
differentiate(
    "numpy.vecmat",
    x1=lambda g, r, x1, x2: fit(np.squeeze(np.matmul(x2, np.conjugate(np.expand_dims(g, -1))), -1), x1),
    x2=lambda g, r, x1, x2: fit(np.expand_dims(x1, -1) * np.expand_dims(g, -2), x2),
)
differentiate(
    "numpy.vdot",
    a=lambda g, r, a, b: np.conjugate(g) * np.reshape(b, np.shape(a)),
    b=lambda g, r, a, b: g * np.reshape(a, np.shape(b)),
)


def inner_a(g, r, a, b):
    """As `tensordot` over the last axes."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        part = fit(g * np.conjugate(b), a)
    else:
        axes = list(range(np.ndim(b) - 1))
        part = np.tensordot(g, np.conjugate(b), axes=(list(range(np.ndim(a) - 1, np.ndim(g))), axes))
    return part


def inner_b(g, r, a, b):
    """As `tensordot` over the last axes."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        part = fit(g * np.conjugate(a), b)
    else:
        axes = list(range(np.ndim(a) - 1))
        part = np.tensordot(g, np.conjugate(a), axes=(axes, axes))
    return part


differentiate("numpy.inner", a=inner_a, b=inner_b)
differentiate(
    "numpy.outer",
    a=lambda g, r, a, b, out=None: np.reshape(np.matmul(g, np.conjugate(np.ravel(b))), np.shape(a)),
    b=lambda g, r, a, b, out=None: np.reshape(np.matmul(np.conjugate(np.ravel(a)), g), np.shape(b)),
)


def kron_blocks(g, a, b):
    """The result with an axis of each operand in turn."""
    rank = max(np.ndim(a), np.ndim(b))
    rows = (1,) * (rank - np.ndim(a)) + np.shape(a)
    columns = (1,) * (rank - np.ndim(b)) + np.shape(b)
    shape = [extent for pair in zip(rows, columns, strict=True) for extent in pair]
    blocks = np.reshape(g, shape)
    order = [*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)]
    return np.reshape(np.transpose(blocks, order), (np.size(a), np.size(b)))


differentiate(
    "numpy.kron",
    a=lambda g, r, a, b: np.reshape(np.matmul(kron_blocks(g, a, b), np.conjugate(np.ravel(b))), np.shape(a)),
    b=lambda g, r, a, b: np.reshape(np.matmul(np.conjugate(np.ravel(a)), kron_blocks(g, a, b)), np.shape(b)),
)


def tensordot_axes(a, b, axes):
    """The summed axes of both operands, as lists of non-negative numbers."""
    if np.ndim(axes) == 0:
        count = int(axes)
        first, second = list(range(np.ndim(a) - count, np.ndim(a))), list(range(count))
    else:
        first = [int(axis) % np.ndim(a) for axis in np.atleast_1d(axes[0])]
        second = [int(axis) % np.ndim(b) for axis in np.atleast_1d(axes[1])]
    return first, second


def tensordot_a(g, r, a, b, axes=2):
    """g with b over the other axes of b."""
    first, second = tensordot_axes(a, b, axes)
    others = [axis for axis in range(np.ndim(b)) if axis not in second]
    kept = [axis for axis in range(np.ndim(a)) if axis not in first]
    part = np.tensordot(g, np.conjugate(b), axes=(list(range(len(kept), np.ndim(g))), others))
    order = [first[place] for place in np.argsort(second)]
    return np.transpose(part, np.argsort(kept + order))


def tensordot_b(g, r, a, b, axes=2):
    """a with g over the other axes of a."""
    first, second = tensordot_axes(a, b, axes)
    others = [axis for axis in range(np.ndim(a)) if axis not in first]
    kept = [axis for axis in range(np.ndim(b)) if axis not in second]
    part = np.tensordot(np.conjugate(a), g, axes=(others, list(range(len(others)))))
    order = [second[place] for place in np.argsort(first)]
    return np.transpose(part, np.argsort(order + kept))


differentiate("numpy.tensordot", a=tensordot_a, b=tensordot_b)


def einsum_all(g, r, subscripts, *operands, out=None, optimize=False):
    """The same sum with the result in the place of the operand."""
    found = [None]
    for index, operand in enumerate(operands):
        spec, target, diagonal = einsum_parts(subscripts, operands, index)
        others = [np.conjugate(other) for place, other in enumerate(operands) if place != index]
        part = np.einsum(spec, g, *others)
        found.append(einsum_spread(part, target, diagonal, operand))
    return tuple(found)


def einsum_spread(part, target, diagonal, operand):
    """Axes that were summed away come back; repeated ones are a diagonal."""
    full = np.reshape(part, target)
    return np.where(diagonal, full, 0) if diagonal is not None else unfit(full, operand)


differentiate_all("numpy.einsum", einsum_all)


def full_convolution(g, a, v, mode):
    """The cotangent of the whole convolution, of which `mode` shows a part."""
    whole = np.size(a) + np.size(v) - 1
    shorter = min(np.size(a), np.size(v))
    start = (shorter - 1) // 2 if mode == "same" else shorter - 1 if mode == "valid" else 0
    return np.pad(g, (start, whole - start - np.size(g)))


def convolve_a(g, r, a, v, mode="full"):
    """The correlation with v."""
    return np.correlate(full_convolution(g, a, v, mode), v, mode="valid")


def convolve_v(g, r, a, v, mode="full"):
    """The correlation with a."""
    return np.correlate(full_convolution(g, a, v, mode), a, mode="valid")


def correlate_a(g, r, a, v, mode="valid"):
    """A correlation is a convolution with v reversed."""
    return np.correlate(full_convolution(g, a, v, mode), np.conjugate(v)[::-1], mode="valid")


def correlate_v(g, r, a, v, mode="valid"):
    """A correlation is a convolution with v reversed."""
    return np.conjugate(np.correlate(full_convolution(g, a, v, mode), a, mode="valid"))[::-1]


differentiate("numpy.convolve", a=convolve_a, v=convolve_v)
differentiate("numpy.correlate", a=correlate_a, v=correlate_v)


def polyval_p(g, r, p, x):
    """The powers of x, the highest first."""
    powers = range(len(p) - 1, -1, -1)
    return np.stack([np.sum(g * np.conjugate(x**power)) for power in powers]) if len(p) else p


differentiate("numpy.polyval", p=polyval_p, x=lambda g, r, p, x: fit(g * np.conjugate(np.polyval(polyder(p), x)), x))


def polyder(p):
    """The coefficients of the derivative."""
    return p[:-1] * np.arange(len(p) - 1, 0, -1)


# Systems and determinants


def solve_b(g, r, a, b):
    """The adjoint system."""
    return fit(np.linalg.solve(adjoint(a), g), b)


def solve_a(g, r, a, b):
    """Minus the product of the adjoint's solution with the solution."""
    back = np.linalg.solve(adjoint(a), g)
    if np.ndim(b) == 1:
        back, solution = np.expand_dims(back, -1), np.expand_dims(r, -1)
    else:
        solution = r
    return fit(-np.matmul(back, adjoint(solution)), a)


differentiate("numpy.linalg.solve", a=solve_a, b=solve_b)
differentiate("numpy.linalg.inv", a=lambda g, r, a: -np.matmul(np.matmul(adjoint(r), g), adjoint(r)))


def scaled(g, a):
    """Numbers for matrices."""
    return np.expand_dims(np.expand_dims(g, -1), -1) * a


differentiate("numpy.linalg.det", a=lambda g, r, a: scaled(g * np.conjugate(r), adjoint(np.linalg.inv(a))))
differentiate("numpy.linalg.slogdet", a=lambda g, r, a: scaled(g[1], adjoint(np.linalg.inv(a))))


def lower_half(a):
    """The lower triangle with half of the diagonal."""
    return np.tril(a) * (1 - 0.5 * np.eye(np.shape(a)[-1]))


def cholesky_a(g, r, a, *, upper=False):
    """The symmetric cotangent: that of `a` with both triangles moving together."""
    factor = adjoint(r) if upper else r
    slope = adjoint(g) if upper else g
    inner = lower_half(np.matmul(adjoint(factor), slope))
    left = np.linalg.solve(adjoint(factor), inner)
    part = adjoint(np.linalg.solve(adjoint(factor), adjoint(left)))
    return 0.5 * (part + adjoint(part))


differentiate("numpy.linalg.cholesky", a=cholesky_a)


def gaps(values):
    """1 / (w_j - w_i), and zero on the diagonal."""
    difference = np.expand_dims(values, -2) - np.expand_dims(values, -1)
    same = difference == 0
    return np.where(same, 0, 1 / np.where(same, 1, difference))


def eigh_a(g, r, a, UPLO="L"):  # noqa: N803
    """The symmetric cotangent; equal eigenvalues have no derivatives of their vectors."""
    vectors = r[1]
    inner = gaps(r[0]) * np.matmul(adjoint(vectors), g[1]) + np.expand_dims(g[0], -2) * np.eye(np.shape(a)[-1])
    part = np.matmul(np.matmul(vectors, inner), adjoint(vectors))
    return 0.5 * (part + adjoint(part))


def eigvalsh_a(g, r, a, UPLO="L"):  # noqa: N803
    """v w v^H."""
    vectors = np.linalg.eigh(a, UPLO)[1]
    return np.matmul(vectors * np.expand_dims(g, -2), adjoint(vectors))


differentiate("numpy.linalg.eigh", a=eigh_a)
differentiate("numpy.linalg.eigvalsh", a=eigvalsh_a)


def svd_a(g, r, a, full_matrices=True, compute_uv=True, hermitian=False):
    """Of real matrices, thin, with different singular values."""
    if compute_uv:
        part = thin_svd(g[0], g[1], g[2], r[0], r[1], r[2], a)
    else:
        factors = np.linalg.svd(a, full_matrices=False)
        part = np.matmul(factors[0] * np.expand_dims(g, -2), factors[2])
    return part


def thin_svd(gu, gs, gv, u, s, vh, a):
    """The cotangents of u, s and vh together."""
    if np.shape(u)[-1] != np.shape(s)[-1] or np.shape(vh)[-2] != np.shape(s)[-1]:
        raise TypeError("the gradient of `svd` is that of the thin one; pass full_matrices=False")
    between = gaps(s * s)
    left, right = np.matmul(adjoint(u), gu), np.matmul(vh, adjoint(gv))
    middle = np.expand_dims(gs, -2) * np.eye(np.shape(s)[-1])
    middle = middle + between * (left - adjoint(left)) * np.expand_dims(s, -2)
    middle = middle + between * (right - adjoint(right)) * np.expand_dims(s, -1)
    part = np.matmul(np.matmul(u, middle), vh)
    rows = gu / np.expand_dims(s, -2)
    part = part + np.matmul(rows - np.matmul(u, np.matmul(adjoint(u), rows)), vh)
    columns = gv / np.expand_dims(s, -1)
    return part + np.matmul(u, columns - np.matmul(np.matmul(columns, adjoint(vh)), vh))


def svdvals_x(g, r, x):
    """u g vh."""
    factors = np.linalg.svd(x, full_matrices=False)
    return np.matmul(factors[0] * np.expand_dims(g, -2), factors[2])


differentiate("numpy.linalg.svd", a=svd_a)
differentiate("numpy.linalg.svdvals", x=svdvals_x)


def qr_a(g, r, a, mode="reduced"):
    """Of matrices with at least as many rows as columns."""
    q, upper = r[0], r[1]
    if np.shape(upper)[-2] != np.shape(upper)[-1] or mode not in ("reduced", "complete"):
        raise TypeError("the gradient of `qr` is that of mode='reduced', with no more columns than rows")
    inner = np.matmul(upper, adjoint(g[1])) - np.matmul(adjoint(g[0]), q)
    lower = np.tril(inner, -1)
    both = lower + adjoint(lower) + inner * np.eye(np.shape(inner)[-1])
    return adjoint(np.linalg.solve(upper, adjoint(g[0] + np.matmul(q, both))))


differentiate("numpy.linalg.qr", a=qr_a)


def length_slope(g, x, r):
    """g x / |x|, and zero at the origin."""
    return g * x * inverse(np.zeros_like(g), r)


def vector_norm(g, r, x, order, axis):
    """Of vectors along the axes; g and r are spread over them."""
    if order is None or order == 2:
        part = length_slope(g, x, r)
    elif order == np.inf or order == -np.inf:
        best = np.abs(x) == r
        part = np.where(best, np.sign(x) * g / np.sum(best, axis=axis, keepdims=True), 0)
    elif order == 1:
        part = g * np.sign(x)
    elif order == 0:
        part = x * 0
    else:
        base = np.abs(x) * inverse(np.zeros_like(r), r)
        part = g * np.sign(x) * np.where(base == 0, 0, np.where(base == 0, 1, base) ** (order - 1))
    return part


def norm_x(g, r, x, ord=None, axis=None, keepdims=False):
    """Of vectors, or the Frobenius and nuclear norms of matrices."""
    rank = np.ndim(x) if axis is None else np.size(axis)
    over = tuple(range(np.ndim(x))) if axis is None else axis
    if keepdims:
        slope, length = g, r
    else:
        slope, length = np.expand_dims(g, over), np.expand_dims(r, over)
    if ord == "nuc":
        part = nuclear_norm(slope, x, over)
    elif rank == 2 and not (ord is None or ord == "fro"):
        raise TypeError(f"the gradient of a matrix norm is that of 'fro' and 'nuc', not of {ord!r}")
    else:
        part = vector_norm(slope, length, x, None if ord == "fro" else ord, over)
    return part


def nuclear_norm(slope, x, axes):
    """The matrix with all singular values one."""
    factors = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    return slope * np.moveaxis(np.matmul(factors[0], factors[2]), (-2, -1), axes)


differentiate("numpy.linalg.norm", x=norm_x)


def vector_norm_x(g, r, x, *, axis=None, keepdims=False, ord=2):
    """As `norm`."""
    over = tuple(range(np.ndim(x))) if axis is None else axis
    slope = g if keepdims else np.expand_dims(g, over)
    length = r if keepdims else np.expand_dims(r, over)
    return vector_norm(slope, length, x, ord, over)


def matrix_norm_x(g, r, x, *, keepdims=False, ord="fro"):
    """As `norm`."""
    return norm_x(g, r, x, ord, (-2, -1), keepdims)


differentiate("numpy.linalg.vector_norm", x=vector_norm_x)
differentiate("numpy.linalg.matrix_norm", x=matrix_norm_x)


def matrix_power_a(g, r, a, n):
    """A term for each factor."""
    base = a if n >= 0 else np.linalg.inv(a)
    count = abs(n)
    part = a * 0
    for index in range(count):
        before, after = np.linalg.matrix_power(base, index), np.linalg.matrix_power(base, count - 1 - index)
        part = part + np.matmul(np.matmul(adjoint(before), g), adjoint(after))
    return part if n >= 0 else -np.matmul(np.matmul(adjoint(base), part), adjoint(base))


differentiate("numpy.linalg.matrix_power", a=matrix_power_a)


def multi_dot_arrays(g, r, arrays, *, out=None):
    """The products on both sides of each."""
    found = []
    for index in range(len(arrays)):
        left = g
        for before in arrays[:index]:
            left = np.matmul(adjoint(before), left)
        for after in arrays[:index:-1]:
            left = np.matmul(left, adjoint(after))
        found.append(left)
    return found


differentiate("numpy.linalg.multi_dot", arrays=multi_dot_arrays)
zero("numpy.linalg.matrix_rank")
refuse("numpy.linalg.pinv numpy.linalg.lstsq", "solve the normal equations with `numpy.linalg.solve`")
refuse("numpy.linalg.cond", "divide the ends of `numpy.linalg.svdvals`")
refuse("numpy.linalg.tensorsolve", "reshape and use `numpy.linalg.solve`")
refuse("numpy.linalg.eig numpy.linalg.eigvals", "use `numpy.linalg.eigh` for symmetric matrices")
refuse("numpy.cov numpy.corrcoef", "write the products of the centred rows")
refuse("numpy.polyfit", "solve the normal equations with `numpy.linalg.solve`")
