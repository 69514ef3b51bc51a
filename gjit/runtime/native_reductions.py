"""Reductions as steps of a kernel, and what the host makes of totals.

Each reduction becomes sums, products, extremes or places of whatever its definition says: a variance is the mean, the
differences from it, and the mean of their squares.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.program import Combine, Level, Literal, Operand, Operation, Reduction
from gjit.ops.kernels import c_type
from gjit.ops.row import table
from gjit.runtime.region_items import Unsupported
from gjit.scheduler import reductions as calls
from gjit.source import Span

_FLOAT32, _FLOAT64 = np.dtype("f4"), np.dtype("f8")
_BOOL, _UINT8, _INT64 = np.dtype("?"), np.dtype("u1"), np.dtype("i8")
_WAYS = {
    "sum": Combine.SUM,
    "prod": Combine.PRODUCT,
    "max": Combine.MAXIMUM,
    "amax": Combine.MAXIMUM,
    "min": Combine.MINIMUM,
    "amin": Combine.MINIMUM,
    "any": Combine.MAXIMUM,
    "all": Combine.MINIMUM,
    "argmax": Combine.FIRST_MAXIMUM,
    "argmin": Combine.FIRST_MINIMUM,
}
_PAIRS = {
    Combine.SUM: "numpy.add",
    Combine.PRODUCT: "numpy.multiply",
    Combine.MAXIMUM: "numpy.maximum",
    Combine.MINIMUM: "numpy.minimum",
}
Names = tuple[Operand, ...]
Finish = Callable[..., np.generic]


@dataclass(frozen=True, slots=True)
class Total:
    """A reduction of all elements: reductions of the launch, and what makes it of their results."""

    parts: tuple[str, ...]
    finish: Finish


@dataclass(slots=True)
class Steps:
    """The steps of a kernel, as they are added."""

    unique: Callable[[str], str]
    steps: list[Operation | Reduction] = field(default_factory=list)
    span: Span | None = None

    def operation(self, row: str, operands: Names, loops: tuple[np.dtype, ...], level: Level, name: str = "t") -> str:
        """An op of the table on operands of the dtypes `loops`, whose last is the result's; its name."""
        text = table[row].kernel_text(loops)
        if text is None:
            raise Unsupported
        return self.add(self.unique(name), loops[-1], row, text, operands, loops, level)

    def add(
        self,
        name: str,
        dtype: np.dtype,
        row: str,
        text: str,
        operands: Names,
        loops: tuple[np.dtype, ...],
        level: Level,
    ) -> str:
        """An op as it is, under a name of its own, which is returned."""
        self.steps.append(Operation(name, dtype, row, text, operands, loops, level, self.span))
        return name

    @property
    def reductions(self) -> list[Reduction]:
        return [step for step in self.steps if isinstance(step, Reduction)]

    def cast(self, operand: Operand, source: np.dtype, target: np.dtype, level: Level) -> Operand:
        """An operand as another dtype."""
        return operand if source == target else self.operation("numpy.astype", (operand,), (source, target), level)

    def complex(self, real: Operand, imaginary: Operand, dtype: np.dtype, level: Level, name: str) -> str:
        """A complex number of its parts."""
        part = np.dtype(f"f{dtype.itemsize // 2}")
        text = f"{c_type(dtype)}{{{{{{0}}, {{1}}}}}}"
        return self.add(self.unique(name), dtype, "complex", text, (real, imaginary), (part, part, dtype), level)


@dataclass(slots=True)
class Request:
    """One reduction.

    call      what the program says
    name      of the result
    dtype     of the result
    operands  the elements, or those of each part of a short axis
    mask      which of them count
    source    the dtype of the elements
    joins     whether the parts are reduced to one too; without it each has its result
    looped    how many elements of each part are reduced; 1 where only the parts are
    level     LAUNCH for a total, else that of the result
    deep      the level of the elements
    """

    call: calls.Reduction
    name: str
    dtype: np.dtype
    operands: Names
    mask: Names
    source: np.dtype
    joins: bool
    looped: int
    level: Level
    deep: Level

    @property
    def count(self) -> int:
        """How many elements become one."""
        return self.looped * (len(self.operands) if self.joins else 1)


def lower(request: Request, steps: Steps) -> tuple[Names, Total | None]:
    """Add the steps of a reduction: the names of its results, or a total; Unsupported where kernels have none."""
    lowering = _Lowering(request, steps)
    name = request.call.name
    if request.level is Level.LAUNCH:
        return (), lowering.total()
    made = _ROWS.get(name, _Lowering.plain)(lowering)
    return tuple(made), None


class _Lowering:
    def __init__(self, request: Request, steps: Steps):
        self.request, self.steps = request, steps
        self.name = request.call.name
        self.source, self.operands = request.source, request.operands
        self._cast_first()
        self._mask()

    # Elements

    def each(self, row: str, loops: tuple[np.dtype, ...], *others: Names) -> Names:
        """An op on all parts of the elements."""
        parts = zip(self.operands, *(self._spread(other) for other in others), strict=True)
        return tuple(self.steps.operation(row, part, loops, self.request.deep) for part in parts)

    def _spread(self, names: Names) -> Names:
        return names if len(names) == len(self.operands) else names * len(self.operands)

    def _cast_first(self) -> None:
        """Sums have a dtype of their own; truth is that of each element."""
        call = self.request.call
        kind = call.dtype
        if self.name in ("any", "all", "count_nonzero"):
            kind = _BOOL
        if kind is not None and kind != self.source:
            if self.source.kind == "c" and kind.kind not in "cb":
                raise Unsupported
            self.operands = self.each("numpy.astype", (self.source, kind))
            self.source = kind
        if self.source.kind == "c" and self.name not in ("sum", "mean"):
            raise Unsupported

    def _mask(self) -> None:
        """What does not count changes nothing; NaN does not count for the functions that are named after it."""
        call = self.request.call
        if self.name.startswith("nan"):
            self._mask_nan()
        if self.request.mask:
            neutral = (_literal(calls.identity(call), self.source),) * len(self.operands)
            loops = (_BOOL, self.source, self.source, self.source)
            masks = self._spread(self.request.mask)
            parts = zip(masks, self.operands, neutral, strict=True)
            self.operands = tuple(self.steps.operation("numpy.where", part, loops, self.request.deep) for part in parts)

    def _mask_nan(self) -> None:
        self.name = self.name.removeprefix("nan")
        if self.source.kind != "f":
            return
        if self.name not in ("sum", "prod"):
            raise Unsupported
        missing = self.each("numpy.isnan", (self.source, _BOOL))
        neutral = _literal(1 if self.name == "prod" else 0, self.source)
        loops = (_BOOL, self.source, self.source, self.source)
        parts = zip(missing, (neutral,) * len(missing), self.operands, strict=True)
        self.operands = tuple(self.steps.operation("numpy.where", part, loops, self.request.deep) for part in parts)

    # One reduction

    def reduce(
        self, way: Combine, operands: Names, source: np.dtype, accumulator: np.dtype, name: str, ddof: int | None = None
    ) -> Names:
        """All elements of each part, or of all parts together, in the dtype of the accumulator.

        With `ddof` what is given is divided by their number, less this.
        """
        width = len(operands) if self.request.joins else 1
        if width > 1:
            operands, source = (self._join(way, operands, source, accumulator),), accumulator
        level, mean = self.request.level, ddof is not None
        if self.request.looped == 1 and level is not Level.LAUNCH:
            found = tuple(self.steps.cast(each, source, accumulator, level) for each in operands)
            return self._divided(found, accumulator, width - ddof) if mean else found
        results = []
        for operand in operands:
            result = self.steps.unique(name)
            dtype = _INT64 if way.is_place else accumulator
            parts = (result, dtype, way, operand, accumulator, level, mean, self.steps.span, width, ddof or 0)
            self.steps.steps.append(Reduction(*parts))
            results.append(result)
        return tuple(results)

    def _divided(self, sums: Names, kind: np.dtype, count: int) -> Names:
        loops, level = (kind,) * 3, self.request.level
        divisor = Literal(kind.type(count))
        return tuple(self.steps.operation("numpy.divide", (each, divisor), loops, level) for each in sums)

    def _join(self, way: Combine, operands: Names, source: np.dtype, accumulator: np.dtype) -> Operand:
        row, deep = _PAIRS[way], self.request.deep
        first, *rest = (self.steps.cast(each, source, accumulator, deep) for each in operands)
        if way is Combine.SUM and accumulator.kind == "f":  # the sum of negative zeros is 0.0
            first = self.steps.operation(row, (first, Literal(accumulator.type(0))), (accumulator,) * 3, deep)
        for each in rest:
            first = self.steps.operation(row, (first, each), (accumulator,) * 3, deep)
        return first

    def _way(self) -> Combine:
        way = _WAYS.get(self.name)
        if way is None:
            raise Unsupported
        return way

    def accumulator(self) -> np.dtype:
        """What elements are cast to."""
        target = self.request.dtype
        if self.name in ("any", "all"):
            return _UINT8
        if self.name in ("max", "min", "amax", "amin", "argmax", "argmin", "ptp"):
            target = self.source
        if self.name in ("mean", "var", "std"):
            target = self.source if self.source.kind in "fc" else _FLOAT64
        if target.kind == "b":
            return _UINT8
        return _FLOAT32 if target.char == "e" else target

    # Results of rows

    def plain(self) -> Names:
        """A sum, a product, an extreme, a place."""
        way, accumulator = self._way(), self.accumulator()
        if self.source.kind == "c":
            return self._complex_rows()
        found = self.reduce(way, self.operands, self.source, accumulator, self.request.name)
        kind = _INT64 if way.is_place else accumulator
        return self._finished(found, kind)

    def count(self) -> Names:
        found = self.reduce(Combine.SUM, self.operands, _BOOL, _INT64, self.request.name)
        return self._finished(found, _INT64)

    def range(self) -> Names:
        """The largest less the smallest."""
        kind = self.accumulator()
        ends = [self.reduce(way, self.operands, self.source, kind, "end") for way in (Combine.MAXIMUM, Combine.MINIMUM)]
        level, loops = self.request.level, (kind, kind, kind)
        found = tuple(self.steps.operation("numpy.subtract", pair, loops, level) for pair in zip(*ends, strict=True))
        return self._finished(found, kind)

    def mean(self) -> Names:
        if self.source.kind == "c":
            return self._complex_rows()
        kind = self.accumulator()
        return self._finished(self.reduce(Combine.SUM, self.operands, self.source, kind, self.request.name, 0), kind)

    def variance(self) -> Names:
        """The mean, then the mean of the squares of the differences from it."""
        kind, level = self.accumulator(), self.request.level
        ddof = self.request.call.ddof
        if self.request.count <= ddof:
            raise Unsupported
        means = self.reduce(Combine.SUM, self.operands, self.source, kind, "mean", 0)
        if self.source != kind:
            self.operands, self.source = self.each("numpy.astype", (self.source, kind)), kind
        differences = self.each("numpy.subtract", (kind,) * 3, means)
        squares = tuple(
            self.steps.operation("numpy.square", (each,), (kind, kind), self.request.deep) for each in differences
        )
        found = self.reduce(Combine.SUM, squares, kind, kind, "squares", ddof)
        if self.name == "std":
            found = tuple(self.steps.operation("numpy.sqrt", (each,), (kind, kind), level) for each in found)
        return self._finished(found, kind)

    def _complex_rows(self) -> Names:
        """Real and imaginary parts by themselves."""
        kind, level = self.request.dtype, self.request.level
        part = np.dtype(f"f{kind.itemsize // 2}")
        sums = []
        for row in ("numpy.real", "numpy.imag"):
            source = np.dtype(f"f{self.source.itemsize // 2}")
            operands = self.each(row, (self.source, source))
            sums.append(self.reduce(Combine.SUM, operands, source, part, "part", 0 if self.name == "mean" else None))
        pairs = zip(*sums, strict=True)
        found = tuple(self.steps.complex(real, rest, kind, level, self.request.name) for real, rest in pairs)
        return self._finished(found, kind)

    def _finished(self, found: Names, kind: np.dtype) -> Names:
        """In the dtype of the result, and combined with what the program begins with."""
        level, target = self.request.level, self.request.dtype
        found = tuple(self.steps.cast(each, kind, target, level) for each in found)
        first = _first(self.request)
        if first is None:
            return found
        row = _PAIRS[self._way()]
        if target.kind == "b":
            row = "numpy.logical_or" if self.name == "any" else "numpy.logical_and"
        pairs = ((_literal(first, target), each) for each in found)
        return tuple(self.steps.operation(row, pair, (target,) * 3, level) for pair in pairs)

    # Totals

    def total(self) -> Total:
        """The reductions of the launch, and what is left to the host."""
        dtype, count = self.request.dtype, self.request.count
        if self.name in ("var", "std"):
            return self._deviation()
        if self.name == "ptp":
            kind = self.accumulator()
            ways = (Combine.MAXIMUM, Combine.MINIMUM)
            ends = [self.reduce(way, self.operands, self.source, kind, "end")[0] for way in ways]
            return Total(tuple(ends), lambda top, low: np.subtract(top, low, dtype=kind).astype(dtype))
        way = Combine.SUM if self.name in ("mean", "count_nonzero") else self._way()
        accumulator = _INT64 if self.name == "count_nonzero" else self.accumulator()
        if self.source.kind == "c":
            return self._complex_total()
        parts = self.reduce(way, self.operands, self.source, accumulator, self.request.name)
        if self.name == "mean":
            return Total(parts, lambda total: (np.float64(total) / count).astype(dtype))
        if way.is_place:
            return Total(parts, lambda total: total["place"].astype(dtype))
        return Total(parts, _plain_finish(self.request, way))

    def _complex_total(self) -> Total:
        dtype, count = self.request.dtype, self.request.count
        part, source = np.dtype(f"f{dtype.itemsize // 2}"), np.dtype(f"f{self.source.itemsize // 2}")
        names: list[Operand] = []
        for row in ("numpy.real", "numpy.imag"):
            names += self.reduce(Combine.SUM, self.each(row, (self.source, source)), source, part, "part")
        divisor = count if self.name == "mean" else 1
        first = _first(self.request)

        def finish(real, imaginary):
            pair = np.array([real, imaginary], part) / part.type(divisor)
            found = pair.view(dtype)[0]
            return found if first is None else np.add(dtype.type(first), found)

        return Total(tuple(names), finish)

    def _deviation(self) -> Total:
        """Variances in one sweep."""
        kind, dtype = self.accumulator(), self.request.dtype
        divisor = self.request.count - self.request.call.ddof
        if divisor <= 0 or len(self.operands) > 1:
            raise Unsupported
        parts = self.reduce(Combine.DEVIATION, self.operands, self.source, kind, self.request.name)
        is_root = self.name == "std"

        def finish(moments):
            with np.errstate(all="ignore"):
                variance = np.float64(moments["squares"]) / divisor
                return (np.sqrt(variance) if is_root else variance).astype(dtype)

        return Total(parts, finish)


_ROWS: dict[str, Callable[[_Lowering], Names]] = {
    "count_nonzero": _Lowering.count,
    "ptp": _Lowering.range,
    "mean": _Lowering.mean,
    "var": _Lowering.variance,
    "std": _Lowering.variance,
}


def _plain_finish(request: Request, way: Combine) -> Finish:
    dtype, first = request.dtype, _first(request)
    function = getattr(np, _PAIRS[way].removeprefix("numpy."))

    def finish(total):
        found = total.astype(dtype)
        if first is None:
            return found
        with np.errstate(all="ignore"):
            return dtype.type(function(dtype.type(first), found))

    return finish


def _first(request: Request) -> bool | int | float | None:
    """What the reduction begins with, where that is not the first element."""
    call = request.call
    return calls.identity(call) if call.initial is None and call.where is not None else call.initial


def _literal(value: object, dtype: np.dtype) -> Literal:
    try:
        return Literal(dtype.type(value))
    except (OverflowError, ValueError):
        raise Unsupported from None
