from __future__ import annotations

import pytest
from hypothesis import given, settings

from gjit.ir import (
    Constant,
    Node,
    clone_block_into,
    clone_graph,
    clone_node,
    graphs_equal,
    parse_graph,
    print_graph,
    verify_graph,
)
from tests.ir.strategies import graphs


@settings(max_examples=30)
@given(graphs())
def test_a_copy_is_equal_and_shares_nothing(graph):
    before = print_graph(graph)
    copy = clone_graph(graph)
    verify_graph(copy)
    assert graphs_equal(graph, copy, spans=True)
    assert not {id(node) for node in graph.all_nodes()} & {id(node) for node in copy.all_nodes()}
    originals = {id(value) for node in graph.all_nodes() for value in (*node.inputs, *node.results)}
    assert not originals & {id(value) for node in copy.all_nodes() for value in (*node.inputs, *node.results)}
    for node in list(copy.all_nodes()):
        node.attributes["changed"] = True
    copy.captures.clear()
    verify_graph(graph)
    assert print_graph(graph) == before


def test_slots_are_copied_and_keep_their_objects():
    graph = parse_graph('graph f() { capture 0 load object "w" %w = capture() {slot=0} return %w }')
    graph.captures[0].value = value = [1]
    copy = clone_graph(graph)
    assert copy.captures[0] is not graph.captures[0]
    assert copy.captures[0].value is value


def test_called_graphs_are_shared_unless_asked():
    graph = parse_graph('graph f as f() { %a = invoke() {function="g"} return %a } graph g() { return 1 }')
    assert clone_graph(graph).functions is graph.functions
    copy = clone_graph(graph, functions=True)
    assert copy.functions is not graph.functions
    assert copy.functions["f"] is copy
    assert copy.functions["g"] is not graph.functions["g"]
    assert copy.functions["g"].functions is copy.functions
    assert graphs_equal(copy, graph)


@pytest.fixture
def program():
    return parse_graph(
        """
        graph f(%x, %y) {
          %a = operator.add(%x, 1)
          for(%y) {
            body(%i) {
              %b = operator.mul(%a, %i)
              if(%b) { then { print(%b) yield } else { break } }
              continue
            }
            else { yield }
          }
          return %a
        }"""
    )


def test_a_block_is_inlined_before_a_node(program):
    caller = parse_graph("graph main(%z) { %1 = operator.neg(%z) return %1 }")
    block, (z,) = caller.block, caller.block.parameters
    mapping = {program.block.parameters[0]: z, program.block.parameters[1]: Constant((1, 2))}
    clone_block_into(program.block, mapping, block, before=block.first, terminator=False)
    verify_graph(caller)
    verify_graph(program)
    assert [node.op for node in block] == ["operator.add", "for", "operator.neg"]
    result = mapping[program.block.terminator.inputs[0]]
    assert result.producer is block.first
    block.terminator.set_inputs([result])
    verify_graph(caller)


def test_a_loop_body_unrolls_into_its_own_block(program):
    loop = program.block.last
    body = loop.blocks[0]
    clone_block_into(body, {}, body, terminator=False)
    verify_graph(program)
    assert [node.op for node in body] == ["operator.mul", "if", "operator.mul", "if"]
    assert body.last.inputs[0] is body.last.previous.results[0]


def test_a_terminator_comes_along(program):
    node = Node("user.op", results=0)
    clone_block_into(program.block, {}, node.add_block())
    assert node.blocks[0].terminator.op == "return"
    assert node.blocks[0].terminator.inputs[0] is node.blocks[0].first.results[0]


def test_a_node_is_copied_with_its_blocks(program):
    loop = program.block.last
    mapping = {}
    copy = clone_node(loop, mapping)
    assert copy.block is None
    assert mapping[loop.blocks[0].parameters[0]] is copy.blocks[0].parameters[0]
    assert copy.blocks[0].first.inputs == [loop.blocks[0].first.inputs[0], copy.blocks[0].parameters[0]]
    program.block.append(copy)
    verify_graph(program)
