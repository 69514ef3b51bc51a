"""Print graphs as text; the grammar is on the page of the docs about the graph text."""

from __future__ import annotations

import re
from collections.abc import Generator

from gjit.ir.constants import display_text
from gjit.ir.deep import Walk, drive
from gjit.ir.graph import Block, Constant, Graph, Node, Parameter, Value
from gjit.ir.lexer import NAME, quote, word
from gjit.ir.structure import block_names
from gjit.ir.types import UNKNOWN
from gjit.source import Span

VERSION = 1
HEADER = f"gjit graph text, version {VERSION}"
"""A first line that a saved text may have; the parser refuses any other version."""

_IDENTIFIER = re.compile(NAME)
_DEEPEST_INDENTATION = 30


def print_graph(graph: Graph, *, spans: bool = True) -> str:
    """The text of a graph and of every graph that it calls, each once, the given one first.

    Args:
        spans: keep source positions (`@line:column-end`).

    >>> from gjit.ir.builder import Builder
    >>> graph = Graph("double", [Parameter("x")])
    >>> builder = Builder(graph)
    >>> _ = builder.end("return", [builder.add("operator.mul", [*graph.block.parameters, Constant(2.0)])])
    >>> print(print_graph(graph))
    graph double(%x) {
      %0 = operator.mul(%x, 2.0)
      return %0
    }
    """
    files: dict[str, int] = {}
    bodies = [
        _Printer(files if spans else None).graph(called, key if called is graph or key != called.name else None)
        for called, key in called_graphs(graph)
    ]
    lines = [f"file {index} {quote(file)}" for file, index in files.items()]
    for body in bodies:
        lines += [""] * bool(lines) + body
    return "\n".join(lines)


def called_graphs(graph: Graph) -> list[tuple[Graph, str | None]]:
    """The graph and all that it calls or differentiates, with their names in `functions`, in order of first use."""
    keys = {id(called): key for key, called in graph.functions.items()}
    found = {id(graph): graph}
    queue = [graph]
    for current in queue:
        for node in current.all_nodes():
            is_call = node.op in ("invoke", "differentiate")
            called = graph.functions.get(str(node.attributes.get("function"))) if is_call else None
            if called is not None and id(called) not in found:
                found[id(called)] = called
                queue.append(called)
    return [(called, keys.get(id(called))) for called in queue]


def print_around(graph: Graph, node: Node | None, *, lines: int = 8) -> str:
    """The lines of the text around a node (None: its first lines), with an arrow at it, for messages."""
    printer = _Printer(None)
    text = printer.graph(graph, None)
    place = 0 if node is None else printer.places.get(node, 0)
    first, last = max(place - lines, 0), place + lines + 1
    return "\n".join(
        f"{'->' if index == place else '  '} {line}" for index, line in enumerate(text[first:last], start=first)
    )


class _Printer:
    """Prints one graph into lines; names of values are given in the order in which they are printed."""

    def __init__(self, files: dict[str, int] | None):
        self.lines: list[str] = []
        self.places: dict[Node, int] = {}
        self._files = files
        self._names: dict[Value, str] = {}
        self._counts: dict[str, int] = {}

    def graph(self, graph: Graph, key: str | None) -> list[str]:
        known_as = "" if key is None else f" as {word(key)}"
        parameters = ", ".join(map(self._parameter, graph.parameters, graph.block.parameters))
        self._line(0, f"graph {word(graph.name)}{known_as}({parameters}){self._span(graph.span)} {{")
        for index, slot in enumerate(graph.captures):
            access = "guarded" if slot.guarded else "load"
            self._line(1, f"capture {index} {access} {slot.kind.value} {quote(slot.name)}")
        drive(self._contents(graph.block, 1))
        self._line(0, "}")
        return self.lines

    def _contents(self, block: Block, depth: int) -> Generator[Walk, object, None]:
        for node in block:
            line = self._node(node)
            self._place(node, depth, line)
            if node.blocks:
                self.lines[-1] += " {"
                for name, inner in zip(block_names(node), node.blocks, strict=True):
                    yield self._block(name, inner, depth + 1)
                self._line(depth, "}")
        if block.terminator is not None:
            self._place(block.terminator, depth, self._terminator(block.terminator))

    def _block(self, name: str, block: Block, depth: int) -> Generator[Walk, object, None]:
        parameters = f"({', '.join(map(self._typed, block.parameters))})" if block.parameters else ""
        if block.first is None:
            text = self._terminator(block.terminator) + " " if block.terminator is not None else ""
            self._line(depth, f"{name}{parameters} {{ {text}}}")
            if block.terminator is not None:
                self.places[block.terminator] = len(self.lines) - 1
            return
        self._line(depth, f"{name}{parameters} {{")
        yield self._contents(block, depth + 1)
        self._line(depth, "}")

    def _node(self, node: Node) -> str:
        results = f"{', '.join(map(self._name, node.results))} = " if node.results else ""
        types = ""
        if any(value.type != UNKNOWN for value in node.results):
            types = f" : {', '.join(str(value.type) for value in node.results)}"
        return f"{results}{word(node.op)}({self._inputs(node)}){self._attributes(node)}{types}{self._span(node.span)}"

    def _terminator(self, node: Node) -> str:
        inputs = self._inputs(node)
        return f"{node.op}{' ' + inputs if inputs else ''}{self._attributes(node)}{self._span(node.span)}"

    def _inputs(self, node: Node) -> str:
        labels = node.labels or ("",) * len(node.inputs)
        return ", ".join(map(self._labelled, node.inputs, labels))

    def _attributes(self, node: Node) -> str:
        if not node.attributes:
            return ""
        return f" {{{', '.join(f'{word(key)}={display_text(value)}' for key, value in node.attributes.items())}}}"

    def _labelled(self, value: Value, label: str) -> str:
        text = self._operand(value)
        return f"{word(label[:-1])}={text}" if label.endswith("=") else label + text

    def _operand(self, value: Value) -> str:
        return display_text(value.value) if isinstance(value, Constant) else self._name(value)

    def _typed(self, value: Value) -> str:
        return self._name(value) if value.type == UNKNOWN else f"{self._name(value)}: {value.type}"

    def _parameter(self, parameter: Parameter, value: Value) -> str:
        """The mark of the kind, the value, the parameter's name if the value has another, the default mark."""
        renamed = "" if self._name(value) == f"%{parameter.name}" else f" as {quote(parameter.name)}"
        typed = "" if value.type == UNKNOWN else f": {value.type}"
        return f"{parameter.kind.value}{self._name(value)}{renamed}{typed}{' = default' * parameter.has_default}"

    def _name(self, value: Value) -> str:
        name = self._names.get(value)
        if name is None:
            count = self._counts.get(value.name, 0)
            self._counts[value.name] = count + 1
            hint = value.name if _IDENTIFIER.fullmatch(value.name) or not value.name else quote(value.name)
            name = f"%{hint}.{count}" if count and hint else f"%{hint or count}"
            self._names[value] = name
        return name

    def _span(self, span: Span | None) -> str:
        if span is None or self._files is None:
            return ""
        file = self._files.setdefault(span.file, len(self._files))
        end = ""
        if (span.end_line, span.end_column) != (0, 0):
            end = f"-{span.end_column}" if span.end_line == span.line else f"-{span.end_line}:{span.end_column}"
        return f" @{span.line}:{span.column}{end}{f'#{file}' if file else ''}"

    def _place(self, node: Node, depth: int, text: str) -> None:
        self.places[node] = len(self.lines)
        self._line(depth, text)

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("  " * min(depth, _DEEPEST_INDENTATION) + text)


Graph.__str__ = print_graph  # type: ignore[method-assign, assignment]
