"""Gradients of Fourier transforms: the adjoint is the transform back, with the other norm."""

from __future__ import annotations

import numpy as np

from gjit.ops.gradients import differentiate


def other_norm(norm):
    """The norm whose inverse transform is the adjoint."""
    return "ortho" if norm == "ortho" else "backward" if norm == "forward" else "forward"


def resized(part, length, axis):
    """Cut or filled with zeros to a length along an axis."""
    rows = np.moveaxis(part, axis, -1)
    found = np.shape(rows)[-1]
    if found < length:
        zeros = np.zeros((*np.shape(rows)[:-1], length - found), rows.dtype)
        rows = np.concatenate([rows, zeros], axis=-1)
    return np.moveaxis(rows[..., :length], -1, axis)


def back(part, a, axis, norm, inverse):
    """The adjoint along one axis."""
    spectrum = (
        np.fft.fft(part, None, axis, other_norm(norm)) if inverse else np.fft.ifft(part, None, axis, other_norm(norm))
    )
    return resized(spectrum, np.shape(a)[axis], axis)


def rfft_back(part, a, n, axis, norm):
    """The adjoint of `rfft` along one axis: the missing half is zero."""
    length = np.shape(a)[axis] if n is None else n
    full = resized(part, length, axis)
    return resized(np.real(np.fft.ifft(full, None, axis, other_norm(norm))), np.shape(a)[axis], axis)


def irfft_back(part, a, n, axis, norm):
    """The adjoint of `irfft` along one axis: what stands for two elements counts twice."""
    length = 2 * (np.shape(a)[axis] - 1) if n is None else n
    half = np.moveaxis(np.fft.rfft(part, None, axis, other_norm(norm)), axis, -1)
    place = np.arange(np.shape(half)[-1])
    once = (place == 0) | (2 * place == length)
    return resized(np.moveaxis(half * np.where(once, 1, 2), -1, axis), np.shape(a)[axis], axis)


def fft_a(g, r, a, n=None, axis=-1, norm=None, out=None):
    """The inverse transform."""
    return back(g, a, axis, norm, False)


def ifft_a(g, r, a, n=None, axis=-1, norm=None, out=None):
    """The transform."""
    return back(g, a, axis, norm, True)


def rfft_a(g, r, a, n=None, axis=-1, norm=None, out=None):
    """Of real input."""
    return rfft_back(g, a, n, axis, norm)


def irfft_a(g, r, a, n=None, axis=-1, norm=None, out=None):
    """Of a real result."""
    return irfft_back(g, a, n, axis, norm)


def hfft_a(g, r, a, n=None, axis=-1, norm=None, out=None):
    """`hfft` is `irfft` of the conjugate."""
    return np.conjugate(irfft_back(g, a, n, axis, other_norm(norm)))


def ihfft_a(g, r, a, n=None, axis=-1, norm=None, out=None):
    """`ihfft` is the conjugate of `rfft`."""
    return rfft_back(np.conjugate(g), a, n, axis, other_norm(norm))


differentiate("numpy.fft.fft", a=fft_a)
differentiate("numpy.fft.ifft", a=ifft_a)
differentiate("numpy.fft.rfft", a=rfft_a)
differentiate("numpy.fft.irfft", a=irfft_a)
differentiate("numpy.fft.hfft", a=hfft_a)
differentiate("numpy.fft.ihfft", a=ihfft_a)


def axes_of(a, s, axes):
    """The axes of a transform of several."""
    if axes is not None:
        found = [int(axis) for axis in axes]
    else:
        count = np.ndim(a) if s is None else len(s)
        found = list(range(-count, 0))
    return found


def fftn_a(g, r, a, s=None, axes=None, norm=None, out=None):
    """Along each axis."""
    for axis in axes_of(a, s, axes):
        g = back(g, a, axis, norm, False)
    return g


def ifftn_a(g, r, a, s=None, axes=None, norm=None, out=None):
    """Along each axis."""
    for axis in axes_of(a, s, axes):
        g = back(g, a, axis, norm, True)
    return g


def fft2_a(g, r, a, s=None, axes=(-2, -1), norm=None, out=None):
    """Along two axes."""
    return fftn_a(g, r, a, s, axes, norm)


def ifft2_a(g, r, a, s=None, axes=(-2, -1), norm=None, out=None):
    """Along two axes."""
    return ifftn_a(g, r, a, s, axes, norm)


def rfftn_a(g, r, a, s=None, axes=None, norm=None, out=None):
    """The last axis is that of `rfft`."""
    places = axes_of(a, s, axes)
    for axis in places[:-1]:
        g = back(g, a, axis, norm, False)
    return rfft_back(g, a, None if s is None else s[-1], places[-1], norm)


def irfftn_a(g, r, a, s=None, axes=None, norm=None, out=None):
    """The last axis is that of `irfft`."""
    places = axes_of(a, s, axes)
    g = irfft_back(g, a, None if s is None else s[-1], places[-1], norm)
    for axis in places[:-1]:
        g = back(g, a, axis, norm, True)
    return g


def rfft2_a(g, r, a, s=None, axes=(-2, -1), norm=None, out=None):
    """Along two axes."""
    return rfftn_a(g, r, a, s, axes, norm)


def irfft2_a(g, r, a, s=None, axes=(-2, -1), norm=None, out=None):
    """Along two axes."""
    return irfftn_a(g, r, a, s, axes, norm)


differentiate("numpy.fft.fftn", a=fftn_a)
differentiate("numpy.fft.ifftn", a=ifftn_a)
differentiate("numpy.fft.fft2", a=fft2_a)
differentiate("numpy.fft.ifft2", a=ifft2_a)
differentiate("numpy.fft.rfftn", a=rfftn_a)
differentiate("numpy.fft.irfftn", a=irfftn_a)
differentiate("numpy.fft.rfft2", a=rfft2_a)
differentiate("numpy.fft.irfft2", a=irfft2_a)
differentiate("numpy.fft.fftshift", x=lambda g, r, x, axes=None: np.fft.ifftshift(g, axes))
differentiate("numpy.fft.ifftshift", x=lambda g, r, x, axes=None: np.fft.fftshift(g, axes))
