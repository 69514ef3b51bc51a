from __future__ import annotations

import pytest

from gjit.errors import InternalError
from gjit.ir import Builder, Constant, Graph, Node, Parameter, Value, parse_graph, verify_graph


def problem(text: str, known_op=None) -> str:
    """The first line of what the verifier says about a text; empty when it accepts the graph."""
    try:
        verify_graph(parse_graph(text), known_op)
    except InternalError as error:
        return str(error).splitlines()[0].removeprefix("graph f: ")
    return ""


def body(contents: str) -> str:
    return f'graph f(%x, %y) {{ capture 0 load global "g" capture 1 load closure "c" {contents} }}'


@pytest.mark.parametrize(
    "contents",
    [
        "return %x",
        "raise %x, None",
        "reraise",
        "if(%x) { then { return %x } else { raise %y } } unreachable",
        "%a = if(%x) { then { return %x } else { yield 1 } } return %a",
        "for(%x) { body(%i) { if(%i) { then { break } else { continue } } unreachable } else { yield } } return None",
        "%a = for(%x, 1) { body(%i, %c) { break %c } else(%c.1) { return %c.1 } } return %a",
        "%a = while(1) { condition(%c) { condition %c, %c } body(%c.1) { continue %c.1 } else(%c.2) {"
        " yield %c.2 } } return %a",
        "for(%x) { body(%i) { for(%i) { body(%j) { continue } else { break } } continue } else { yield } } return 1",
        "%c = cell() {name='c'} store(%c, 1) %v = load(%c) delete(%c) return %v",
        "%c = cell() {name='c'} %f = function() {name='g', parameters=()} { body { %v = load(%c)"
        " return %v } } return %f",
        "try() { body { return 1 } else { yield } finally { yield } type { yield } handler(%e) {"
        " reraise } } unreachable",
        "try() { body { yield } else { yield } finally { return 1 } } unreachable",
        "%a = match(%x, 1) {patterns=('[a, b]', '_0')} { guard(%a.1, %b) { yield %b } body(%a.2, %b.2) { yield %a.2 }"
        " guard { yield } body { yield 2 } otherwise { yield 3 } } return %a",
        "%a = and(%x) { right { yield %y } } return %a",
        "%C = class(%x, k=%y) {name='C'} { body(%n, %c: cell) { if(%x) { then { class.store(%n, 1) {name='a'} yield }"
        " else { yield } } %v = class.load(%n) {name='a'} { otherwise { yield 2 } } class.delete(%n) {name='a'}"
        " %f = function() {name='g', parameters=()} { body { %v.1 = load(%c) return %v.1 } } yield } } return %C",
        "with(%x) { body(%z) { return %z } } return None",
        "%a = comprehension(%x) {kind='dict'} { clause(%i) { comprehension.if(%i) { clause { yield 1,"
        " 2 } } yield } } return %a",
        "%a = comprehension(%x) {kind='list'} { clause(%i) { yield %i } } return %a",
        "%a = region(%x, 1) { body(%p, %q) { %r = operator.add(%p, %q) yield %r } } return %a",
        "%a = user.op(%x) { block(%p) { yield %p, %p } } return %a",
        "%d = dict(1, 2, **%x, 3, 4) %a = call(%x, *%y, k=1, **%d) return %a",
        "%a = capture() {slot=0} capture.store(%a) {slot=1} return %a",
        "%g = function(1) {name='g', parameters=(parameter('a', ''), parameter('b', '=', True))} {"
        " body(%a, %b) { return %a } } return %g",
    ],
)
def test_good_graphs_pass(contents):
    assert problem(body(contents)) == ""


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        ("", "the block `body` has no terminator"),
        (
            "if(%x) { then { %a = g() yield } else { yield } } return %a",
            "%a is used by `return` where it is not defined",
        ),
        (
            "%a = if(%x) { then { yield } else { yield 1 } } return %a",
            "the `yield` of the block `then` has 0 inputs, not 1",
        ),
        (
            "%a = if(%x) { then { return 1 } else { return 2 } } return %a",
            "%a is used, but no path through `if` gives it",
        ),
        ("if(%x) { then { yield } else { yield } } unreachable", "the end of the block `body` is not unreachable"),
        ("unreachable", "the end of the block `body` is not unreachable"),
        (
            "try() { body { return 1 } else { yield } finally { yield } type { yield } handler(%e) { yield"
            " } } unreachable",
            "not unreach",
        ),
        ("yield", "the block `body` cannot end with `yield`"),
        ("break", "the block `body` cannot end with `break`"),
        ("condition 1", "the block `body` cannot end with `condition`"),
        ("return", "`return` takes 1 inputs, not 0"),
        ("if(%x) { block { yield } } return 1", "`if` has 2 blocks, not 1"),
        ("if(%x) { then(%a) { yield } else { yield } } return 1", "the block `then` of `if` takes 0 parameters, not 1"),
        (
            "for(%x) { body { continue } else { yield } } return 1",
            "the block `body` of `for` takes 1 parameters, not 0",
        ),
        ("for(%x, 1) { body(%i) { continue } else { yield } } return 1", "`for` carries 1 values, but has 0 results"),
        ("for(%x) { body(%i) { yield } else { yield } } return 1", "the block `body` cannot end with `yield`"),
        (
            "for(%x) { body(%i) { continue 1 } else { yield } } return 1",
            "the `continue` of the block `body` has 1 inputs, not 0",
        ),
        (
            "for(%x) { body(%i) { break 1 } else { yield } } return 1",
            "the `break` of the block `body` has 1 inputs, not 0",
        ),
        ("for(%x) { body(%i) { continue } else { break } } return 1", "the block `else` cannot end with `break`"),
        (
            "for(%x) { body(%i) { %f = function() {name='g', parameters=()} { body { break } } continue }"
            " else { yield } } return 1",
            "the block `body` cannot end with `break`",
        ),
        (
            "while() { condition { condition } body { continue } else { yield } } return 1",
            "`condition` takes at least 1 inputs",
        ),
        (
            "while() { condition { break } body { continue } else { yield } } return 1",
            "`condition` cannot end with `break`",
        ),
        ("%a = and(%x) { right { yield } } return %a", "the `yield` of the block `right` has 0 inputs, not 1"),
        ("try() { } return 1", "`try` has 3 blocks, not 0"),
        (
            "%a = match(%x) {patterns=('[a, b]',)} { guard(%p) { yield } body { yield 1 } otherwise {"
            " yield 1 } } return %a",
            "takes 2 par",
        ),
        (
            "%a = match(%x) {patterns=('1 +',)} { otherwise { yield 1 } } return %a",
            "has the attribute patterns=('1 +',)",
        ),
        (
            "%a = comprehension(%x) {kind='dict'} { clause(%i) { yield 1 } } return %a",
            "of the block `clause` has 1 inputs, not 2",
        ),
        (
            "%a = comprehension(%x) {kind='list'} { clause(%i) { return 1 } } return %a",
            "the block `clause` cannot end with `return`",
        ),
        ("%a = comprehension(%x) {kind='heap'} { clause(%i) { yield 1 } } return %a", "has the attribute kind='heap'"),
        ("region(%x) { body(%p) { return %p } } return 1", "the block `body` cannot end with `return`"),
        ("region(%x) { body { yield } } return 1", "the block `body` of `region` takes 1 parameters, not 0"),
        ("%c = cell() {name='c'} return %c", "the cell %c is used by `return`, not by a load, store or delete"),
        ("%c = cell() {name='c'} store(%c, %c) return 1", "the cell %c is used by `store`"),
        ("%a = load(%x) return %a", "`load` needs a cell"),
        ("class.store(%x, 1) {name='a'} return 1", "`class.store` needs the namespace of the class"),
        (
            "%C = class() {name='C'} { body(%n, %c) { %f = function() {name='g', parameters=()} { body {"
            " %v = class.load(%n) {name='a'} return %v } } yield } } return %C",
            "`class.load` needs the namespace of the class in whose body it stands",
        ),
        (
            "%C = class() {name='C'} { body(%n, %c) { class.store(%n, %n) {name='a'} yield } } return %C",
            "the namespace %n is used by `class.store`",
        ),
        ("%C = class() {name='C'} { body(%n, %c) { return 1 } } return %C", "the block `body` cannot end with"),
        ("%a = load(1) return %a", "`load` needs a cell"),
        ("%c = cell() return 1", "`cell` has no attribute 'name'"),
        ("%a = capture() {slot=2} return %a", "`capture` names the slot 2 of 2"),
        ("%a = capture() {slot=True} return %a", "`capture` has the attribute slot=True"),
        ("capture.store(1) {slot=0} return 1", "`capture.store` writes a slot that is no variable of a closure"),
        ("%a = invoke() {function='h'} return %a", "`invoke` calls 'h', which is not in the functions"),
        ("%a = getattr(%x) return %a", "`getattr` has no attribute 'name'"),
        ("setitem(%x, 1) return 1", "`setitem` takes 3 inputs, not 2"),
        ("%a = setitem(%x, 1, 2) return 1", "`setitem` has 0 results, not 1"),
        ("%a = operator.add(%x) return %a", "`operator.add` takes 2 inputs, not 1"),
        ("%a = getitem(%x, *%y) return %a", "`getitem` takes no input labelled '*'"),
        ("%a = tuple(k=%x) return %a", "`tuple` takes no input labelled 'k='"),
        ("%a = dict(%x) return %a", "`dict` has a key without a value"),
        ("%a = dict(%x, **%y, 1) return %a", "`dict` has a key without a value"),
        ("%a = call(*%x) return %a", "`call` has a label on its callee"),
        ("%a = unpack(%x) {before=1, star=True, after=0} return %a", "`unpack` has 2 results, not 1"),
        ("%a = format(%x, '') {conversion='q'} return %a", "`format` has the attribute conversion='q'"),
        (
            "%g = function(1) {name='g', parameters=()} { body { return 1 } } return %g",
            "`function` takes 0 defaults, not 1",
        ),
        ("%a = user.op() { block { } } return 1", "a block has no terminator"),
    ],
)
def test_the_first_problem_is_named(contents, sentence):
    assert sentence in problem(body(contents))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("1", ""),
        ("1, 2", ""),
        ("1, b=2, c=3", ""),
        ("1, *%x", ""),
        ("**%x", ""),
        ("", "gives no argument 'a'"),
        ("1, 2, 3", "gives 3 positional arguments to a function of 2"),
        ("1, d=2", "gives the argument 'd', which the function does not have"),
        ("1, a=2", "gives the argument 'a' twice"),
        ("a=1, a=2", "gives the argument 'a' twice"),
    ],
)
def test_calls_fit_the_functions_that_they_name(arguments, sentence):
    callee = "graph g(%a, %b = default, =%c = default) { return 1 }"
    found = problem(f"graph f(%x) {{ %r = invoke({arguments}) {{function='g'}} return %r }} {callee}")
    assert found == (f"`invoke` of 'g' {sentence}" if sentence else "")


def test_variadic_functions_take_any_argument():
    callee = "graph g(/%a, *%rest, **%more) { return 1 }"
    assert problem(f"graph f() {{ %r = invoke(1, 2, a=3) {{function='g'}} return %r }} {callee}") == ""
    found = problem(f"graph f() {{ %r = invoke(a=3) {{function='g'}} return %r }} {callee}")
    assert found == "`invoke` of 'g' gives no argument 'a'"


def test_unknown_ops_fail_when_the_table_is_given():
    text = "graph f(%x) { %a = numpy.nothing(%x) return %a }"
    assert problem(text) == ""
    assert problem(text, {"numpy.sqrt"}.__contains__) == "there is no op `numpy.nothing`"
    assert problem("graph f(%x) { %a = getitem(%x, 1) return %a }", lambda name: False) == ""


@pytest.fixture
def graph() -> Graph:
    return parse_graph("graph f(%x) { %a = operator.add(%x, 1) %b = operator.mul(%a, %a) return %b }")


def fails(graph: Graph, sentence: str) -> None:
    with pytest.raises(InternalError, match=sentence):
        verify_graph(graph)


def test_a_use_before_its_producer(graph):
    last = graph.block.last
    graph.block.detach(last)
    graph.block.insert(last, graph.block.first)
    fails(graph, "%a is used by `operator.mul` where it is not defined")


def test_a_value_of_another_graph(graph):
    graph.block.last.set_input(0, Graph("g", [Parameter("z")]).block.parameters[0])
    fails(graph, "%z is used by `operator.mul` where it is not defined")


def test_uses_that_are_missing(graph):
    graph.block.first.results[0].uses.clear()
    fails(graph, "%a does not know how often `operator.mul` uses it")


def test_uses_that_are_counted_wrongly(graph):
    graph.block.first.results[0].uses[graph.block.last] = 1
    fails(graph, "%a does not know how often `operator.mul` uses it")


def test_a_constant_counts_its_uses(graph):
    graph.block.first.inputs[1].uses.clear()
    fails(graph, "the constant 1 does not know")


def test_a_use_by_a_node_outside_the_graph(graph):
    Node("operator.neg", [graph.block.parameters[0]])
    fails(graph, "%x has a use in")


def test_a_producer_that_is_not_the_node(graph):
    graph.block.first.results[0].producer = graph.block.last
    fails(graph, "%a is not a value of its producer alone")


def test_links_between_neighbours(graph):
    graph.block.last.previous = None
    fails(graph, "not linked to its block and neighbours")


def test_the_end_of_the_list(graph):
    graph.block.last = graph.block.first
    fails(graph, "the last node of a block is not the end of its list")


def test_a_terminator_among_the_nodes(graph):
    graph.block.append(Node("yield", results=0))
    fails(graph, "the terminator `yield` stands among the nodes")


def test_a_node_as_the_terminator(graph):
    graph.block.terminate(Node("operator.neg", [Constant(1)]))
    fails(graph, "ends with `operator.neg`, which is no terminator")


def test_a_block_that_names_another_owner(graph):
    node = Builder(graph).node("user.op", results=0)
    block = node.add_block()
    block.terminate(Node("yield", results=0))
    block.owner = graph
    fails(graph, "a block of `user.op` does not name it as its owner")


def test_labels_are_as_many_as_inputs_and_known(graph):
    graph.block.first.labels = ("*",)
    fails(graph, "has 1 labels for 2 inputs")
    graph.block.first.labels = ("", "axis")
    fails(graph, "has the label 'axis', which is none")


def test_parameters_of_the_graph_and_its_block(graph):
    graph.block.parameters.append(Value(producer=graph.block))
    fails(graph, "another number of parameters")


def test_the_message_names_graph_line_and_node():
    graph = parse_graph('file 0 "user.py" graph step(%x) { %a = g(%x) store(%a, 1) @7:4 return %a }')
    with pytest.raises(InternalError) as caught:
        verify_graph(graph)
    lines = str(caught.value).splitlines()
    assert lines[0] == "graph step: `store` needs a cell at user.py:7"
    assert "->   store(%a, 1)" in lines


def test_the_message_shows_only_what_is_near():
    lines = "".join(f"%v{index} = g() " for index in range(1000))
    with pytest.raises(InternalError) as caught:
        verify_graph(parse_graph(f"graph f() {{ {lines} yield }}"))
    assert len(str(caught.value).splitlines()) < 20
    assert "->   yield" in str(caught.value)
