from __future__ import annotations

import pytest

from gjit import settings
from gjit.errors import InternalError
from gjit.ir.graph import Constant, Graph, Node
from gjit.ir.types import INT, UNKNOWN
from gjit.ir.verify import verify_graph
from gjit.passes import pipelines
from gjit.passes.specialise import specialise
from tests.passes.support import MATRIX, lines, parsed, typed

TEXT = """
    graph f(%x, %n) {
      %0 = operator.add(1, 2)
      %1 = operator.mul(%n, %0)
      return %1
    }
    """


def break_graph(graph: Graph) -> bool:
    graph.block.terminator.set_input(0, Node("operator.neg", [Constant(1)]).result)
    return True


def test_the_stages_run_in_order_and_give_the_graph_back():
    graph = parsed(TEXT)
    assert pipelines.run(graph, "captured") is graph
    result = pipelines.run(specialise(graph, [MATRIX, INT]), "typed")
    assert lines(result) == ["%0 = operator.mul(%n, 3) : int", "return %0"]


def test_a_registered_pass_runs_in_its_stage_until_it_is_taken_out():
    seen = []

    def look(graph: Graph) -> bool:
        seen.append(str(graph.block.parameters[1].type))
        return False

    registration = pipelines.register_pass(look, stage="typed")
    try:
        pipelines.run(parsed(TEXT), "captured")
        pipelines.run(typed(TEXT, MATRIX, INT), "typed")
    finally:
        registration.unregister()
        registration.unregister()
    pipelines.run(typed(TEXT, MATRIX, INT), "typed")
    assert seen == ["int"]


def test_register_pass_is_a_decorator_too():
    @pipelines.register_pass(stage="captured", name="mine")
    def do_nothing(graph: Graph) -> bool:
        return False

    do_nothing.unregister()
    assert do_nothing(parsed(TEXT)) is False
    assert do_nothing.name == "mine"


def test_an_unknown_stage():
    with pytest.raises(ValueError, match="'typed'"):
        pipelines.register_pass(break_graph, stage="late")


def test_a_users_pass_that_breaks_the_graph_is_named():
    registration = pipelines.register_pass(break_graph, stage="captured")
    try:
        with pytest.raises(InternalError, match="break_graph"):
            pipelines.run(parsed(TEXT), "captured")
    finally:
        registration.unregister()


def test_the_dump_folder_gets_a_file_for_each_pass_that_changed_something(tmp_path):
    with settings.config(dump=str(tmp_path)):
        pipelines.run(typed(TEXT, MATRIX, INT), "typed")
    (file,) = tmp_path.iterdir()
    assert file.name.endswith("_f_fold.txt")
    assert "operator.mul(%n, 3) : int" in file.read_text()


def large(count: int) -> str:
    body = []
    for index in range(count):
        one, two = f"%{index - 1}" if index else "%n", f"%{index // 2}" if index > 1 else "%n"
        op = ("operator.add", "operator.sub", "operator.mul")[index % 3]
        body.append(f"%{index} = {op}({one}, {two if index % 5 else index})")
    return "graph f(%n) {\n" + "\n".join(body) + f"\nreturn %{count - 1}\n}}"


def test_ten_thousand_nodes_and_shared_values():
    graph = pipelines.run(specialise(pipelines.run(parsed(large(10_000)), "captured"), [INT]), "typed")
    verify_graph(graph)
    doubled = "graph f(%x) {\n%0 = operator.add(%x, %x)\n"
    doubled += "\n".join(f"%{i} = operator.add(%{i - 1}, %{i - 1})" for i in range(1, 60)) + "\nreturn %59\n}"
    graph = pipelines.run(specialise(parsed(doubled), [MATRIX]), "typed")
    assert len(graph.block) == 60


def test_nesting_takes_no_stack():
    depth = 2000
    text = "graph f(%c, %n) {\n"
    text += "".join(f"%{i} = if(%c) {{\nthen {{ yield %n }}\nelse {{\n" for i in range(depth)) + "yield %n\n}\n}\n"
    text += "".join(f"yield %{i}\n}}\n}}\n" for i in range(depth - 1, 0, -1)) + "return %0\n}"
    graph = pipelines.run(specialise(pipelines.run(parsed(text), "captured"), [UNKNOWN, INT]), "typed")
    assert graph.block.terminator.op == "return"
