"""A picture of a graph as SVG, made without any tool."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from gjit.ir.boxes import CHARACTER, PAD, TITLE_HEIGHT, Box, Maker, Panel, Point
from gjit.ir.graph import Graph, Node
from gjit.ir.node_texts import Texts, colours_of, escape, lines_of, region_name, shorten
from gjit.ir.printer import called_graphs

MOST_NODES = 400
"""How many nodes a picture shows; it says how many it leaves out."""
_LEGEND_ENTRIES = 24
_FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"
_STYLE = "".join(
    f".gjit-graph {rule}"
    for rule in (
        f"text{{font-family:{_FONT};font-size:11px;fill:#222}}",
        "text.small{font-size:9px;fill:#666}",
        "text.name{font-size:9px;fill:#888;font-style:italic}",
        "text.title{font-weight:bold;font-size:13px}",
        ".line{fill:none;stroke:#8794a3;stroke-width:1.1}",
    )
)
"""Names the picture in each rule, so that it changes nothing else in the page that holds it."""


def svg(graph: Graph, names: Mapping[Node, str] | None = None, *, most: int = MOST_NODES) -> str:
    """A picture of a graph and of the graphs that it calls; regions are coloured.

    Args:
        names: what to call its regions; `region 0` and so on unless given.
        most: how many nodes are drawn.

    >>> from gjit.ir.graph import Constant, Parameter
    >>> from gjit.ir.builder import Builder
    >>> graph = Graph("double", [Parameter("x")])
    >>> builder = Builder(graph)
    >>> _ = builder.end("return", [builder.add("operator.mul", [*graph.block.parameters, Constant(2.0)])])
    >>> svg(graph).startswith("<svg xmlns=")
    True
    """
    graphs = [called for called, _ in called_graphs(graph)]
    colours = colours_of(graphs)
    parts, y, width = [], PAD * 2, 320.0
    remaining = most
    for each in graphs:
        texts = Texts(each, names or {})
        maker = Maker(texts.describe, texts.name, remaining)
        panel = maker.panel(each.block, "")
        remaining = maker.remaining
        parts.append(_title(each.name, y))
        parts.extend(_panel(panel, (PAD * 2, y + TITLE_HEIGHT), colours))
        y += TITLE_HEIGHT + panel.height + PAD * 2
        width = max(width, panel.width + PAD * 4, len(each.name) * 9 + PAD * 4)
    legend, height = _legend(colours, names or {}, width, graphs, most)
    moved = f'<g transform="translate(0 {_number(height)})">'
    size = f'width="{_number(width)}" height="{_number(y + height)}"'
    box = f'viewBox="0 0 {_number(width)} {_number(y + height)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="gjit-graph" {size} {box}><style>{_STYLE}</style>'
    back = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([head, back, *legend, moved, *parts, "</g></svg>"])


def _title(name: str, y: float) -> str:
    return f'<text class="title" x="{_number(PAD * 2)}" y="{_number(y + 10)}">{escape(shorten(name, 100))}</text>'


def _panel(panel: Panel, at: Point, colours: Mapping[Node, str]) -> Iterator[str]:
    yield f'<g transform="translate({_number(at[0])} {_number(at[1])})">'
    size = f'width="{_number(panel.width)}" height="{_number(panel.height)}"'
    yield f'<rect {size} rx="5" fill="#ffffff" fill-opacity="0.55" stroke="#c9d0d8"/>'
    if panel.name:
        yield f'<text class="name" x="6" y="11">{escape(panel.name)}</text>'
    for line in panel.lines:
        yield f'<path class="line" d="{_path(line)}"/>'
        x, y = line[-1]
        yield f'<path fill="#8794a3" d="M{_number(x - 3)} {_number(y - 5)}h6l-3 5z"/>'
    for box in panel.boxes:
        yield from _box(box, colours)
    yield "</g>"


def _box(box: Box, colours: Mapping[Node, str]) -> Iterator[str]:
    colour = colours.get(box.node, "") if box.node is not None else ""
    fill, border = _TONES[box.tone]
    yield f'<g transform="translate({_number(box.x)} {_number(box.y)})">'
    size = f'width="{_number(box.width)}" height="{_number(box.height)}"'
    radius = 9 if box.tone == "parameter" else 4
    yield f'<rect {size} rx="{radius}" fill="{colour or fill}" stroke="{border}"/>'
    yield _text(box.title, PAD, PAD / 2 + 11)
    if box.note:
        yield _text(box.note, PAD, PAD / 2 + TITLE_HEIGHT + 7, "small")
    for panel in box.panels:
        yield from _panel(panel, (panel.x, panel.y), colours)
    yield "</g>"


_TONES = {
    "node": ("#ffffff", "#9aa5b1"),
    "parameter": ("#eef1f4", "#9aa5b1"),
    "flow": ("#f5f6f8", "#9aa5b1"),
    "region": ("#dddddd", "#5f6b78"),
    "end": ("#e6e9ed", "#9aa5b1"),
    "note": ("#ffffff", "#d0d0d0"),
}


def _text(text: str, x: float, y: float, kind: str = "") -> str:
    styled = f' class="{kind}"' if kind else ""
    return f'<text{styled} x="{_number(x)}" y="{_number(y)}">{escape(text)}</text>'


def _path(points: list[Point]) -> str:
    """Straight through the rows that a value passes, curved between them."""
    (x, y), *rest = points
    parts = [f"M{_number(x)} {_number(y)}"]
    for there, below in rest:
        middle = (y + below) / 2
        straight = abs(there - x) < 0.5
        curve = f"C{_number(x)} {_number(middle)} {_number(there)} {_number(middle)} {_number(there)} {_number(below)}"
        parts.append(f"V{_number(below)}" if straight else curve)
        x, y = there, below
    return "".join(parts)


def _legend(
    colours: Mapping[Node, str], names: Mapping[Node, str], width: float, graphs: list[Graph], most: int
) -> tuple[list[str], float]:
    """The names of the regions in their colours, and what was left out; with the height of it all."""
    shown = list(itertools.islice(colours, _LEGEND_ENTRIES))
    entries = [(colours[node], ": ".join(filter(None, (region_name(node, names), lines_of(node))))) for node in shown]
    if len(colours) > _LEGEND_ENTRIES:
        entries.append(("#ffffff", f"… {len(colours) - _LEGEND_ENTRIES} more regions"))
    total = sum(1 for graph in graphs for _ in graph.all_nodes())
    if total > most:
        entries.append(("#ffffff", f"the first {most} of {total} nodes"))
    x, y, parts = PAD * 2, PAD * 2, []
    for colour, text in entries:
        length = 20 + len(text) * CHARACTER + PAD * 2
        if x > PAD * 2 and x + length > width:
            x, y = PAD * 2, y + 18
        parts.append(
            f'<rect x="{_number(x)}" y="{_number(y)}" width="13" height="13" fill="{colour}" stroke="#5f6b78"/>'
        )
        parts.append(_text(text, x + 18, y + 10.5))
        x += length
    return parts, y + 18 if entries else 0.0


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


Graph._repr_svg_ = svg  # type: ignore[attr-defined]
