"""Hypothesis strategies: constants of every kind, types, and whole valid graphs."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from gjit.ir import Block, Builder, CaptureKind, CaptureSlot, Constant, Graph, Node, Parameter, ParameterKind, Value
from gjit.ir import types as t
from gjit.ir.constants import scalar_bits
from gjit.source import Span

any_text = st.text(st.characters(exclude_categories=()), max_size=6)
hints = st.sampled_from(["", "x", "x", "y", "_", "été", "<lambda>", "x.1", "0", 'a"b', "two words", "\n", "%x"])

python_floats = st.integers(0, 2**64 - 1).map(lambda bits: np.array(bits, "u8").view("f8").item()) | st.floats()
python_constants = (
    st.sampled_from([None, True, False, ..., 0, 1, 0.0, -0.0, float("nan"), -float("nan"), float("inf"), 2**4000, int])
    | st.integers()
    | python_floats
    | st.builds(complex, python_floats, python_floats)
    | any_text
    | st.binary(max_size=6)
)


def _scalar(dtype: np.dtype, data: bytes) -> np.generic:
    value = np.frombuffer(data.ljust(dtype.itemsize, b"\0"), dtype, 1)[0]
    return np.frombuffer(scalar_bits(value), dtype, 1)[0]


_fixed = [np.dtype(char) for char in "bBhHiIlLqQefgdFDG"] + [np.dtype("M8[25s]"), np.dtype("m8[ns]"), np.dtype("M8")]
_void = [np.dtype("V3"), np.dtype([("a", "i2"), ("b", ">f8")]), np.dtype([("a", "u1"), ("b", "f8")], align=True)]
numpy_scalars = (
    st.sampled_from(_fixed + _void).flatmap(
        lambda dtype: st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize).map(lambda data: _scalar(dtype, data))
    )
    | st.booleans().map(np.bool)
    | any_text.map(np.str_)
    | st.binary(max_size=5).map(np.bytes_)
)
_titled = np.dtype(
    {"names": ["a", "b c"], "formats": ["f4", ("i8", (2, 3))], "offsets": [8, 16], "titles": ["t", None]}
)
dtypes = st.sampled_from(
    [np.dtype(char) for char in "?bBhHiIlLqQefgdFDGO"]
    + [
        np.dtype(text)
        for text in (">f8", ">i4", ">q", ">c16", "U5", ">U2", "S3", "S0", "V4", "M8[us]", ">m8[7D]", "M8")
    ]
    + [np.dtype(char).newbyteorder() for char in "gGlL"]
    + [*_void, _titled, np.dtype((np.record, [("a", "i4")])), np.dtype(("f8", (2,))), np.dtypes.StringDType()]
)
names = st.sampled_from([int, complex, ValueError, np.float64, np.longlong, np.bool, np.str_])
scalars = python_constants | numpy_scalars | dtypes | names
constants = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.builds(slice, inner, inner, inner),
    max_leaves=6,
)

types = st.recursive(
    st.sampled_from([t.UNKNOWN, t.CELL, t.TupleType(None), *t.PYTHON_TYPES.values()])
    | st.builds(t.ArrayType, st.none() | dtypes, st.none() | st.integers(0, 32))
    | st.builds(t.ScalarType, st.none() | dtypes)
    | st.builds(t.InstanceType, st.sampled_from(["a.B", "f.<locals>.C", "C"])),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda elements: t.TupleType(tuple(elements)))
        | st.builds(t.ListType, inner)
        | st.builds(t.SetType, inner)
        | st.builds(t.DictType, inner, inner)
        | st.builds(t.OptionalType, inner)
    ),
    max_leaves=4,
)

spans = st.none() | st.builds(
    Span,
    st.sampled_from(["a.py", "b\n.py", "<ipython-1>"]),
    st.integers(1, 999),
    st.integers(0, 99),
    st.integers(0, 3),
    st.integers(0, 99),
)

parameters = st.lists(
    st.builds(
        Parameter,
        st.sampled_from("abcdefgh"),
        st.sampled_from([ParameterKind.NORMAL, ParameterKind.KEYWORD_ONLY]),
        st.booleans(),
    ),
    max_size=3,
    unique_by=lambda parameter: parameter.name,
)


class GraphMaker:
    """Draws the nodes of a valid graph: every kind of block, terminator, label and attribute."""

    def __init__(self, draw, graph: Graph):
        self._draw = draw
        self._builder = Builder(graph)
        self._graph = graph

    def contents(self, block: Block, visible: list[Value], depth: int, end) -> None:
        """Fill `block` with some nodes, then end it by `end(visible)` (an op and its inputs)."""
        visible = [*visible, *block.parameters]
        for value in block.parameters:
            value.name, value.type = self._draw(hints), self._draw(types)
        with self._builder.at(block):
            for _ in range(self._draw(st.integers(0, 3))):
                kinds = [self._plain, self._call, self._cell]
                kinds += [self._if, self._for, self._while, self._shortcut, self._try, self._with] if depth else []
                kinds += [self._match, self._function, self._comprehension, self._other] if depth else []
                self._builder.span = self._draw(spans)
                visible += self._draw(st.sampled_from(kinds))(visible, depth - 1)
            op, count = end
            self._builder.span = self._draw(spans)
            self._builder.end(op, self._operands(visible, count))

    def _operand(self, visible: list[Value]) -> Value:
        if visible and self._draw(st.booleans()):
            return self._draw(st.sampled_from(visible))
        return Constant(self._draw(constants))

    def _operands(self, visible: list[Value], count: int) -> list[Value]:
        return [self._operand(visible) for _ in range(count)]

    def _add(
        self, op: str, inputs: list[Value], results: int, labels: tuple[str, ...] = (), **attributes: object
    ) -> Node:
        given = [self._draw(types) for _ in range(results)]
        node = self._builder.node(op, inputs, labels=labels, results=given, **attributes)
        for value in node.results:
            value.name = self._draw(hints)
        return node

    def _plain(self, visible, depth) -> list[Value]:
        before, after, star = self._draw(st.integers(0, 2)), self._draw(st.integers(0, 2)), self._draw(st.booleans())
        self._add("setitem", self._operands(visible, 3), 0)
        node = self._add(
            "unpack", self._operands(visible, 1), before + star + after, before=before, star=star, after=after
        )
        return [*self._add("operator.add", self._operands(visible, 2), 1).results, *node.results]

    def _call(self, visible, depth) -> list[Value]:
        labels = tuple(self._draw(st.lists(st.sampled_from(["", "", "*", "axis=", "a b=", "**"]), max_size=4)))
        op = self._draw(st.sampled_from(["numpy.linalg.norm", "builtin.print", "odd op", "é"]))
        attributes = self._draw(st.dictionaries(st.sampled_from(["a", "b.c", "d e"]), constants | types, max_size=2))
        node = self._add(op, self._operands(visible, len(labels)), self._draw(st.integers(0, 2)), labels, **attributes)
        return node.results

    def _cell(self, visible, depth) -> list[Value]:
        cell = self._add("cell", [], 1, name="c").results
        self._add("store", [*cell, *self._operands(visible, 1)], 0)
        loaded = self._add("load", cell, 1).results
        self._add("delete", cell, 0)
        slot = self._builder.slot(
            self._draw(any_text), CaptureKind.CELL, None, guarded=self._draw(st.booleans()), namespace=None
        )
        self._add("capture.store", self._operands(visible, 1), 0, slot=slot)
        return [*loaded, *self._add("capture", [], 1, slot=slot).results]

    def _if(self, visible, depth) -> list[Value]:
        node = self._add("if", self._operands(visible, 1), self._draw(st.integers(0, 2)))
        ends = [
            ("yield", len(node.results)),
            self._draw(st.sampled_from([("yield", len(node.results)), ("return", 1), ("raise", 2)])),
        ]
        for end in ends:
            self.contents(node.add_block(), visible, depth, end)
        return node.results

    def _for(self, visible, depth) -> list[Value]:
        carried = self._draw(st.integers(0, 2))
        node = self._add("for", self._operands(visible, carried + 1), carried)
        body = self._draw(st.sampled_from(["continue", "break", "reraise"]))
        self.contents(node.add_block(carried + 1), visible, depth, (body, 0 if body == "reraise" else carried))
        self.contents(node.add_block(carried), visible, depth, ("yield", carried))
        return node.results

    def _while(self, visible, depth) -> list[Value]:
        carried = self._draw(st.integers(0, 2))
        node = self._add("while", self._operands(visible, carried), carried)
        self.contents(node.add_block(carried), visible, depth, ("condition", carried + 1))
        self.contents(node.add_block(carried), visible, depth, ("continue", carried))
        self.contents(node.add_block(carried), visible, depth, ("yield", carried))
        return node.results

    def _shortcut(self, visible, depth) -> list[Value]:
        node = self._add(self._draw(st.sampled_from(["and", "or"])), self._operands(visible, 1), 1)
        self.contents(node.add_block(), visible, depth, ("yield", 1))
        return node.results

    def _try(self, visible, depth) -> list[Value]:
        node = self._add("try", [], 0)
        for _ in range(3):
            self.contents(node.add_block(), visible, depth, ("yield", 0))
        for _ in range(self._draw(st.integers(0, 2))):
            self.contents(node.add_block(), visible, depth, ("yield", self._draw(st.integers(0, 1))))
            self.contents(node.add_block(1), visible, depth, ("yield", 0))
        return []

    def _with(self, visible, depth) -> list[Value]:
        node = self._add("with", self._operands(visible, 1), 1)
        self.contents(node.add_block(1), visible, depth, ("yield", 1))
        return node.results

    def _match(self, visible, depth) -> list[Value]:
        cases = self._draw(st.lists(st.sampled_from([("_", 0), ("[a, *b]", 2), ("_0(x=y) as z", 2)]), max_size=2))
        node = self._add("match", self._operands(visible, 2), 1, patterns=tuple(pattern for pattern, _ in cases))
        for _, bound in cases:
            self.contents(node.add_block(bound), visible, depth, ("yield", self._draw(st.integers(0, 1))))
            self.contents(node.add_block(bound), visible, depth, ("yield", 1))
        self.contents(node.add_block(), visible, depth, ("yield", 1))
        return node.results

    def _function(self, visible, depth) -> list[Value]:
        taken = tuple(self._draw(parameters))
        defaults = self._operands(visible, sum(parameter.has_default for parameter in taken))
        node = self._add("function", defaults, 1, name="inner", parameters=taken)
        self.contents(node.add_block(len(taken)), visible, depth, ("return", 1))
        return node.results

    def _comprehension(self, visible, depth) -> list[Value]:
        node = self._add("comprehension", self._operands(visible, 1), 1, kind="dict")
        clause = node.add_block(1)
        inner = Node("comprehension.if", self._operands([*visible, *clause.parameters], 1), results=0)
        clause.append(inner)
        clause.terminate(Node("yield", results=0))
        element = [*visible, *clause.parameters]
        inner.add_block().terminate(Node("yield", self._operands(element, 2), results=0))
        return node.results

    def _other(self, visible, depth) -> list[Value]:
        node = self._add("user.op", self._operands(visible, 1), 1)
        self.contents(node.add_block(1), visible, depth, ("yield", 2))
        return node.results


@st.composite
def graphs(draw, functions: dict[str, Graph] | None = None) -> Graph:
    taken = [Parameter("self", ParameterKind.POSITIONAL_ONLY), *draw(parameters)]
    graph = Graph(draw(st.sampled_from(["f", "<lambda>", "a b"])), taken, functions=functions, span=draw(spans))
    for name, kind, guarded in (("np", CaptureKind.GLOBAL, True), ("w", CaptureKind.OBJECT, False)):
        graph.captures.append(CaptureSlot(name, kind, guarded))
    GraphMaker(draw, graph).contents(graph.block, [], 2, ("return", 1))
    return graph
