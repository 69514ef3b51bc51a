"""Statements that stand where Python wants an expression, and what a user sees of a generated function."""

from __future__ import annotations

import traceback
import warnings

import numpy as np
import pytest

from tests.scheduler.printing import generated, of_text


def counted(n, start=5, *, step=2):
    return list(range(start, n, step))


def test_truth_is_asked_once():
    class Asked:
        count = 0

        def __bool__(self):
            Asked.count += 1
            return False

    _, function = of_text(
        """graph f(%x, %out) {
          %0 = and(%x) { right { setitem(%out, 0, 1) yield 2 } }
          return %0
        }"""
    )
    asked = Asked()
    assert function(asked, []) is asked
    assert Asked.count == 1


def test_statements_in_a_guard_and_an_except_clause():
    _, function = of_text(
        """graph f(%x, %log) {
          %r = match(%x) { patterns = ("[a, b]",) } {
            guard(%a, %b) {
              setitem(%log, 0, %a)
              %1 = operator.gt(%a, %b)
              yield %1
            }
            body(%c, %d) { yield %d }
            otherwise() { yield 0 }
          }
          try() {
            body { %z = operator.truediv(1, 0) yield }
            else { yield }
            finally { yield }
            type {
              setitem(%log, 1, 5)
              yield named("builtin.ZeroDivisionError")
            }
            handler(%e) { return %r }
          }
          return None
        }"""
    )
    log = [0, 0]
    assert function([2, 1], log) == 1
    assert log == [2, 5]
    assert function([1, 2], log) == 0


def test_condition_that_needs_statements():
    program, function = of_text(
        """graph f(%xs, %n) {
          %last = while(0) {
            condition(%i) {
              setitem(%xs, 0, %i)
              %0 = operator.lt(%i, %n)
              condition %0, %i
            }
            body(%j) { %1 = operator.add(%j, 1) continue %1 }
            else(%k) { %2 = operator.mul(%k, 10) yield %2 }
          }
          return %last
        }"""
    )
    assert "while True:" in program.source
    xs = [None]
    assert function(xs, 3) == 30
    assert xs == [3]


def failing(x, y):
    first = [1, 2]
    for i in range(3):
        second = first[i] + x
        np.log(y - i)
    return second


def lines_of(function) -> list[tuple[int, str]]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        with pytest.raises(IndexError) as error:
            function(1, np.array([0.0]))
    frames = [(frame.lineno, frame.line, frame.colno) for frame in traceback.extract_tb(error.tb)]
    return [*frames[1:], *((warning.lineno, warning.filename) for warning in found)]


def test_tracebacks_and_warnings_show_the_lines_of_the_user():
    assert lines_of(generated(failing)) == lines_of(failing)


@pytest.mark.parametrize("node", ["getitem(-1, 0)", "operator.is(%x, 1)", "getitem(None, 0)", "call((1, 2))"])
def test_constants_at_odd_places_give_no_warning_when_they_are_compiled(node):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, function = of_text(
            f"graph f(%x) {{ %0 = if(%x) {{ then {{ %1 = {node} yield %1 }} else {{ yield 3 }} }} return %0 }}"
        )
    assert function(0) == 3


def test_function_keeps_its_names():
    function = generated(counted)
    assert (function.__name__, function.__qualname__) == (counted.__name__, counted.__qualname__)
    assert function.__code__.co_filename == __file__
    assert function.__code__.co_firstlineno == counted.__code__.co_firstlineno
    assert function.__globals__ is counted.__globals__


def test_what_is_unpacked_and_never_read_takes_no_variable_of_the_same_pattern():
    program, function = of_text(
        """graph f(%pairs) {
          %out = list()
          for(%pairs) {
            body(%pair) {
              %left, %right = unpack(%pair) {before=2, star=False, after=0}
              %a, %unpack = unpack(%left) {before=2, star=False, after=0}
              %unpack.1, %b = unpack(%right) {before=2, star=False, after=0}
              %t = tuple(%unpack, %b)
              %append = getattr(%out) {name="append"}
              %0 = call(%append, %t)
              continue
            }
            else { yield }
          }
          return %out
        }"""
    )
    assert function([((1, 2), (3, 4))]) == [(2, 4)], program.source
