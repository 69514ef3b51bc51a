"""Which regions a checked kernel computes with NumPy's bits: proved from ops, dtypes and layouts, never by a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gjit.cuda_kernels.program import KernelProgram, Literal, Operand, Operation, Output, Step
from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import UNKNOWN, ArrayType
from gjit.ops.exactness import CHECKED_DTYPES, MISWRITTEN, is_checked_cast, is_checked_exact, may_be_checked
from gjit.ops.row import table
from gjit.runtime.layout import is_disturbed_by
from gjit.runtime.native_program import Draft, StageDraft, draft_region
from gjit.runtime.region_items import Step as RegionStep
from gjit.runtime.region_items import Unsupported
from gjit.scheduler.fusible import Form, operation_of
from gjit.scheduler.fusible import Operation as Work

_FORMS = frozenset({Form.UFUNC, Form.SELECT, Form.CAST, Form.STORE})


def exact_draft(node: Node, inputs: tuple[object, ...]) -> Draft:
    """A region as one checked kernel for such inputs; Unsupported where no proof says that it gives NumPy's bits."""
    draft = draft_region(node, inputs)
    stage = draft.stages[0] if len(draft.stages) == 1 and not draft.host[-1] else None
    if stage is None or _has_unused_steps(node) or not is_exact(stage.program):
        raise Unsupported
    if any(map(_is_left_to_numpy, draft.steps)):
        raise Unsupported
    apart = stage.store is not None and _is_disturbed(stage, node, inputs)
    stored = [stage.store[1]] if stage.store is not None and not apart else []
    program = replace(stage.program, checked=True, held=(*stage.written, *stored))
    return replace(draft, stages=[replace(stage, program=program, stores_apart=apart)])


def _has_unused_steps(node: Node) -> bool:
    """Whether NumPy computes, and may warn of, what nothing depends on: a kernel leaves it out."""
    works = [(step, operation_of(step)) for step in node.blocks[0]]
    return any(step.results and not step.result.uses and work.out is None for step, work in works)


def _is_left_to_numpy(step: RegionStep) -> bool:
    return step.operation.form is Form.APPLY or (step.out is not None and step.function in MISWRITTEN)


def _is_disturbed(draft: StageDraft, node: Node, inputs: tuple[object, ...]) -> bool:
    """Whether the store of a region writes what it reads elsewhere: a temporary then waits until all is clean."""
    values = dict(zip(node.blocks[0].parameters, inputs, strict=True))
    owner, index, _ = draft.store[0].operation.operands
    target = _live(owner, values)[_live(index, values)]
    read = [values[value] for value in draft.sources.values() if isinstance(values.get(value), np.ndarray)]
    return any(is_disturbed_by(array, target) for array in read)


def _live(value: Value, values: dict[Value, object]) -> object:
    return value.value if isinstance(value, Constant) else values[value]


def is_exact(program: KernelProgram) -> bool:
    """Whether a kernel that stops at NaNs and floating-point errors gives NumPy's bits up to there."""
    dtypes = program.dtypes()
    are_known = all(dtype.char in CHECKED_DTYPES for dtype in dtypes.values())
    return (
        are_known
        and all(map(_is_exact_step, program.steps))
        and all(_is_exact_store(output, dtypes) for output in program.outputs)
        and all(array.part is None for array in (*program.arrays, *(output.array for output in program.outputs)))
        and not program.reductions
        and program.loop is None
    )


def _is_exact_step(step: Step) -> bool:
    if not isinstance(step, Operation) or any(map(_is_nan, step.operands)):
        return False
    divisor = step.operands[1] if len(step.operands) == 2 else None
    known = int(divisor.value) if isinstance(divisor, Literal) and divisor.value.dtype.kind in "iu" else None
    return is_checked_exact(table[step.row], step.loops, known) and is_checked_cast(step.loops[-1], step.dtype)


def _is_exact_store(output: Output, dtypes: dict[str, np.dtype]) -> bool:
    value = output.value
    if isinstance(value, Literal):
        return not _is_nan(value) and is_checked_cast(value.value.dtype, output.array.dtype)
    return is_checked_cast(dtypes[value], output.array.dtype)


def _is_nan(operand: Operand) -> bool:
    return isinstance(operand, Literal) and bool(operand.value != operand.value)


def may_be_exact(region: Node) -> bool:
    """Whether a region could have a checked kernel, as far as its types tell."""
    works = [(node, operation_of(node)) for node in region.blocks[0]]
    return all(work is not None and _may_be_exact(node, work) for node, work in works) and all(
        _may_be_checked_type(value.type) for value in region.inputs
    )


def array_steps(region: Node) -> int:
    """How many nodes of a region may compute on arrays."""
    return sum(
        any(isinstance(value.type, ArrayType) or value.type == UNKNOWN for value in node.inputs)
        for node in region.blocks[0]
    )


def _may_be_exact(node: Node, work: Work) -> bool:
    if work.form not in _FORMS:
        return False
    if work.form is not Form.UFUNC:
        return True
    name = getattr(work.function, "__name__", "")
    return may_be_checked(f"numpy.{name}") and (name != "power" or _may_be_exact_power(node, work))


def _may_be_exact_power(node: Node, work: Work) -> bool:
    """Whether the base is an integer, or the exponent one for which NumPy multiplies, divides or takes a root."""
    type_ = node.inputs[0].type
    is_float = isinstance(type_, ArrayType) and type_.dtype is not None and type_.dtype.kind == "f"
    return not is_float or work.exponent in (2, -1, 0.5)


def _may_be_checked_type(type_: object) -> bool:
    dtype = type_.dtype if isinstance(type_, ArrayType) else None
    return dtype is None or dtype.char in CHECKED_DTYPES
