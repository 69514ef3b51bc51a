"""What a row of the op table says, and the table itself.

An op is one row in one family file. Everything else (types, effects, printing, kernels) is read from the
row, so adding an op of an existing kind touches that row alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, Flag, auto

import numpy as np

from gjit.ir.graph import Node
from gjit.ir.types import UNKNOWN, Type


class Kind(Enum):
    """The families; a kind decides the default type rule and which regions may take the op."""

    OPERATOR = auto()  # Python's operators, in-place forms and comparisons included
    ELEMENTWISE = auto()  # one result element per element of the broadcast operands
    REDUCTION = auto()  # one result element per slice along axes
    VIEW = auto()  # shares memory with its operand, costs no copy
    SHAPE = auto()  # moves or repeats elements: concatenate, tile, pad
    INDEX = auto()  # reads or writes elements chosen by data
    CREATE = auto()  # makes an array from sizes or host values
    LINALG = auto()  # products, decompositions, transforms
    CONTAINER = auto()  # displays, unpacking, strings
    CONTROL = auto()  # nodes with blocks, cells, captures, calls
    HOST = auto()  # built-ins and standard library functions of the language
    LIBRARY = auto()  # every other NumPy function, by name


class Effect(Flag):
    """What running an op can do besides giving its results."""

    NONE = 0
    RAISES = auto()  # may raise, or issue a warning
    READS = auto()  # reads memory that something else may write
    WRITES = auto()  # writes the inputs named in `Op.writes`
    ALLOCATES = auto()  # its result has an identity or can be mutated: two of them are never merged
    ORDERED = auto()  # prints, draws, calls user code: stays in order with every other effect


OPAQUE = Effect.RAISES | Effect.READS | Effect.WRITES | Effect.ALLOCATES | Effect.ORDERED
"""The pessimistic default: reads and writes everything reachable, and its results may alias any argument."""

TypeRule = Callable[[Node], list[Type]]
EffectRule = Callable[[Node], Effect]
Dtypes = tuple[np.dtype, ...]
KernelRule = Callable[[Dtypes], str | None]
ExactRule = Callable[[Dtypes], bool]
KERNEL_CHARACTERS = frozenset("?bBhHiIlLefdFD")
"""The dtypes that kernels know."""


_TAKES_OPERANDS = frozenset({Kind.ELEMENTWISE, Kind.REDUCTION, Kind.VIEW, Kind.SHAPE, Kind.INDEX, Kind.LINALG})


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One row.

    name        `numpy.sqrt`, `operator.add`, `builtin.len`, or a plain word for control and containers
    function    the callable that runs it on the host and is the oracle: `numpy.sqrt`, `operator.add`, `len`
    types       result types from the node's input types and constants; None gives UNKNOWN for each result
    effects     a fixed set, or a rule that looks at the input types
    views       inputs whose memory a result may share
    is_view     whether a node's results do share it, where that depends on the operands; None is always
    writes      inputs that are written (`out=` is always counted besides)
    method      the ndarray method with the same arguments after the first: `x.sum(axis=0)` is `numpy.sum(x, axis=0)`
    symbol      the operator as Python writes it
    ufunc       the ufunc that an operator is on an ndarray operand: `numpy.add` for `operator.add`
    layout_free the same bits for every memory layout, tiling and offset of the operands (float16 functions are not)
    kernel      one element of the result in C++, from operands `{0}`, `{1}` that have the dtypes of the loop already;
                an operator has its ufunc's. Functions `np_*` are those of the prelude. None is not in kernels
    kinds       the kinds of operands that `kernel` is for
    exact       the kinds of operands for which the kernel compiled for a CPU gives NumPy's bits, or a rule
    """

    name: str
    kind: Kind
    function: Callable | None = None
    types: TypeRule | None = None
    effects: Effect | EffectRule = OPAQUE
    views: tuple[int, ...] = ()
    is_view: Callable[[Node], bool] | None = None
    writes: tuple[int, ...] = ()
    method: str = ""
    symbol: str = ""
    ufunc: str = ""
    layout_free: bool = True
    kernel: str | KernelRule | None = None
    kinds: str = "biuf"
    exact: str | ExactRule = ""

    def result_types(self, node: Node) -> list[Type]:
        """The types of the node's results; a rule that does not apply gives UNKNOWN."""
        if self.types is None or self._lacks_operands(node):
            return [UNKNOWN] * len(node.results)
        return self.types(node)

    def effects_of(self, node: Node) -> Effect:
        """What running the node can do."""
        if callable(self.effects):
            return OPAQUE if self._lacks_operands(node) else self.effects(node)
        return self.effects

    def _lacks_operands(self, node: Node) -> bool:
        """Whether this is a wrong call, which raises when it runs: rules may rely on a first operand."""
        return not node.inputs and self.kind in _TAKES_OPERANDS

    def kernel_text(self, dtypes: Dtypes) -> str | None:
        """The C++ expression for these dtypes of the loop, operands first and the result last; None: not in kernels.

        >>> from gjit.ops import table
        >>> table["operator.add"].kernel_text((np.dtype("f4"),) * 3)
        'np_add({0}, {1})'
        """
        if self.kernel is None and self.ufunc:
            return table[self.ufunc].kernel_text(dtypes)
        if not all(dtype.char in KERNEL_CHARACTERS and dtype.isnative for dtype in dtypes):
            return None
        if not all(dtype.kind in self.kinds for dtype in dtypes[:-1]):
            return None
        return self.kernel(dtypes) if callable(self.kernel) else self.kernel

    def kernel_exact(self, dtypes: Dtypes) -> bool:
        """Whether `kernel_text` compiled for a CPU gives the bits of NumPy's own loop of these dtypes."""
        if self.kernel is None and self.ufunc:
            return table[self.ufunc].kernel_exact(dtypes)
        if self.kernel_text(dtypes) is None:
            return False
        return self.exact(dtypes) if callable(self.exact) else all(dtype.kind in self.exact for dtype in dtypes[:-1])


class Table:
    """All rows, by name and by the callable that they stand for."""

    def __init__(self) -> None:
        self.rows: dict[str, Op] = {}
        self._by_function: dict[int, Op] = {}
        self._by_method: dict[str, Op] = {}
        self.suppliers: list[Callable[[], bool]] = []

    def add(self, op: Op) -> Op:
        """Add a row; ValueError where its name is taken."""
        if op.name in self.rows:
            raise ValueError(f"the op table has two rows named {op.name!r}")
        self.rows[op.name] = op
        if op.function is not None:
            self._by_function.setdefault(id(op.function), op)
        if op.method or op.name.startswith("ndarray."):
            self._by_method[op.method or op.name.removeprefix("ndarray.")] = op
        return op

    def __getitem__(self, name: str) -> Op:
        op = self.get(name)
        if op is None:
            raise KeyError(name)
        return op

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def get(self, name: str) -> Op | None:
        """The row, or None."""
        op = self.rows.get(name)
        return self.rows.get(name) if op is None and self._supplied() else op

    def of_function(self, function: object) -> Op | None:
        """The row that `function` is, by identity: `numpy.sqrt` under whatever name the user imported it."""
        op = self._by_function.get(id(function))
        if op is None and self._supplied():
            op = self._by_function.get(id(function))
        return op if op is not None and op.function is function else None

    def _supplied(self) -> bool:
        """Let each supplier add the rows of a package that the user has imported by now; whether one did."""
        return sum(supplier() for supplier in self.suppliers) > 0

    def of_method(self, name: str) -> Op | None:
        """The row of a method of arrays: a function that takes the array first, or the method's own row."""
        return self._by_method.get(name)


table = Table()
ALL_INPUTS = tuple(range(256))
"""`Op.views` of a result that may share memory with any of its operands, however many."""


def effects_of(node: Node) -> Effect:
    """The effects of one node; a node whose op has no row is opaque."""
    op = table.get(node.op)
    return OPAQUE if op is None else op.effects_of(node)


def result_types(node: Node) -> list[Type]:
    """The result types that the node's row infers from its inputs."""
    op = table.get(node.op)
    return [UNKNOWN] * len(node.results) if op is None else op.result_types(node)
