"""NumPy computes a large sum or product into an operand that nobody else can see: a temporary without a name.

Where the reused operand is the right one, it is taken first, so the layout of the result follows it, and with it the
bits of complex products and which of two NaNs stays. Whether a temporary has a name must then be as in the user's
program.
"""

from __future__ import annotations

REUSING = frozenset({"operator.add", "operator.mul", "operator.and", "operator.or", "operator.xor"})
"""The operators that may compute into their right operand."""
