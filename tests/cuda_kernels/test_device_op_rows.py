"""Every row of the op table as a kernel of its own for a device, emulated, on the edge values of its dtypes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gjit.cuda_kernels.program import Access, Array, KernelProgram, Level, Operation, Output
from tests.cuda_kernels.device_cases import Case as DeviceCase
from tests.cuda_kernels.device_cases import emulated, guarded, moved, run
from tests.cuda_kernels.support import COMPILER, cases_of, expected, operands_of, rows
from tests.cuda_kernels.test_rows import is_close, same

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no g++")

ROWS = rows()


def chosen(op):
    """The first loop of a row and the last; casts from and to every dtype."""
    cases = cases_of(op)
    if op.name.endswith("astype"):
        return cases[::7]
    return [cases[0], cases[-1]] if len(cases) > 1 else cases


CASES = [case for op in ROWS for case in chosen(op)]


def device_case(case) -> DeviceCase:
    operands = [moved(operand) for operand in operands_of(case)]
    names = [f"x{place}" for place in range(len(operands))]
    arrays = tuple(Array(name, operand.dtype, Access.CONTIGUOUS) for name, operand in zip(names, operands))
    text = case.op.kernel_text(case.dtypes)
    step = Operation("y", case.dtypes[-1], case.op.name, text, tuple(names), case.dtypes, Level.ELEMENT)
    out = guarded(operands[0].shape, case.dtypes[-1])
    output = Output(Array("out", out.dtype, Access.CONTIGUOUS), "y")
    program = KernelProgram("region", 1, arrays, (), (step,), (output,))
    return DeviceCase(program, operands[0].shape, dict(zip(names, operands)), {"out": out})


@cache
def built():
    cases = [device_case(case) for case in CASES]
    return emulated(cases), cases


@pytest.mark.parametrize("op", ROWS, ids=[op.name for op in ROWS])
def test_kernels_give_what_numpy_gives(op):
    unit, device_cases = built()
    for case, on_device in zip(CASES, device_cases):
        if case.op is not op:
            continue
        run(unit, on_device)
        got, operands = np.ascontiguousarray(on_device.outputs["out"]), operands_of(case)
        agrees = same if case.op.kernel_exact(case.dtypes) else is_close
        assert agrees(case, got, expected(case, operands), operands).all(), case.symbol
