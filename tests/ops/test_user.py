import numpy as np
import pytest

import gjit
from gjit.ir.types import ArrayType
from gjit.ops import effects_of, table
from gjit.ops.row import Effect

CALLS = []


@gjit.register_op(types=lambda x, k: x, pure=True)
def smooth(x, k):
    CALLS.append(k)
    return np.convolve(x, np.ones(k) / k, mode="same")


@gjit.register_op(writes=(0,))
def clear(x):
    x[:] = 0.0


def test_the_op_is_one_node_that_round_trips():
    compiled = gjit.script(lambda x: smooth(x * 2.0, 3) + 1.0)
    x = np.arange(6.0)
    assert compiled(x).tolist() == (np.convolve(x * 2.0, np.ones(3) / 3, mode="same") + 1.0).tolist()
    text = str(compiled.graph)
    assert "user.smooth" in text
    assert str(gjit.parse_graph(text)) == text
    assert compiled.statistics.host_calls == 0


def test_its_type_rule_types_what_follows():
    compiled = gjit.script(lambda x: np.sqrt(np.abs(smooth(x, 3))) + 1.0)
    node = next(node for node in compiled.graph_for(np.ones(4)).all_nodes() if node.op == "user.smooth")
    assert node.result.type == ArrayType(np.dtype("f8"), 1)
    assert compiled.statistics.regions == 1


def test_its_body_is_not_captured_and_it_runs_when_traced():
    traced = gjit.trace(lambda x: smooth(x, 3) * 2, np.ones(5))
    assert "user.smooth" in str(traced.graph)
    x = np.arange(7.0)
    assert traced(x).tolist() == (smooth(x, 3) * 2).tolist()


def test_effects():
    def program(x):
        y = x + 1.0
        clear(x)
        return y, x + 1.0

    compiled = gjit.script(program)
    y, z = compiled(np.ones(3))
    assert (y.tolist(), z.tolist()) == ([2.0] * 3, [1.0] * 3)
    node = next(node for node in compiled.graph.all_nodes() if node.op == "user.clear")
    assert Effect.WRITES in effects_of(node)
    assert Effect.WRITES not in table["user.smooth"].effects


def test_names_are_taken_once():
    assert gjit.register_op(smooth) is smooth
    with pytest.raises(ValueError, match=r"there is an op 'user.smooth' already"):
        gjit.register_op(lambda x: x, name="smooth")
    with pytest.raises(ValueError, match="cannot be the name of an op"):
        gjit.register_op(lambda x: x)
    with pytest.raises(TypeError, match="takes a function, not int"):
        gjit.register_op(3)
