from __future__ import annotations

import warnings

import numpy as np
import pytest

from gjit.ir.types import BOOL, INT, NONE, UNKNOWN
from gjit.passes.fold import fold
from tests.passes.support import MATRIX, after


def folded(expression: str) -> str:
    """What `return` returns after folding one node."""
    return after(fold, f"graph f(%x) {{\n %0 = {expression}\n return %0\n}}", UNKNOWN)[-1]


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("operator.add(2, 3)", "5"),
        ("operator.add(2, True)", "3"),
        ("operator.mul(-1.0, 0.0)", "-0.0"),
        ("operator.neg(0.0)", "-0.0"),
        ("operator.truediv(1, 4)", "0.25"),
        ("operator.pow(2, 10)", "1024"),
        ("operator.lt(1, 2)", "True"),
        ("operator.not(0)", "True"),
        ("tuple(1, 2.0)", "(1, 2.0)"),
        ("slice(None, 3, None)", "slice(None, 3, None)"),
        ('operator.add("a", "b")', '"ab"'),
        ("operator.mul(float32(2.0), 3)", "float32(6.0)"),
        ("numpy.sqrt(4.0)", "float64(2.0)"),
        ("math.floor(2.5)", "2"),
        ("builtin.len((1, 2))", "2"),
    ],
)
def test_python_and_numpy_say_what_constants_give(expression: str, result: str):
    assert folded(expression) == f"return {result}"


@pytest.mark.parametrize(
    "expression",
    [
        "operator.truediv(1, 0)",  # raises
        "operator.truediv(float64(1.0), 0)",  # warns
        "numpy.sqrt(-1.0)",  # warns
        "operator.add(int8(100), int8(100))",  # warns
        "numpy.exp(-1e300)",  # underflows: an error under `errstate(under="raise")`
        "operator.pow(2, 1000000000)",  # large
        "operator.lshift(1, 1000000)",
        'operator.mul("a", 100000)',
        "operator.mul((1, 2), 100000)",
        'operator.mod("%1000000d", 1)',
        "operator.getitem((1, 2), 5)",
        "list(1, 2)",  # mutable
        "numpy.add((1, 2), 1)",  # an array
        "builtin.print(1)",
        "math.factorial(100000)",
    ],
)
def test_what_raises_warns_or_grows_stays(expression: str):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert folded(expression) == "return %0"


def test_folding_does_not_depend_on_the_error_state():
    with np.errstate(all="ignore"):
        assert folded("numpy.sqrt(-1.0)") == "return %0"


BRANCH = """
    graph f(%c, %x) {
      %1 = if(%c) {
        then {
          %2 = operator.mul(%x, 2)
          yield %2
        }
        else { yield %x }
      }
      return %1
    }
    """


def test_a_decided_branch_is_replaced_by_its_block():
    assert after(fold, BRANCH.replace("if(%c)", "if(True)"), BOOL, INT) == [
        "%0 = operator.mul(%x, 2) : int",
        "return %0",
    ]
    assert after(fold, BRANCH.replace("if(%c)", "if(0.0)"), BOOL, INT) == ["return %x"]
    assert len(after(fold, BRANCH, BOOL, INT)) == 8


def test_types_decide_identity_with_none_and_plain_classes():
    text = BRANCH.replace("%1 = if", "%t = operator.is_not(%c, None)\n%1 = if").replace("if(%c)", "if(%t)")
    assert after(fold, text, NONE, INT)[-1] == "return %x"
    assert after(fold, text, INT, INT)[-1] == "return %0"
    assert len(after(fold, text, UNKNOWN, INT)) == 9
    text = text.replace("operator.is_not(%c, None)", "builtin.isinstance(%c, (builtin.float, numpy.ndarray))")
    assert after(fold, text, MATRIX, INT)[-1] == "return %0"
    assert after(fold, text, INT, INT)[-1] == "return %x"


def test_a_taken_block_that_leaves_is_kept_as_a_branch():
    text = """
        graph f(%x) {
          if(True) {
            then { return 1 }
            else { yield }
          }
          return 2
        }
        """
    assert "then { return 1 }" in after(fold, text, INT)


@pytest.mark.parametrize(
    ("op", "left", "result"),
    [("and", "0", "0"), ("and", '"x"', "%0"), ("or", "0.0", "%0"), ("or", "(1, 2)", "(1, 2)")],
)
def test_and_and_or_give_the_operand(op: str, left: str, result: str):
    text = (
        f"graph f(%x) {{\n %0 = {op}({left}) {{\n right {{\n %1 = operator.neg(%x)\n yield %1\n }}\n }}\n return %0\n}}"
    )
    assert after(fold, text, INT)[-1] == f"return {result}"


def test_an_attribute_that_the_type_tells_is_a_constant():
    text = """
        graph f(%x) {
          %0 = getattr(%x) {name="ndim"}
          %1 = getattr(%x) {name="dtype"}
          %2 = operator.eq(%1, dtype(float64))
          %3 = tuple(%0, %2)
          return %3
        }
        """
    assert after(fold, text, MATRIX) == ["return (2, True)"]
