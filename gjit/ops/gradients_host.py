"""Gradients of Python's own functions on numbers: `math`, `cmath`, `float`, `sum`, and SciPy's special functions."""

from __future__ import annotations

import numpy as np

from gjit.ops.gradients import differentiate, refuse, zero
from gjit.ops.gradients_elementwise import inverse


def numbers(module, **rules):
    """A rule for each function of one number, by its name."""
    for name, rule in rules.items():
        differentiate(f"{module}.{name}", x=rule)


numbers(
    "math",
    sqrt=lambda g, r, x: g * 0.5 * inverse(g, r),
    cbrt=lambda g, r, x: g * inverse(g, 3 * r * r),
    exp=lambda g, r, x: g * r,
    exp2=lambda g, r, x: g * float(np.log(2)) * r,
    expm1=lambda g, r, x: g * (r + 1),
    log2=lambda g, r, x: g / (float(np.log(2)) * x),
    log10=lambda g, r, x: g / (float(np.log(10)) * x),
    log1p=lambda g, r, x: g / (1 + x),
    sin=lambda g, r, x: g * np.cos(x),
    cos=lambda g, r, x: -g * np.sin(x),
    tan=lambda g, r, x: g * (1 + r * r),
    asin=lambda g, r, x: g * inverse(g, np.sqrt(1 - x * x)),
    acos=lambda g, r, x: -g * inverse(g, np.sqrt(1 - x * x)),
    atan=lambda g, r, x: g / (1 + x * x),
    sinh=lambda g, r, x: g * np.cosh(x),
    cosh=lambda g, r, x: g * np.sinh(x),
    tanh=lambda g, r, x: g * (1 - r * r),
    asinh=lambda g, r, x: g / np.sqrt(x * x + 1),
    acosh=lambda g, r, x: g * inverse(g, np.sqrt(x * x - 1)),
    atanh=lambda g, r, x: g * inverse(g, 1 - x * x),
    degrees=lambda g, r, x: g * (180 / np.pi),
    radians=lambda g, r, x: g * (np.pi / 180),
    fabs=lambda g, r, x: g * np.sign(x),
    erf=lambda g, r, x: g * (2 / np.sqrt(np.pi)) * np.exp(-x * x),
    erfc=lambda g, r, x: -g * (2 / np.sqrt(np.pi)) * np.exp(-x * x),
)
numbers(
    "cmath",
    sqrt=lambda g, r, x: g * np.conjugate(0.5 * inverse(g, r)),
    exp=lambda g, r, x: g * np.conjugate(r),
    sin=lambda g, r, x: g * np.conjugate(np.cos(x)),
    cos=lambda g, r, x: -g * np.conjugate(np.sin(x)),
    tan=lambda g, r, x: g * np.conjugate(1 + r * r),
    sinh=lambda g, r, x: g * np.conjugate(np.cosh(x)),
    cosh=lambda g, r, x: g * np.conjugate(np.sinh(x)),
    tanh=lambda g, r, x: g * np.conjugate(1 - r * r),
)


def log_x(g, r, x, base=None):
    """1 / (x log(base))."""
    return g / x if base is None else g / (x * np.log(base))


differentiate("math.log", x=log_x)
differentiate("cmath.log", x=lambda g, r, x, base=None: g * np.conjugate(log_x(1.0, r, x, base)))
differentiate(
    "math.pow",
    x=lambda g, r, x, y: g * y * x ** (y - 1) if y != 0 else 0.0 * g,
    y=lambda g, r, x, y: g * r * np.log(x) if x != 0 else 0.0 * g,
)
differentiate(
    "math.atan2",
    y=lambda g, r, y, x: g * x / (x * x + y * y),
    x=lambda g, r, y, x: -g * y / (x * x + y * y),
)
differentiate("math.copysign", x=lambda g, r, x, y: g if (x < 0) == (y < 0) else -g)
differentiate("math.fmod", x=lambda g, r, x, y: g, y=lambda g, r, x, y: -g * np.trunc(x / y))
differentiate("math.remainder", x=lambda g, r, x, y: g, y=lambda g, r, x, y: -g * np.rint(x / y))
differentiate("math.ldexp", x=lambda g, r, x, i: np.ldexp(g, i))
differentiate("math.fsum", seq=lambda g, r, seq: [g] * len(seq))
differentiate(
    "builtin.sum", iterable=lambda g, r, iterable, start=0: [g] * len(iterable), start=lambda g, r, iterable, start=0: g
)
differentiate("builtin.float", x=lambda g, r, x=0.0: np.reshape(g, np.shape(x)))
differentiate("builtin.complex", real=lambda g, r, real=0, imag=0: g, imag=lambda g, r, real=0, imag=0: g * -1j)
differentiate("builtin.pow", base=lambda g, r, base, exp: g * exp * base ** (exp - 1) if exp != 0 else 0.0 * g)
zero(
    "builtin.int builtin.bool builtin.round builtin.len builtin.isinstance builtin.issubclass builtin.callable "
    "builtin.hasattr builtin.id builtin.hash builtin.str builtin.repr builtin.format builtin.print builtin.any "
    "builtin.all builtin.range builtin.type math.floor math.ceil math.trunc math.isnan math.isinf math.isfinite "
    "math.isclose math.comb math.factorial math.gcd math.isqrt math.lcm math.perm math.ulp cmath.isnan cmath.isinf "
    "cmath.isfinite cmath.isclose"
)
refuse("math.gamma math.lgamma", "the digamma function is not in NumPy")
refuse("math.nextafter math.frexp math.modf", "it has no useful derivative")
refuse("math.dist math.hypot math.prod", "write it with NumPy")
refuse("cmath.acos cmath.acosh cmath.asin cmath.asinh cmath.atan cmath.atanh", "use the function of NumPy")
refuse("cmath.rect cmath.log10 cmath.phase cmath.polar", "use the functions of NumPy")
refuse("builtin.divmod", "write `//` and `%`")


def special(**rules):
    """A rule for each function of `scipy.special`, by its name."""
    for name, rule in rules.items():
        differentiate(f"scipy.special.{name}", x=rule)


special(
    erf=lambda g, r, x: g * (2 / float(np.sqrt(np.pi))) * np.exp(-x * x),
    erfc=lambda g, r, x: -g * (2 / float(np.sqrt(np.pi))) * np.exp(-x * x),
    expit=lambda g, r, x: g * r * (1 - r),
    log_expit=lambda g, r, x: g * (1 - np.exp(r)),
    logit=lambda g, r, x: g * inverse(g, x * (1 - x)),
    entr=lambda g, r, x: g * (-1 - np.log(x)),
    ndtr=lambda g, r, x: g * float(1 / np.sqrt(2 * np.pi)) * np.exp(-0.5 * x * x),
)
differentiate(
    "scipy.special.xlogy",
    broadcasts=True,
    x=lambda g, r, x, y: g * np.log(np.where(y == 0, 1, y)),
    y=lambda g, r, x, y: g * x * inverse(g, y),
)
differentiate(
    "scipy.special.xlog1py",
    broadcasts=True,
    x=lambda g, r, x, y: g * np.log1p(y),
    y=lambda g, r, x, y: g * x * inverse(g, 1 + y),
)
