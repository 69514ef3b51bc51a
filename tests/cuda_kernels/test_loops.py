"""Loops in kernels: their text for one element, and what vectors of elements make of each function."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import pytest

import gjit.ops  # noqa: F401  (the rows)
from gjit.cuda_kernels.element import Texts
from gjit.cuda_kernels.lanes_functions import function_text, is_by_lane
from gjit.cuda_kernels.loops import loop_text
from gjit.cuda_kernels.program import (
    Access,
    Array,
    KernelProgram,
    Level,
    Literal,
    Loop,
    Operation,
    Output,
    Piece,
    Variable,
)
from gjit.ops.row import Kind, table
from gjit.runtime import native
from gjit.runtime.native_names import Names
from tests.cuda_kernels.programs import PROGRAMS


def test_the_text_for_one_element():
    program = PROGRAMS["loop_of_pieces"]
    lines = [line.strip() for line in loop_text(program.loop, Texts(program))]
    assert lines[:5] == [
        "float32 a = x;",
        "float32 b = (float32)0x1.0000000000000p+0;",
        "complex128 z = np_cast_complex128(x);",
        "bool_ small = (bool_)0;",
        "for (int64 turn = 0; turn < turns; ++turn) {",
    ]
    assert lines.index("switch (route[turn]) {") < lines.index("case 1: {")
    assert lines.index("const float32 next_a = b;") < lines.index("b = next;")


def test_numbers_of_a_turn_are_read_in_it():
    program = PROGRAMS["loop"]
    lines = loop_text(program.loop, Texts(program))
    assert lines[2] == "    const float64 dt = dt_turns[turn];"


def test_functions_that_have_vector_operations_use_them():
    text = function_text("np_less", (np.dtype("f8"),) * 2)
    assert "lifted" not in text
    assert "Lanes<bool_> np_less(Lanes<float64> a, Lanes<float64> b)" in text
    assert "lifted" in function_text("np_sin", (np.dtype("f8"),))
    assert "lifted" in function_text("np_less", (np.dtype("i8"), np.dtype("u8")))
    assert "lifted" in function_text("np_cast_int8", (np.dtype("f8"),))


SAMPLES = {
    "b": [0, 1],
    "i": [0, 1, -1, 5, -7, 100, -128, 127],
    "u": [0, 1, 3, 100, 255],
    "f": [0.0, -0.0, 1.5, -2.25, 7.0, np.inf, -np.inf, np.nan],
    "c": [0, 1 + 2j, -3.5j, -1 - 1j, 4],
}
BY_LANE = ("numpy.floor_divide", "numpy.sqrt", "numpy.logical_or")
"""Some of those that are called for each lane: all are called in the same way."""


def cases(char: str) -> list[tuple[str, tuple[np.dtype, ...]]]:
    """The rows with vector operations on operands of a dtype, and some without, and the dtypes of their loops."""
    found = []
    for name, row in table.rows.items():
        count = getattr(row.function, "nin", 3 if name in ("numpy.where", "numpy.clip") else 1)
        if row.kind is Kind.ELEMENTWISE and name.startswith("numpy.") and row.kernel and name != "numpy.astype":
            loops = _loops(row, np.dtype(char), count)
            text = None if loops is None else row.kernel_text(loops)
            if text is not None and (name in BY_LANE or not is_by_lane(text.partition("(")[0], loops[:-1])):
                found.append((name, loops))
    return found + [("numpy.astype", (np.dtype(char), np.dtype(to))) for to in "?bhilBHILefdFD" if is_cast(char, to)]


def is_cast(source: str, target: str) -> bool:
    return source != target and not (source in "FD" and target not in "?FD") and not (source in "efd" and target == "I")


def _loops(row, dtype, count):
    operands = [np.dtype(bool) if row.name == "numpy.where" and not place else dtype for place in range(count)]
    try:
        if isinstance(row.function, np.ufunc):
            return row.function.resolve_dtypes((*operands, None))
        return (*operands, row.function(*(np.ones(1, kind) for kind in operands)).dtype)
    except TypeError:
        return None


def program_of(group) -> tuple[KernelProgram, KernelProgram, list[np.dtype]]:
    """A loop of one turn that runs all these ops, the same without a loop, and the dtypes of what they read."""
    names, arrays, steps, outputs, variables = Names(), {}, [], [], []
    for name, loops in group:
        for place, dtype in enumerate(loops[:-1]):
            arrays.setdefault((place, dtype), Array(names.unique("x"), dtype, Access.CONTIGUOUS))
        operands = tuple(arrays[place, dtype].name for place, dtype in enumerate(loops[:-1]))
        result, text = names.unique("t"), table[name].kernel_text(loops)
        steps.append(Operation(result, loops[-1], name, text, operands, loops, Level.ELEMENT))
        variables.append(Variable(names.unique("v"), loops[-1], Literal(loops[-1].type(0))))
        outputs.append(Array(names.unique("o"), loops[-1], Access.CONTIGUOUS))
    assigned = tuple((variable.name, step.result) for variable, step in zip(variables, steps, strict=True))
    loop = Loop(tuple(variables), (), (Piece(tuple(steps), assigned),))
    read = tuple(arrays.values())
    turned = tuple(Output(array, variable.name) for array, variable in zip(outputs, variables, strict=True))
    straight = tuple(Output(array, step.result) for array, step in zip(outputs, steps, strict=True))
    return (
        KernelProgram("region", 1, read, (), (), turned, loop=loop),
        KernelProgram("region", 1, read, (), tuple(steps), straight),
        [(place, dtype) for place, dtype in arrays],
    )


@pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler")
@pytest.mark.parametrize("char", "?biLefdFD")
def test_functions_on_lanes_give_what_they_give_on_single_elements(char):
    group = cases(char)
    looped, straight, keys = program_of(group)
    samples = list(itertools.product(SAMPLES[np.dtype(char).kind], repeat=3))[:511]
    with np.errstate(all="ignore"):
        columns = [np.array([sample[place] for sample in samples]).astype(dtype) for place, dtype in keys]
    ours, theirs = run(looped, columns), run(straight, columns)
    for (name, _), left, right in zip(group, ours, theirs, strict=True):
        np.testing.assert_array_equal(left, right, err_msg=name, strict=True)
        if left.dtype.kind == "f":
            numbers = left == left
            np.testing.assert_array_equal(np.signbit(left)[numbers], np.signbit(right)[numbers], err_msg=name)


def run(program: KernelProgram, columns: list[np.ndarray]) -> list[np.ndarray]:
    size = len(columns[0])
    made = [np.empty(size, output.array.dtype) for output in program.outputs]
    words = [*map(id, columns), *map(id, made), size, *([1] if program.loop is not None else [])]
    native.native_kernel(program).run(struct.pack(f"{len(words)}q", *words), None, 0, size)
    return made
