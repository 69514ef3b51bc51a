from __future__ import annotations

import numpy as np

from gjit.ir.types import BOOL, INT, UNKNOWN, ArrayType
from gjit.passes.common_subexpressions import common_subexpressions
from tests.passes.support import MATRIX, after

INTEGERS = ArrayType(np.dtype("int64"), 1)


def merged(text: str, *types) -> list[str]:
    return after(common_subexpressions, text, *types)


def pair(first: str, second: str, between: str = "") -> str:
    return f"graph f(%x, %y) {{\n %a = {first}\n {between}\n %b = {second}\n %0 = operator.sub(%a, %b)\n return %0\n}}"


def test_equal_work_is_done_once():
    assert merged(pair("operator.mul(%x, 2)", "operator.mul(%x, 2)"), INT, INT) == [
        "%a = operator.mul(%x, 2) : int",
        "%0 = operator.sub(%a, %a) : int",
        "return %0",
    ]


def test_constants_of_different_kinds_are_different():
    for left, right in (("1", "True"), ("1", "1.0"), ("0.0", "-0.0")):
        text = pair(f"operator.mul(%x, {left})", f"operator.mul(%x, {right})")
        assert len(merged(text, INT, INT)) == 4


def test_work_of_an_outer_block_is_seen_inside_but_not_the_other_way():
    text = """
        graph f(%c, %x) {
          %a = operator.mul(%x, 2)
          %0 = if(%c) {
            then {
              %b = operator.mul(%x, 2)
              %d = operator.add(%x, 2)
              %e = operator.mul(%b, %d)
              yield %e
            }
            else { yield %a }
          }
          %d2 = operator.add(%x, 2)
          %1 = operator.mul(%0, %d2)
          return %1
        }
        """
    result = merged(text, BOOL, INT)
    assert result.count("%b = operator.mul(%x, 2) : int") == 0
    assert "%d2 = operator.add(%x, 2) : int" in result


def test_unknown_operands_may_run_code():
    assert len(merged(pair("operator.mul(%x, 2)", "operator.mul(%x, 2)"), UNKNOWN, INT)) == 4


def test_what_may_warn_would_warn_twice():
    assert len(merged(pair("operator.mul(%x, 2.0)", "operator.mul(%x, 2.0)"), MATRIX, INT)) == 4


def test_views_whose_elements_are_only_read_are_one():
    view = "getitem(%x, slice(1, None, None))"
    assert len(merged(pair(view, view), MATRIX, INT)) == 3


def test_views_are_two_where_one_is_written_or_handed_on():
    view = "getitem(%x, slice(1, None, None))"
    text = pair(view, view).replace("operator.sub(%a", "operator.isub(%a")
    assert len(merged(text, MATRIX, INT)) == 4
    text = pair(view, view).replace("operator.sub(%a, %b)", "tuple(%a, %b)")
    assert len(merged(text, MATRIX, INT)) == 4


def test_a_write_between_two_reads():
    item = "getitem(%x, 0)"
    assert len(merged(pair(item, item), INTEGERS, INT)) == 3
    assert len(merged(pair(item, item, "setitem(%x, 0, %y)"), INTEGERS, INT)) == 5


def test_a_loop_may_have_written_in_its_last_turn():
    text = """
        graph f(%x, %n) {
          %a = getitem(%x, 0)
          %0 = builtin.range(%n)
          for(%0) {
            body(%i) {
              %b = getitem(%x, 0)
              %c = operator.add(%b, 1)
              setitem(%x, 0, %c)
              continue
            }
            else { yield }
          }
          return %a
        }
        """
    assert "%b = getitem(%x, 0) : scalar<int64>" in merged(text, INTEGERS, INT)


def test_nothing_is_shared_with_inner_functions():
    text = """
        graph f(%x) {
          %a = operator.mul(%x, 2)
          %f = function() {name="g", parameters=()} {
            body() {
              %b = operator.mul(%x, 2)
              return %b
            }
          }
          %0 = tuple(%a, %f)
          return %0
        }
        """
    assert "%b = operator.mul(%x, 2) : int" in merged(text, INT)


def test_a_truth_that_runs_code_may_write():
    text = """
        graph f(%x, %u) {
          %a = getitem(%x, 0)
          if(%u) {
            then { yield }
            else { yield }
          }
          %b = getitem(%x, 0)
          %0 = tuple(%a, %b)
          return %0
        }
        """
    assert "%b = getitem(%x, 0) : scalar<int64>" in merged(text, INTEGERS, UNKNOWN)
    assert "%b = getitem(%x, 0) : scalar<int64>" not in merged(text, INTEGERS, BOOL)
