"""What a plan does, for readers: `gjit.explain`; what its regions will be called with, for `f.compile`."""

from __future__ import annotations

from collections.abc import Sequence

from gjit.capture.program import Fallback, Program
from gjit.ir.graph import Node
from gjit.report.explanation import Explanation
from gjit.report.host import HostReport, host_reports
from gjit.report.progress_bar import progress
from gjit.report.regions import RegionReport, region_reports
from gjit.report.samples import region_samples
from gjit.report.sizes import Sizes
from gjit.runtime.device_region import DeviceRegion
from gjit.runtime.plan import Plan

__all__ = ["Explanation", "HostReport", "RegionReport", "compile_regions", "explain_plan"]


def explain_plan(plan: Plan, program: Program, arguments: Sequence[object] = ()) -> Explanation:
    """The explanation of one plan.

    Args:
        program: that it was made from.
        arguments: one for each parameter of the entry; sizes are told for them.
    """
    details = tuple(region_reports(plan, Sizes(plan.graphs, plan.name, arguments)))
    nodes = [node for graph in plan.graphs.values() for node in graph.all_nodes()]
    return Explanation(
        function=plan.name,
        signature=plan.signature,
        engine=plan.engine,
        regions=len(details),
        details=details,
        host=tuple(host_reports(plan, program)),
        fallbacks=(*program.refused.values(), *(_library_op(node) for node in nodes if node.op == "library")),
        transfers=next((region.statistics.transfers for region in plan.regions if isinstance(region, DeviceRegion)), 0),
        code=plan.code,
        plan=plan,
    )


def compile_regions(plan: Plan, arguments: Sequence[object]) -> None:
    """Compile the kernels that the regions of a plan will want for these arguments, with a progress bar."""
    for region, inputs in progress(region_samples(plan, arguments), f"compiling {plan.name}"):
        region.compile(inputs)


def _library_op(node: Node) -> Fallback:
    return Fallback(str(node.attributes["function"]), str(node.span or ""), "library op: runs as one call of NumPy")
