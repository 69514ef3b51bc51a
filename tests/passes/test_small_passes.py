"""Inlining, canonical forms, and variables that become values."""

from __future__ import annotations

import re
import textwrap

import pytest

from gjit.ir.types import BOOL, FLOAT, INT, UNKNOWN
from gjit.passes.canonicalise import canonicalise
from gjit.passes.forward_cells import forward_cells
from gjit.passes.inline import inline
from tests.passes.support import MATRIX, VECTOR, after, lines, parsed

UPDATE = """
    graph f(%u, %e) {
      %v = getitem(%u, slice(0, 2, None))
      %n = operator.iadd(%v, %e)
      setitem(%u, slice(0, 2, None), %n)
      return None
    }
    """


def test_storing_a_view_into_itself_is_dropped():
    assert after(canonicalise, UPDATE, MATRIX, FLOAT) == [
        "%v = getitem(%u, slice(0, 2, None)) : array<float64, 2>",
        "%n = operator.iadd(%v, %e) : array<float64, 2>",
        "return None",
    ]


@pytest.mark.parametrize(
    ("text", "types"),
    [
        (UPDATE, (UNKNOWN, FLOAT)),  # a list
        (UPDATE, (MATRIX, UNKNOWN)),  # an operand with its own operators
        (UPDATE.replace("slice(0, 2, None)", "0"), (VECTOR, FLOAT)),  # an item, no view
        (UPDATE.replace("iadd", "add"), (MATRIX, FLOAT)),  # a new array
        (UPDATE.replace("setitem(%u, slice(0", "setitem(%u, slice(1"), (MATRIX, FLOAT)),
    ],
)
def test_stores_that_do_something_stay(text: str, types: tuple):
    assert any(line.startswith("setitem") for line in after(canonicalise, text, *types))


@pytest.mark.parametrize(
    ("expression", "type_", "result"),
    [
        ("builtin.float(%x)", FLOAT, "%x"),
        ("builtin.float(%x)", INT, "%0"),
        ("builtin.int(%x)", BOOL, "%0"),
        ("numpy.asarray(%x)", MATRIX, "%x"),
        ("numpy.asarray(%x)", UNKNOWN, "%0"),
        ("numpy.asarray(%x, dtype=builtin.float)", MATRIX, "%0"),
    ],
)
def test_conversions_that_give_their_argument(expression: str, type_, result: str):
    assert after(canonicalise, f"graph f(%x) {{\n %0 = {expression}\n return %0\n}}", type_)[-1] == f"return {result}"


def test_displays_give_their_elements():
    text = """
        graph f(%x, %y) {
          %t = tuple(%x, %y)
          %a, %b = unpack(%t) {before=2, star=False, after=0}
          %c = getitem(%t, -1)
          %n = builtin.len(%t)
          %r = tuple(%b, %a, %c, %n)
          return %r
        }
        """
    assert (
        after(canonicalise, text, UNKNOWN, UNKNOWN)[1]
        == "%r = tuple(%y, %x, %y, 2) : tuple<unknown, unknown, unknown, int>"
    )


def test_indices_out_of_range_and_wrong_counts_still_raise():
    text = """
        graph f(%x) {
          %t = tuple(%x, %x)
          %c = getitem(%t, 2)
          %a = unpack(%t) {before=1, star=False, after=0}
          return %a
        }
        """
    assert len(after(canonicalise, text, INT)) == 4


VARIABLE = """
    graph f(%x, %g) {
      %c = cell() {name="c"}
      store(%c, %x)
      %0 = call(%g)
      %1 = load(%c)
      store(%c, %0)
      %2 = load(%c)
      %3 = tuple(%1, %2)
      return %3
    }
    """


def test_loads_after_stores_become_values():
    assert after(forward_cells, VARIABLE, INT, UNKNOWN)[-2:] == [
        "%1 = tuple(%x, %0) : tuple<unknown, unknown>",
        "return %1",
    ]


def test_a_variable_that_is_only_set_goes():
    assert not any("cell" in line or "store" in line for line in after(forward_cells, VARIABLE, INT, UNKNOWN))


def test_a_call_may_reach_an_inner_function_that_sets_the_variable():
    function = """%h = function() {name="h", parameters=()} {
            body() {
              store(%c, 5)
              return None
            }
          }
          store(%c, %x)"""
    result = after(forward_cells, VARIABLE.replace("store(%c, %x)", function, 1), INT, UNKNOWN)
    assert any("= load(%c)" in line for line in result)


def test_blocks_that_set_the_variable_end_what_is_known():
    text = """
        graph f(%x, %b) {
          %c = cell() {name="c"}
          store(%c, %x)
          if(%b) {
            then {
              store(%c, 2)
              yield
            }
            else { yield }
          }
          %1 = load(%c)
          return %1
        }
        """
    assert any("load(%c)" in line for line in after(forward_cells, text, INT, BOOL))
    assert after(forward_cells, text.replace("store(%c, 2)", ""), INT, BOOL)[-1] == "return %x"


CALL = """
    graph main(%x) {
      %y = invoke(%x, 2.0) {function="scale"} @1:4
      return %y
    }

    graph scale(%a, %b) {
      %0 = operator.mul(%a, %b) @7:4
      %1 = invoke(%0) {function="shift"} @8:4
      return %1
    }

    graph shift(%p) {
      %0 = operator.add(%p, 1) @12:4
      return %0
    }
    """


def test_small_functions_are_inlined_through_each_other_with_their_spans():
    text = 'file 0 "a.py"\n' + textwrap.dedent(CALL)
    graph = parsed(text)
    assert inline(graph)
    result = [line for line in lines(graph) if "operator" in line or "invoke" in line]
    assert [line.split(" = ")[1] for line in result] == [
        "operator.mul(%x, 2.0) @7:4",
        'operator.add(%"shift.p", 1) @12:4',
    ]


def test_keywords_are_bound_by_name():
    graph = parsed(re.sub(" @[0-9:]+", "", CALL).replace("invoke(%x, 2.0)", "invoke(b=%x, a=2.0)"))
    assert inline(graph)
    assert '%"shift.p" = operator.mul(2.0, %x)' in lines(graph)


def test_parameters_and_locals_of_inlined_functions_are_named_and_what_they_return_is_not():
    graph = parsed(
        """
        graph main(%x, %y) {
          %0 = numpy.exp(%y)
          %1 = invoke(%x, %0) {function="add"}
          %2 = numpy.exp(%1)
          %3 = invoke(%2) {function="same"}
          %4 = operator.mul(%y, %3)
          return %4
        }

        graph add(%a, %b) {
          %t = operator.add(%a, %b)
          return %t
        }

        graph same(%p) { return %p }
        """
    )
    assert inline(graph)
    assert lines(graph) == [
        '%"add.b" = numpy.exp(%y)',
        '%0 = operator.add(%x, %"add.b")',
        "%1 = numpy.exp(%0)",
        "%2 = operator.mul(%y, %1)",
        "return %2",
    ]


def test_results_that_the_function_names_and_the_caller_adds_are_left_alone():
    text = """
        graph main(%x, %y) {{
          %0 = numpy.exp(%y)
          %1 = invoke(%0) {{function="change"}}
          %2 = operator.{operator}(%x, %1)
          return %2
        }}

        graph change(%p) {{
          %q = operator.isub(%p, 1)
          return %q
        }}
        """
    assert not inline(parsed(text.format(operator="add")))
    assert inline(parsed(text.format(operator="mod")))
    twice = text.replace("operator.isub(%p, 1)", "operator.sub(%p, 1)\n %r = builtin.print(%q)")
    assert not inline(parsed(twice.format(operator="mul")))
    assert inline(
        parsed(twice.format(operator="mul").replace("%1 = invoke", "%n = invoke").replace("%x, %1", "%x, %n"))
    )


def test_recursion_and_control_flow_are_left_alone():
    text = """
        graph main(%x) {
          %0 = invoke(%x) {function="loop"}
          %1 = invoke(%0) {function="branch"}
          return %1
        }

        graph loop(%a) {
          %0 = invoke(%a) {function="loop"}
          return %0
        }

        graph branch(%a) {
          %0 = if(%a) {
            then { yield 1 }
            else { yield 2 }
          }
          return %0
        }
        """
    graph = parsed(text)
    inline(graph)
    result = lines(graph)
    assert sum('function="loop"' in line for line in result[: result.index("return %1") + 1]) == 1
    assert any('function="branch"' in line for line in result)


def test_calls_that_need_defaults_are_left_alone():
    graph = parsed(
        """
        graph main(%x) {
          %0 = invoke(%x) {function="scale"}
          return %0
        }

        graph scale(%a, %b = default) {
          %0 = operator.mul(%a, %b)
          return %0
        }
        """
    )
    assert not inline(graph)
