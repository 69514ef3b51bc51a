"""The plan of one region for inputs of given dtypes, shapes and strides."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType

import numpy as np

from gjit.ir.graph import Node, Value
from gjit.ops.exactness import MISWRITTEN, is_layout_free, is_tile_free
from gjit.ops.row import table
from gjit.runtime.arrangement import Arrangement, arrange, tile_length
from gjit.runtime.elision import is_swapped, reuses_operand
from gjit.runtime.gain import OWN_ARRAYS, size_factor
from gjit.runtime.layout import Shape, has_distinct_elements, is_contiguous, size_of
from gjit.runtime.pool import ALIGNMENT
from gjit.runtime.region_items import Item, Step, Unsupported, memory_order
from gjit.runtime.region_values import Typing
from gjit.runtime.scalars import loop_scalar
from gjit.runtime.tile_program import write_program
from gjit.runtime.tile_ranges import ranges_of
from gjit.runtime.tile_work import Program, Work
from gjit.runtime.totals import Leaf
from gjit.scheduler.fusible import Form
from gjit.source import Span

MINIMUM_BYTES = 2 << 20
"""How large the largest operand must be: smaller ones stay in the cache from one plain call to the next."""
_FOREIGN = frozenset({Form.ROWS, Form.TOTAL, Form.APPLY})
_HOST_FORMS = frozenset({Form.UFUNC, Form.SELECT, Form.CAST, Form.VIEW})


@dataclass(slots=True)
class Plan:
    """One region, ready for inputs of one signature.

    values      where each result of the region comes from: `("input", value)`, `("output", n)`, `("before", value)`,
                `("total", n)` or `("view", (n, indices))` of an output
    read        the inputs that steps read; `written` those that in-place operators write
    store       the final store; `deferred` when it goes through a temporary, the last output
    foreign     positions of reductions and of the user's functions, whose warnings name lines of other files
    outputs     the fresh results, and the memory order of each
    elements    how many elements the steps on tiles work on, all together
    template    the arguments of the generated function; constants are there, the others are filled in for each run:
                `scalars` (converted to the dtype of the loop), `operands`, `places` of outputs and the like, and
                `cuts` of the scratch block (place, first and last byte, dtype, shape); `checks` are only converted
    discarded   how many runs in a row gave what could not be used
    """

    parameters: list[Value]
    spans: list[Span | None]
    program: Program
    work: Work
    ranges: list[tuple[int, ...]]
    leaves: list[Leaf]
    values: list[tuple[str, object]]
    read: list[Value]
    written: list[Value]
    store: Step | None
    deferred: bool
    foreign: frozenset[int]
    elements: int = 0
    codes: frozenset[CodeType] = frozenset()
    outputs: list[tuple[Item, str]] = field(default_factory=list)
    template: list[object] = field(default_factory=list)
    checks: list[tuple[Value, np.dtype]] = field(default_factory=list)
    scalars: list[tuple[int, Value, np.dtype]] = field(default_factory=list)
    operands: list[tuple[int, Value, Item]] = field(default_factory=list)
    places: list[tuple[int, str, int]] = field(default_factory=list)
    cuts: list[tuple[int, int, int, np.dtype, Shape]] = field(default_factory=list)
    scratch_bytes: int = 0
    discarded: int = 0


def plan_region(
    node: Node, inputs: tuple[object, ...], target: np.ndarray | None, nameless: frozenset[Value], deferred: bool
) -> Plan:
    """Decide how to run a region on such inputs; Unsupported where the twin has to, or is as fast.

    Args:
        node: the region node.
        inputs: its inputs.
        target: the view that its final store writes.
        nameless: its values that die inside an expression of the twin.
        deferred: whether the store goes through a temporary.
    """
    typing = Typing(node.blocks[0], inputs, target)
    swapped = [step for step in typing.steps if _is_swapped(step, nameless)]
    arrangement = arrange(typing)
    before, steps = _split(typing, arrangement)
    if any(step in before for step in swapped):
        raise Unsupported
    foreign = frozenset(step.position for step in steps if step.operation.form in _FOREIGN)
    store = steps[-1] if steps and steps[-1].operation.form is Form.STORE else None
    written = _written(typing, steps)
    if foreign and written:
        raise Unsupported
    deferred = store is not None and (deferred or bool(foreign))
    if deferred:
        steps = steps[:-1]
    work = _place(node, typing, arrangement, before, steps, store, deferred)
    _check_gain(work, nameless)
    program = write_program(work)
    length = tile_length(arrangement, _bytes_per_step(work, program))
    ranges, leaves, capacity = ranges_of(work, length)
    values = [_origin(value, typing, work) for value in node.blocks[0].terminator.inputs]
    read = _read(typing, [*before, *steps])
    spans = [step.node.span for step in typing.steps]
    plan = Plan(
        node.blocks[0].parameters, spans, program, work, ranges, leaves, values, read, written, store, deferred, foreign
    )
    plan.elements = arrangement.lead * max(map(arrangement.elements, arrangement.varying)) * len(steps)
    plan.codes = program.codes
    plan.outputs = [(item, memory_order(item)) for item in work.outputs]
    _prepare_arguments(plan, typing)
    _prepare_scratch(plan, capacity)
    return plan


def _is_swapped(step: Step, nameless: frozenset[Value]) -> bool:
    """Turn the operands round where NumPy does."""
    if len(step.operands) != 2 or not is_swapped(step.node, *step.operands, nameless):
        return False
    step.operands = step.operands[::-1]
    step.loops = (*step.loops[1::-1], step.loops[2])
    return True


def _prepare_arguments(plan: Plan, typing: Typing) -> None:
    plan.template = [None] * len(plan.program.arguments)
    plan.checks = [(typing.value_of(item), dtype) for item, dtype in plan.program.checks if not item.constant]
    for item, dtype in plan.program.checks:
        if item.constant:
            loop_scalar(typing.value_of(item).value, dtype)
    for place, (_, meaning, dtype) in enumerate(plan.program.arguments):
        if not isinstance(meaning, Item):
            plan.places.append((place, *meaning))
            continue
        value = typing.value_of(meaning)
        if meaning.constant:
            plan.template[place] = value.value if dtype is None else loop_scalar(value.value, dtype)
        elif dtype is not None:
            plan.scalars.append((place, value, dtype))
        else:
            plan.operands.append((place, value, meaning))


def _prepare_scratch(plan: Plan, capacity: int) -> None:
    assignment, arrangement = plan.program.assignment, plan.work.arrangement
    offsets = [0]
    for size in assignment.sizes:
        offsets.append(offsets[-1] + -(-size * capacity // ALIGNMENT) * ALIGNMENT)
    plan.scratch_bytes = offsets[-1]
    for place, kind, index in plan.places:
        if kind == "scratch":
            item = plan.program.temporaries[index]
            shape = (capacity, *arrangement.tile_shape(item)[1:])
            start = offsets[assignment.blocks[index]]
            plan.cuts.append((place, start, start + size_of(shape) * item.dtype.itemsize, item.dtype, shape))
    plan.places = [entry for entry in plan.places if entry[1] != "scratch"]


def _split(typing: Typing, arrangement: Arrangement) -> tuple[list[Step], list[Step]]:
    """The steps on whole small operands, and those on tiles."""
    before: list[Step] = []
    tiled: list[Step] = []
    totals: set[Item] = set()
    varying = arrangement.varying
    for step in typing.steps:
        if any(item in totals for item in step.operands):
            raise Unsupported
        if any(item in varying for item in step.operands):
            _check_tiled(step, arrangement)
            tiled.append(step)
        elif step.out is None and step.operation.form in _HOST_FORMS:
            before.append(step)
        else:
            raise Unsupported
        if step.operation.form is Form.TOTAL:
            totals.add(step.result)
    return before, tiled


def _check_tiled(step: Step, arrangement: Arrangement) -> None:
    out = step.out
    if out is not None and (out.root not in arrangement.varying or out.memory is not out.root):
        raise Unsupported
    if out is not None and not has_distinct_elements(out.shape, out.strides, out.dtype.itemsize):
        raise Unsupported
    if step.operation.form is Form.APPLY and not arrangement.flat:
        raise Unsupported
    if arrangement.flat or step.operation.form is not Form.UFUNC:
        return
    row = table[f"numpy.{step.function.__name__}"]
    exact = is_layout_free if any(dtype.char in "eFD" for dtype in step.loops) else is_tile_free
    if not exact(row, step.loops):
        raise Unsupported


def _written(typing: Typing, steps: list[Step]) -> list[Value]:
    roots = {step.out.root for step in steps if step.out is not None}
    return [value for value, item in typing.items.items() if item in roots and item.position < 0]


def _read(typing: Typing, steps: list[Step]) -> list[Value]:
    roots = {item.root for step in steps for item in step.operands}
    return [value for value, item in typing.items.items() if item in roots and item.position < 0 and item.shape]


def _place(node, typing, arrangement, before, steps, store, deferred) -> Work:
    """Decide which values are outputs and whether the last one is computed right in the store's target."""
    outputs: list[Item] = []
    for value in node.blocks[0].terminator.inputs:
        root = typing.items[value].memory
        if root in arrangement.varying and root.position >= 0 and root not in outputs:
            outputs.append(root)
    if deferred:
        stored = store.operands[0].root
        if stored.position < 0 or stored in outputs or stored.viewed is not None:
            raise Unsupported
        outputs.append(stored)
    target = None if store is None or deferred else store.out
    direct = _direct(steps, outputs) if target is not None else None
    return Work(arrangement, before, steps, outputs, target, direct)


def _check_gain(work: Work, nameless: frozenset[Value]) -> None:
    """Unsupported where plain calls are as fast: nothing would stay in the cache, or everything does anyway."""
    arrangement = work.arrangement
    steps = [step for step in work.steps if step.operation.form is not Form.VIEW]
    forms = {step.operation.form for step in steps}
    made = sum(1 for step in steps if step.out is None and step.result and not reuses_operand(step, nameless))
    factor = size_factor(forms, len(steps), made, len(work.outputs))
    largest = max(size_of(item.shape) * item.dtype.itemsize for item in arrangement.varying)
    if factor is None or largest < factor * MINIMUM_BYTES:
        raise Unsupported


def _direct(steps: list[Step], outputs: list[Item]) -> Item | None:
    """The value that the step just before a store makes, if it can be made in the target itself."""
    maker, store = steps[-2:] if len(steps) > 1 else (None, steps[-1])
    if maker is None or maker.out is not None or maker.operation.form not in (Form.UFUNC, Form.CAST, Form.SELECT):
        return None
    if maker.function in MISWRITTEN and not is_contiguous(store.out.shape, store.out.strides, 1, store.out.order):
        return None
    is_fit = maker.result is store.operands[0] and maker.result not in outputs and maker.result.dtype == store.out.dtype
    return maker.result if is_fit else None


def _bytes_per_step(work: Work, program: Program) -> int:
    """How much memory one step along the leading axis touches."""
    arrangement = work.arrangement
    streamed = [meaning for _, meaning, _ in program.arguments if isinstance(meaning, Item)]
    items = [item for item in streamed if item in arrangement.varying] + work.outputs
    if work.target is not None:
        items.append(work.target)
    items += [step.result for step in work.steps if step.operation.form in OWN_ARRAYS]
    return sum(program.assignment.sizes) + sum(arrangement.elements(item) * item.dtype.itemsize for item in items)


def _indices(item: Item) -> tuple[tuple, ...]:
    """What selects a view, step by step."""
    return () if item.viewed is None else (*_indices(item.viewed), item.index)


def _origin(value: Value, typing: Typing, work: Work) -> tuple[str, object]:
    item = typing.items[value]
    if item.viewed is not None and item.memory in work.outputs:
        return "view", (work.outputs.index(item.memory), _indices(item))
    if item.root in work.outputs:
        return "output", work.outputs.index(item.root)
    if item.root.position < 0:
        return "input", next(key for key, known in typing.items.items() if known is item.root)
    totals = [step.result for step in work.steps if step.operation.form is Form.TOTAL]
    if item in totals:
        return "total", totals.index(item)
    return "before", value
