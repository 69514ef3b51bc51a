"""Print a graph as a native Python function, and make that function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import CellType, CodeType, FunctionType

from gjit.ir.graph import Block, Graph, Node, Parameter
from gjit.ir.room import with_room
from gjit.scheduler.bindings import Bindings, Environment, cell_of
from gjit.scheduler.definitions import Definitions
from gjit.scheduler.flow import analyse
from gjit.scheduler.functions import SCOPE
from gjit.scheduler.liveness import interference
from gjit.scheduler.loop_regions import with_inner_regions
from gjit.scheduler.naming import name_values
from gjit.scheduler.stacking import fold
from gjit.scheduler.syntax import located
from gjit.scheduler.text import text_of
from gjit.source import Span

FACTORY = "make"
ENTRY = "gjit_function"


@dataclass(slots=True)
class RegionCall:
    """A region of a host program: the name under which the program calls it, its twin's, its node."""

    name: str
    twin: str
    node: Node


@dataclass(slots=True)
class HostProgram:
    """A printed graph.

    graph      what was printed
    tree       a module that holds a factory; its parameters are the names bound from outside, in it are the function
               and the twins
    bindings   objects that the program uses, by name
    functions  graphs whose generated functions it calls, by name
    helpers    functions of the runtime that it calls (`scripted`), by name
    regions    the regions that it calls
    closure    capture slots of kind `closure`, by the name of the free variable
    twins      the definitions of the twins
    """

    graph: Graph
    tree: ast.Module
    bindings: dict[str, object]
    functions: dict[str, str]
    helpers: dict[str, str]
    closure: dict[str, int]
    regions: list[RegionCall] = field(default_factory=list)
    twins: list[ast.FunctionDef] = field(default_factory=list)
    _codes: dict[str, CodeType] = field(default_factory=dict, repr=False, compare=False)

    @property
    def source(self) -> str:
        """The text of the function, as users see it."""
        (factory,) = self.tree.body
        entry = next(tree for tree in factory.body if tree.name == ENTRY)
        named = ast.FunctionDef(_identifier(self.graph.name), entry.args, entry.body, [], None)
        return with_room(lambda: text_of(located(named, self.graph.span)))

    @property
    def file(self) -> str:
        """The file that the code of the program says it comes from: the user's."""
        return self.graph.span.file if self.graph.span else "<gjit>"

    def code(self, name: str) -> CodeType:
        """The code object of a function of the module: the program's own, or a twin's."""
        if not self._codes:
            module = compile(self.tree, self.file, "exec", dont_inherit=True)
            factory = next(iter(_inner_codes(module)))
            self._codes.update((code.co_name, code) for code in _inner_codes(factory))
        return self._codes[name]

    def code_behind(self, prologue: list[ast.stmt], names: Iterable[str]) -> CodeType:
        """The code of the program with statements before its own, which use `names` besides its bindings."""
        (factory,) = self.tree.body
        entry = next(tree for tree in factory.body if tree.name == ENTRY)
        longer = _definition(ENTRY, entry.args, [*prologue, *entry.body], self.graph.span)
        outside = dict.fromkeys([*(argument.arg for argument in factory.args.args), *names])
        module = compile(_module(outside, [longer], self.graph.span), self.file, "exec", dont_inherit=True)
        return next(iter(_inner_codes(next(iter(_inner_codes(module))))))


def host_program(graph: Graph, environment: Environment | None = None) -> HostProgram:
    """Print a graph as a Python function.

    >>> from gjit.ir.builder import Builder
    >>> graph = Graph("double", [Parameter("x")])
    >>> builder = Builder(graph)
    >>> _ = builder.end("return", [builder.add("operator.add", [*graph.block.parameters] * 2)])
    >>> print(host_program(graph).source)
    def double(x):
        return x + x
    """
    bindings = Bindings(graph, environment or Environment(), _identifier(graph.name))
    printer = _printer(graph, graph.block, bindings)
    arguments = printer.arguments(graph.parameters)
    body = printer.function_body(graph.block, None, graph.block.parameters)
    # Inside the factory the function's own name would hide a global of that name.
    function = _definition(ENTRY, arguments, body, graph.span)
    twins, regions = _twins(printer, graph, bindings)
    names = [region.name for region in regions]
    outside = [*bindings.objects, *bindings.functions, *bindings.helpers, *bindings.closure, *names]
    return HostProgram(
        graph=graph,
        tree=_module(outside, [function, *twins], graph.span),
        bindings=bindings.objects,
        functions=bindings.functions,
        helpers=bindings.helpers,
        closure=bindings.closure,
        regions=regions,
        twins=twins,
    )


def compile_host_program(
    program: HostProgram,
    globals: dict[str, object],
    closure_cells: dict[str, CellType] | None = None,
    extra_bindings: dict[str, object] | None = None,
    *,
    defaults: tuple[object, ...] | None = None,
    keyword_defaults: dict[str, object] | None = None,
    qualified_name: str = "",
    prologue: list[ast.stmt] | None = None,
) -> FunctionType:
    """Make the function of a host program.

    Args:
        program: what `host_program` gave.
        globals: the dictionary of the user's function.
        closure_cells: the user's cells by the names in `program.closure`; the cells of the slots where one is missing.
        extra_bindings: the functions, helpers and regions that the program calls, by the names in `program.functions`,
            `program.helpers` and `program.regions`. A value may be a cell, to be filled in later.
        defaults, keyword_defaults: of the user's function.
        qualified_name: `__qualname__` of the function, the name of the graph unless given.
        prologue: statements that run before those of the program; they may use what `extra_bindings` names.

    Raises:
        KeyError: a name that the program needs is bound to nothing.
    """
    cells = _cells(program, closure_cells or {}, extra_bindings or {})
    code = program.code_behind(prologue, extra_bindings or {}) if prologue else program.code(ENTRY)
    qualified_name = qualified_name or program.graph.name
    code = _renamed(code, program.graph.name.rpartition(".")[2], qualified_name)
    closure = tuple(cells[name] for name in code.co_freevars)
    function = FunctionType(code, globals, code.co_name, defaults, closure)
    function.__kwdefaults__ = keyword_defaults
    return function


def compile_twins(
    program: HostProgram,
    globals: dict[str, object],
    closure_cells: dict[str, CellType] | None = None,
    extra_bindings: dict[str, object] | None = None,
) -> list[FunctionType]:
    """Make the twins of the regions of a host program, in their order; arguments as of `compile_host_program`."""
    cells = _cells(program, closure_cells or {}, extra_bindings or {})
    made = [program.code(region.twin) for region in program.regions]
    return [FunctionType(code, globals, code.co_name, None, tuple(cells[n] for n in code.co_freevars)) for code in made]


def _printer(graph: Graph, block: Block, bindings: Bindings) -> Definitions:
    flow = analyse(block)
    folding = fold(block, graph, flow)
    found = interference(block, graph, flow, folding)
    names = name_values(block, flow, found, bindings.reserved())
    bindings.use(names)
    return Definitions(graph, flow, folding, names, bindings)


def _twins(printer: Definitions, graph: Graph, bindings: Bindings) -> tuple[list[ast.FunctionDef], list[RegionCall]]:
    """The twins of all regions that a program calls; the twin of a loop calls regions itself."""
    twins: list[ast.FunctionDef] = []
    regions: list[RegionCall] = []
    waiting = list(zip(printer.regions, printer.region_names, strict=True))
    for node, name in waiting:
        twin, inner = _twin(node, len(twins), graph, bindings)
        waiting += zip(inner.regions, inner.region_names, strict=True)
        twins.append(twin)
        regions.append(RegionCall(name, twin.name, node))
    return twins, regions


def _twin(region: Node, index: int, graph: Graph, bindings: Bindings) -> tuple[ast.FunctionDef, Definitions]:
    """The nodes of a region as a function of its inputs that returns what the region yields."""
    node = with_inner_regions(region, graph)
    printer = _printer(graph, node.blocks[0], bindings)
    body = printer.twin_body(node)
    parameters = [Parameter(name) for name in printer.parameter_names(node.blocks[0].parameters)]
    name = printer.names.fresh(f"twin_{index}")
    return _definition(name, printer.arguments(parameters), body, region.span or graph.span), printer


def _definition(name: str, arguments: ast.arguments, body: list[ast.stmt], span: Span | None) -> ast.FunctionDef:
    tree = ast.FunctionDef(name, arguments, body or [ast.Pass()], [], None)
    return located(tree, span)


def _module(outside: Iterable[str], functions: list[ast.stmt], span: Span | None) -> ast.Module:
    parameters = ast.arguments([], [ast.arg(name) for name in outside], None, [], [], None, [])
    factory = _definition(FACTORY, parameters, functions, span)
    return ast.Module([factory], [])


def _cells(program: HostProgram, closure: dict[str, CellType], extra: dict[str, object]) -> dict[str, CellType]:
    cells = {name: _in_cell(value) for name, value in {**program.bindings, **extra}.items()}
    for name, index in program.closure.items():
        cells[name] = closure.get(name) or cell_of(program.graph.captures[index])
    return cells


def _in_cell(value: object) -> CellType:
    return value if isinstance(value, CellType) else CellType(value)


def _inner_codes(code: CodeType) -> Iterable[CodeType]:
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def _renamed(code: CodeType, name: str, qualified_name: str) -> CodeType:
    """The code under its user's name; inner functions follow."""
    before = code.co_qualname
    code = code.replace(co_name=name, co_qualname=qualified_name)
    return _requalified(code, before, qualified_name)


def _requalified(code: CodeType, before: str, after: str) -> CodeType:
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            name = _IN_SCOPE.sub("", constant.co_qualname.replace(before, after, 1))
            inner = _requalified(constant, before, after)
            # A class body tells the class its name by a constant.
            own = tuple(name if each == constant.co_qualname else each for each in inner.co_consts)
            constants.append(inner.replace(co_qualname=name, co_consts=own))
        else:
            constants.append(constant)
    return code.replace(co_consts=tuple(constants))


_IN_SCOPE = re.compile(rf"\.<locals>\.{SCOPE}(_\d+)?(?=\.<locals>\.)")


def _identifier(name: str) -> str:
    word = re.sub(r"\W+", "_", name).strip("_") or "function"
    return f"_{word}" if word[0].isdigit() else word
