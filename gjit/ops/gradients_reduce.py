"""Gradients of reductions, cumulative functions and order statistics."""

from __future__ import annotations

import numpy as np

from gjit.ops.gradient_rows import put_back, unfit
from gjit.ops.gradients import differentiate, refuse, zero
from gjit.ops.gradients_elementwise import over_length


def spread(g, a, axis, keepdims):
    """The cotangent of a reduction for each element that went into it."""
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    return unfit(g, a)


def chosen(g, where):
    """Zero for elements that `where` left out."""
    if where is not True:
        g = np.where(where, g, 0)
    return g


def sum_a(g, r, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    """One for each element."""
    return chosen(spread(g, a, axis, keepdims), where)


differentiate("numpy.sum", a=sum_a)


def count(a, r, where):
    """How many elements went into each result."""
    if where is True:
        found = np.size(a) // max(np.size(r), 1)
    else:
        found = np.sum(np.broadcast_to(where, np.shape(a)))
    return found


def mean_a(g, r, a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """One over the number of elements."""
    if where is True:
        part = spread(g / max(count(a, r, True), 1), a, axis, keepdims)
    else:
        counts = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=keepdims)
        part = np.where(where, spread(g / counts, a, axis, keepdims), 0)
    return part


differentiate("numpy.mean", a=mean_a)


def var_a(g, r, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=0):
    """2 (a - mean) / (n - ddof)."""
    if where is True:
        center = np.mean(a, axis=axis, keepdims=True)
        part = spread(g * (2 / (count(a, r, True) - ddof - correction)), a, axis, keepdims) * (a - center)
    else:
        inside = np.broadcast_to(where, np.shape(a))
        center = np.mean(a, axis=axis, keepdims=True, where=inside)
        counts = np.sum(inside, axis=axis, keepdims=keepdims) - ddof - correction
        part = np.where(inside, spread(g * 2 / counts, a, axis, keepdims) * (a - center), 0)
    return part


def std_a(g, r, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=0):
    """That of the variance, over twice the deviation."""
    slope = over_length(0.5 * g, r)
    return var_a(slope, r, a, axis, dtype, out, ddof, keepdims, where=where, correction=correction)


differentiate("numpy.var", a=var_a)
differentiate("numpy.std", a=std_a)


def extreme_a(g, r, a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """Elements that tie share equally."""
    best = chosen_mask(a == spread(r, a, axis, keepdims), where)
    counts = np.sum(best, axis=axis, keepdims=keepdims)
    share = g / np.maximum(counts, 1).astype(np.result_type(g))
    return np.where(best, spread(share, a, axis, keepdims), 0)


def chosen_mask(mask, where):
    """A mask without what `where` left out."""
    if where is not True:
        mask = mask & where
    return mask


differentiate("numpy.min numpy.max numpy.amin numpy.amax", a=extreme_a)


def ptp_a(g, r, a, axis=None, out=None, keepdims=False):
    """The largest less the smallest."""
    high, low = np.max(a, axis=axis, keepdims=keepdims), np.min(a, axis=axis, keepdims=keepdims)
    return extreme_a(g, high, a, axis, None, keepdims) - extreme_a(g, low, a, axis, None, keepdims)


differentiate("numpy.ptp", a=ptp_a)


def flattened(a, axis):
    """The reduced axes as one, at the end."""
    if axis is None:
        flat = np.reshape(a, (np.size(a),))
    else:
        axes = tuple(np.atleast_1d(axis) % np.ndim(a))
        kept = [position for position in range(np.ndim(a)) if position not in axes]
        moved = np.transpose(a, (*kept, *axes))
        flat = np.reshape(moved, (*[np.shape(a)[position] for position in kept], -1))
    return flat


def unflattened(flat, a, axis):
    """The elements back where `flattened` took them from."""
    return put_back(flat, flattened(positions(a), axis), a)


def positions(a):
    """The number of each element in memory order C."""
    return np.reshape(np.arange(np.size(a)), np.shape(a))


def product_of_others(a):
    """Along the last axis, for each element the product of all others."""
    ones = np.ones((*np.shape(a)[:-1], 1), a.dtype)
    left = np.concatenate([ones, np.cumprod(a[..., :-1], axis=-1)], axis=-1)
    right = np.concatenate([ones, np.cumprod(a[..., :0:-1], axis=-1)], axis=-1)
    return left * right[..., ::-1]


def prod_a(g, r, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    """The product of the others, zeros included."""
    base = a if where is True else np.where(where, a, 1)
    others = unflattened(product_of_others(flattened(base, axis)), a, axis)
    return chosen(spread(g, a, axis, keepdims) * np.conjugate(initial * others), where)


differentiate("numpy.prod", a=prod_a)


def running(g, a, axis):
    """The adjoint of a running sum: the running sum from the other end."""
    if axis is None:
        part = np.reshape(np.cumsum(g[::-1])[::-1], np.shape(a))
    else:
        part = np.flip(np.cumsum(np.flip(g, axis), axis=axis), axis)
    return part


def cumsum_a(g, r, a, axis=None, dtype=None, out=None):
    """From the other end."""
    return running(g, a, axis)


def cumulative_sum_x(g, r, x, *, axis=None, dtype=None, out=None, include_initial=False):
    """As `cumsum`, without the first element where that is a zero of its own."""
    place = 0 if axis is None else axis
    if include_initial:
        g = np.moveaxis(np.moveaxis(g, place, 0)[1:], 0, place)
    return np.reshape(running(g, x, place), np.shape(x))


differentiate("numpy.cumsum", a=cumsum_a)
differentiate("numpy.cumulative_sum", x=cumulative_sum_x)


def cumprod_a(g, r, a, axis=None, dtype=None, out=None):
    """Each product by each of its factors: the product of the others, backwards by recurrence."""
    if axis is None:
        rows, slopes = np.reshape(a, (-1,)), np.reshape(g, (-1,))
    else:
        rows, slopes = np.moveaxis(a, axis, 0), np.moveaxis(g, axis, 0)
    before = np.concatenate([np.ones_like(rows[:1]), np.cumprod(rows[:-1], axis=0)], axis=0)
    parts = []
    later = np.zeros_like(slopes[0]) if len(rows) else 0
    for index in range(len(rows) - 1, -1, -1):
        later = slopes[index] + (later * np.conjugate(rows[index + 1]) if index + 1 < len(rows) else 0)
        parts.append(later * np.conjugate(before[index]))
    found = np.stack(parts[::-1], axis=0) if parts else rows * 0
    return np.reshape(found, np.shape(a)) if axis is None else np.moveaxis(found, 0, axis)


differentiate("numpy.cumprod", a=cumprod_a)


def average_a(g, r, a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The weight over the sum of the weights."""
    if weights is None:
        part = mean_a(g, r, a, axis, None, None, keepdims)
    else:
        shares = wide(weights, a, axis)
        total = np.sum(shares, axis=axis, keepdims=keepdims)
        part = spread(g / total, a, axis, keepdims) * shares
    return part


def wide(weights, a, axis):
    """Weights of one axis in the shape of the array."""
    if np.ndim(weights) != np.ndim(a):
        shape = [1] * np.ndim(a)
        shape[axis] = -1
        weights = np.reshape(weights, shape)
    return np.broadcast_to(weights, np.shape(a))


def average_weights(g, r, a, axis=None, weights=None, returned=False, *, keepdims=False):
    """The distance from the average over the sum of the weights."""
    shares = wide(weights, a, axis)
    total = np.sum(shares, axis=axis, keepdims=keepdims)
    part = spread(g / total, a, axis, keepdims) * (a - spread(r, a, axis, keepdims))
    if np.ndim(weights) != np.ndim(a):
        part = np.sum(np.moveaxis(part, axis, 0), axis=tuple(range(1, np.ndim(a))))
    return part


differentiate("numpy.average", a=average_a, weights=average_weights)


def at_ranks(g, a, axis, ranks, weights):
    """A cotangent for the elements of these ranks, each with its weight."""
    rows = flattened(a, axis)
    order = np.argsort(rows, axis=-1, kind="stable")
    found = np.zeros(np.shape(rows), np.result_type(g))
    for rank, weight in zip(ranks, weights, strict=True):
        place = np.expand_dims(np.take(order, rank, axis=-1), -1)
        found = found + np.where(np.arange(np.shape(rows)[-1]) == place, np.expand_dims(g * weight, -1), 0)
    return unflattened(found, a, axis)


def median_a(g, r, a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The one or two elements in the middle."""
    length = np.size(a) // max(np.size(r), 1)
    kept = np.reshape(g, np.shape(np.median(a, axis=axis)))
    return at_ranks(kept, a, axis, [(length - 1) // 2, length // 2], [0.5, 0.5])


differentiate("numpy.median", a=median_a)


def quantile_a(g, r, a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """The two elements around the rank, by their distance."""
    if method != "linear":
        raise TypeError(f"the gradient of quantiles is that of the method 'linear', not {method!r}")
    length = np.size(a) // max(np.size(r) // np.size(q), 1)
    shape = np.shape(np.median(a, axis=axis))
    found = np.zeros(np.shape(a), np.result_type(g))
    for share, part in zip(np.reshape(q, (-1,)), np.reshape(g, (np.size(q), *shape)), strict=True):
        place = share * (length - 1)
        low = int(np.floor(place))
        weight = place - low
        found = found + at_ranks(
            part, a, axis, [low, low + 1 if low + 1 < length else low], [float(1 - weight), float(weight)]
        )
    return found


def percentile_a(g, r, a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
    """As `quantile`."""
    return quantile_a(g, r, a, np.divide(q, 100), axis, None, False, method, keepdims)


differentiate("numpy.quantile", a=quantile_a)
differentiate("numpy.percentile", a=percentile_a)


def trapezoid_y(g, r, y, x=None, dx=1.0, axis=-1):
    """Half of the widths on both sides."""
    rows = np.moveaxis(y, axis, -1)
    widths = dx * np.ones(np.shape(rows)[-1] - 1) if x is None else trapezoid_widths(x, y, axis)
    padded = np.concatenate([np.zeros_like(widths[..., :1]), widths, np.zeros_like(widths[..., :1])], axis=-1)
    shares = 0.5 * (padded[..., 1:] + padded[..., :-1])
    return np.moveaxis(np.expand_dims(g, -1) * unfit(shares, rows), -1, axis)


def trapezoid_widths(x, y, axis):
    """The widths between the points, along the last axis."""
    return np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1), axis=-1)


def trapezoid_x(g, r, y, x=None, dx=1.0, axis=-1):
    """The heights on both sides."""
    rows = np.moveaxis(y, axis, -1)
    heights = 0.5 * (rows[..., 1:] + rows[..., :-1]) * np.expand_dims(g, -1)
    padded = np.concatenate([np.zeros_like(rows[..., :1]), heights, np.zeros_like(rows[..., :1])], axis=-1)
    part = padded[..., :-1] - padded[..., 1:]
    return np.sum(part, axis=tuple(range(np.ndim(part) - 1))) if np.ndim(x) == 1 else np.moveaxis(part, -1, axis)


differentiate("numpy.trapezoid", y=trapezoid_y, x=trapezoid_x)


def nansum_a(g, r, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    """One for each number."""
    return chosen(np.where(np.isnan(a), 0, spread(g, a, axis, keepdims)), where)


def nanmean_a(g, r, a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """One over how many numbers there are."""
    return mean_a(g, r, a, axis, None, None, keepdims, where=~np.isnan(a) & where)


def nanvar_a(g, r, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=0):
    """As `var` of the numbers."""
    inside = ~np.isnan(a) & where
    return var_a(g, r, np.where(inside, a, 0), axis, None, None, ddof, keepdims, where=inside, correction=correction)


def nanstd_a(g, r, a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=0):
    """As `std` of the numbers."""
    return nanvar_a(over_length(0.5 * g, r), r, a, axis, None, None, ddof, keepdims, where=where, correction=correction)


def nanprod_a(g, r, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    """As `prod` of the numbers."""
    return prod_a(g, r, a, axis, None, None, keepdims, initial, ~np.isnan(a) & where)


def nanextreme_a(g, r, a, axis=None, out=None, keepdims=False, initial=None, where=True):
    """As `max` of the numbers."""
    return extreme_a(g, r, a, axis, None, keepdims, None, ~np.isnan(a) & where)


def nancumsum_a(g, r, a, axis=None, dtype=None, out=None):
    """As `cumsum` of the numbers."""
    return np.where(np.isnan(a), 0, running(g, a, axis))


differentiate("numpy.nansum", a=nansum_a)
differentiate("numpy.nanmean", a=nanmean_a)
differentiate("numpy.nanvar", a=nanvar_a)
differentiate("numpy.nanstd", a=nanstd_a)
differentiate("numpy.nanprod", a=nanprod_a)
differentiate("numpy.nanmin numpy.nanmax", a=nanextreme_a)
differentiate("numpy.nancumsum", a=nancumsum_a)
zero(
    "numpy.any numpy.all ndarray.any ndarray.all numpy.argmin numpy.argmax numpy.count_nonzero numpy.nanargmin "
    "numpy.nanargmax numpy.array_equal numpy.allclose"
)
refuse("numpy.nanmedian", "mask the numbers and use `numpy.median`")
refuse("numpy.nancumprod", "replace NaN by one and use `numpy.cumprod`")
refuse("numpy.cumulative_prod", "use `numpy.cumprod`")
