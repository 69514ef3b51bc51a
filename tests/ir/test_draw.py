from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import gjit
from gjit.ir.boxes import Box, Maker, Panel
from gjit.ir.builder import Builder
from gjit.ir.dot import dot
from gjit.ir.draw import svg
from gjit.ir.graph import Constant, Graph, Node, Parameter
from gjit.ir.node_texts import Texts, constant_title, lines_of
from gjit.source import Span

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "x\"><script>alert('&')</script>\x00\ud800]]>"


def chain(length: int, name: str = "chain") -> Graph:
    graph = Graph(name, [Parameter("x")])
    builder = Builder(graph)
    value = graph.block.parameters[0]
    for _ in range(length):
        value = builder.add("operator.add", [value, Constant(1.0)])
    builder.end("return", [value])
    return graph


def texts(picture: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(picture).iter(f"{SVG}text")]


def leaf(a):
    return np.exp(a) * 2.0 + a


def branching(u, steps, flag):
    for step in range(steps):
        if step % 2:
            u[1:-1] = 0.5 * (u[:-2] + u[2:])
        elif flag:
            u = leaf(u) - 1.0
        while u.shape[0] > 10**9:
            u = u[1:] + 1.0
    try:
        total = np.sqrt(u).sum()
    except ValueError as error:
        total = error
    match steps:
        case [first, *_]:
            total = first
        case _:
            pass
    with np.errstate(all="ignore"):
        u = u / 0.0
    return total, [float(each) for each in range(3)]


def plan_of_branching():
    return gjit.script(branching).plan_for(np.ones(9), 3, True)


def laid_out(graph: Graph) -> Panel:
    words = Texts(graph, {})
    return Maker(words.describe, words.name, 10_000).panel(graph.block, "")


def panels(panel: Panel):
    yield panel
    for box in panel.boxes:
        for inner in box.panels:
            yield from panels(inner)


def overlap(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    above = one.y + one.height <= other.y or other.y + other.height <= one.y
    return not beside and not above


GRAPHS = {
    "empty": lambda: Graph("empty"),
    "chain": lambda: chain(120),
    "branching": lambda: plan_of_branching().graph,
    "untyped": lambda: gjit.script(branching).graph,
}


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_boxes_lie_inside_their_panels_and_overlap_no_other(make):
    for panel in panels(laid_out(make())):
        for place, box in enumerate(panel.boxes):
            assert 0 <= box.x
            assert 0 <= box.y
            assert box.x + box.width <= panel.width
            assert box.y + box.height <= panel.height
            assert not any(overlap(box, other) for other in panel.boxes[:place])


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_lines_run_down_and_none_ends_outside(make):
    for panel in panels(laid_out(make())):
        for line in panel.lines:
            heights = [y for _, y in line]
            assert heights == sorted(heights)
            assert all(0 <= x <= panel.width for x, _ in line)


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_long_lines_pass_no_box(make):
    for panel in panels(laid_out(make())):
        for line in panel.lines:
            for (x, y), (there, below) in zip(line, line[1:], strict=False):
                if x == there:
                    crossed = [box for box in panel.boxes if box.x < x < box.x + box.width]
                    assert not any(box.y >= y + 0.1 and box.y + box.height <= below - 0.1 for box in crossed)


def test_boxes_stand_in_program_order():
    boxes = [box for box in laid_out(plan_of_branching().graph).boxes if box.node is not None]
    order = {node: place for place, node in enumerate(plan.all_nodes())} if (plan := boxes[0].node.block.owner) else {}
    rows = [(box.y, order[box.node]) for box in boxes]
    for upper, first in rows:
        assert all(first < second for lower, second in rows if lower > upper)


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_the_picture_is_the_same_each_time(make):
    assert svg(make()) == svg(make())
    assert dot(make()) == dot(make())


def test_a_box_shows_the_node_its_types_and_its_line():
    compiled = gjit.script(lambda u: np.sqrt(u[1:-1]) + u[:, None][0])
    shown = texts(svg(compiled.graph_for(np.ones(5))))
    line = test_a_box_shows_the_node_its_types_and_its_line.__code__.co_firstlineno + 1
    assert any(text.endswith("= %u[1:-1]") for text in shown)
    assert f"array<float64, 1> · line {line}" in shown


def test_each_region_has_a_colour_and_an_entry_in_the_legend():
    plan = plan_of_branching()
    regions = [node for graph in plan.graphs.values() for node in graph.all_nodes() if node.op == "region"]
    picture = svg(plan.graph, {regions[0]: "the <first> one"})
    assert len(regions) >= 2
    shown = texts(picture)
    for region in regions[1:]:
        assert f"region {region.attributes['index']}: {lines_of(region)}" in shown
    assert any(text.startswith("the <first> one: ") for text in shown)
    fills = [each.get("fill") for each in ET.fromstring(picture).iter(f"{SVG}rect")]
    coloured = {fill for fill in fills if fills.count(fill) == 2}
    assert len(coloured) >= len(regions)


def count(n):
    return n if n < 2 else count(n - 1) + count(n - 2)


def test_called_graphs_are_drawn_below():
    graph = gjit.script(lambda n: count(n)).plan_for(3).graph
    titles = [each.text for each in ET.fromstring(svg(graph)).iter(f"{SVG}text") if each.get("class") == "title"]
    assert titles[0] == graph.name
    assert "count" in titles
    assert 'label="count"' in dot(graph)


def test_hostile_names_are_text():
    graph = Graph(HOSTILE, [Parameter(HOSTILE)])
    builder = Builder(graph)
    value = builder.add("getattr", [graph.block.parameters[0]], name=HOSTILE)
    value.name = HOSTILE
    builder.end("return", [Constant(HOSTILE)])
    region = graph.block.first
    for picture in (svg(graph), svg(graph, {region: HOSTILE})):
        tree = ET.fromstring(picture.encode())
        assert not list(tree.iter(f"{SVG}script"))
        assert any("<script>" in text for text in texts(picture))
        assert "<script" not in picture


def test_hostile_names_end_no_string_of_graphviz():
    graph = Graph('a"; evil [label="\\', [Parameter('p\n"]; evil')])
    Builder(graph).end("return", [graph.block.parameters[0]])
    for line in dot(graph).splitlines():
        outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert '"' not in outside
        assert "evil" not in outside


def test_a_large_graph_is_cut_with_a_note():
    picture = svg(chain(1000))
    shown = texts(picture)
    assert "the first 400 of 1001 nodes" in shown
    assert "… 601 more" in shown
    assert "the first" not in " ".join(texts(svg(chain(300))))
    assert "the first 5 of 11 nodes" in texts(svg(chain(10), most=5))


def test_deep_nesting_is_cut():
    graph = Graph("deep", [Parameter("c")])
    block = graph.block
    for _ in range(60):
        node = block.append(Node("if", [graph.block.parameters[0]], results=0))
        inner, other = node.add_block(), node.add_block()
        other.terminate(Node("yield", results=0))
        block.terminate(Node("return", [Constant(None)], results=0))
        block = inner
    block.terminate(Node("yield", results=0))
    assert any(text.endswith("more") for text in texts(svg(graph)))
    assert dot(graph).count("{") == dot(graph).count("}")


def test_dot_has_a_cluster_for_each_block_and_an_edge_for_each_value():
    plan = plan_of_branching()
    text = dot(plan.graph)
    nodes = [node for graph in plan.graphs.values() for node in graph.all_nodes()]
    assert text.count("subgraph") == len(plan.graphs) + sum(len(node.blocks) for node in nodes)
    edges = sum(len({value for value in node.inputs if not isinstance(value, Constant)}) for node in nodes)
    assert text.count(" -> ") == edges
    assert len(re.findall(r"^\s+n\d+ \[", text, re.MULTILINE)) > len(nodes)


def test_notebooks_show_a_graph_as_its_picture():
    graph = chain(3)
    assert graph._repr_svg_() == svg(graph)


def test_a_picture_needs_nothing_from_elsewhere():
    picture = svg(plan_of_branching().graph)
    assert "href" not in picture
    assert re.findall("https?://[^\"']*", picture) == ["http://www.w3.org/2000/svg"]
    style = ET.fromstring(picture).find(f"{SVG}style").text
    assert all(rule.strip().startswith(".gjit-graph ") for rule in style.split("}") if rule.strip())


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([3], "line 3"), ([5, 3, 4], "lines 3 to 5"), ([9, 3, 3], "lines 3, 9"), ([], "")],
)
def test_lines_of_a_node(numbers, text):
    node = Node("region", results=0)
    body = node.add_block()
    for number in numbers:
        body.append(Node("user.op", span=Span("f.py", number)))
    assert lines_of(node) == text


@pytest.mark.parametrize(
    ("constant", "text"),
    [(slice(None, None, -1), "::-1"), ((1, slice(2)), "1, :2"), ((1, 2), "(1, 2)"), ("a", '"a"')],
)
def test_constants_in_titles(constant, text):
    assert constant_title(constant) == text
