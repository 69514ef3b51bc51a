from __future__ import annotations

from gjit.ir.types import BOOL, INT, UNKNOWN
from gjit.passes.dead_code import dead_code
from tests.passes.support import MATRIX, after


def test_unused_work_without_effects_goes():
    text = """
        graph f(%n) {
          %0 = operator.mul(%n, 2)
          %1 = operator.add(%0, 1)
          %2 = list(%1)
          return %n
        }
        """
    assert after(dead_code, text, INT) == ["return %n"]


def test_what_may_raise_or_warn_or_run_code_stays():
    text = """
        graph f(%n, %x, %u) {
          %0 = operator.truediv(1, %n)
          %1 = numpy.sqrt(%x)
          %2 = operator.add(%u, 1)
          return 0
        }
        """
    assert len(after(dead_code, text, INT, MATRIX, UNKNOWN)) == 4


def test_unused_results_of_branches_and_what_only_feeds_them_go():
    text = """
        graph f(%c, %n) {
          %0, %1 = if(%c) {
            then {
              %2 = operator.mul(%n, 2)
              yield %2, %n
            }
            else { yield 0, 1 }
          }
          return %1
        }
        """
    assert after(dead_code, text, BOOL, INT) == [
        "%0 = if(%c) : int {",
        "then { yield %n }",
        "else { yield 1 }",
        "}",
        "return %0",
    ]


LOOP = """
    graph f(%x, %n) {
      %0 = builtin.range(%n)
      %1, %2 = for(%0, 0, 1.5) {
        body(%i, %a, %b) {
          %3 = operator.add(%a, %i)
          %4 = operator.mul(%b, 0.5)
          continue %3, %4
        }
        else(%c, %d) { yield %c, %d }
      }
      return %1
    }
    """


def test_a_carried_value_that_only_feeds_itself_goes():
    assert after(dead_code, LOOP, MATRIX, INT) == [
        "%0 = builtin.range(%n) : range",
        "%1 = for(%0, 0) : int {",
        "body(%i: int, %a: int) {",
        "%2 = operator.add(%a, %i) : int",
        "continue %2",
        "}",
        "else(%c: int) { yield %c }",
        "}",
        "return %1",
    ]


def test_a_loop_without_effects_goes_but_not_what_its_range_may_raise():
    assert after(dead_code, LOOP.replace("return %1", "return 0"), MATRIX, INT)[-1:] == ["return 0"]
    assert len(after(dead_code, LOOP.replace("return %1", "return 0"), MATRIX, INT)) <= 2
    # An iteration over an unknown object may run any code.
    text = LOOP.replace("return %1", "return 0").replace("for(%0", "for(%x")
    assert any("for(%x" in line for line in after(dead_code, text, UNKNOWN, INT))


def test_a_carried_value_that_another_one_needs_stays():
    text = LOOP.replace("operator.add(%a, %i)", "operator.add(%a, %b)")
    assert any("for(%0, 0, 1.5)" in line for line in after(dead_code, text, MATRIX, INT))


def test_a_break_brings_values_that_stay_in_step():
    text = """
        graph f(%n, %q) {
          %0 = builtin.range(%n)
          %1, %2 = for(%0, 0, 1.5) {
            body(%i, %a, %b) {
              %4 = operator.gt(%i, %q)
              if(%4) {
                then { break %i, 2.5 }
                else { yield }
              }
              continue %i, %b
            }
            else(%c, %d) { yield %c, %d }
          }
          return %2
        }
        """
    result = after(dead_code, text, INT, INT)
    assert "then { break 2.5 }" in result
    assert "continue %b" in result
    assert "else(%d: float) { yield %d }" in result


def test_while_keeps_its_condition():
    text = """
        graph f(%n) {
          %1, %2 = while(0, 1.5) {
            condition(%a, %b) {
              %3 = operator.lt(%a, %n)
              condition %3, %a, %b
            }
            body(%c, %d) {
              %4 = operator.add(%c, 1)
              continue %4, %d
            }
            else(%e, %f) { yield %e, %f }
          }
          return None
        }
        """
    result = after(dead_code, text, INT)
    assert result[0] == "%0 = while(0) : int {"
    assert "condition %1, %a" in result


def test_a_function_nobody_calls_goes_with_everything_in_it():
    text = """
        graph f(%n) {
          %f = function() {name="g", parameters=()} {
            body() {
              %0 = builtin.print(%n)
              return %0
            }
          }
          return %n
        }
        """
    assert after(dead_code, text, INT) == ["return %n"]
    assert len(after(dead_code, text.replace("return %n", "return %f"), INT)) > 2


def test_writes_stay():
    text = """
        graph f(%x) {
          setitem(%x, 0, 1.0)
          %0 = operator.iadd(%x, 1.0)
          return None
        }
        """
    assert len(after(dead_code, text, MATRIX)) == 3
