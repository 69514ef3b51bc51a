"""Gradients of elementwise functions and operators: a cotangent of the shape of the result for each operand."""

from __future__ import annotations

import numpy as np

from gjit.ops.gradient_rows import put_back
from gjit.ops.gradients import differentiate, refuse, zero


def inverse(g, x):
    """1 / x; where x is zero, infinity, or zero where nothing depends on the element (`g` is zero)."""
    at_zero = x == 0
    return np.where(at_zero, np.where(g == 0, 0, np.inf), 1 / np.where(at_zero, 1, x))


def safe_root(g, x):
    """1 / sqrt(x) with the same care."""
    return inverse(g, np.sqrt(x))


def unless_unused(g, slope):
    """A slope; zero where it is infinite and nothing depends on the element."""
    return np.where((g == 0) & np.isinf(slope), 0, slope)


def binary(names, x1, x2):
    """Rules for the two operands of ufuncs."""
    differentiate(names, broadcasts=True, x1=x1, x2=x2)


def unary(**rules):
    """A rule for each ufunc of one operand, by its name."""
    for name, rule in rules.items():
        differentiate(f"numpy.{name}", x=rule)


binary(
    "numpy.add",
    lambda g, r, x1, x2: g,
    lambda g, r, x1, x2: g,
)
binary(
    "numpy.subtract",
    lambda g, r, x1, x2: g,
    lambda g, r, x1, x2: -g,
)
binary(
    "numpy.multiply",
    lambda g, r, x1, x2: g * np.conjugate(x2),
    lambda g, r, x1, x2: g * np.conjugate(x1),
)


def quotient_dividend(g, r, x1, x2):
    """1 / x2; a Python number is taken as it is."""
    if isinstance(x2, (int, float)):
        part = g / x2
    else:
        part = g * np.conjugate(inverse(g, x2))
    return part


binary("numpy.divide", quotient_dividend, lambda g, r, x1, x2: -g * np.conjugate(x1 * np.square(inverse(g, x2))))


def power_base(g, r, x1, x2):
    """x2 * x1 ** (x2 - 1), and zero for an exponent of zero."""
    if isinstance(x2, (int, float)):
        if x2 == 2:
            slope = 2 * x1
        elif x2 == 1:
            slope = 1
        elif x2 == 0:
            slope = 0
        elif x2 > 1:
            slope = x2 * x1 ** (x2 - 1)
        else:
            slope = power_slope(g, x1, x2)
    else:
        at_zero = x2 == 0
        slope = np.where(at_zero, 0, power_slope(g, x1, np.where(at_zero, 1, x2)))
    return g * np.conjugate(slope)


def power_slope(g, x1, x2):
    """x2 * x1 ** (x2 - 1), safe at a base of zero where nothing depends on it."""
    singular = (x1 == 0) & (g == 0)
    return np.where(singular, 0, x2 * np.where(singular, 1, x1) ** (x2 - 1))


def power_exponent(g, r, x1, x2):
    """log(x1) * r, and zero at a base of zero."""
    return g * np.conjugate(np.log(np.where(x1 == 0, 1, x1)) * r)


binary("numpy.power numpy.float_power", power_base, power_exponent)
binary("numpy.remainder", lambda g, r, x1, x2: g, lambda g, r, x1, x2: -g * np.floor(x1 / x2))
binary("numpy.fmod", lambda g, r, x1, x2: g, lambda g, r, x1, x2: -g * np.trunc(x1 / x2))
binary(
    "numpy.logaddexp",
    lambda g, r, x1, x2: g * np.exp(x1 - np.where(r == -np.inf, 0, r)),
    lambda g, r, x1, x2: g * np.exp(x2 - np.where(r == -np.inf, 0, r)),
)
binary(
    "numpy.logaddexp2",
    lambda g, r, x1, x2: g * np.exp2(x1 - np.where(r == -np.inf, 0, r)),
    lambda g, r, x1, x2: g * np.exp2(x2 - np.where(r == -np.inf, 0, r)),
)
binary(
    "numpy.arctan2",
    lambda g, r, x1, x2: g * x2 * inverse(g, x1 * x1 + x2 * x2),
    lambda g, r, x1, x2: -g * x1 * inverse(g, x1 * x1 + x2 * x2),
)


def over_length(x, r):
    """x / r, and zero at the origin."""
    return x / np.where(r == 0, 1, r)


def direction(x, r):
    """The sign of real numbers, x / |x| of complex ones; zero at zero."""
    return over_length(x, r) if np.iscomplexobj(x) else np.sign(x)


binary("numpy.hypot", lambda g, r, x1, x2: g * over_length(x1, r), lambda g, r, x1, x2: g * over_length(x2, r))


def of_chosen(g, chosen, tied):
    """The cotangent of an operand that was chosen; half of it where both are the same."""
    return np.where(chosen, g, np.where(tied, 0.5 * g, 0))


binary(
    "numpy.maximum numpy.fmax",
    lambda g, r, x1, x2: of_chosen(g, (x1 > x2) | (x2 != x2), x1 == x2),
    lambda g, r, x1, x2: of_chosen(g, (x2 > x1) | (x1 != x1), x1 == x2),
)
binary(
    "numpy.minimum numpy.fmin",
    lambda g, r, x1, x2: of_chosen(g, (x1 < x2) | (x2 != x2), x1 == x2),
    lambda g, r, x1, x2: of_chosen(g, (x2 < x1) | (x1 != x1), x1 == x2),
)
differentiate(
    "numpy.copysign",
    broadcasts=True,
    x1=lambda g, r, x1, x2: np.where(np.signbit(x1) == np.signbit(x2), g, -g),
)
differentiate("numpy.ldexp", broadcasts=True, x1=lambda g, r, x1, x2: np.ldexp(g, x2))
differentiate("numpy.nextafter", broadcasts=True, x1=lambda g, r, x1, x2: g)

unary(
    negative=lambda g, r, x: -g,
    positive=lambda g, r, x: g,
    conjugate=lambda g, r, x: np.conjugate(g),
    absolute=lambda g, r, x: g * direction(x, r),
    fabs=lambda g, r, x: g * np.sign(x),
    reciprocal=lambda g, r, x: -g * np.conjugate(np.square(inverse(g, x))),
    square=lambda g, r, x: g * np.conjugate(2 * x),
    sqrt=lambda g, r, x: g * np.conjugate(0.5 * inverse(g, r)),
    cbrt=lambda g, r, x: g * (1 / 3) * inverse(g, r * r),
    exp=lambda g, r, x: g * np.conjugate(unless_unused(g, r)),
    exp2=lambda g, r, x: g * np.conjugate(float(np.log(2)) * unless_unused(g, r)),
    expm1=lambda g, r, x: g * np.conjugate(unless_unused(g, r) + 1),
    log=lambda g, r, x: g * np.conjugate(inverse(g, x)),
    log2=lambda g, r, x: g * np.conjugate(inverse(g, x)) / float(np.log(2)),
    log10=lambda g, r, x: g * np.conjugate(inverse(g, x)) / float(np.log(10)),
    log1p=lambda g, r, x: g * np.conjugate(inverse(g, 1 + x)),
    sin=lambda g, r, x: g * np.conjugate(np.cos(x)),
    cos=lambda g, r, x: -g * np.conjugate(np.sin(x)),
    tan=lambda g, r, x: g * np.conjugate(1 + r * r),
    arcsin=lambda g, r, x: g * np.conjugate(safe_root(g, 1 - x * x)),
    arccos=lambda g, r, x: -g * np.conjugate(safe_root(g, 1 - x * x)),
    arctan=lambda g, r, x: g * np.conjugate(inverse(g, 1 + x * x)),
    sinh=lambda g, r, x: g * np.conjugate(np.cosh(x)),
    cosh=lambda g, r, x: g * np.conjugate(np.sinh(x)),
    tanh=lambda g, r, x: g * np.conjugate(1 - r * r),
    arcsinh=lambda g, r, x: g * np.conjugate(safe_root(g, x * x + 1)),
    arccosh=lambda g, r, x: g * np.conjugate(inverse(g, np.sqrt(x - 1) * np.sqrt(x + 1))),
    arctanh=lambda g, r, x: g * np.conjugate(inverse(g, 1 - x * x)),
    degrees=lambda g, r, x: g * (180 / np.pi),
    rad2deg=lambda g, r, x: g * (180 / np.pi),
    radians=lambda g, r, x: g * (np.pi / 180),
    deg2rad=lambda g, r, x: g * (np.pi / 180),
)
differentiate("builtin.abs", x=lambda g, r, x: g * direction(x, r))
differentiate("ndarray.conj ndarray.conjugate", x=lambda g, r, x: np.conjugate(g))

zero(
    "numpy.floor_divide numpy.sign numpy.rint numpy.floor numpy.ceil numpy.trunc numpy.fix numpy.round numpy.around "
    "numpy.heaviside numpy.spacing numpy.gcd numpy.lcm numpy.equal numpy.not_equal numpy.less numpy.less_equal "
    "numpy.greater numpy.greater_equal numpy.logical_and numpy.logical_or numpy.logical_xor numpy.logical_not "
    "numpy.isnan numpy.isinf numpy.isfinite numpy.signbit numpy.bitwise_and numpy.bitwise_or numpy.bitwise_xor "
    "numpy.invert numpy.left_shift numpy.right_shift numpy.bitwise_count numpy.isclose numpy.isposinf numpy.isneginf "
    "numpy.isreal numpy.iscomplex operator.not operator.is operator.is_not operator.in operator.not_in"
)
refuse("numpy.divmod numpy.frexp numpy.modf", "it has two results; write them as two functions")
refuse("numpy.piecewise", "it calls functions of yours; write `numpy.where` or `numpy.select`")


def clip_a(g, r, a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    """The ends belong to the inside."""
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    if low is not None:
        g = np.where(a < low, 0, g)
    if high is not None:
        g = np.where(a > high, 0, g)
    return g


def clip_low(g, r, a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    """What was raised to the lower bound."""
    low = min if a_min is None else a_min
    return np.where((a < low) & (r == low), g, 0)


def clip_high(g, r, a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    """What was lowered to the upper bound."""
    high = max if a_max is None else a_max
    return np.where((a > high) & (r == high), g, 0)


differentiate("numpy.clip", broadcasts=True, a=clip_a, a_min=clip_low, a_max=clip_high, min=clip_low, max=clip_high)


def clip_method(g, r, a, min=None, max=None, out=None):
    """As `clip`."""
    if min is not None:
        g = np.where(a < min, 0, g)
    if max is not None:
        g = np.where(a > max, 0, g)
    return g


def clip_method_low(g, r, a, min=None, max=None, out=None):
    """As `clip`."""
    return np.where((a < min) & (r == min), g, 0)


def clip_method_high(g, r, a, min=None, max=None, out=None):
    """As `clip`."""
    return np.where((a > max) & (r == max), g, 0)


differentiate("ndarray.clip", broadcasts=True, a=clip_method, min=clip_method_low, max=clip_method_high)
differentiate(
    "numpy.where",
    broadcasts=True,
    x=lambda g, r, condition, x, y: np.where(condition, g, 0),
    y=lambda g, r, condition, x, y: np.where(condition, 0, g),
)
differentiate(
    "numpy.nan_to_num",
    x=lambda g, r, x, copy=True, nan=0.0, posinf=None, neginf=None: np.where(np.isfinite(x), g, 0),
)
differentiate("numpy.real", val=lambda g, r, val: g)
differentiate("numpy.imag", val=lambda g, r, val: g * 1j)
differentiate("numpy.angle", z=lambda g, r, z, deg=False: angle_z(g, z, deg))


def angle_z(g, z, deg):
    """i z / |z|^2."""
    scale = 180 / np.pi if deg else 1.0
    return g * scale * 1j * z * inverse(g, np.square(np.real(z)) + np.square(np.imag(z)))


def sinc_x(g, r, x):
    """(cos(pi x) - sinc(x)) / x, and zero at zero."""
    at_zero = x == 0
    return g * np.where(at_zero, 0, (np.cos(np.pi * x) - r) / np.where(at_zero, 1, x))


differentiate("numpy.sinc", x=sinc_x)
refuse("numpy.i0", "the Bessel function of order one is not in NumPy")


def select_choicelist(g, r, condlist, choicelist, default=0):
    """To the first choice whose condition holds."""
    parts = []
    free = np.ones(np.shape(r), bool)
    for condition in condlist:
        parts.append(np.where(free & condition, g, 0))
        free = free & ~condition
    return parts


differentiate("numpy.select", choicelist=select_choicelist)


def interp_x(g, r, x, xp, fp, left=None, right=None, period=None):
    """The slope of the segment that x is in."""
    right_end = np.clip(np.searchsorted(xp, x, side="right"), 1, len(xp) - 1)
    x_high, x_low = np.take(xp, right_end), np.take(xp, right_end - 1)
    slope = (np.take(fp, right_end) - np.take(fp, right_end - 1)) / (x_high - x_low)
    return np.where((x < xp[0]) | (x > xp[-1]), 0, g * slope)


def interp_fp(g, r, x, xp, fp, left=None, right=None, period=None):
    """The two ends of the segment, by their distance."""
    right_end = np.clip(np.searchsorted(xp, x, side="right"), 1, len(xp) - 1)
    x_high, x_low = np.take(xp, right_end), np.take(xp, right_end - 1)
    weight = np.clip((x - x_low) / (x_high - x_low), 0, 1)
    if left is not None:
        g = np.where(x < xp[0], 0, g)
    if right is not None:
        g = np.where(x > xp[-1], 0, g)
    return put_back(weight * g, right_end, fp) + put_back((1 - weight) * g, right_end - 1, fp)


differentiate("numpy.interp", x=interp_x, fp=interp_fp)


def unwrap_p(g, r, p, discont=None, axis=-1, *, period=6.283185307179586):
    """Whole periods are constants."""
    return g


differentiate("numpy.unwrap", p=unwrap_p)
differentiate("numpy.astype", x=lambda g, r, x, dtype, copy=True, device=None: g)


def cast_a(g, r, a, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """The cotangent takes the dtype of the operand where it is added up."""
    return g


differentiate("ndarray.astype", a=cast_a)
