"""What a plan does, for readers: `gjit.explain`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from gjit.capture.program import Fallback, Program
from gjit.ir.graph import Node
from gjit.runtime.plan import Plan


@dataclass(frozen=True, slots=True)
class RegionReport:
    """One region: where it stands in the user's code, what it computes, and how it runs."""

    function: str
    index: int
    lines: str
    ops: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer of `gjit.explain`; `str()` of it is the text, `as_json()` the same as data.

    signature   the types that the plan was made for
    engine      what runs the regions
    regions     how many regions the plan has
    details     one report for each
    fallbacks   calls that run in the interpreter, with line and reason
    transfers   copies between host and device (none on a CPU)
    code        the host program
    """

    function: str
    signature: str
    engine: str
    regions: int
    details: tuple[RegionReport, ...]
    fallbacks: tuple[Fallback, ...]
    transfers: int
    code: str

    def as_json(self) -> str:
        """The explanation as a JSON object."""
        return json.dumps(asdict(self), indent=2)

    def __str__(self) -> str:
        lines = [f"{self.function}({self.signature}): {_count(self.regions, 'region')} on the engine {self.engine}"]
        for region in self.details:
            lines.append(f"  region {region.index} of {region.function}, {region.lines}: {', '.join(region.ops)}")
            lines.append(f"    in: {', '.join(region.inputs)}  out: {', '.join(region.outputs) or 'a store'}")
        lines.extend(f"  {each.function} ({each.place}): {each.reason}" for each in self.fallbacks)
        lines.append("host program:")
        lines.extend("  " + line for line in self.code.rstrip().splitlines())
        return "\n".join(lines)


def explain_plan(plan: Plan, program: Program) -> Explanation:
    """The explanation of one plan."""
    nodes = [(name, node) for name, graph in plan.graphs.items() for node in graph.all_nodes()]
    details = tuple(_region_report(name, node) for name, node in nodes if node.op == "region")
    return Explanation(
        function=plan.name,
        signature=plan.signature,
        engine=plan.engine,
        regions=len(details),
        details=details,
        fallbacks=(*program.refused.values(), *(_library_op(node) for _, node in nodes if node.op == "library")),
        transfers=0,
        code=plan.code,
    )


def _region_report(function: str, node: Node) -> RegionReport:
    body = node.blocks[0]
    spans = [inner.span for inner in body if inner.span is not None]
    first = min((span.line for span in spans), default=0)
    last = max((span.line for span in spans), default=0)
    return RegionReport(
        function=function,
        index=node.attributes["index"],
        lines=f"line {first}" if first == last else f"lines {first} to {last}",
        ops=tuple(inner.op.partition(".")[2] or inner.op for inner in body),
        inputs=tuple(f"{value.name or 'value'}: {value.type}" for value in node.inputs),
        outputs=tuple(f"{value.name or 'value'}: {value.type}" for value in node.results),
    )


def _library_op(node: Node) -> Fallback:
    return Fallback(str(node.attributes["function"]), str(node.span or ""), "library op: runs as one call of NumPy")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
