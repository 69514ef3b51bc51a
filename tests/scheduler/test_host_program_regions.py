"""Regions in host programs: the size check, the twin in place, the twin as a function."""

from __future__ import annotations

import ast
import types

import numpy as np

from gjit.ir.parser import parse_graph
from gjit.scheduler.bindings import Environment
from gjit.scheduler.host_program import compile_host_program, compile_twins, host_program

LENGTH = """graph length(%u: {u}, %v: {v}) {{
  %w = region(%u, %v) {{
    body(%a, %b) {{
      %0 = operator.mul(%a, %a)
      %1 = operator.mul(%b, %b)
      %2 = operator.add(%0, %1)
      %3 = numpy.sqrt(%2)
      yield %3
    }}
  }}
  return %w
}}"""
VECTOR, MATRIX = "array<float64, 1>", "array<float64, 2>"


def program_of(text: str, **types_of_inputs: str):
    return host_program(parse_graph(text.format(**types_of_inputs)), Environment(least_elements=lambda region: 8))


def test_twin_is_printed_in_place_behind_a_size_check():
    assert program_of(LENGTH, u=VECTOR, v=VECTOR).source == (
        "def length(u, v):\n"
        "    if u.size < 8:\n"
        "        w = numpy_sqrt(u * u + v * v)\n"
        "    else:\n"
        "        w = region_0(u, v)\n"
        "    return w"
    )


def test_array_of_the_highest_rank_leads():
    assert "if v.size < 8:" in program_of(LENGTH, u=VECTOR, v=MATRIX).source
    assert "if v.size < 8:" in program_of(LENGTH, u="float", v=VECTOR).source


def test_unknown_operand_is_checked_to_be_an_array():
    text = program_of(LENGTH, u="unknown", v="float").source
    assert "if type(u) is not numpy_ndarray or u.size < 8:" in text


def test_region_without_arrays_is_always_called():
    assert "if" not in program_of(LENGTH, u="float", v="int").source


def test_twin_as_a_function():
    program = program_of(LENGTH, u=VECTOR, v=VECTOR)
    assert [ast.unparse(twin).splitlines()[0] for twin in program.twins] == ["def twin_0(a, b):"]
    cells = {region.name: types.CellType() for region in program.regions}
    (twin,) = compile_twins(program, {}, extra_bindings=cells)
    assert twin(np.array([3.0]), np.array([4.0])).tolist() == [5.0]
    calls = []
    cells["region_0"].cell_contents = lambda u, v: calls.append(u.size) or twin(u, v)
    function = compile_host_program(program, {}, extra_bindings=cells)
    assert function(np.full(7, 3.0), np.full(7, 4.0)).tolist() == [5.0] * 7
    assert calls == []
    assert function(np.full(8, 3.0), np.full(8, 4.0)).tolist() == [5.0] * 8
    assert calls == [8]


def test_region_that_ends_in_a_store_has_no_result():
    program = program_of(
        """graph double(%u: array<float64, 1>) {{
          region(%u) {{
            body(%a) {{
              %0 = getitem(%a, slice(None, -1, None))
              %1 = operator.mul(%0, 2)
              setitem(%a, slice(1, None, None), %1)
              yield
            }}
          }}
          return None
        }}"""
    )
    assert "        u[1:] = u[:-1] * 2" in program.source
    assert "        region_0(u)" in program.source
    (twin,) = compile_twins(program, {}, extra_bindings={"region_0": None})
    values = np.arange(3.0)
    assert twin(values) is None
    assert values.tolist() == [0.0, 0.0, 2.0]


def test_several_results():
    program = program_of(
        """graph both(%u: array<float64, 1>) {{
          %x, %y = region(%u) {{
            body(%a) {{
              %0 = operator.add(%a, 1)
              %1 = operator.mul(%a, %0)
              yield %0, %1
            }}
          }}
          %2 = tuple(%x, %y)
          return %2
        }}"""
    )
    assert "x, y = region_0(u)" in program.source
    function = compile_host_program(program, {}, extra_bindings={"region_0": None})
    assert [result.tolist() for result in function(np.array([2.0]))] == [[3.0], [6.0]]


def test_temporary_arrays_are_deleted_after_their_last_use():
    program = program_of(
        """graph chain(%u: array<float64, 1>) {{
          %0 = getitem(%u, slice(1, None, None)) : array<float64, 1>
          %1 = region(%u, %0) : array<float64, 1> {{
            body(%a, %b) {{ %2 = operator.mul(%a, %b) yield %2 }}
          }}
          %3 = numpy.add(%1, %1) : array<float64, 1>
          %y = numpy.cumsum(%3) : array<float64, 1>
          %4 = builtin.print(%y)
          return %y
        }}"""
    )
    lines = [line.strip() for line in program.source.splitlines()]
    assert lines[lines.index("value = region_0(u, getitem)") + 1 :] == [
        "del getitem",
        "y = numpy_cumsum(numpy_add(value, value))",
        "del value",
        "print(y)",
        "return y",
    ]


REGION = """region(%u, %v) {{
    body(%a, %b) {{
      %m = operator.mul(%a, %a)
      %n = operator.add(%m, %b)
      yield %n
    }}
  }}"""


def test_one_result_without_a_name_stays_inside_the_expression_that_reads_it():
    text = "graph f(%u: array<float64, 1>, %v: float) {{ %0 = REGION %1 = operator.mul(%v, %0) return %1 }}"
    region = REGION.replace("%m", "%2").replace("%n", "%3")
    assert program_of(text.replace("REGION", region)).source.splitlines()[1:] == [
        "    return v * (u * u + v if u.size < 8 else region_0(u, v))"
    ]
    named = program_of(text.replace("REGION", region).replace("%0", "%t")).source
    assert "        t = u * u + v\n" in named
    assert named.endswith("return v * t")


def test_a_name_inside_the_twin_is_kept():
    text = "graph f(%u: array<float64, 1>, %v: float) {{ %0 = REGION %1 = OPERATION return %1 }}"
    text = text.replace("REGION", REGION.replace("%n", "%3"))
    added = program_of(text.replace("OPERATION", "operator.mul(%v, %0)")).source
    assert "v * ((m := (u * u)) + v if u.size < 8 else region_0(u, v))" in added
    assert "        m = u * u\n" in program_of(text.replace("OPERATION", "numpy.exp(%0)")).source


def test_what_waits_without_a_name_gets_none_from_a_variable_behind_it():
    text = """graph f(%x, %y) {{
      %0 = numpy.exp(%x)
      %1 = getitem(%y, 0)
      %2 = numpy.multiply(%1, %1)
      %3 = operator.{operator}(%0, %2)
      return %3
    }}"""
    assert "return numpy_exp(x) * numpy_multiply((getitem := y[0]), getitem)" in program_of(text, operator="mul").source
    assert "    getitem = y[0]\n" in program_of(text, operator="mod").source


def test_a_region_reads_no_input_twice_from_an_expression():
    """The size check, the twin and the call read each input: it is a variable."""
    text = """graph f(%x: array<float64, 1>) {{
      %0 = numpy.cumsum(%x) : array<float64, 1>
      %1 = region(%0) : array<float64, 1> {{
        body(%a) {{ %2 = operator.mul(%a, 2) %3 = operator.sub(%2, %a) yield %3 }}
      }}
      %4 = numpy.sort(%1)
      return %4
    }}"""
    assert program_of(text).source.splitlines()[1:] == [
        "    cumsum = numpy_cumsum(x)",
        "    return numpy_sort(cumsum * 2 - cumsum if cumsum.size < 8 else region_0(cumsum))",
    ]
