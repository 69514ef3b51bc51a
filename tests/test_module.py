"""Modules: registries, state, containers, script methods."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import gjit
from gjit.errors import DeviceError
from gjit.module import Module, ModuleDict, ModuleList, Parameter, ScriptModule, Sequential, script_method


class Linear(Module):
    def __init__(self, rows, columns):
        self.weight = Parameter(np.ones((rows, columns)))
        self.bias = Parameter(np.zeros(rows))

    def forward(self, x):
        return self.weight @ x + self.bias


class Net(Module):
    def __init__(self):
        self.first = Linear(3, 2)
        self.blocks = ModuleList([Linear(3, 3), Sequential(Linear(1, 3), np.tanh)])
        self.by_name = ModuleDict({"extra": Linear(1, 1)})
        self.shared = self.first
        self.scale = Parameter(2.0)
        self.register_buffer("mean", np.zeros(3))
        self.register_buffer("cache", np.zeros(1), persistent=False)
        self.register_buffer("later", None)
        self.plain = np.ones(7)

    def forward(self, x):
        return self.blocks[1](self.blocks[0](self.first(x)) * self.scale)


NAMES = [
    "scale",
    "first.weight",
    "first.bias",
    "blocks.0.weight",
    "blocks.0.bias",
    "blocks.1.0.weight",
    "blocks.1.0.bias",
    "by_name.extra.weight",
    "by_name.extra.bias",
]


def test_parameters_are_plain_arrays_under_dotted_names():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert all(type(array) is np.ndarray for array in net.parameters())
    assert net.first.weight is next(iter(net.first.parameters()))
    assert [name for name, _ in net.named_parameters("net")][0] == "net.scale"


def test_buffers_and_modules():
    net = Net()
    assert [name for name, _ in net.named_buffers()] == ["mean", "cache"]
    assert list(net.buffers())[0] is net.mean
    assert [name for name, _ in net.named_modules()] == [
        "",
        "first",
        "blocks",
        "blocks.0",
        "blocks.1",
        "blocks.1.0",
        "by_name",
        "by_name.extra",
    ]
    assert [name for name, _ in net.named_children()] == ["first", "blocks", "by_name", "shared"]
    assert list(net.children())[0] is net.first
    assert len(list(net.modules())) == 8


def test_a_parameter_keeps_the_array_and_the_name():
    array = np.ones(2)
    layer = Module()
    layer.weight = Parameter(array)
    assert layer.weight is array
    other = np.zeros(2)
    layer.weight = other
    assert next(layer.parameters()) is other
    layer.weight = None
    assert list(layer.parameters()) == []
    del layer.weight
    layer.weight = array
    assert list(layer.parameters()) == []
    assert repr(Parameter([1, 2])) == "Parameter(array([1, 2]))"


def test_registering_a_buffer_over_another_attribute_is_an_error():
    layer = Linear(1, 1)
    with pytest.raises(KeyError, match="weight"):
        layer.register_buffer("weight", np.ones(1))
    layer.register_buffer("state", np.ones(1))
    layer.register_buffer("state", np.zeros(1))
    assert layer.state.tolist() == [0]


def test_state_comes_back():
    net, other = Net(), Net()
    for array in net.parameters():
        array += 3
    net.mean[:] = 5
    state = net.state_dict()
    assert list(state) == ["scale", "mean", *NAMES[1:], "shared.weight", "shared.bias"]
    assert state["mean"] is net.mean
    weight = other.first.weight
    other.load_state_dict(state)
    assert other.first.weight is weight
    assert weight.tolist() == net.first.weight.tolist()
    assert other.mean.tolist() == [5, 5, 5]


def test_a_state_that_does_not_fit_changes_nothing():
    layer = Linear(2, 2)
    with pytest.raises(ValueError) as caught:
        layer.load_state_dict({"weight": np.full((2, 2), 9.0), "other": 1})
    assert str(caught.value) == "the state does not fit Linear: 'bias' is missing; 'other' is unexpected"
    with pytest.raises(ValueError, match=r"'weight' has the shape \(3,\) instead of \(2, 2\)"):
        layer.load_state_dict({"bias": np.ones(2), "weight": np.ones(3)})
    with pytest.raises(ValueError, match="complex128 and cannot become float64"):
        layer.load_state_dict({"bias": np.ones(2), "weight": np.ones((2, 2), complex)})
    assert layer.weight.tolist() == [[1, 1], [1, 1]]
    assert layer.bias.tolist() == [0, 0]
    layer.load_state_dict({"bias": [1, 2], "other": 1}, strict=False)
    assert layer.bias.tolist() == [1, 2]


def test_training_reaches_every_module():
    net = Net()
    assert net.eval() is net
    assert not any(module.training for module in net.modules())
    net.train()
    assert all(module.training for module in net.modules())


def test_devices():
    layer = Linear(1, 1)
    assert layer.to("cpu") is layer
    with pytest.raises(DeviceError, match="'cuda:3'"):
        layer.to("cuda:3")


def test_apply_goes_from_the_inside_out():
    seen = []
    Net().apply(lambda module: seen.append(type(module).__name__))
    assert seen[-1] == "Net"
    assert seen.index("Linear") < seen.index("ModuleList")


def test_repr_is_a_tree():
    class Scaled(Module):
        def __init__(self):
            self.inner = Linear(2, 1)
            self.blocks = ModuleList([Linear(1, 1)])
            self.factor = Parameter(np.float32(2))

        def extra_repr(self):
            return "kind='x'"

    assert repr(Scaled()) == (
        "Scaled(kind='x', factor: float32[]\n"
        "  (inner): Linear(weight: float64[2, 1], bias: float64[2])\n"
        "  (blocks): ModuleList(\n"
        "    (0): Linear(weight: float64[1, 1], bias: float64[1])\n"
        "  )\n"
        ")"
    )
    assert repr(Module()) == "Module()"


def test_containers():
    first, second = Linear(1, 1), Linear(2, 1)
    items = ModuleList([first]).append(second).extend([first])
    assert list(items) == [first, second, first]
    assert items[1] is second
    assert len(items) == 3
    assert list(items[1:]) == [second, first]
    items[0] = second
    assert items[0] is second
    table = ModuleDict({"a": first})
    table["b"] = second
    assert list(table) == list(table.keys()) == ["a", "b"]
    assert list(table.values()) == [first, second]
    assert list(table.items()) == [("a", first), ("b", second)]
    assert "a" in table
    del table["a"]
    assert len(table) == 1
    for container in (items.append, ModuleDict, lambda wrong: table.__setitem__("c", wrong)):
        with pytest.raises((TypeError, AttributeError)):
            container(np.ones(1)) if container is not ModuleDict else ModuleDict({"a": 1})
    chain = Sequential(first, np.negative).append(np.abs)
    assert chain(np.array([2.0])).tolist() == [2.0]
    assert Sequential([first, np.negative])(np.array([2.0])).tolist() == [-2.0]


def test_modules_copy_and_pickle():
    net = Net()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert [name for name, _ in other.named_parameters()] == NAMES
        assert other.first is not net.first
        assert other.shared is other.first


class Branching(ScriptModule):
    def __init__(self, factor):
        self.factor = Parameter(np.array(factor))

    @script_method
    def forward(self, x, extra=1.0):
        """Doubles."""
        if x.sum() > 0:
            return x * self.factor
        return self.shifted(x) + extra

    @script_method
    def shifted(self, x):
        return x - self.factor


def test_script_methods_are_compiled_and_bound():
    module = Branching(3.0)
    assert module(np.ones(2)).tolist() == [3, 3]
    assert module(-np.ones(2), extra=2.0).tolist() == [-2, -2]
    module.factor = np.array(5.0)
    assert module(np.ones(2)).tolist() == [5, 5]
    assert Branching(7.0).shifted(np.ones(1)).tolist() == [-6]
    assert module.forward.__doc__ == "Doubles."
    assert module.forward.__name__ == "forward"
    assert "script method" in repr(module.forward)


def test_script_methods_show_their_graph_and_code():
    module = Branching(3.0)
    module(np.ones(2))
    assert "if" in [node.op for node in module.graph.block]
    assert module.graph is module.forward.graph
    assert "def forward(self, x" in module.code
    assert module.forward.graph_for(np.ones(2)).name == module.graph.name
    with pytest.raises(AttributeError):
        module.forward.nothing


def test_hybrid_net():
    @gjit.script
    def factorial(x):
        z = np.ones((), dtype=np.int64)
        for i in range(int(x)):
            z = z * (i + 1)
        return z

    class Root(Module):
        def forward(self, x):
            x = x.astype(np.float32)
            return np.floor(np.sqrt(x) / 5.0)

    class HalfOrNegative(ScriptModule):
        @script_method
        def forward(self, x):
            if int(np.fmod(x, 2.0)) == 0:
                return x / 2.0
            return -x

    class Hybrid(Module):
        def __init__(self):
            self.double = gjit.trace(lambda x: abs(2 * x), np.array(3))
            self.root = gjit.trace(Root(), np.array(3))
            self.choice = HalfOrNegative()

        def forward(self, x):
            return self.choice(self.root(factorial(self.double(x))))

    compiled = gjit.trace(Hybrid(), np.array(5), check_inputs=[np.array(4), np.array(3, np.int32)])
    assert [compiled(np.array(x)) for x in range(1, 8)] == [0, 0, -5, 20, 190, -4377, -59051]
    assert compiled(np.array(7.0)) == -59051
    assert compiled.statistics.host_calls == 0


def test_a_traced_module_sees_new_parameters():
    layer = Linear(2, 2)
    compiled = gjit.trace(layer, np.ones(2))
    layer.weight *= 4
    assert compiled(np.ones(2)).tolist() == layer(np.ones(2)).tolist() == [8, 8]
    layer.weight = np.zeros((2, 2))
    assert compiled(np.ones(2)).tolist() == [0, 0]
