"""The arguments of a launch: one struct that the host fills, and its fields as local names.

struct Arguments {
    const Array *x;
    int64 x_stride_0;
    int64 extent_0;
    int64 extent_1;
    float64 a;
};
"""

from __future__ import annotations

import numpy as np

from gjit.cuda_kernels.program import Access, Array, Field, KernelProgram, Meaning
from gjit.ops.kernels import c_type

INT64 = np.dtype("i8")


def fields_of(program: KernelProgram) -> tuple[Field, ...]:
    """All arguments in the order of the struct."""
    fields: list[Field] = []
    for array in all_arrays(program):
        fields.append(Field(f"const Array *{array.name}", Meaning.ARRAY, array.name))
        fields += [
            Field(f"int64 {array.name}_stride_{axis}", Meaning.STRIDE, array.name, axis)
            for axis in range(program.rank - 1)
        ]
        if array.access is Access.STRIDED:
            fields.append(Field(f"int64 {array.name}_step", Meaning.STRIDE, array.name, program.rank - 1))
    fields += [Field(f"int64 extent_{axis}", Meaning.EXTENT, axis=axis) for axis in range(program.rank)]
    for number in program.numbers:
        declaration = f"{c_type(number.dtype)} {number.name}"
        fields.append(Field(declaration, Meaning.NUMBER, number.name, dtype=number.dtype))
    for total in program.totals:
        declaration = f"const Array *{total.result}_partials"
        fields.append(Field(declaration, Meaning.PARTIALS, total.result, dtype=total.accumulator))
    return tuple(fields)


def all_arrays(program: KernelProgram) -> list[Array]:
    """What is read, then what is written."""
    return [*program.arrays, *(output.array for output in program.outputs)]


def struct_text(fields: tuple[Field, ...]) -> list[str]:
    """The struct that the host fills."""
    return ["struct Arguments {", *(f"    {field.declaration};" for field in fields), "};", ""]


def head(program: KernelProgram) -> str:
    """The first line of a kernel's function: it does what lies from `begin` up to `end`."""
    return f'extern "C" void {program.name}(const Arguments *arguments, char *scratch, int64 begin, int64 end) {{'


def locals_text(program: KernelProgram, meanings: tuple[Meaning, ...] = (Meaning.NUMBER, Meaning.EXTENT)) -> list[str]:
    """Numbers, steps along rows, and extents as local names."""
    lines = []
    for field in fields_of(program):
        if field.meaning in meanings or field.declaration.endswith("_step"):
            name = field.declaration.rpartition(" ")[2]
            lines.append(f"const {field.declaration} = arguments->{name};")
    return lines


def pointers_text(program: KernelProgram, offsets: dict[int, str]) -> list[str]:
    """A pointer to the first element of a row for each array; `offsets` are the indices along the outer axes."""
    written = {output.array.name for output in program.outputs}
    lines = []
    for array in all_arrays(program):
        kind = c_type(array.dtype) + " *" if array.name in written else f"const {c_type(array.dtype)} *"
        terms = [f"{index} * arguments->{array.name}_stride_{axis}" for axis, index in offsets.items()]
        start = f"({kind})arguments->{array.name}->data"
        lines.append(f"{kind}{array.name}_data = {' + '.join([start, *terms])};")
    return lines


def row_indices(rank: int) -> tuple[list[str], dict[int, str]]:
    """The lines that find the indices of `row` along the outer axes, and their names."""
    outer = rank - 1
    if outer == 1:
        return [], {0: "row"}
    lines, rest = [], "row"
    names = {axis: f"index_{axis}" for axis in range(outer)}
    for axis in range(outer - 1, 0, -1):
        lines.append(f"const int64 index_{axis} = {rest} % extent_{axis};")
        lines.append(f"const int64 rest_{axis} = {rest} / extent_{axis};")
        rest = f"rest_{axis}"
    return [*lines, f"const int64 index_0 = {rest};"], names
