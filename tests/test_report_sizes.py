"""What `gjit.explain` tells of sizes is what a run has, for whole programs."""

from __future__ import annotations

import copy
import inspect

import numpy as np
import pytest

import gjit
from gjit.ops.row import table
from gjit.report.known_ops import UNKNOWN, known_result, known_shape, stand_in
from gjit.report.sizes import Sizes
from tests.semantics.test_programs import PROGRAMS, arguments_of


class Compared(gjit.Interpreter):
    """Compares the results of nodes without blocks with what is told of them."""

    def __init__(self, sizes):
        super().__init__(lambda op: table[op].function)
        self.sizes, self.known, self.wrong = sizes, 0, []

    def run_node(self, node, inputs):
        result = super().run_node(node, inputs)
        told = self.sizes.of(node.results[0]) if len(node.results) == 1 else UNKNOWN
        if isinstance(told, np.ndarray):
            self.known += 1
            if (told.shape, told.dtype) != (result.shape, result.dtype):
                self.wrong.append((node, told.shape, result.shape))
        elif is_plain(told) and told != result:
            self.wrong.append((node, told, result))
        return result


def is_plain(told):
    return type(told) in (int, slice) or (type(told) is tuple and all(map(is_plain, told)))


def bound(function, arguments):
    """One value for each parameter, defaults included."""
    found = inspect.signature(function).bind(*arguments)
    found.apply_defaults()
    return found.args


@pytest.mark.parametrize("program", PROGRAMS)
def test_sizes_that_are_told_are_those_of_a_run(program):
    arguments = bound(program.function, arguments_of(program, program.sizes[0]))
    plan = gjit.script(program.function).plan_for(*arguments)
    run = Compared(Sizes(plan.graphs, plan.name, arguments))
    try:
        with np.errstate(all="ignore"):
            run.run(plan.graph, *copy.deepcopy(arguments))
    except TypeError as error:
        pytest.skip(f"the interpreter knows no defaults of called graphs: {error}")
    assert run.wrong == []


def test_shapes_of_every_kind_of_array_are_those_that_numpy_gives():
    def program(a, n):
        b = np.zeros((n, a.shape[1])) + a
        c = b.T[1:, ::2]
        d = np.exp(c).sum(axis=-1, keepdims=True)
        return b, c, d, a.sum(axis=1)

    a = np.ones((4, 6))
    plan = gjit.script(program).plan_for(a, 4)
    sizes = Sizes(plan.graphs, plan.name, [a, 4])
    end = plan.graph.block.terminator.inputs[0].producer
    for value, expected in zip(end.inputs, program(a, 4), strict=True):
        assert sizes.of(value) is UNKNOWN or sizes.of(value).shape == expected.shape
    assert sizes.of(end.inputs[0]).shape == (4, 6)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("getitem", [np.ones((4, 3)), (slice(None), 1)]),
        ("getitem", [np.ones((4, 3)), (None, ..., slice(None, None, -2))]),
        ("numpy.transpose", [np.ones((4, 3))]),
        ("ndarray.swapaxes", [np.ones((4, 3, 2)), 0, 2]),
    ],
)
def test_known_results_have_numpys_shape(op, inputs):
    functions = {"getitem": lambda a, i: a[i], "numpy.transpose": np.transpose, "ndarray.swapaxes": np.swapaxes}
    expected = functions[op](*inputs)
    found = known_result(op, [stand_in(each) if isinstance(each, np.ndarray) else each for each in inputs])
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)


@pytest.mark.parametrize(
    ("op", "function", "inputs"),
    [
        ("numpy.zeros", np.zeros, [(4, 3)]),
        ("numpy.empty", np.empty, [5]),
        ("numpy.linspace", np.linspace, [0.0, 1.0]),
        ("numpy.linspace", np.linspace, [0.0, 1.0, 7]),
        ("numpy.outer", np.outer, [np.ones(3), np.ones((2, 2))]),
        ("numpy.roll", np.roll, [np.ones((3, 2)), 1]),
        ("operator.matmul", np.matmul, [np.ones((3, 2)), np.ones((2, 4))]),
        ("operator.matmul", np.matmul, [np.ones((3, 2)), np.ones(2)]),
    ],
)
def test_shapes_of_new_arrays_are_numpys(op, function, inputs):
    assert known_shape(op, inputs) == function(*inputs).shape


@pytest.mark.parametrize(
    ("op", "inputs", "labels"),
    [
        ("numpy.zeros", [(4, UNKNOWN)], ()),
        ("numpy.roll", [UNKNOWN, 1], ()),
        ("numpy.zeros_like", [np.ones(3), (2,)], ("", "shape=")),
        ("operator.matmul", [np.ones((2, 3, 2)), np.ones(2)], ()),
        ("numpy.linspace", [0.0, 1.0, 3.5], ()),
    ],
)
def test_shapes_that_are_not_followed(op, inputs, labels):
    assert known_shape(op, inputs, labels) is None


def planes(a, n):
    total = a[0] * 0.0
    for k in range(n):
        size = k + 3
        total = np.exp(a[k, :, 1:]) * 2.0 + size
        other = np.zeros(a.shape[k % 2]) * 2.0 + 1.0
    return total, other


def test_a_number_that_differs_from_round_to_round_selects_a_known_shape_and_makes_no_known_size():
    a = np.ones((4, 5, 6))
    plan = gjit.script(planes).plan_for(a, 2)
    sizes = Sizes(plan.graphs, plan.name, [a, 2])
    values = [value for node in plan.graph.all_nodes() for value in node.results]
    shapes = {name: [sizes.of(value) for value in values if value.name == name] for name in ("total", "other", "size")}
    assert (5, 5) in {getattr(found, "shape", None) for found in shapes["total"]}
    assert all(found is UNKNOWN for found in [*shapes["other"], *shapes["size"]])


@pytest.mark.parametrize("index", [7, "a", 1.5, [0, 1], np.array([0]), UNKNOWN, (UNKNOWN,)])
def test_an_item_that_is_no_view_or_fails_is_unknown(index):
    assert known_result("getitem", [stand_in(np.ones(3)), index]) is UNKNOWN
