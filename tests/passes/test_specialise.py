"""What types inference proves, and what it must leave unknown."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.ir.graph import Graph
from gjit.ir.printer import print_graph
from gjit.ir.types import BOOL, FLOAT, INT, NONE, STR, UNKNOWN, ArrayType, ListType, ScalarType
from gjit.passes.specialise import specialise
from tests.passes.support import MATRIX, VECTOR, lines, parsed, type_of_result, typed

FLOAT64 = ScalarType(np.dtype("float64"))


def test_the_original_keeps_its_types():
    graph = parsed("graph f(%x) {\n %0 = operator.add(%x, 1)\n return %0\n}")
    before = print_graph(graph)
    assert str(specialise(graph, [INT]).block.terminator.inputs[0].type) == "int"
    assert print_graph(graph) == before


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        (INT, INT, "int"),
        (INT, FLOAT, "float"),
        (MATRIX, FLOAT, "array<float64, 2>"),
        (MATRIX, VECTOR, "array<float64, 2>"),
        (FLOAT64, FLOAT64, "scalar<float64>"),
        (UNKNOWN, MATRIX, "unknown"),
    ],
)
def test_operators(left, right, result):
    assert type_of_result("graph f(%x, %y) {\n %0 = operator.mul(%x, %y)\n return %0\n}", left, right) == result


def test_branches_join():
    text = """
        graph f(%c, %x, %y) {
          %0 = if(%c) {
            then { yield %x }
            else { yield %y }
          }
          return %0
        }
        """
    assert type_of_result(text, BOOL, MATRIX, VECTOR) == "array<float64, ?>"
    assert type_of_result(text, BOOL, INT, FLOAT) == "unknown"
    assert type_of_result(text, BOOL, INT, NONE) == "optional<int>"


def test_a_branch_that_leaves_says_nothing_about_the_result():
    text = """
        graph f(%c, %x) {
          %0 = if(%c) {
            then { yield %x }
            else { raise builtin.ValueError, None }
          }
          return %0
        }
        """
    assert type_of_result(text, BOOL, INT) == "int"


def test_a_branch_that_types_rule_out_does_not_count():
    text = """
        graph f(%x) {
          %0 = operator.is(%x, None)
          %1 = if(%0) {
            then { yield 1.5 }
            else { yield %x }
          }
          return %1
        }
        """
    assert type_of_result(text, INT) == "int"
    assert type_of_result(text, NONE) == "float"
    assert type_of_result(text, UNKNOWN) == "unknown"


LOOP = """
    graph f(%n, %start, %step) {
      %0 = builtin.range(%n)
      %1 = for(%0, %start) {
        body(%i, %s) {
          %2 = operator.add(%s, %step)
          continue %2
        }
        else(%t) { yield %t }
      }
      return %1
    }
    """


def test_loops_reach_a_fixed_point():
    assert type_of_result(LOOP, INT, INT, INT) == "int"
    assert type_of_result(LOOP, INT, VECTOR, MATRIX) == "array<float64, ?>"
    assert type_of_result(LOOP, INT, INT, FLOAT) == "unknown"
    accumulated = LOOP.replace("return %1", "%9 = operator.mul(%step, %1)\n return %9")
    assert type_of_result(accumulated, INT, INT, MATRIX) == "unknown"


def test_a_carried_value_that_changes_through_others_is_followed():
    text = """
        graph f(%n) {
          %r = builtin.range(%n)
          %1, %2, %3 = for(%r, 1, 2, 3) {
            body(%i, %a, %b, %c) {
              continue %b, %c, "text"
            }
            else(%x, %y, %z) { yield %x, %y, %z }
          }
          return %1
        }
        """
    assert type_of_result(text, INT) == "unknown"


def test_long_chains_of_carried_values_are_widened():
    count = 40
    carried = ", ".join(f"%a{i}" for i in range(count))
    results = ", ".join(f"%r{i}" for i in range(count))
    text = (
        f"graph f(%n) {{\n %0 = builtin.range(%n)\n {results} = for(%0, {', '.join(['1'] * count)}) {{\n"
        f" body(%i, {carried}) {{ continue {', '.join(f'%a{i}' for i in range(1, count))}, 1.5 }}\n"
        f" else({carried.replace('a', 'e')}) {{ yield {carried.replace('a', 'e')} }}\n }}\n return %r0\n}}"
    )
    assert type_of_result(text, INT) == "unknown"


def test_break_brings_its_own_values():
    text = """
        graph f(%n, %c) {
          %r = builtin.range(%n)
          %1 = for(%r, 1) {
            body(%i, %a) {
              if(%c) {
                then { break 2.5 }
                else { yield }
              }
              continue %i
            }
            else(%e) { yield %e }
          }
          return %1
        }
        """
    assert type_of_result(text, INT, BOOL) == "unknown"
    assert type_of_result(text.replace("break 2.5", "break 7"), INT, BOOL) == "int"


def test_an_endless_while_only_gives_what_it_breaks_with():
    text = """
        graph f(%c) {
          %1 = while("start") {
            condition(%a) { condition True, %a }
            body(%b) {
              if(%c) {
                then { break 2.5 }
                else { yield }
              }
              continue %b
            }
            else(%e) { yield %e }
          }
          return %1
        }
        """
    assert type_of_result(text, BOOL) == "float"


@pytest.mark.parametrize(
    ("iterable", "item"),
    [
        (MATRIX, "array<float64, 1>"),
        (VECTOR, "scalar<float64>"),
        (ArrayType(np.dtype(">f8"), 1), "scalar<float64>"),
        (ArrayType(np.dtype(object), 1), "unknown"),
        (ArrayType(None, None), "unknown"),
        (STR, "str"),
        (ListType(UNKNOWN), "unknown"),
    ],
)
def test_items_of_iterables(iterable, item):
    text = """
        graph f(%x) {
          for(%x) {
            body(%i) {
              return %i
            }
            else { yield }
          }
          return None
        }
        """
    graph = typed(text, iterable)
    assert str(graph.block.first.blocks[0].parameters[0].type) == item


def test_items_of_enumerate_and_zip():
    text = """
        graph f(%x, %n) {
          %0 = builtin.range(%n)
          %1 = builtin.zip(%x, %0)
          for(%1) {
            body(%i) {
              return %i
            }
            else { yield }
          }
          return None
        }
        """
    loop = typed(text, VECTOR, INT).block.last
    assert str(loop.blocks[0].parameters[0].type) == "tuple<scalar<float64>, int>"


CELL = """
    graph f(%x, %y) {
      %c = cell() {name="c"}
      store(%c, %x)
      %f = function() {name="g", parameters=()} {
        body() {
          %old = load(%c)
          store(%c, %y)
          return %old
        }
      }
      %0 = call(%f)
      %1 = load(%c)
      return %1
    }
    """


def test_a_cell_has_the_type_of_all_its_stores():
    assert type_of_result(CELL, INT, INT) == "int"
    assert type_of_result(CELL, INT, FLOAT) == "unknown"
    assert type_of_result(CELL, VECTOR, MATRIX) == "array<float64, ?>"


def test_a_cell_that_depends_on_itself():
    text = """
        graph f(%n) {
          %c = cell() {name="c"}
          store(%c, 0)
          %r = builtin.range(%n)
          for(%r) {
            body(%i) {
              %0 = load(%c)
              %1 = operator.add(%0, %i)
              store(%c, %1)
              continue
            }
            else { yield }
          }
          %2 = load(%c)
          return %2
        }
        """
    assert type_of_result(text, INT) == "int"
    assert type_of_result(text.replace("store(%c, 0)", "store(%c, 0.5)"), INT) == "float"
    assert type_of_result(text.replace("store(%c, 0)", 'store(%c, "a")'), INT) == "unknown"


def test_a_list_that_someone_may_change_has_unknown_elements():
    text = """
        graph f(%x) {
          %0 = list(%x, %x)
          %1 = getitem(%0, 0)
          return %1
        }
        """
    shared = text.replace("return %1", "return %0")
    assert type_of_result(shared, INT) == "list<unknown>"


def test_arrays_whose_shape_is_assigned_keep_no_layout():
    text = """
        graph f(%x) {
          setattr(%x, (2, 2)) {name="shape"}
          %0 = operator.add(%x, 1.0)
          return %x
        }
        """
    assert type_of_result(text, VECTOR) == "array<?, ?>"


CALLS = """
    graph main(%x) {
      %0 = invoke(%x) {function="square"}
      return %0
    }

    graph square(%y) {
      %0 = operator.mul(%y, %y)
      return %0
    }
    """


def test_calls_of_graphs_are_followed():
    assert type_of_result(CALLS, INT) == "int"
    assert type_of_result(CALLS, MATRIX) == "array<float64, 2>"


def test_return_types_are_remembered_for_the_next_call():
    known = {}
    specialise(parsed(CALLS), [INT], known)
    assert {key: str(value) for key, value in known.items()} == {("square", (INT,)): "int"}


def test_recursion_is_unknown():
    text = """
        graph f(%n) {
          %0 = invoke(%n) {function="down"}
          return %0
        }

        graph down(%m) {
          %0 = operator.sub(%m, 1)
          %1 = invoke(%0) {function="down"}
          return %1
        }
        """
    assert type_of_result(text, INT) == "unknown"


def test_deep_nesting_takes_no_stack():
    depth = 3000
    text = "graph f(%c) {\n" + "if(%c) {\n then { yield }\n else {\n" * depth + "yield }\n}\n" * depth
    graph = parsed(text.rstrip() + "\nreturn 1\n}")
    assert isinstance(specialise(graph, [BOOL]), Graph)


def test_methods_of_arrays_become_rows():
    text = """
        graph f(%x) {
          %m = getattr(%x) {name="sum"}
          %0 = call(%m, axis=0)
          return %0
        }
        """
    assert lines(typed(text, MATRIX)) == ["%0 = numpy.sum(%x, axis=0) {method=True} : array<float64, 1>", "return %0"]
    assert lines(typed(text, UNKNOWN))[1] == "%0 = call(%m, axis=0)"


def test_numbers_of_several_types_still_decide_what_they_meet():
    text = """
        graph f(%n, %x) {
          %0 = builtin.range(%n)
          %1 = for(%0, 0.0) {
            body(%i, %s) {
              %2 = getitem(%x, (0, 0))
              %3 = operator.add(%s, %2)
              continue %3
            }
            else(%t) { yield %t }
          }
          %4 = operator.add(%x, %1)
          return RESULT
        }
        """
    assert type_of_result(text.replace("RESULT", "%4"), INT, MATRIX) == "array<float64, 2>"
    assert type_of_result(text.replace("RESULT", "%1"), INT, MATRIX) == "unknown"
    # A float32 array keeps its dtype beside a float, but not beside a float64.
    singles = ArrayType(np.dtype("float32"), 2)
    text = (
        text.replace("getitem(%x, (0, 0))", "float64(2.0)")
        .replace("%2 = float64(2.0)\n", "")
        .replace("%s, %2", "%s, float64(2.0)")
    )
    assert type_of_result(text.replace("RESULT", "%4"), INT, singles) == "array<?, 2>"
