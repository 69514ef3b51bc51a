"""NumPy computes a large sum or product into an operand that nobody else can see: a temporary without a name.

The result then has the layout of that operand, where C and Fortran order meet. Where it is the right operand, it is
taken first, and with that change the bits of complex products and which of two NaNs stays. So whether a temporary has
a name must be as in the user's program.
"""

from __future__ import annotations

REUSING = frozenset(
    {"operator.add", "operator.sub", "operator.mul", "operator.truediv", "operator.floordiv"}
    | {"operator.lshift", "operator.rshift", "operator.and", "operator.or", "operator.xor"}
)
"""The operators that may compute into their left operand; those that commute, into their right one too."""
