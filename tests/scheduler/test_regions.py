from __future__ import annotations

import textwrap

import pytest

from gjit.ir.parser import parse_graph
from gjit.ir.verify import verify_graph
from gjit.scheduler.regions import form_regions

LINE = "array<float64, 1>"


def formed(body: str, parameters: str = f"%x: {LINE}, %y: {LINE}") -> list[str]:
    """The ops of the graph's lines after region formation; those inside a region are indented by a dot."""
    lines = textwrap.dedent(body).strip().splitlines()
    text = "\n".join([f"graph program({parameters}) {{", *(f"  {line}" for line in lines), "}"])
    graph = parse_graph(text)
    count = form_regions(graph)
    verify_graph(graph)
    nodes = [node for node in graph.block.all_nodes() if node.op == "region"]
    assert [node.attributes["index"] for node in nodes] == list(range(count))
    return _ops(graph.block, "")


def _ops(block, indent: str) -> list[str]:
    found = []
    for node in [*block, block.terminator]:
        found.append(indent + node.op)
        for inner in node.blocks:
            found += _ops(inner, indent + ".")
    return found


def test_a_chain_becomes_one_region():
    assert formed(f"""
        %a = operator.mul(2.5, %x) : {LINE}
        %b = operator.add(%a, %y) : {LINE}
        %c = numpy.sqrt(%b) : {LINE}
        return %c
    """) == ["region", ".operator.mul", ".operator.add", ".numpy.sqrt", ".yield", "return"]


def test_inputs_parameters_and_yields():
    graph = parse_graph(
        textwrap.dedent(f"""
        graph program(%x: {LINE}, %s: float) {{
          %a = operator.mul(%x, %s) : {LINE}
          %b = operator.add(%a, %x) : {LINE}
          %c = tuple(%a, %b)
          return %c
        }}""").strip()
    )
    assert form_regions(graph) == 1
    (region,) = [node for node in graph.block if node.op == "region"]
    assert [value.name for value in region.inputs] == ["x", "s"]
    assert [value.name for value in region.results] == ["a", "b"]
    assert [value.producer.op for value in region.blocks[0].terminator.inputs] == ["operator.mul", "operator.add"]


@pytest.mark.parametrize(
    "lines",
    [
        f"%a = operator.mul(%x, %y) : {LINE}\nreturn %a",
        "%a = operator.mul(2.0, 3.0) : float\n%b = operator.add(%a, 1.0) : float\nreturn %b",
        f"%a = numpy.cumsum(%x) : {LINE}\n%b = numpy.sort(%a) : {LINE}\nreturn %b",
        f"%a = numpy.add(%x, %y, where=True) : {LINE}\n%b = numpy.add(%x, %y, dtype='f4') : {LINE}\nreturn %b",
    ],
)
def test_single_operations_scalars_and_other_ops_form_none(lines):
    assert "region" not in formed(lines)


def test_an_op_that_somebody_could_observe_cuts_the_run():
    assert formed(f"""
        %a = operator.mul(%x, %y) : {LINE}
        %b = operator.add(%a, %y) : {LINE}
        %p = builtin.print(%x)
        %c = operator.sub(%b, %y) : {LINE}
        %d = operator.add(%c, %c) : {LINE}
        return %d
    """) == [
        *["region", ".operator.mul", ".operator.add", ".yield"],
        "builtin.print",
        *["region", ".operator.sub", ".operator.add", ".yield", "return"],
    ]


def test_views_metadata_and_python_arithmetic_move_above():
    assert formed(
        f"""
        %a = operator.mul(%x, %y) : {LINE}
        %v = getitem(%y, slice(1, None, None)) : {LINE}
        %n = getattr(%x) {{name='shape'}} : tuple<int>
        %h = operator.mul(%s, 2.0) : float
        %b = operator.add(%v, %h) : {LINE}
        return %b
    """,
        f"%x: {LINE}, %y: {LINE}, %s: float",
    ) == ["getitem", "getattr", "operator.mul", "region", ".operator.mul", ".operator.add", ".yield", "return"]


@pytest.mark.parametrize(
    "node",
    [
        f"%v = getitem(%a, slice(1, None, None)) : {LINE}",
        f"%v = getitem(%x, slice(None, None, 0)) : {LINE}",
        "%v = getitem(%x, 3) : scalar<float64>",
        "%v = operator.truediv(%u, 2.0) : unknown",
        "%v = operator.mul(%s, %u) : unknown",
        "%v = getattr(%u) {name='shape'} : unknown",
    ],
)
def test_what_may_fail_or_depends_on_the_run_does_not_move(node):
    ops = formed(
        f"%a = operator.mul(%x, %y) : {LINE}\n{node}\n%b = operator.add(%a, %y) : {LINE}\n"
        "%c = tuple(%v, %b)\nreturn %c",
        f"%x: {LINE}, %y: {LINE}, %s: float, %u: unknown",
    )
    assert "region" not in ops


def test_unknown_operands_join_where_an_array_is_proven():
    assert formed(f"%a = operator.mul(%x, %u) : unknown\n%b = operator.add(%a, %x) : {LINE}\nreturn %b",
                  f"%x: {LINE}, %u: unknown")[0] == "region"  # fmt: skip
    assert "region" not in formed("%a = operator.mul(%u, %u) : unknown\n%b = operator.add(%a, %u) : unknown\nreturn %b",
                                  "%u: unknown")  # fmt: skip


def test_numpy_scalars_between_two_array_operations_do_not_cut():
    assert formed(
        f"""
        %a = operator.sub(%x, %m) : {LINE}
        %t = operator.add(%m, 1e-8) : scalar<float64>
        %b = operator.truediv(%a, %t) : {LINE}
        %e = operator.add(%m, 1.0) : scalar<float64>
        %c = tuple(%b, %e)
        return %c
    """,
        f"%x: {LINE}, %m: scalar<float64>",
    ) == ["region", ".operator.sub", ".operator.add", ".operator.truediv", ".yield", "operator.add", "tuple", "return"]


def test_a_store_ends_a_region():
    assert formed(f"""
        %a = operator.add(%x, 1.0) : {LINE}
        setitem(%y, slice(1, -1, None), %a)
        %b = operator.mul(%y, 2.0) : {LINE}
        %c = operator.mul(%b, 2.0) : {LINE}
        return %c
    """) == [
        *["region", ".operator.add", ".setitem", ".yield"],
        *["region", ".operator.mul", ".operator.mul", ".yield", "return"],
    ]


@pytest.mark.parametrize("index", ["%y", "True", "(1, %y)"])
def test_a_store_by_data_stays_outside(index):
    lines = f"""
        %a = operator.add(%x, 1.0) : {LINE}
        %b = operator.add(%a, 1.0) : {LINE}
        setitem(%x, INDEX, %b)
        return None
    """
    if index.startswith("("):
        lines = lines.replace("setitem", "%i = tuple(1, %y) : tuple<int, array<int64, 1>>\nsetitem")
        index = "%i"
    assert ".setitem" not in formed(lines.replace("INDEX", index))


def test_in_place_operators_and_out_join():
    assert formed(f"""
        %a = operator.iadd(%x, %y) : {LINE}
        %b = numpy.sqrt(%a, out=%a) : {LINE}
        %c = operator.imul(%b, 0.5) : {LINE}
        return %c
    """) == ["region", ".operator.iadd", ".numpy.sqrt", ".operator.imul", ".yield", "return"]


def test_a_total_is_the_last_that_sees_its_region():
    assert formed(f"""
        %a = operator.mul(%x, %x) : {LINE}
        %m = numpy.mean(%a) : scalar<float64>
        %b = operator.sub(%a, %m) : {LINE}
        %c = operator.mul(%b, %b) : {LINE}
        return %c
    """) == [
        *["region", ".operator.mul", ".numpy.mean", ".yield"],
        *["region", ".operator.sub", ".operator.mul", ".yield", "return"],
    ]


def test_row_reductions_with_constant_arguments_join():
    matrix = "array<float64, 2>"
    assert formed(
        f"""
        %m = numpy.max(%x, axis=-1, keepdims=True) : {matrix}
        %d = operator.sub(%x, %m) : {matrix}
        %e = numpy.exp(%d) : {matrix}
        %s = numpy.sum(%e, -1, keepdims=True) : {matrix}
        %r = operator.truediv(%e, %s) : {matrix}
        return %r
    """,
        f"%x: {matrix}",
    )[:6] == ["region", ".numpy.max", ".operator.sub", ".numpy.exp", ".numpy.sum", ".operator.truediv"]


def test_blocks_of_loops_and_branches_have_their_own():
    assert formed(
        f"""
        %r = for(%n, %x) : {LINE} {{
          body(%i: int, %u: {LINE}) {{
            %a = operator.mul(%u, 2.0) : {LINE}
            %b = operator.add(%a, 1.0) : {LINE}
            continue %b
          }}
          else(%w: {LINE}) {{
            yield %w
          }}
        }}
        return %r
    """,
        f"%x: {LINE}, %n: range",
    ) == ["for", ".region", "..operator.mul", "..operator.add", "..yield", ".continue", ".yield", "return"]


@pytest.mark.parametrize(
    ("parameter", "call", "joins"),
    [
        ("array<float64, 2>", "numpy.sum(%a, axis=-1)", True),
        ("array<float64, 2>", "numpy.sum(%a, axis=1)", True),
        ("array<float64, 2>", "numpy.sum(%a, axis=0)", False),
        ("array<float64, ?>", "numpy.sum(%a, axis=1)", False),
        ("array<float64, 1>", "numpy.sum(%a, axis=-1)", False),
        ("array<float64, 2>", "numpy.sum(%a)", True),
        ("array<float16, 2>", "numpy.sum(%a)", False),
        ("array<int64, 2>", "numpy.mean(%a)", False),
        ("array<complex128, 2>", "numpy.max(%a)", False),
        ("array<float64, 2>", "numpy.sum(%a, axis=-1, dtype='f4')", False),
        ("array<float64, 2>", "numpy.var(%a, axis=-1, ddof=1)", False),
    ],
)
def test_which_reductions_join(parameter, call, joins):
    ops = formed(
        f"%a = operator.mul(%x, %x) : {parameter}\n%b = operator.add(%a, %a) : {parameter}\n%c = {call}\n"
        "%d = tuple(%b, %c)\nreturn %d",
        f"%x: {parameter}",
    )
    assert ("." + call.split("(")[0] in ops) == joins


def test_arithmetic_of_python_numbers_is_part_of_a_region():
    assert formed(
        f"""
        %a = operator.mul(%x, %y) : {LINE}
        %v = operator.pow(%s, 2) : float
        %h = operator.mul(0.5, %v) : float
        %b = operator.add(%a, %h) : {LINE}
        return %b
    """,
        f"%x: {LINE}, %y: {LINE}, %s: float",
    ) == ["region", ".operator.mul", ".operator.pow", ".operator.mul", ".operator.add", ".yield", "return"]


def test_division_by_a_number_that_is_not_zero_moves_above():
    program = f"%a = operator.mul(%x, %y) : {LINE}\n%h = operator.truediv(%s, {{}}) : float\n"
    program += f"%b = operator.add(%a, %h) : {LINE}\nreturn %b"
    parameters = f"%x: {LINE}, %y: {LINE}, %s: float"
    assert formed(program.format("2"), parameters)[0] == "operator.truediv"
    assert formed(program.format("0.0"), parameters)[0] == "region"


FRESH = "library(%x) {function='numpy.fft.fft'} : array<complex128, 1>"


@pytest.mark.parametrize(
    "program",
    [
        f"%0 = {FRESH}\n%1 = operator.mul(%x, %0) : {LINE}\n%2 = operator.sub(%1, %y) : {LINE}\nreturn %2",
        f"%0 = operator.mul(%y, %y) : {LINE}\n%1 = operator.sub(%0, %y) : {LINE}\n%2 = {FRESH}\n"
        f"%3 = operator.mul(%1, %2) : {LINE}\nreturn %3",
        f"%0 = {FRESH}\n%1 = operator.sub(%y, 1) : {LINE}\n%2 = operator.mul(%0, %1) : {LINE}\nreturn %2",
    ],
)
def test_operands_that_numpy_may_reuse_stay_where_they_have_no_name(program):
    assert "region" not in formed(program, f"%x: {LINE}, %y: {LINE}")


def test_operands_that_numpy_cannot_reuse_join():
    named = f"%t = {FRESH}\n%a = operator.mul(%t, %x) : {LINE}\n%b = operator.sub(%a, %y) : {LINE}\nreturn %b"
    assert "region" in formed(named, f"%x: {LINE}, %y: {LINE}")
    view = f"%0 = getitem(%x, 3) : {LINE}\n%1 = operator.mul(%x, %0) : {LINE}\n"
    view += f"%2 = operator.sub(%1, %y) : {LINE}\nreturn %2"
    assert "region" in formed(view, f"%x: {LINE}, %y: {LINE}")


UNKNOWNS = "%x: unknown, %y: unknown"


def test_unknown_operands_join_next_to_a_function_of_numpy():
    assert formed(
        """
        %a = operator.mul(%x, %y)
        %b = operator.neg(%a)
        %c = numpy.exp(%b)
        %d = operator.add(1.0, %c)
        return %d
    """,
        UNKNOWNS,
    ) == ["region", ".operator.mul", ".operator.neg", ".numpy.exp", ".operator.add", ".yield", "return"]


def test_operators_on_unknown_values_alone_stay_python():
    assert formed(
        """
        %a = operator.mul(%x, %y)
        %b = operator.add(%a, 1)
        %c = operator.gt(%b, %x)
        return %c
    """,
        UNKNOWNS,
    ) == ["operator.mul", "operator.add", "operator.gt", "return"]


def test_an_unknown_operand_continues_a_run_on_an_array():
    assert formed(
        """
        %a = operator.mul(%x, %y)
        %b = operator.add(%a, %y)
        return %b
    """,
        f"%x: {LINE}, %y: unknown",
    ) == ["region", ".operator.mul", ".operator.add", ".yield", "return"]


def test_what_numpy_made_is_taken_for_an_array():
    assert formed(
        """
        %a = operator.matmul(%x, %y)
        %b = operator.add(%a, %y)
        %c = operator.mul(%b, 2)
        return %c
    """,
        UNKNOWNS,
    ) == ["operator.matmul", "region", ".operator.add", ".operator.mul", ".yield", "return"]


def test_text_joins_no_region():
    assert formed(
        """
        %a = operator.add(%x, %y)
        %b = numpy.sqrt(%x)
        return %a
    """,
        "%x: unknown, %y: str",
    ) == ["operator.add", "numpy.sqrt", "return"]
