"""The interpreter against what Python does."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from gjit.ir.interpreter import Interpreter
from gjit.ir.parser import parse_graph
from gjit.ops import table


def function_of(op: str):
    row = table.get(op)
    return None if row is None else row.function


def run(text: str, *arguments: object) -> object:
    return Interpreter(function_of).run(parse_graph(textwrap.dedent(text).strip()), *arguments)


def test_operators_and_calls():
    text = """
        graph f(%x, %y) {
          %0 = operator.mul(%x, %y)
          %1 = numpy.sqrt(%0)
          %2 = operator.add(%1, 1)
          return %2
        }
        """
    result = run(text, np.array([1.0, 4.0]), 4.0)
    np.testing.assert_array_equal(result, [3.0, 5.0])


LOOP = """
    graph f(%items, %stop) {
      %0, %1 = for(%items, 0, "none") {
        body(%i, %sum, %last) {
          %2 = operator.eq(%i, %stop)
          if(%2) {
            then { break %sum, "stopped" }
            else { yield }
          }
          %3 = operator.lt(%i, 0)
          if(%3) {
            then { continue %sum, "skipped" }
            else { yield }
          }
          %4 = operator.add(%sum, %i)
          continue %4, "added"
        }
        else(%s, %l) {
          %5 = operator.neg(%s)
          yield %5, %l
        }
      }
      %6 = tuple(%0, %1)
      return %6
    }
    """


@pytest.mark.parametrize(
    ("items", "stop", "result"),
    [
        ([], 9, (0, "none")),
        ([1, 2, 3], 9, (-6, "added")),
        ([1, 2, -3], 9, (-3, "skipped")),
        ([1, 2, 3], 3, (3, "stopped")),
    ],
)
def test_for_with_break_continue_and_else(items, stop, result):
    assert run(LOOP, items, stop) == result


def test_while_passes_on_what_its_condition_gives():
    text = """
        graph f(%n) {
          %0, %1 = while(0, 1) {
            condition(%a, %b) {
              %2 = operator.lt(%a, %n)
              condition %2, %a, %b
            }
            body(%c, %d) {
              %3 = operator.add(%c, 1)
              %4 = operator.mul(%d, 2)
              continue %3, %4
            }
            else(%e, %f) { yield %e, %f }
          }
          return %1
        }
        """
    assert run(text, 10) == 1024


TRY = """
    graph f(%x, %log) {
      %append = getattr(%log) {name="append"}
      %c = cell() {name="c"}
      try() {
        body {
          %0 = operator.truediv(1, %x)
          store(%c, %0)
          yield
        }
        else {
          %1 = call(%append, "else")
          yield
        }
        finally {
          %2 = call(%append, "finally")
          yield
        }
        type { yield builtin.ZeroDivisionError }
        handler(%error) {
          %3 = call(%append, %error)
          store(%c, 0.0)
          yield
        }
        type { yield (builtin.TypeError, builtin.KeyError) }
        handler(%error2) { raise builtin.ValueError, None }
      }
      %4 = load(%c)
      return %4
    }
    """


def test_try_without_an_exception():
    log: list = []
    assert run(TRY, 4, log) == 0.25
    assert log == ["else", "finally"]


def test_try_with_a_handler():
    log: list = []
    assert run(TRY, 0, log) == 0.0
    assert isinstance(log[0], ZeroDivisionError)
    assert log[1:] == ["finally"]


def test_a_handler_that_raises_keeps_the_context():
    log: list = []
    with pytest.raises(ValueError) as raised:
        run(TRY, "text", log)
    assert isinstance(raised.value.__context__, TypeError)
    assert raised.value.__suppress_context__
    assert log == ["finally"]


def test_an_exception_that_nobody_handles():
    class Hostile:
        def __rtruediv__(self, other):
            raise StopIteration("mine")

    log: list = []
    with pytest.raises(StopIteration, match="mine"):
        run(TRY, Hostile(), log)
    assert log == ["finally"]


def test_with_enters_leaves_and_suppresses():
    text = """
        graph f(%manager, %x) {
          with(%manager) {
            body(%entered) {
              %0 = operator.truediv(%entered, %x)
              return %0
            }
          }
          return "suppressed"
        }
        """

    class Manager:
        def __init__(self):
            self.seen = []

        def __enter__(self):
            return 6

        def __exit__(self, kind, error, traceback):
            self.seen.append(kind)
            return True

    manager = Manager()
    assert run(text, manager, 3) == 2.0
    assert run(text, manager, 0) == "suppressed"
    assert manager.seen == [None, ZeroDivisionError]
    with pytest.raises(TypeError, match="context manager protocol"):
        run(text, 5, 1)


def test_match():
    text = """
        graph f(%x, %limit) {
          %0 = match(%x, %limit) {patterns=("[first, *rest]", "_0", "{'k': v}")} {
            guard(%a, %b) {
              %1 = operator.gt(%a, 0)
              yield %1
            }
            body(%c, %d) {
              %2 = tuple(%c, %d)
              yield %2
            }
            guard { yield }
            body { yield "limit" }
            guard(%v) { yield }
            body(%w) { yield %w }
            otherwise { yield "other" }
          }
          return %0
        }
        """
    assert run(text, [1, 2, 3], 7) == (1, [2, 3])
    assert run(text, [-1, 2], 7) == "other"
    assert run(text, 7, 7) == "limit"
    assert run(text, {"k": 5}, 7) == 5


CLOSURE = """
    graph f(%n, %step) {
      %total = cell() {name="total"}
      store(%total, 0)
      %add = function(%step) {name="add", parameters=(parameter("amount", ""), parameter("by", "=", True))} {
        body(%amount, %by) {
          %0 = load(%total)
          %1 = operator.mul(%amount, %by)
          %2 = operator.add(%0, %1)
          store(%total, %2)
          return %2
        }
      }
      %3 = call(%add, %n)
      %4 = call(%add, amount=%n, by=1)
      return %4
    }
    """


def test_inner_functions_share_cells_and_have_defaults():
    assert run(CLOSURE, 3, 10) == 33


def test_an_unbound_variable_raises_as_in_python():
    text = """
        graph f() {
          %c = cell() {name="late"}
          %0 = load(%c)
          return %0
        }
        """
    with pytest.raises(UnboundLocalError, match="local variable 'late'"):
        run(text)


def test_comprehensions_are_nested_and_generators_lazy():
    text = """
        graph f(%x, %y) {
          %0 = comprehension(%x) {kind="KIND"} {
            clause(%a) {
              comprehension.for(%y) {
                clause(%b) {
                  %1 = operator.ne(%a, %b)
                  comprehension.if(%1) {
                    clause {
                      %2 = tuple(%a, %b)
                      yield %2
                    }
                  }
                  yield
                }
              }
              yield
            }
          }
          return %0
        }
        """
    expected = [(a, b) for a in (1, 2) for b in (1, 2, 3) if a != b]
    assert run(text.replace("KIND", "list"), (1, 2), (1, 2, 3)) == expected
    assert run(text.replace("KIND", "set"), (1, 2), (1, 2, 3)) == set(expected)
    generator = run(text.replace("KIND", "generator"), iter((1, 2)), (1, 2, 3))
    assert next(generator) == (1, 2)
    assert list(generator) == expected[1:]


def test_containers_and_strings():
    text = """
        graph f(%x, %more) {
          %0 = list(%x, *%more)
          %1 = dict("a", %x, **%more2, "b", 2)
          %2, %3, %4 = unpack(%0) {before=1, star=True, after=1}
          %5 = format(%x, "05.1f") {conversion=""}
          %6 = join("x=", %5)
          %7 = tuple(%1, %2, %3, %4, %6)
          return %7
        }
        """.replace("%more2", "%m").replace("f(%x, %more)", "f(%x, %more, %m)")
    assert run(text, 1.5, [2, 3, 4], {"c": 9}) == ({"a": 1.5, "c": 9, "b": 2}, 1.5, [2, 3], 4, "x=001.5")
    with pytest.raises(ValueError, match="not enough values to unpack"):
        run(text, 1.5, [], {})


def test_calls_of_graphs_and_deep_recursion():
    text = """
        graph f as f(%n) {
          %0 = operator.eq(%n, 0)
          %1 = if(%0) {
            then { yield 0 }
            else {
              %2 = operator.sub(%n, 1)
              %3 = invoke(n=%2) {function="f"}
              %4 = operator.add(%3, 1)
              yield %4
            }
          }
          return %1
        }
        """
    assert run(text, 5000) == 5000


def test_a_subclass_counts():
    class Counting(Interpreter):
        def __init__(self):
            super().__init__(function_of)
            self.counts: dict[str, int] = {}

        def run_node(self, node, inputs):
            self.counts[node.op] = self.counts.get(node.op, 0) + 1
            return super().run_node(node, inputs)

    counting = Counting()
    counting.run(parse_graph(textwrap.dedent(LOOP).strip()), [1, 2, 3], 9)
    assert counting.counts == {"operator.eq": 3, "operator.lt": 3, "operator.add": 3, "operator.neg": 1, "tuple": 1}


def test_a_class_is_made_as_python_makes_it():
    text = """
    graph f(%x) {
      %A = class(builtin.dict) {name='A'} {
        body(%names, %class: cell) {
          class.store(%names, %x) {name='value'}
          %old = class.load(%names) {name='value'}
          %new = operator.add(%old, 1)
          class.store(%names, %new) {name='next'}
          class.annotate(%names, builtin.int) {name='next'}
          %other = class.load(%names) {name='missing'} { otherwise { yield 7 } }
          class.store(%names, %other) {name='other'}
          class.delete(%names) {name='value'}
          %method = function() {name='method', parameters=(parameter('self', ''),), doc='Says its class.'} {
            body(%self) {
              %own = load(%class)
              return %own
            }
          }
          class.store(%names, %method) {name='method'}
          yield
        }
      }
      return %A
    }
    """
    made = run(text, 4)
    assert (made.__name__, made.__mro__[1], made.next, made.other) == ("A", dict, 5, 7)
    assert made.__annotations__ == {"next": int}
    assert "value" not in vars(made)
    assert made().method() is made
    assert made.method.__doc__ == "Says its class."


@pytest.mark.parametrize(("op", "name"), [("%v = class.load", "a"), ("class.delete", "b")])
def test_a_name_that_a_class_body_has_not_bound(op, name):
    body = f"body(%n, %c: cell) {{ {op}(%n) {{name='{name}'}} yield }}"
    text = f"graph f() {{ %A = class() {{name='A'}} {{ {body} }} return %A }}"
    with pytest.raises(NameError, match=f"name '{name}' is not defined"):
        run(text)


GROUPS = """
graph f(%errors) {
  %log = list()
  try() {groups=True} {
    body {
      %group = call(builtin.ExceptionGroup, "several", %errors)
      raise %group
    }
    else { yield }
    finally { yield }
    type { yield builtin.ValueError }
    handler(%e) {
      %append = getattr(%log) {name='append'}
      %0 = call(%append, %e)
      yield
    }
    type { yield builtin.KeyError }
    handler(%e.1) {
      raise builtin.LookupError
    }
  }
  return %log
}
"""


def test_groups_of_exceptions_are_shared_out():
    (caught,) = run(GROUPS, [ValueError(1), ValueError(2)])
    assert [error.args for error in caught.exceptions] == [(1,), (2,)]
    with pytest.raises(ExceptionGroup) as raised:
        run(GROUPS, [ValueError(1), KeyError(2), OSError(3)])
    assert {type(error) for error in raised.value.exceptions} >= {LookupError}
