"""A graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.node_texts import Texts, colours_of
from gjit.ir.printer import called_graphs
from gjit.ir.structure import block_names


def dot(graph: Graph, names: Mapping[Node, str] | None = None) -> str:
    """The graph, and the graphs that it calls, in the language of Graphviz; arguments as of `gjit.ir.draw.svg`.

    >>> print(dot(Graph("empty")))
    digraph "empty" {
      node [shape=box, fontname=monospace, fontsize=10];
      subgraph "cluster_0" { label="empty";
      }
    }
    """
    graphs = [called for called, _ in called_graphs(graph)]
    colours = colours_of(graphs)
    lines = [f"digraph {_quoted(graph.name)} {{", "  node [shape=box, fontname=monospace, fontsize=10];"]
    writer = _Dot(colours)
    for each in graphs:
        lines.extend(writer.graph(each, Texts(each, names or {})))
    return "\n".join([*lines, *writer.edges, "}"])


class _Dot:
    """Numbers boxes and clusters over all graphs; values lead from box to box."""

    def __init__(self, colours: Mapping[Node, str]):
        self.colours = colours
        self.edges: list[str] = []
        self._clusters = 0
        self._boxes = 0
        self._makers: dict[Value, str] = {}

    def graph(self, graph: Graph, texts: Texts) -> Iterator[str]:
        yield from self._cluster(graph.block, graph.name, texts, "", "  ")

    def _cluster(self, block: Block, name: str, texts: Texts, style: str, margin: str) -> Iterator[str]:
        yield f'{margin}subgraph "cluster_{self._next_cluster()}" {{ label={_quoted(name)};{style}'
        for value in block.parameters:
            self._makers[value] = box = self._next_box()
            yield f"{margin}  {box} [label={_quoted(texts.name(value))}, style=rounded];"
        for node in [*block, *([block.terminator] if block.terminator is not None else [])]:
            yield from self._node(node, texts, margin + "  ")
        yield margin + "}"

    def _node(self, node: Node, texts: Texts, margin: str) -> Iterator[str]:
        box = self._next_box()
        title, note, _ = texts.describe(node)
        colour = self.colours.get(node, "")
        filled = f', style=filled, fillcolor="{colour}"' if colour else ""
        yield f"{margin}{box} [label={_quoted(title, note)}{filled}];"
        values = dict.fromkeys(value for value in node.inputs if not isinstance(value, Constant))
        self.edges += [f"  {self._makers[value]} -> {box};" for value in values if value in self._makers]
        self._makers.update((value, box) for value in node.results)
        style = f' style=filled; color="{colour}";' if colour else ""
        for name, block in zip(block_names(node), node.blocks, strict=True):
            yield from self._cluster(block, f"{box} {name}", texts, style, margin + "  ")

    def _next_cluster(self) -> int:
        self._clusters += 1
        return self._clusters - 1

    def _next_box(self) -> str:
        self._boxes += 1
        return f"n{self._boxes - 1}"


def _quoted(*lines: str) -> str:
    """A string of Graphviz with these lines; a backslash in the text stands for itself."""
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for line in lines if line)
    return '"' + "\\n".join(escaped) + '"'
