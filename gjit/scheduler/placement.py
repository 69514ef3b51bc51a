"""Whether a program pays on a GPU: a table of costs, by ops and sizes alone, so that the same call always runs at the
same place.

A program is counted once: how many ops of each kind it holds, those in loops several times. A call then costs, with n
elements in its largest argument and all arguments of b bytes,

    on the CPU   n * (cheap + 8 * dear) / threads + 0.05 * n ** 1.5 * products       nanoseconds
    on a GPU     100,000 + 20,000 * launches + 2 * b / 10 + n * ops / 500 + n ** 1.5 * products / 2000

and runs on the GPU where that is less than half.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gjit.ir.graph import Graph, Node
from gjit.ops.row import Kind, table
from gjit.scheduler.fusible import REDUCTIONS

_DEAR = 8.0
_TURNS = 8
_STARTED = 100_000.0
_LAUNCHED = 20_000.0
_BYTES_A_NANOSECOND = 10.0
_FASTER = 500.0
_MOST_THREADS = 8
_OPS_A_LAUNCH = 8
_NEVER = 1 << 48

_WORDS = """
add subtract multiply divide negative positive absolute fabs sqrt square reciprocal maximum minimum fmax fmin
greater greater_equal less less_equal equal not_equal logical_and logical_or logical_not logical_xor bitwise_and
bitwise_or bitwise_xor invert where clip astype floor ceil trunc rint sign isnan isfinite isinf conjugate
"""
_CHEAP = frozenset(_WORDS.split())
"""Ops that take about a nanosecond an element; others take about eight."""
_PRODUCTS = frozenset(
    ("operator.matmul", "numpy.matmul", "numpy.dot", "ndarray.dot", "numpy.tensordot", "numpy.einsum")
)


@dataclass(frozen=True, slots=True)
class Work:
    """The ops of a program: cheap ones, dear ones, products of matrices, each by how often it may run."""

    cheap: int
    dear: int
    products: int

    def on_cpu(self, elements: int, threads: int) -> float:
        """Nanoseconds on the CPU."""
        share = min(max(threads, 1), _MOST_THREADS)
        return elements * (self.cheap + _DEAR * self.dear) / share + 0.05 * elements**1.5 * self.products / share

    def on_gpu(self, elements: int, size: int) -> float:
        """Nanoseconds on a GPU, with the transfers there and back."""
        ops = self.cheap + self.dear
        launches = 1 + ops // _OPS_A_LAUNCH + self.products
        moved = 2 * size / _BYTES_A_NANOSECOND
        return _STARTED + _LAUNCHED * launches + moved + elements * ops / _FASTER + elements**1.5 * self.products / 2000

    def pays(self, elements: int, size: int, threads: int) -> bool:
        """Whether a GPU takes less than half the time for arguments of so many bytes, the largest of so many elements.

        >>> Work(2, 0, 0).pays(1 << 24, 1 << 27, 8), Work(10, 40, 0).pays(1 << 24, 1 << 27, 8)
        (False, True)
        """
        return 2 * self.on_gpu(elements, size) < self.on_cpu(elements, threads)

    def least_elements(self, threads: int) -> int:
        """With a largest argument of less elements than this a GPU never pays.

        >>> Work(2, 0, 0).least_elements(8) > 1 << 40, Work(10, 40, 0).least_elements(8)
        (True, 16384)
        """
        elements = 1
        while elements < _NEVER and not self.pays(elements, elements, threads):
            elements *= 2
        return elements


def work_of(graphs: Iterable[Graph]) -> Work:
    """Count the ops of a program."""
    cheap = dear = products = 0
    for graph in graphs:
        for node in graph.all_nodes():
            turns = _turns(node)
            name = _name_of(node)
            if node.op in _PRODUCTS:
                products += turns
            elif name in _CHEAP or node.op in REDUCTIONS:
                cheap += turns
            elif name:
                dear += turns
    return Work(cheap, dear, products)


def _name_of(node: Node) -> str:
    """The plain name of the ufunc that an op is on arrays, or an empty text."""
    row = table.get(node.op)
    if row is None or row.kind not in (Kind.OPERATOR, Kind.ELEMENTWISE):
        return ""
    return (row.ufunc or row.name).rpartition(".")[2]


def _turns(node: Node) -> int:
    """How often a node is taken to run: `_TURNS` times for each loop that it is in."""
    turns, block = 1, node.block
    while block is not None and isinstance(block.owner, Node):
        if block.owner.op in ("for", "while"):
            turns *= _TURNS
        block = block.owner.block
    return turns
