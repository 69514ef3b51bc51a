"""Which loops become regions, what is read of them, and their scalar part: text in, text out."""

from __future__ import annotations

import textwrap

import pytest

from gjit.ir.parser import parse_graph
from gjit.ir.printer import print_graph
from gjit.ir.verify import verify_graph
from gjit.scheduler.host_program import host_program
from gjit.scheduler.loop_regions import form_loop_regions, with_inner_regions
from gjit.scheduler.nests import form_nests
from gjit.scheduler.regions import form_regions
from gjit.scheduler.scalar_part import scalar_part
from gjit.scheduler.turn_reader import turns_of
from gjit.scheduler.turns import is_loop_region

LINE = "array<float64, 1>"
PARAMETERS = f"%x: {LINE}, %y: {LINE}, %k: float, %n: int, %u: unknown, %l: list<float>"


def graph_of(lines: str, parameters: str = PARAMETERS):
    body = textwrap.indent(textwrap.dedent(lines).strip(), "  ")
    return parse_graph(f"graph program({parameters}) {{\n{body}\n}}")


def formed(lines: str, parameters: str = PARAMETERS):
    """The graph after loop regions have been formed."""
    graph = graph_of(lines, parameters)
    form_loop_regions(graph)
    verify_graph(graph)
    assert print_graph(parse_graph(print_graph(graph))) == print_graph(graph)
    return graph


def loop_regions(graph):
    return [node for node in graph.all_nodes() if is_loop_region(node)]


def loop(body: str, carried: str = "%u.1: array<float64, 1>", initial: str = "%x", passed: str = "%b") -> str:
    """A counted loop with these lines as its body, and what it carries."""
    kind = carried.partition(": ")[2]
    return f"""
        %0 = builtin.range(%n) : range
        %1 = for(%0, {initial}) : {kind} {{
          body(%i: int, {carried}) {{
            {textwrap.indent(textwrap.dedent(body).strip(), " " * 12).strip()}
            continue {passed}
          }}
          else(%last: {kind}) {{ yield %last }}
        }}
        return %1
    """


STEP = f"%a = operator.mul(%u.1, %k) : {LINE}\n%b = operator.add(%a, %y) : {LINE}"


def test_a_loop_with_its_range_becomes_one_region():
    graph = formed(loop(STEP))
    (region,) = loop_regions(graph)
    assert [value.name for value in region.inputs] == ["n", "x", "k", "y"]
    assert [node.op for node in region.blocks[0]] == ["builtin.range", "for"]
    assert region.results[0].type == region.blocks[0].last.results[0].type
    assert [node.op for node in graph.block] == ["region"]


def test_other_regions_are_not_formed_inside_and_numbers_go_on():
    graph = graph_of(loop(STEP).replace("return %1", f"""%c = operator.mul(%1, 2.0) : {LINE}
        %d = operator.add(%c, %y) : {LINE}
        return %d"""))  # fmt: skip
    first = form_loop_regions(graph)
    assert (first, form_regions(graph, first)) == (1, 1)
    assert [node.attributes["index"] for node in graph.all_nodes() if node.op == "region"] == [0, 1]


def test_what_is_the_same_in_each_turn_comes_before():
    graph = formed(loop(f"%h = operator.mul(%k, 0.5) : float\n%s = getattr(%y) {{name='shape'}} : tuple<int>\n{STEP}"))
    assert [node.op for node in graph.block] == ["operator.mul", "getattr", "region"]


@pytest.mark.parametrize(
    "lines",
    [
        f"%a = numpy.sum(%u.1) : scalar<float64>\n%b = operator.add(%u.1, %a) : {LINE}",
        f"%a = getitem(%u.1, slice(1, None, None)) : {LINE}\n%b = operator.add(%u.1, %a) : {LINE}",
        f"%a = numpy.cumsum(%u.1) : {LINE}\n%b = operator.add(%u.1, %a) : {LINE}",
        f"%p = builtin.print(%i) : none\n{STEP}",
        f"setitem(%y, 0, %k)\n{STEP}",
        f"%a = operator.matmul(%u.1, %u.1) : {LINE}\n%b = operator.add(%u.1, %a) : {LINE}",
        f"%c = call(%u, %i) : unknown\n%b = operator.mul(%u.1, %c) : {LINE}",
        f"%a = getitem(%u.1, %i) : scalar<float64>\n%b = operator.add(%u.1, %a) : {LINE}",
        f"%a = getattr(%u.1) {{name='T'}} : {LINE}\n%b = operator.add(%u.1, %a) : {LINE}",
    ],
)
def test_loops_that_do_more_stay_on_the_host(lines):
    assert not loop_regions(formed(loop(lines)))


def test_loops_without_arrays_stay_too():
    assert not loop_regions(formed(loop("%b = operator.add(%u.1, %i) : float", "%u.1: float", "%k")))
    assert not loop_regions(formed(loop("%b = operator.add(%u.1, %u.1) : unknown", "%u.1: unknown", "%u")))


def test_branches_on_arrays_stay_on_the_host():
    lines = f"""%t = operator.gt(%u.1, 0.0) : array<bool, 1>
            %b = if(%t) : {LINE} {{
              then {{ yield %y }}
              else {{ yield %u.1 }}
            }}"""
    assert not loop_regions(formed(loop(lines)))


BRANCH = f"""%3 = operator.mod(%i, 2) : int
            %4 = operator.eq(%3, 0) : bool
            %h = operator.mul(%i, %k) : float
            %b = if(%4) : {LINE} {{
              then {{
                %a = operator.mul(%u.1, %h) : {LINE}
                yield %a
              }}
              else {{ yield %u.1 }}
            }}"""


def test_pieces_of_a_branch_and_what_they_become():
    (region,) = loop_regions(formed(loop(BRANCH)))
    turns = turns_of(region)
    assert [[node.op for node in piece.nodes] for piece in turns.pieces] == [["operator.mul"], [], []]
    assert [len(piece.numbers) for piece in turns.pieces] == [1, 0, 0]
    assert [target.name for piece in turns.pieces for target, _ in piece.moves] == ["b", "b", "u"]
    assert turns.has_work


def test_the_scalar_part_of_a_branch():
    (region,) = loop_regions(formed(loop(BRANCH)))
    source = host_program(scalar_part(region, turns_of(region))).source
    assert source.splitlines()[1:] == [
        "    for i in range(a0):",
        "        value = i % 2 == 0",
        "        h = i * a2",
        "        if value:",
        "            scripted(record)((0, h))",
        "        else:",
        "            scripted(record)((1,))",
        "        scripted(record)((2,))",
        "    return ()",
    ]


def test_a_loop_that_only_counts_has_its_range_as_scalar_part():
    (region,) = loop_regions(formed(loop(STEP)))
    turns = turns_of(region)
    assert not turns.has_work
    assert host_program(scalar_part(region, turns)).source.splitlines()[1:] == ["    return range(a0)"]


WHILE = f"""
        %v, %t = while(%x, 0.0) : {LINE}, float {{
          condition(%u.1: {LINE}, %s: float) {{
            %c = operator.lt(%s, %k) : bool
            condition %c, %u.1, %s
          }}
          body(%u.2: {LINE}, %s.1: float) {{
            %a = operator.mul(%u.2, %s.1) : {LINE}
            %s.2 = operator.add(%s.1, 0.5) : float
            %d = operator.gt(%s.2, 7.0) : bool
            if(%d) {{
              then {{ break %a, %s.2 }}
              else {{ yield }}
            }}
            continue %a, %s.2
          }}
          else(%u.3: {LINE}, %s.3: float) {{ yield %u.3, %s.3 }}
        }}
        %w = tuple(%v, %t) : tuple<{LINE}, float>
        return %w
"""


def test_a_while_loop_with_a_break_and_a_scalar_result():
    (region,) = loop_regions(formed(WHILE))
    turns = turns_of(region)
    assert [len(piece.nodes) for piece in turns.pieces] == [1, 0, 0]
    assert len(turns.variables) == 2
    source = host_program(scalar_part(region, turns)).source
    assert "    while s < a1:" in source
    assert "break" in source
    assert source.splitlines()[-1] == "    return (t,)"


def test_in_place_operators_write_the_array_that_came():
    (region,) = loop_regions(formed(loop(f"%b = operator.iadd(%u.1, %y) : {LINE}")))
    turns = turns_of(region)
    assert [value.name for value in turns.written] == ["u"]
    assert turns.pieces[0].moves == []


@pytest.mark.parametrize(
    "lines",
    [
        f"%a = operator.iadd(%u.1, %y) : {LINE}\n%b = operator.mul(%a, %y) : {LINE}",  # another one after a turn
        f"%a = operator.mul(%x, %y) : {LINE}\n%b = operator.iadd(%u.1, %a) : {LINE}",  # %x is %u.1
    ],
)
def test_arrays_that_are_written_under_two_names_stay_on_the_host(lines):
    assert not loop_regions(formed(loop(lines)))


@pytest.mark.parametrize("writes", [True, False])
def test_parts_of_arrays_that_are_written_are_views(writes):
    square = "array<complex128, 1>"
    op = "operator.iadd" if writes else "operator.add"
    lines = f"%a = getattr(%u.1) {{name='real'}} : {LINE}\n%b = {op}(%u.1, %a) : {square}"
    graph = formed(loop(lines, f"%u.1: {square}"), PARAMETERS.replace(f"%x: {LINE}", f"%x: {square}"))
    assert len(loop_regions(graph)) == (not writes)


def test_new_arrays_may_be_written_within_a_turn():
    lines = f"%a = operator.mul(%u.1, %y) : {LINE}\n%b = operator.iadd(%a, %k) : {LINE}"
    (region,) = loop_regions(formed(loop(lines)))
    assert not turns_of(region).written


def test_a_loop_in_a_loop_that_stays_on_the_host_becomes_a_region():
    inner = loop(STEP).strip().removesuffix("return %1").strip()
    graph = formed(f"""
        %q = builtin.range(%n) : range
        for(%q) {{
          body(%j: int) {{
            %p = builtin.print(%j) : none
            {inner}
            continue
          }}
          else {{ yield }}
        }}
        return None
    """)
    (region,) = loop_regions(graph)
    assert region.block.owner.op == "for"


def test_nested_loops_are_one_region():
    inner = loop(STEP, initial="%o").strip().removesuffix("return %1").strip()
    graph = formed(f"""
        %q = builtin.range(3) : range
        %w = for(%q, %x) : {LINE} {{
          body(%j: int, %o: {LINE}) {{
            {inner}
            continue %1
          }}
          else(%o.1: {LINE}) {{ yield %o.1 }}
        }}
        return %w
    """)
    (region,) = loop_regions(graph)
    assert [len(piece.nodes) for piece in turns_of(region).pieces] == [0, 2, 0]


def test_nests_leave_loop_regions_alone():
    graph = formed(loop(f"%e = getitem(%y, %i) : scalar<float64>\n%b = operator.add(%u.1, %e) : {LINE}"))
    assert len(loop_regions(graph)) == 1
    assert form_nests(graph, {}, 1) == 0


def test_the_twin_has_ordinary_regions_in_its_loop():
    graph = formed(loop(STEP))
    (region,) = loop_regions(graph)
    copy = with_inner_regions(region, graph)
    inner = [node.op for node in copy.blocks[0].all_nodes()]
    assert inner.count("region") == 1
    assert "region" not in [node.op for node in region.blocks[0].all_nodes()]
    program = host_program(graph)
    assert [call.name for call in program.regions] == ["region_0", "region_0_1"]


def test_the_small_case_is_the_loop_as_it_was_written():
    assert host_program(formed(loop(STEP))).source == (
        "def program(x, y, k, n, u, l):\n"
        "    if x.size < 16384:\n"
        "        u = x\n"
        "        for i in range(n):\n"
        "            a = u * k\n"
        "            u = a + y\n"
        "        last = u\n"
        "    else:\n"
        "        last = region_0(n, x, k, y)\n"
        "    return last"
    )
