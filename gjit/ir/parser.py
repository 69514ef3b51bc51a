"""Parse the text of graphs."""

from __future__ import annotations

from collections.abc import Generator

from gjit.ir.deep import Walk, drive
from gjit.ir.graph import (
    TERMINATORS,
    Block,
    CaptureKind,
    CaptureSlot,
    Constant,
    Graph,
    Node,
    Parameter,
    ParameterKind,
    Value,
)
from gjit.ir.lexer import GraphTextError, Token, Tokens
from gjit.ir.literals import parse_constant, parse_type, read_constant, read_type
from gjit.ir.printer import VERSION
from gjit.ir.references import References
from gjit.ir.structure import names_of_blocks
from gjit.ir.types import UNKNOWN, Type

__all__ = ["GraphTextError", "parse_constant", "parse_graph", "parse_type"]

_KINDS = {kind.value: kind for kind in ParameterKind}


def parse_graph(text: str) -> Graph:
    """The first graph of a text; the others are in its `functions`.

    Capture slots are not bound to objects: their `value` is None. The graph is not verified.

    Raises:
        GraphTextError: what was expected where.

    >>> graph = parse_graph("graph double(%x: int) { %y = operator.mul(%x, 2) return %y }")
    >>> print(graph)
    graph double(%x: int) {
      %y = operator.mul(%x, 2)
      return %y
    }
    """
    tokens = Tokens(text)
    files = _read_head(tokens)
    functions: dict[str, Graph] = {}
    graphs: list[Graph] = []
    while not graphs or tokens.peek().kind != "end":
        start = tokens.peek()
        graph, key = _GraphParser(tokens, files, functions).graph()
        if key is None and graphs:
            key = graph.name
        if key in functions:
            raise tokens.error(f"there are two functions {key!r}", start)
        if key is not None:
            functions[key] = graph
        graphs.append(graph)
    return graphs[0]


def _read_head(tokens: Tokens) -> list[str]:
    """The line with the version, which may be missing, and the file table."""
    if tokens.accept("gjit"):
        for part in ("graph", "text", ",", "version"):
            tokens.expect(part)
        version = tokens.peek()
        if tokens.whole_number("a version") != VERSION:
            raise tokens.error(f"this gjit reads graph text of version {VERSION}", version)
    files: list[str] = []
    while tokens.accept("file"):
        token = tokens.peek()
        if tokens.whole_number("the number of a file") != len(files):
            raise tokens.error(f"this file has the number {len(files)}", token)
        files.append(tokens.string("the name of a file"))
    return files


class _GraphParser:
    """Parses one graph."""

    def __init__(self, tokens: Tokens, files: list[str], functions: dict[str, Graph]):
        self._tokens = tokens
        self._references = References(tokens, files)
        self._functions = functions

    def graph(self) -> tuple[Graph, str | None]:
        """The graph and its name in `functions`, if the text gives one."""
        tokens = self._tokens
        tokens.expect("graph")
        name = tokens.word("the name of the graph")
        key = tokens.word("a name") if tokens.accept("as") else None
        parameters = self._parameters()
        graph = Graph(name, [parameter for parameter, _, _ in parameters], functions=self._functions)
        for value, (_, token, type_) in zip(graph.block.parameters, parameters, strict=True):
            value.type = type_
            self._references.define(value, token)
        graph.span = self._references.span()
        tokens.expect("{")
        while tokens.at("capture") and tokens.peek(1).kind == "number":
            graph.captures.append(self._slot(len(graph.captures)))
        drive(self._contents(graph.block))
        tokens.expect("}")
        return graph, key

    def _parameters(self) -> list[tuple[Parameter, Token, Type]]:
        parameters: list[tuple[Parameter, Token, Type]] = []
        self._tokens.expect("(")
        while not self._tokens.accept(")"):
            if parameters:
                self._tokens.expect(",")
            parameters.append(self._parameter())
        return parameters

    def _parameter(self) -> tuple[Parameter, Token, Type]:
        tokens = self._tokens
        kind = ParameterKind.NORMAL
        if tokens.peek().kind == "mark":
            if tokens.peek().text not in _KINDS:
                raise tokens.expected("a parameter")
            kind = _KINDS[tokens.next().text]
        token = tokens.take("value", "a parameter")
        name = tokens.string("the name of the parameter") if tokens.accept("as") else self._references.hint(token)
        type_ = self._optional_type()
        has_default = tokens.accept("=")
        if has_default:
            tokens.expect("default")
        return Parameter(name, kind, has_default), token, type_

    def _slot(self, index: int) -> CaptureSlot:
        tokens = self._tokens
        tokens.expect("capture")
        number = tokens.peek()
        if tokens.whole_number("the number of a slot") != index:
            raise tokens.error(f"this slot has the number {index}", number)
        guarded = tokens.accept("guarded")
        if not guarded:
            tokens.expect("load")
        kind = tokens.decoded(tokens.take("name", "`global`, `closure` or `object`"), CaptureKind)
        return CaptureSlot(tokens.string("the name of the object"), kind, guarded)

    def _contents(self, block: Block) -> Generator[Walk, object, None]:
        """Nodes and a terminator, up to the closing brace, which stays."""
        tokens = self._tokens
        while not tokens.at("}"):
            if tokens.peek().text in TERMINATORS and tokens.peek().kind == "name":
                block.terminate(self._terminator())
                if not tokens.at("}"):
                    raise tokens.expected("`}` after a terminator")
                return
            node, start = self._node()
            block.append(node)
            if tokens.accept("{"):
                yield self._blocks(node, start)

    def _blocks(self, node: Node, start: Token) -> Generator[Walk, object, None]:
        names: list[Token] = []
        tokens = self._tokens
        while not tokens.accept("}"):
            names.append(tokens.take("name", "the name of a block"))
            block = node.add_block()
            if tokens.accept("("):
                self._block_parameters(block)
            tokens.expect("{")
            yield self._contents(block)
            tokens.expect("}")
        expected = names_of_blocks(node.op, len(names))
        if [name.text for name in names] != expected:
            raise tokens.error(f"`{node.op}` with {len(names)} blocks has the blocks {', '.join(expected)}", start)

    def _block_parameters(self, block: Block) -> None:
        tokens = self._tokens
        while not tokens.accept(")"):
            if block.parameters:
                tokens.expect(",")
            token = tokens.take("value", "a parameter")
            self._references.define(block.add_parameter(self._optional_type()), token)

    def _node(self) -> tuple[Node, Token]:
        tokens = self._tokens
        results = self._results()
        start = tokens.peek()
        op = tokens.word("an op")
        tokens.expect("(")
        inputs, labels = self._inputs(")")
        tokens.expect(")")
        attributes = self._attributes()
        types = self._result_types(len(results))
        node = Node(op, inputs, labels=labels, attributes=attributes, results=types, span=self._references.span())
        for value, token in zip(node.results, results, strict=True):
            self._references.define(value, token)
        return node, start

    def _results(self) -> list[Token]:
        tokens = self._tokens
        results: list[Token] = []
        while tokens.peek().kind == "value":
            results.append(tokens.next())
            if not tokens.accept(","):
                tokens.expect("=")
                break
        return results

    def _result_types(self, count: int) -> list[Type]:
        tokens = self._tokens
        if not tokens.at(":"):
            return [UNKNOWN] * count
        start = tokens.next()
        types = [read_type(tokens)]
        while tokens.accept(","):
            types.append(read_type(tokens))
        if len(types) != count:
            raise tokens.error(f"expected {count} types, one for each result, found {len(types)}", start)
        return types

    def _terminator(self) -> Node:
        op = self._tokens.next().text
        inputs, labels = self._inputs("}")
        return Node(op, inputs, labels=labels, attributes=self._attributes(), results=0, span=self._references.span())

    def _inputs(self, end: str) -> tuple[list[Value], tuple[str, ...]]:
        """Operands with labels, up to the mark `end`, attributes or a span, which stay."""
        tokens = self._tokens
        inputs: list[Value] = []
        labels: list[str] = []
        if tokens.at(end) or tokens.at("{") or tokens.peek().kind == "span":
            return inputs, ()
        while True:
            labels.append(self._label())
            inputs.append(self._operand())
            if not tokens.accept(","):
                return inputs, tuple(labels)

    def _label(self) -> str:
        tokens = self._tokens
        for spread in ("*", "**"):
            if tokens.accept(spread):
                return spread
        if tokens.at("=", 1) and tokens.peek().kind in ("name", "string"):
            name = tokens.word("a keyword")
            tokens.expect("=")
            return name + "="
        return ""

    def _operand(self) -> Value:
        if self._tokens.peek().kind == "value":
            return self._references.value()
        return Constant(read_constant(self._tokens))

    def _attributes(self) -> dict[str, object]:
        tokens = self._tokens
        attributes: dict[str, object] = {}
        if not (tokens.at("{") and tokens.at("=", 2)):
            return attributes
        while not attributes or not tokens.accept("}"):
            tokens.expect("," if attributes else "{")
            token = tokens.peek()
            name = tokens.word("the name of an attribute")
            if name in attributes:
                raise tokens.error(f"there are two attributes {name!r}", token)
            tokens.expect("=")
            attributes[name] = read_constant(tokens)
        return attributes

    def _optional_type(self) -> Type:
        return read_type(self._tokens) if self._tokens.accept(":") else UNKNOWN
