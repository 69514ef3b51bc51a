"""Regions for readers: where they stand, what they move through memory, how often they have run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.node_texts import colours_of, lines_of
from gjit.ir.printer import called_graphs
from gjit.ir.types import ArrayType
from gjit.report.sizes import Sizes, end_of
from gjit.runtime.engines import engine_named
from gjit.runtime.nest_region import LEAST_ELEMENTS, NestRegion
from gjit.runtime.plan import Plan
from gjit.runtime.region import Region
from gjit.scheduler.fusible import Form, operation_of
from gjit.scheduler.nests import is_nest
from gjit.source import Span


@dataclass(frozen=True, slots=True)
class RegionReport:
    """One region: where it stands in the user's code, what it computes, and how it runs.

    function            the graph that it is in
    index               its number in the graph
    name                what the host program calls it
    lines, source       the lines of the user's code, and their texts with file and number
    ops                 what it computes, in order
    inputs, outputs     names and types
    least_elements      smaller arrays run op by op, in place; None: always, since one pass gains nothing
    bytes_read          from memory by one run for these arguments, bytes_written to it; None where that is not known
    intermediates       arrays that never exist as a whole when the region runs as one pass, and their bytes together
    colour              in the picture
    launches            how often it has run as one pass, and how often op by op although its arrays were large
    is_nest             whether it is a loop nest, which runs as native code or, as it was written, on the host
    refusals            why native code does not run the nest, for each kind of inputs that have come so far
    """

    function: str
    index: int
    name: str
    lines: str
    source: tuple[str, ...]
    ops: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    least_elements: int | None
    bytes_read: int | None
    bytes_written: int | None
    intermediates: tuple[str, ...]
    intermediate_bytes: int | None
    colour: str
    launches: int
    fallbacks: int
    is_nest: bool = False
    refusals: tuple[str, ...] = ()


def region_reports(plan: Plan, sizes: Sizes) -> Iterator[RegionReport]:
    """A report for each region of a plan, in the order of its graphs."""
    least_elements = engine_named(plan.engine).least_elements
    running = {region.node: region for region in plan.regions}
    names = region_names(plan)
    colours = colours_of([graph for graph, _ in called_graphs(plan.graph)])
    for function, graph in plan.graphs.items():
        for node in graph.all_nodes():
            if node.op == "region":
                name = names.get(node, f"region {node.attributes['index']}")
                least = LEAST_ELEMENTS if is_nest(node) else least_elements(node)
                runs = least, running.get(node)
                yield _report(function, name, node, *runs, sizes, colours.get(node, ""))


def region_names(plan: Plan) -> dict[Node, str]:
    """What the host programs call their regions."""
    return {region.node: region.name for program in plan.programs.values() for region in program.regions}


def source_lines(spans: Iterable[Span | None]) -> tuple[str, ...]:
    """The lines that spans start on, each once, as `number: text`."""
    places = sorted({(span.file, span.line): span for span in spans if span is not None}.items())
    return tuple(f"{line}: {span.text().strip()}" for (_, line), span in places)


def _report(
    function: str, name: str, node: Node, least: int | None, region: Region | None, sizes: Sizes, colour: str
) -> RegionReport:
    body = list(node.blocks[0].all_nodes())
    between = [] if is_nest(node) else list(_intermediates(node))
    return RegionReport(
        function=function,
        index=node.attributes["index"],
        name=name,
        lines=lines_of(node),
        source=source_lines(inner.span for inner in body),
        ops=tuple(short_name(inner) for inner in body if not inner.is_terminator),
        inputs=tuple(map(_typed, node.inputs)),
        outputs=tuple(map(_typed, node.results)),
        least_elements=least,
        bytes_read=None if is_nest(node) else total([sizes.bytes_of(value) for value in _read(node)]),
        bytes_written=None if is_nest(node) else total([*map(sizes.bytes_of, node.results), *_stored(node, sizes)]),
        intermediates=tuple(name for name, _ in between),
        intermediate_bytes=total([sizes.bytes_of(value) for _, value in between]),
        colour=colour,
        launches=region.tiled if region is not None else 0,
        fallbacks=region.fallbacks if region is not None else 0,
        is_nest=is_nest(node),
        refusals=tuple(dict.fromkeys(region.reasons.values())) if isinstance(region, NestRegion) else (),
    )


def short_name(node: Node) -> str:
    """The op without its family."""
    return node.op.partition(".")[2] or node.op


def total(sizes: list[int | None]) -> int | None:
    """The sum, or None where a part is not known."""
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _typed(value: Value) -> str:
    return f"{value.name or 'value'}: {value.type}"


def _read(node: Node) -> Iterator[Value]:
    """The inputs that the region reads; the target of a store, or of `out=`, is only written."""
    body = node.blocks[0]
    for parameter in body.parameters:
        if any(_is_read(parameter, user) for user in parameter.uses):
            yield parameter


def _is_read(value: Value, user: Node) -> bool:
    operation = operation_of(user)
    if operation is None:
        return not user.is_terminator
    if operation.form is Form.STORE:
        return value in operation.operands[1:]
    return value in operation.operands


def _stored(node: Node, sizes: Sizes) -> Iterator[int | None]:
    """The bytes of each array outside that the region writes into."""
    body = node.blocks[0]
    yielded = set(end_of(body).inputs)
    for inner in body:
        operation = operation_of(inner)
        if inner.op == "setitem":
            yield sizes.stored_bytes(inner)
        elif operation is not None and operation.out is not None and not yielded & {inner.result}:
            yield sizes.bytes_of(operation.out)


def _intermediates(node: Node) -> Iterator[tuple[str, Value]]:
    """The arrays that are made and used inside the region alone, with the user's name or the op."""
    body = node.blocks[0]
    yielded = set(end_of(body).inputs)
    for inner in body.all_nodes():
        operation = operation_of(inner)
        makes = operation is not None and operation.out is None and operation.form not in (Form.STORE, Form.VIEW)
        for value in inner.results if makes else ():
            if value not in yielded and not isinstance(value, Constant) and isinstance(value.type, ArrayType):
                yield value.name or short_name(inner), value
