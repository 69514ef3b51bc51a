"""The gradient column of the op table: how a cotangent of the result becomes cotangents of the operands.

A rule is an ordinary NumPy function. It takes the cotangent `g` of the result, the result `r`, and the arguments of the
op under the names of its own parameters; it returns the cotangent of one operand. Rules are captured as any function of
the user's is, so they are fused with what is around them, and have derivatives themselves.

A cotangent of a complex number z is dL/dRe(z) + i dL/dIm(z): the rule of a holomorphic function multiplies by the
conjugate of its derivative.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from gjit.ops.row import Op, table

Rule = Callable


class Standing(Enum):
    """What a row says about its derivative."""

    RULES = auto()
    ZERO = auto()  # the derivative is zero wherever it exists: floor, comparisons, sizes, integers
    REFUSED = auto()  # NOT_DIFFERENTIABLE: an error where a gradient would have to pass


@dataclass(frozen=True, slots=True)
class Gradient:
    """The gradient of one op.

    rules       by the name of the operand; the name `*` stands for one rule that gives a tuple for all inputs
    broadcasts  the rules give cotangents of the shape of the result, which are summed to the shape of the operand
    reason      why an op is REFUSED
    """

    standing: Standing
    rules: Mapping[str, Rule] = field(default_factory=dict)
    broadcasts: bool = False
    reason: str = ""

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """The parameters of the op as its rules name them."""
        rule = next(iter(self.rules.values()))
        return list(inspect.signature(rule).parameters.values())[2:]


ZERO = Gradient(Standing.ZERO)
NOT_DIFFERENTIABLE = Gradient(Standing.REFUSED)
gradients: dict[str, Gradient] = {}
"""By the name of the row."""


def differentiate(names: str, *, broadcasts: bool = False, **rules: Rule) -> None:
    """Give the rows of these names rules, one for each operand that has a derivative."""
    for name in names.split():
        gradients[name] = Gradient(Standing.RULES, rules, broadcasts)


def differentiate_all(names: str, rule: Rule, *, broadcasts: bool = False) -> None:
    """Give rows one rule that returns a tuple: a cotangent (or None) for each positional input."""
    for name in names.split():
        gradients[name] = Gradient(Standing.RULES, {"*": rule}, broadcasts)


def zero(names: str) -> None:
    """Say that the derivative of these rows is zero."""
    for name in names.split():
        gradients[name] = ZERO


def refuse(names: str, reason: str) -> None:
    """Say that these rows have no derivative, and why."""
    for name in names.split():
        gradients[name] = Gradient(Standing.REFUSED, reason=reason)


def gradient_of(op: Op | None) -> Gradient | None:
    """What the row says; an operator says what its ufunc says."""
    if op is None:
        return None
    found = gradients.get(op.name)
    return gradients.get(op.ufunc) if found is None and op.ufunc else found


def row_gradient(name: str) -> Gradient | None:
    """As `gradient_of`, for the name of an op."""
    return gradient_of(table.get(name))
