"""A second compiler: regions of float64 arithmetic run on numexpr's virtual machine (`pip install numexpr`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import gjit
from gjit.errors import require
from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import FLOAT, INT, ArrayType

OPERATORS = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({} * {})",
    "truediv": "({} / {})",
    "neg": "(-{})",
    "lt": "({} < {})",
    "le": "({} <= {})",
    "gt": "({} > {})",
    "ge": "({} >= {})",
}
FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "arctan", "where")
TEMPLATES = {f"operator.{name}": text for name, text in OPERATORS.items()} | {
    f"numpy.{name}": f"{name}({', '.join(['{}'] * (3 if name == 'where' else 1))})" for name in FUNCTIONS
}


def supports(graph: gjit.Graph) -> bool:
    """Elementwise arithmetic with one result, on what may be float64 arrays and numbers."""
    nodes = [node for node in graph.block if node is not graph.block.terminator]
    is_plain = all(node.op in TEMPLATES and not any(node.labels) for node in nodes)
    return is_plain and isinstance(graph.block.terminator.inputs[0].type, ArrayType)


def compile_region(graph: gjit.Graph) -> Callable | None:
    """A function of numexpr for a region whose arrays are all float64, or conditions made of them."""
    numexpr = require("numexpr", extra="bench")
    if not all(map(is_double, graph.block.parameters)):
        return None
    names = {value: f"a{place}" for place, value in enumerate(graph.block.parameters)}
    texts: dict[Value, str] = dict(names)
    for node in graph.block:
        if node is not graph.block.terminator:
            texts[node.result] = text_of(node, texts)
    signature = [(name, np.float64) for name in names.values()]
    return numexpr.NumExpr(texts[graph.block.terminator.inputs[0]], signature=signature)


def is_double(value: Value) -> bool:
    """Whether numexpr computes with the value as NumPy does."""
    is_array = isinstance(value.type, ArrayType) and value.type.dtype == np.float64
    return is_array or value.type in (FLOAT, INT)


def text_of(node: Node, texts: dict[Value, str]) -> str:
    """One operation as numexpr writes it; numbers are written exactly."""
    operands = [f"({float(each.value)!r})" if isinstance(each, Constant) else texts[each] for each in node.inputs]
    return TEMPLATES[node.op].format(*operands)


def wave(x, t):
    amplitude = np.exp(-0.5 * x * x) / (1.0 + t * t)
    return np.where(x > 0.0, amplitude * np.cos(3.0 * x - t), -amplitude)


PROGRAMS: list[tuple] = []
"""None that is NumPy's to the bit."""


def main() -> None:
    """Run one program on NumPy and on numexpr, and compare them."""
    print(gjit.script(wave).graph)
    try:
        require("numexpr", extra="bench")
    except ImportError as error:
        print(error)
        return
    backend = gjit.register_backend("numexpr", supports, compile_region)
    compiled = gjit.script(wave, engine="numexpr")
    x = np.linspace(-4.0, 4.0, 1_000_000)
    error = np.abs(compiled(x, 0.5) - wave(x, 0.5)).max()
    print(f"largest difference from NumPy: {error:.1e}; regions that numexpr ran: {compiled.statistics.launches}")
    backend.unregister()


if __name__ == "__main__":
    main()
