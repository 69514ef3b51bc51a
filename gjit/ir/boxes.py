"""Where things stand in the picture of a graph: boxes from top to bottom in program order, lines for values.

A block is a `Panel` of rows. A node joins the current row unless it needs a value of that row, holds blocks itself, or
finds the row full. A value that is used further down passes the rows between in a lane of its own, so that no line
runs behind a box. All positions are relative to what holds the thing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gjit.ir.graph import Block, Constant, Node, Value
from gjit.ir.structure import LOOPS, block_names

CHARACTER, SMALL_CHARACTER = 6.7, 5.5
"""Widths of one character of a title and of a note."""
TITLE_HEIGHT, NOTE_HEIGHT, PAD = 17.0, 13.0, 8.0
_GAP, _ROW_GAP, _LANE = 18.0, 26.0, 6.0
_WIDEST_ROW, _WIDEST_BOX = 640.0, 1000.0
_DEEPEST = 16

Point = tuple[float, float]


@dataclass(eq=False, slots=True)
class Box:
    """A node, or a parameter of a block; `panels` are its blocks. `tone` says how it is coloured."""

    title: str
    note: str = ""
    tone: str = "node"
    node: Node | None = None
    panels: list[Panel] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def bottom(self) -> Point:
        return self.x + self.width / 2, self.y + self.height

    @property
    def header(self) -> float:
        """The height of the texts on top."""
        return PAD / 2 + TITLE_HEIGHT + (NOTE_HEIGHT if self.note else 0.0)


@dataclass(eq=False, slots=True)
class Panel:
    """A block: its boxes, and a list of points for each line between them."""

    name: str
    boxes: list[Box] = field(default_factory=list)
    lines: list[list[Point]] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0


@dataclass(slots=True)
class Maker:
    """Makes panels of blocks.

    describe   gives the title, the note and the tone of a node
    name       gives the name of a value
    remaining  how many nodes may still be drawn
    """

    describe: Callable[[Node], tuple[str, str, str]]
    name: Callable[[Value], str]
    remaining: int

    def panel(self, block: Block, name: str, depth: int = 0) -> Panel:
        """The panel of a block and of all that is inside it."""
        panel = Panel(name)
        rows = _Rows(panel, {})
        for value in block.parameters:
            note = "" if str(value.type) == "unknown" else str(value.type)
            rows.add(_sized(Box(self.name(value), note, "parameter")), [], [value])
        nodes = [*block, *_end(block)]
        for place, node in enumerate(nodes):
            if self.remaining <= 0 or depth > _DEEPEST:
                rows.add(_sized(Box(_more(nodes[place:]), tone="note")), [], [], alone=True)
                break
            self.remaining -= 1
            rows.add(self._box(node, depth), list(_used(node)), node.results, alone=_stands_alone(node))
        rows.finish()
        return panel

    def _box(self, node: Node, depth: int) -> Box:
        title, note, tone = self.describe(node)
        box = Box(title, note, tone, node)
        pairs = zip(block_names(node), node.blocks, strict=True)
        panels = [self.panel(block, name, depth + 1) for name, block in pairs if not _passes_on(node, block)]
        box.panels = [panel for panel in panels if panel.boxes]
        return _sized(box)


def _sized(box: Box) -> Box:
    """Arrange the panels of a box beside each other, or below where they are too wide, and measure the box."""
    texts = max(len(box.title) * CHARACTER, len(box.note) * SMALL_CHARACTER) + 2 * PAD
    beside = sum(panel.width + PAD for panel in box.panels) + PAD <= _WIDEST_BOX
    x, y, width, height = PAD, box.header, 0.0, box.header
    for panel in box.panels:
        panel.x, panel.y = x, y
        width, height = max(width, x + panel.width), max(height, y + panel.height)
        if beside:
            x += panel.width + PAD
        else:
            y += panel.height + PAD
    box.width = max(texts, width + PAD)
    box.height = height + (PAD if box.panels else PAD / 2)
    return box


@dataclass(slots=True)
class _Lane:
    """The way of one value down the panel: points so far, and where it is now."""

    points: list[Point]
    index: int

    @property
    def x(self) -> float:
        return self.points[-1][0]


@dataclass(slots=True)
class _Entry:
    """A box of a row with the values that it uses and gives."""

    box: Box
    used: list[Value]
    given: list[Value]


class _Rows:
    """Fills a panel row by row."""

    def __init__(self, panel: Panel, lanes: dict[Value, _Lane]):
        self.panel, self.lanes = panel, lanes
        self.row: list[_Entry] = []
        self.rows: list[list[_Entry]] = []
        self.given: set[Value] = set()
        self.is_closed = False
        self.middle = 0.0

    def add(self, box: Box, used: list[Value], given: list[Value], *, alone: bool = False) -> None:
        width = sum(entry.box.width + _GAP for entry in self.row) + box.width
        is_first_node = bool(self.row) and self.row[0].box.tone == "parameter" and box.tone != "parameter"
        if self.is_closed or alone or is_first_node or width > _WIDEST_ROW or self.given & set(used):
            self._close()
        self.row.append(_Entry(box, used, given))
        self.given.update(given)
        self.is_closed = alone

    def _close(self) -> None:
        if self.row:
            self.rows.append(self.row)
        self.row, self.given, self.is_closed = [], set(), False

    def finish(self) -> None:
        """Place all rows; the panel is then measured."""
        self._close()
        last = {value: number for number, row in enumerate(self.rows) for entry in row for value in entry.used}
        y = PAD + (TITLE_HEIGHT - 4.0 if self.panel.name else 0.0)
        for number, row in enumerate(self.rows):
            y = self._place(number, row, last, y)
        self._measure()

    def _place(self, number: int, row: list[_Entry], last: dict[Value, int], y: float) -> float:
        """Place one row, its lines and the lanes that pass it; where the next row begins."""
        height = max(entry.box.height for entry in row)
        passing = [lane for value, lane in self.lanes.items() if last.get(value, -1) > number]
        entries = [(self._wanted(entry), index, entry) for index, entry in enumerate(row)]
        things = sorted([*entries, *((lane.x, lane.index, lane) for lane in passing)], key=lambda thing: thing[:2])
        ways = []
        for (_, _, thing), (x, width) in zip(things, _spread([(x, *_breadth(it)) for x, _, it in things]), strict=True):
            if isinstance(thing, _Entry):
                thing.box.x, thing.box.y = x, y
                self.panel.boxes.append(thing.box)
                self._end_lines(thing, y)
            else:
                ways.append((thing, x + width / 2))
        for lane, x in ways:  # a value may end at a box of this row and pass it too: its line ends above the row
            lane.points += [(x, y), (x, y + height)]
        self.middle = sum(entry.box.bottom[0] for entry in row) / len(row)
        for entry in row:
            self.lanes.update(
                (value, _Lane([entry.box.bottom], len(self.lanes))) for value in entry.given if value in last
            )
        return y + height + _ROW_GAP

    def _wanted(self, entry: _Entry) -> float:
        places = [self.lanes[value].x for value in entry.used if value in self.lanes]
        if places:
            return sum(places) / len(places)
        return self.middle

    def _end_lines(self, entry: _Entry, y: float) -> None:
        used = sorted((value for value in entry.used if value in self.lanes), key=lambda value: self.lanes[value].x)
        for place, value in enumerate(used, 1):
            x = entry.box.x + entry.box.width * place / (len(used) + 1)
            self.panel.lines.append([*self.lanes[value].points, (x, y)])

    def _measure(self) -> None:
        panel = self.panel
        edges = [(box.x, box.x + box.width) for box in panel.boxes]
        edges += [(x - _LANE, x + _LANE) for line in panel.lines for x, _ in line]
        left = min((start for start, _ in edges), default=0.0) - PAD
        for box in panel.boxes:
            box.x -= left
        panel.lines = [[(x - left, y) for x, y in line] for line in panel.lines]
        name = len(panel.name) * SMALL_CHARACTER + 2 * PAD
        panel.width = max(max((end for _, end in edges), default=0.0) - left + PAD, name)
        panel.height = max((box.y + box.height for box in panel.boxes), default=TITLE_HEIGHT) + PAD


def _breadth(thing: _Entry | _Lane) -> tuple[float, float]:
    """The width of a thing in a row, and how little it moves aside: lanes that move at each row are staircases."""
    return (2 * _LANE, 12.0) if isinstance(thing, _Lane) else (thing.box.width, 1.0)


def _spread(wanted: list[tuple[float, float, float]]) -> list[tuple[float, float]]:
    """Left ends and widths of things that want some centre, have some width and weight, in order, without overlap.

    Things that would overlap form a pool that stands where its members want it on average, by weight.
    """
    pools: list[tuple[float, float, int]] = []
    offsets, free = [], 0.0
    for centre, width, weight in wanted:
        offsets.append(free)
        place, count = centre - width / 2 - free, 1
        while pools and pools[-1][0] > place:
            other, other_weight, members = pools.pop()
            place = (place * weight + other * other_weight) / (weight + other_weight)
            weight, count = weight + other_weight, count + members
        pools.append((place, weight, count))
        free += width + _GAP
    places = [place for place, _, count in pools for _ in range(count)]
    return [(place + offset, width) for place, offset, (_, width, _) in zip(places, offsets, wanted, strict=True)]


def _used(node: Node) -> Iterator[Value]:
    """The values that a node and all that is inside it use, each once."""
    inner = (each for block in node.blocks for each in block.all_nodes())
    values = (value for each in (node, *inner) for value in each.inputs if not isinstance(value, Constant))
    return iter(dict.fromkeys(values))


def _end(block: Block) -> list[Node]:
    """The terminator, where it says more than that the block ends."""
    end = block.terminator
    return [] if end is None or (end.op == "yield" and not end.inputs) else [end]


def _stands_alone(node: Node) -> bool:
    return bool(node.blocks) or node.is_terminator


def _passes_on(node: Node, block: Block) -> bool:
    """Whether a block says nothing: the `else` of a loop, or of an `if` without one, that gives what it takes."""
    if node.op not in LOOPS or block is not node.blocks[-1] or block.first is not None:
        return False
    end = block.terminator
    return end is not None and end.op == "yield" and end.inputs == block.parameters


def _more(nodes: list[Node]) -> str:
    count = len(nodes) + sum(1 for node in nodes for block in node.blocks for _ in block.all_nodes())
    return f"… {count} more"
