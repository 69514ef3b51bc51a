"""A plan: the host programs and regions for one signature."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from dataclasses import dataclass, field

from gjit import settings
from gjit.capture.program import Program
from gjit.ir.blame import blame
from gjit.ir.graph import Graph, Node
from gjit.ir.printer import print_graph
from gjit.ir.types import MODULE, UNKNOWN, Type
from gjit.runtime import device_functions, device_library, residency
from gjit.runtime.dynamic import DynamicCalls, register_generated
from gjit.runtime.engines import Engine
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.region import Region
from gjit.runtime.statistics import Statistics
from gjit.runtime.variants import Variants
from gjit.scheduler.bindings import Environment, is_known_callee
from gjit.scheduler.host_program import HostProgram, compile_host_program, compile_twins, host_program
from gjit.scheduler.loop_regions import form_loop_regions
from gjit.scheduler.nests import form_nests, is_nest
from gjit.scheduler.regions import form_regions


@dataclass(frozen=True, slots=True)
class Plan:
    """What runs for one signature.

    name       of the entry graph
    engine     that runs its regions
    signature  the types of its parameters
    graphs     the typed graphs, with regions: the entry's and those of called functions
    programs   their host programs
    function   the generated function of the entry
    bindings   what the host program of the entry calls: functions, helpers and regions, or cells with them
    regions    those regions of all of them that the engine gains on for arrays of some size
    wrapped    what calls from outside go to, where that is not the function itself
    """

    name: str
    engine: str
    signature: str
    graphs: dict[str, Graph]
    programs: dict[str, HostProgram]
    function: types.FunctionType
    bindings: dict[str, object]
    regions: list[Region] = field(default_factory=list)
    wrapped: Callable | None = None

    @property
    def call(self) -> Callable:
        """What calls from outside go to."""
        return self.wrapped or self.function

    @property
    def graph(self) -> Graph:
        """The typed graph of the entry, with its regions."""
        return self.graphs[self.name]

    @property
    def program(self) -> HostProgram:
        """The host program of the entry."""
        return self.programs[self.name]

    @property
    def code(self) -> str:
        """The host programs as Python source, the entry first."""
        return "\n\n".join(program.source for program in self.programs.values()) + "\n"

    def __str__(self) -> str:
        return print_graph(self.graph)


def build_plan(
    entry: str, program: Program, types: list[Type], engine: Engine, dynamic: DynamicCalls, statistics: Statistics
) -> Plan:
    """The plan for calls of the graph `entry` with arguments of these types."""
    graph = program.functions[entry]
    variants = Variants.build(program.functions, entry, types, program.owners)
    formed = 0
    for each in variants.graphs.values():
        with blame("form_regions", each):
            loops = form_loop_regions(each) if engine.takes_loops else 0
            nests = form_nests(each, variants.graphs, loops) if engine.make_nest is not None else 0
            formed += (
                loops
                + nests
                + form_regions(each, loops + nests, is_wide=engine.is_wide, takes_single=engine.takes_single)
            )
    if engine.prepare is not None:
        engine.prepare(variants.graphs)
    maker = _Maker(program, variants, engine, dynamic)
    functions = {}
    for name, each in variants.graphs.items():
        with blame("host_program", each):
            functions[name] = maker.make(name)
    pairs = zip(graph.parameters, types, strict=True)
    signature = ", ".join(f"{parameter.name}: {type_}" for parameter, type_ in pairs)
    made = functions[entry], maker.bindings[entry], maker.regions
    wrapped = None if engine.wrap is None else engine.wrap(functions[entry])
    plan = Plan(entry, engine.name, signature, variants.graphs, maker.programs, *made, wrapped)
    statistics.host_programs += len(functions)
    statistics.regions = formed
    statistics.tiled_regions.extend(plan.regions)
    _dump(plan)
    return plan


def runs_unknown_code(graphs: dict[str, Graph]) -> bool:
    """Whether the user's code that is not part of the plan may run in it, or a module may get another attribute."""
    return any(_is_unknown(node) for graph in graphs.values() for node in graph.all_nodes())


def _is_unknown(node: Node) -> bool:
    if node.op == "call":
        return not is_known_callee(node)
    return node.op == "scripted" or (node.op == "setattr" and node.inputs[0].type in (UNKNOWN, MODULE))


class _Maker:
    """Makes the functions of the variants, which refer to each other through cells."""

    def __init__(self, program: Program, variants: Variants, engine: Engine, dynamic: DynamicCalls):
        self.program, self.variants, self.engine, self.dynamic = program, variants, engine, dynamic
        self.cells = {name: types.CellType() for name in variants.graphs}
        self.programs: dict[str, HostProgram] = {}
        self.bindings: dict[str, dict[str, object]] = {}
        self.regions: list[Region] = []

    def make(self, name: str) -> types.FunctionType:
        owner = self.program.owners.get(self.variants.origins[name])
        namespace = owner.__globals__ if owner is not None else {"__builtins__": builtins, "__name__": "gjit"}
        printed = host_program(self.variants.graphs[name], Environment(namespace, self.engine.least_elements))
        self.programs[name] = printed
        bindings = self.bindings[name] = {here: self.cells[other] for here, other in printed.functions.items()}
        bindings.update({here: _HELPERS[helper](self.dynamic) for here, helper in printed.helpers.items()})
        if self.engine.rebind is not None:
            self.engine.rebind(printed, bindings)
        bindings.update(self._regions(printed, namespace, bindings))
        function = compile_host_program(
            printed,
            namespace,
            extra_bindings=bindings,
            defaults=owner.__defaults__ if owner is not None else None,
            keyword_defaults=owner.__kwdefaults__ if owner is not None else None,
            qualified_name=owner.__qualname__ if owner is not None else name,
        )
        register_generated(function.__code__)
        self.cells[name].cell_contents = function
        return function

    def _regions(
        self, printed: HostProgram, namespace: dict[str, object], bindings: dict[str, object]
    ) -> dict[str, object]:
        if not printed.regions:
            return {}
        cells = {region.name: types.CellType() for region in printed.regions}
        source = RegionSource(globals=namespace)
        twins = compile_twins(printed, namespace, extra_bindings={**bindings, **cells})
        made = {
            region.name: self._region(region.node, printed.graph, twin, source)
            for region, twin in zip(printed.regions, twins, strict=True)
        }
        for name, region in made.items():
            cells[name].cell_contents = region
        self.regions.extend(made.values())
        return made

    def _region(self, node: Node, graph: Graph, twin: Callable, source: RegionSource) -> Region:
        if is_nest(node) and self.engine.make_nest is not None:
            return self.engine.make_nest(node, graph, twin)
        return self.engine.make_region(node, twin, source)


_HELPERS: dict[str, Callable[[DynamicCalls], object]] = {
    "scripted": lambda dynamic: dynamic.scripted,
    "differentiated": lambda dynamic: dynamic.differentiated,
    **{name: lambda dynamic, name=name: getattr(residency, name) for name in residency.SETTLERS},
    "device_matmul": lambda dynamic: device_library.device_matmul,
    "device_dot": lambda dynamic: device_library.device_dot,
    "element": lambda dynamic: device_functions.element,
    "check_index": lambda dynamic: device_functions.check_index,
}
"""What a host program may ask of the runtime, by name."""


def _dump(plan: Plan) -> None:
    folder = settings.dump_folder()
    if folder is None:
        return
    number = sum(1 for _ in folder.iterdir())
    (folder / f"{number:04d}_{plan.name}_plan.txt").write_text(print_graph(plan.graph) + "\n")
    (folder / f"{number + 1:04d}_{plan.name}_host_program.py").write_text(f"# {plan.signature}\n{plan.code}")
