"""Gradients of elementwise functions and operators: a cotangent of the shape of the result for each operand."""

from __future__ import annotations

import numpy as np

from gjit.ops.gradients import differentiate, zero


def inverse(g, x):
    """1 / x; where x is zero, infinity, or zero where nothing depends on the element (`g` is zero)."""
    at_zero = x == 0
    return np.where(at_zero, np.where(g == 0, 0, np.inf), 1 / np.where(at_zero, 1, x))


differentiate(
    "numpy.add",
    broadcasts=True,
    x1=lambda g, r, x1, x2: g,
    x2=lambda g, r, x1, x2: g,
)
differentiate(
    "numpy.subtract",
    broadcasts=True,
    x1=lambda g, r, x1, x2: g,
    x2=lambda g, r, x1, x2: -g,
)
differentiate(
    "numpy.multiply",
    broadcasts=True,
    x1=lambda g, r, x1, x2: g * np.conjugate(x2),
    x2=lambda g, r, x1, x2: g * np.conjugate(x1),
)
differentiate("numpy.negative", x=lambda g, r, x: -g)
differentiate("numpy.positive", x=lambda g, r, x: g)
differentiate("numpy.sin", x=lambda g, r, x: g * np.conjugate(np.cos(x)))
differentiate("numpy.cos", x=lambda g, r, x: -g * np.conjugate(np.sin(x)))
differentiate("numpy.exp", x=lambda g, r, x: g * np.conjugate(r))
differentiate("numpy.tanh", x=lambda g, r, x: g * np.conjugate(1 - r * r))
differentiate("numpy.sqrt", x=lambda g, r, x: g * 0.5 * np.conjugate(inverse(g, r)))


def power_base(g, r, x1, x2):
    """x2 * x1 ** (x2 - 1)."""
    if isinstance(x2, (int, float)):
        if x2 == 2:
            slope = 2 * x1
        elif x2 == 0:
            slope = 0
        else:
            slope = x2 * x1 ** (x2 - 1)
    else:
        at_zero = x2 == 0
        slope = x2 * np.power(x1, np.where(at_zero, 1, x2 - 1))
    return g * np.conjugate(slope)


def power_exponent(g, r, x1, x2):
    """log(x1) * r, and zero at a base of zero."""
    return g * np.conjugate(np.log(np.where(x1 == 0, 1, x1)) * r)


differentiate("numpy.power", broadcasts=True, x1=power_base, x2=power_exponent)
zero("numpy.greater numpy.less numpy.greater_equal numpy.less_equal numpy.equal numpy.not_equal numpy.floor numpy.zeros numpy.zeros_like")


def sum_a(g, r, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    """The cotangent spread over what was added."""
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    return np.broadcast_to(g, np.shape(a))


differentiate("numpy.sum", a=sum_a)
differentiate("ndarray.copy numpy.copy", a=lambda g, r, a, order="C": g)
