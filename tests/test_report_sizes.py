"""What `gjit.explain` tells of sizes is what a run has, for whole programs."""

from __future__ import annotations

import copy
import inspect

import numpy as np
import pytest

import gjit
from gjit.ops.row import table
from gjit.report.known_ops import UNKNOWN
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
        run.run(plan.graph, *copy.deepcopy(arguments))
    except TypeError as error:
        pytest.skip(f"the interpreter knows no defaults of called graphs: {error}")
    assert run.wrong == []
