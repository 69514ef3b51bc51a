"""The entry graphs of derivatives: a few nodes around `differentiate`, for each kind of derivative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gjit.ir.builder import Builder
from gjit.ir.graph import Constant, Graph, Parameter, Value


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: the kind, the positions of the arguments, whether one was given alone, and `has_aux`."""

    mode: str
    positions: tuple[int, ...]
    single: bool
    has_aux: bool

    def extra_parameters(self, names: list[str]) -> list[str]:
        """The names of parameters besides those of the function."""
        wanted = {"vjp": ["cotangent"], "jvp": ["tangent"], "augmented": [f"shadow_{name}" for name in names]}
        taken, found = set(names), []
        for name in wanted.get(self.mode, []):
            while name in taken:
                name = f"{name}_1"
            taken.add(name)
            found.append(name)
        return found


def _differentiate(
    builder: Builder, values: list[Value], name: str, request: Request, mode: str, **changes: object
) -> Value:
    attributes = {"arguments": request.positions, "single": request.single, "has_aux": request.has_aux, **changes}
    node = builder.node("differentiate", values)
    node.attributes = {"function": name, "mode": mode, **attributes}
    return node.result


def plain(entry: Graph, name: str, request: Request) -> None:
    """`grad`, `value_and_grad` and `vjp`: the node alone."""
    builder = _builder(entry)
    builder.end("return", [_differentiate(builder, entry.block.parameters, name, request, request.mode)])


def jvp(entry: Graph, name: str, request: Request) -> None:
    """The cotangent's product with the Jacobian is linear in the cotangent; the product of that map's own adjoint with
    the tangent is the tangent of the value."""
    builder = _builder(entry)
    *arguments, tangent = entry.block.parameters
    value = builder.add("invoke", arguments, function=name)
    start = builder.add("gradient.null", [value])
    linear = _linear_map(entry, name, request)
    inputs = [*arguments, start, tangent]
    changes = {"arguments": (len(arguments),), "single": True, "has_aux": False}
    pair = _differentiate(builder, inputs, linear, request, "vjp", **changes)
    builder.end("return", [builder.add("tuple", [value, builder.add("getitem", [pair, Constant(1)])])])


def _linear_map(entry: Graph, name: str, request: Request) -> str:
    """The graph from arguments and a cotangent to the gradients."""
    free = f"pullback_of_{name}"
    parameters = [Parameter(p.name) for p in entry.parameters[:-1]]
    graph = Graph(free, [*parameters, Parameter("cotangent_of_value")], functions=entry.functions, span=entry.span)
    builder = _builder(graph)
    pair = _differentiate(builder, graph.block.parameters, name, request, "vjp")
    builder.end("return", [builder.add("getitem", [pair, Constant(1)])])
    entry.functions[free] = graph
    return free


def jacobian(entry: Graph, name: str, request: Request) -> None:
    """One product for each element of the result."""
    builder = _builder(entry)
    arguments = entry.block.parameters
    value = builder.add("invoke", arguments, function=name)
    rows = builder.add("list", [])
    count = builder.add("gradient.count", [value])
    numbers = builder.add("builtin.range", [count])
    loop = builder.node("for", [numbers], results=0)
    body, otherwise = loop.add_block(1), loop.add_block()
    with builder.at(body):
        unit = builder.add("gradient.unit", [value, body.parameters[0]])
        pair = _differentiate(builder, [*arguments, unit], name, request, "vjp")
        row = builder.add("getitem", [pair, Constant(1)])
        append = builder.add("getattr", [rows], name="append")
        builder.add("call", [append, row])
        builder.end("continue")
    with builder.at(otherwise):
        builder.end("yield")
    wanted = [arguments[position] for position in request.positions]
    like = wanted[0] if request.single else builder.add("tuple", wanted)
    builder.end("return", [builder.add("gradient.stacked", [rows, value, like])])


def _builder(graph: Graph) -> Builder:
    builder = Builder(graph)
    builder.span = graph.span
    return builder


ENTRIES: dict[str, Callable[[Graph, str, Request], None]] = {
    "grad": plain,
    "value_and_grad": plain,
    "vjp": plain,
    "augmented": plain,
    "jvp": jvp,
    "jacobian": jacobian,
}
