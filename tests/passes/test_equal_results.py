"""Random programs give the same through the interpreter before and after the passes: values, types, writes, errors."""

from __future__ import annotations

import copy
import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gjit.ir import types as t
from gjit.ir.builder import Builder
from gjit.ir.graph import Constant, Graph, Parameter, Value
from gjit.ir.interpreter import Interpreter
from gjit.ir.types import type_of
from gjit.ir.verify import verify_graph
from gjit.ops import table
from gjit.passes import pipelines
from gjit.passes.specialise import specialise

BINARY = [f"operator.{name}" for name in "add sub mul truediv floordiv mod lt eq iadd imul isub".split()]
UNARY = [
    "operator.neg",
    "operator.not",
    "numpy.sqrt",
    "numpy.absolute",
    "builtin.float",
    "numpy.asarray",
    "builtin.abs",
]
CONSTANTS = [0, 1, -2, True, 0.0, -0.0, 0.5, 2.5, None, np.float32(1.5), np.int8(100), (1, 2)]
INDICES = [
    0,
    -1,
    ...,
    slice(None, None, None),
    slice(1, None, None),
    slice(None, None, -1),
    ...,
    None,
    (0, 1),
    (slice(0, 2, None),),
]
ATTRIBUTES = ["ndim", "shape", "dtype", "T", "size", "real"]
METHODS = ["sum", "copy", "max", "tolist", "ravel"]


class Program:
    """Draws a program into a graph; `visible` are the values that may be used at this place."""

    def __init__(self, draw):
        self.draw = draw
        self.graph = Graph("f", [Parameter(name) for name in "abcd"])
        self.builder = Builder(self.graph)
        self.budget = draw(st.integers(1, 14))

    def pick(self, visible: list[Value]) -> Value:
        if self.draw(st.integers(0, 3)) == 0:
            return Constant(self.draw(st.sampled_from(CONSTANTS)))
        return visible[-1 - self.draw(st.integers(0, min(len(visible), 6) - 1))]

    def pick_array(self, visible: list[Value]) -> Value:
        """Seldom anything else than an argument that is an array: other values have no items."""
        return visible[self.draw(st.integers(0, 1))] if self.draw(st.integers(0, 4)) else self.pick(visible)

    def block(self, visible: list[Value], cells: list[Value], depth: int, length: int) -> list[Value]:
        visible = list(visible)
        for _ in range(length):
            if self.budget <= 0:
                break
            self.budget -= 1
            kinds = [
                self.operation,
                self.operation,
                self.operation,
                self.item,
                self.store,
                self.method,
                self.cell,
                self.display,
            ]
            if depth < 3:
                kinds += [self.branch, self.loop, self.short_circuit, self.counted, self.function, self.guarded]
            self.draw(st.sampled_from(kinds))(visible, cells, depth)
        return visible

    def operation(self, visible, cells, depth):
        if self.draw(st.booleans()):
            visible.append(
                self.builder.add(self.draw(st.sampled_from(BINARY)), [self.pick(visible), self.pick(visible)])
            )
        else:
            visible.append(self.builder.add(self.draw(st.sampled_from(UNARY)), [self.pick_array(visible)]))

    def item(self, visible, cells, depth):
        index = Constant(self.draw(st.sampled_from(INDICES)))
        visible.append(self.builder.add("getitem", [self.pick_array(visible), index]))

    def store(self, visible, cells, depth):
        target, index = self.pick_array(visible), Constant(self.draw(st.sampled_from(INDICES)))
        if self.draw(st.booleans()):
            self.builder.node("setitem", [target, index, self.pick(visible)], results=0)
            return
        view = self.builder.add("getitem", [target, index])
        updated = self.builder.add("operator.iadd", [view, self.pick(visible)])
        self.builder.node("setitem", [target, index, updated], results=0)
        visible.append(updated)

    def method(self, visible, cells, depth):
        owner = self.pick_array(visible)
        if self.draw(st.booleans()):
            visible.append(self.builder.add("getattr", [owner], name=self.draw(st.sampled_from(ATTRIBUTES))))
            return
        found = self.builder.add("getattr", [owner], name=self.draw(st.sampled_from(METHODS)))
        visible.append(self.builder.add("call", [found]))

    def cell(self, visible, cells, depth):
        if not cells or self.draw(st.integers(0, 3)) == 0:
            cells.append(self.builder.add("cell", name=f"c{len(cells)}"))
            if self.draw(st.integers(0, 5)):  # seldom unbound
                self.builder.node("store", [cells[-1], self.pick(visible)], results=0)
        cell = self.draw(st.sampled_from(cells))
        if self.draw(st.booleans()):
            self.builder.node("store", [cell, self.pick(visible)], results=0)
        else:
            visible.append(self.builder.add("load", [cell]))

    def display(self, visible, cells, depth):
        op = self.draw(st.sampled_from(["tuple", "list"]))
        made = self.builder.add(op, [self.pick(visible), self.pick(visible)])
        visible.append(made)
        if self.draw(st.booleans()):
            node = self.builder.node("unpack", [made], results=2, before=2, star=False, after=0)
            visible.extend(node.results)

    def condition(self, visible):
        if self.draw(st.integers(0, 5)) == 0:
            return self.pick(visible)
        op = self.draw(st.sampled_from(["operator.is", "operator.is_not"]))
        return self.builder.add(op, [self.pick(visible), Constant(None)])

    def branch(self, visible, cells, depth):
        node = self.builder.node("if", [self.condition(visible)], results=2)
        for _ in range(2):
            with self.builder.at(node.add_block()):
                inner = self.block(visible, list(cells), depth + 1, 3)
                self.builder.end("yield", [self.pick(inner), self.pick(inner)])
        visible.extend(node.results)

    def short_circuit(self, visible, cells, depth):
        node = self.builder.node(self.draw(st.sampled_from(["and", "or"])), [self.pick(visible)])
        with self.builder.at(node.add_block()):
            inner = self.block(visible, list(cells), depth + 1, 2)
            self.builder.end("yield", [self.pick(inner)])
        visible.extend(node.results)

    def loop(self, visible, cells, depth):
        source = self.pick(visible)
        if self.draw(st.booleans()):
            source = self.builder.add("builtin.range", [Constant(self.draw(st.integers(0, 3)))])
        node = self.builder.node("for", [source, self.pick(visible), self.pick(visible)], results=2)
        with self.builder.at(node.add_block(3)) as body:
            inner = self.block([*visible, *body.parameters], list(cells), depth + 1, 4)
            if self.draw(st.integers(0, 2)) == 0:
                leave = self.builder.node("if", [self.condition(inner)], results=0)
                for op in ("break", "yield"):
                    with self.builder.at(leave.add_block()):
                        self.builder.end(op, [self.pick(inner), self.pick(inner)] if op == "break" else [])
            self.builder.end("continue", [self.pick(inner), self.pick(inner)])
        with self.builder.at(node.add_block(2)) as otherwise:
            self.builder.end("yield", list(otherwise.parameters))
        visible.extend(node.results)

    def counted(self, visible, cells, depth):
        node = self.builder.node("while", [Constant(0), self.pick(visible)], results=2)
        with self.builder.at(node.add_block(2)) as condition:
            below = self.builder.add("operator.lt", [condition.parameters[0], Constant(2)])
            self.builder.end("condition", [below, *condition.parameters])
        with self.builder.at(node.add_block(2)) as body:
            inner = self.block([*visible, *body.parameters], list(cells), depth + 1, 3)
            following = self.builder.add("operator.add", [body.parameters[0], Constant(1)])
            self.builder.end("continue", [following, self.pick(inner)])
        with self.builder.at(node.add_block(2)) as otherwise:
            self.builder.end("yield", list(otherwise.parameters))
        visible.extend(node.results)

    def function(self, visible, cells, depth):
        node = self.builder.node("function", name="g", parameters=(Parameter("p"),))
        with self.builder.at(node.add_block(1)) as body:
            inner = self.block([*visible, *body.parameters], list(cells), depth + 1, 3)
            self.builder.end("return", [self.pick(inner)])
        for _ in range(self.draw(st.integers(1, 2))):
            visible.append(self.builder.add("call", [node.result, self.pick(visible)]))

    def guarded(self, visible, cells, depth):
        if not cells:
            cells.append(self.builder.add("cell", name="c0"))
        node = self.builder.node("try", results=0)
        with self.builder.at(node.add_block()):
            inner = self.block(visible, list(cells), depth + 1, 3)
            self.builder.node("store", [cells[0], self.pick(inner)], results=0)
            self.builder.end("yield")
        for _ in range(2):
            with self.builder.at(node.add_block()):
                self.builder.end("yield")
        with self.builder.at(node.add_block()):
            self.builder.end("yield", [Constant(TypeError)])
        with self.builder.at(node.add_block(1)):
            self.builder.node("store", [cells[0], self.pick(visible)], results=0)
            self.builder.end("yield")
        visible.append(self.builder.add("load", [cells[0]]))


@st.composite
def programs(draw) -> Graph:
    program = Program(draw)
    visible = program.block(list(program.graph.block.parameters), [], 0, 14)
    returned = program.builder.add("tuple", [program.pick(visible) for _ in range(3)])
    program.builder.end("return", [returned])
    verify_graph(program.graph)
    return program.graph


def arguments() -> list[object]:
    return [np.array([[1.0, -2.0, 0.0], [4.0, 0.5, 9.0]]), np.arange(4), 3, 0.25]


def outcome(graph: Graph, values: list[object]) -> tuple:
    """What a run gives: the value or the exception, the warnings, and the arguments afterwards."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        try:
            result: object = Interpreter(lambda op: table[op].function).run(graph, *values)
        except Exception as error:
            result = (type(error), str(error))
    return described(result), [str(w.message) for w in issued], described(values)


def described(value: object, seen: tuple = ()) -> object:
    if id(value) in seen:
        return "itself"
    if isinstance(value, (list, tuple)):
        return type(value), [described(element, (*seen, id(value))) for element in value]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return "array", value.shape, [described(element, (*seen, id(value))) for element in value.flat]
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape, value.strides, value.tobytes()
    if isinstance(value, (str, type)):
        return value
    return type(value), repr(value) if type(value).__repr__ is not object.__repr__ else ""


@settings(max_examples=100)
@given(programs())
def test_the_passes_change_nothing_that_can_be_seen(graph: Graph):
    expected = outcome(graph, arguments())
    pipelines.run(graph, "captured")
    verify_graph(graph)
    assert outcome(graph, arguments()) == expected
    values = arguments()
    typed = specialise(graph, [type_of(value) for value in values])
    verify_graph(typed)
    assert outcome(typed, copy.deepcopy(values)) == expected
    pipelines.run(typed, "typed")
    verify_graph(typed)
    assert outcome(typed, values) == expected


class _Checking(Interpreter):
    """Checks that every value has the type that was inferred for it, whenever it is read."""

    def run_node(self, node, inputs):
        for value, found in zip(node.inputs, inputs, strict=True):
            assert holds(value.type, found), (node, value, found)
        return super().run_node(node, inputs)


def holds(type_, found: object) -> bool:
    match type_:
        case t.UnknownType() | t.CellType():
            return True
        case t.OptionalType():
            return found is None or holds(type_.inner, found)
        case t.ArrayType():
            dtype_fits = type_.dtype is None or found.dtype == type_.dtype
            return type(found) is np.ndarray and dtype_fits and type_.rank in (None, found.ndim)
        case t.TupleType():
            if type(found) is not tuple or type_.elements is None:
                return type(found) is tuple
            return len(found) == len(type_.elements) and all(map(holds, type_.elements, found))
        case t.ListType():
            return type(found) is list and all(holds(type_.element, element) for element in found)
        case t.ScalarType():
            return isinstance(found, np.generic) and type_.dtype in (None, found.dtype)
    return t.type_of(found) == type_ or type_ in (t.FUNCTION, t.CLASS, t.MODULE, t.GENERATOR)


@settings(max_examples=100)
@given(programs())
def test_inferred_types_hold(graph: Graph):
    values = arguments()
    typed = specialise(graph, [type_of(value) for value in values])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _Checking(lambda op: table[op].function).run(typed, *values)
        except AssertionError:
            raise
        except Exception:
            return  # the program's own
