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

from gjit.cuda_kernels.program import Access, Array, Field, KernelProgram, Level, Loop, Meaning
from gjit.ops.kernels import c_type

INT64 = np.dtype("i8")


def fields_of(program: KernelProgram) -> tuple[Field, ...]:
    """All arguments in the order of the struct."""
    fields: list[Field] = []
    for array in all_arrays(program):
        fields += _fields_of_array(program, array)
    fields += [Field(f"int64 extent_{axis}", Meaning.EXTENT, axis=axis) for axis in range(program.rank)]
    for number in program.numbers:
        declaration = f"{c_type(number.dtype)} {number.name}"
        fields.append(Field(declaration, Meaning.NUMBER, number.name, dtype=number.dtype))
    for total in program.totals:
        declaration = f"const Array *{total.result}_partials"
        fields.append(Field(declaration, Meaning.PARTIALS, total.result, dtype=total.partial))
    if program.delayed:
        fields.append(Field("int64 delay", Meaning.DELAY))
    if program.loop is not None:
        fields += _fields_of_loop(program.loop)
    return tuple(fields)


def _fields_of_array(program: KernelProgram, array: Array) -> list[Field]:
    name, last = array.source, program.rank - 1
    fields = [Field(f"const Array *{name}", Meaning.ARRAY, name)]
    fields += [Field(f"int64 {name}_stride_{axis}", Meaning.STRIDE, name, axis) for axis in range(last)]
    is_packed = array.part is not None and array.part.width > 0
    if array.access is Access.STRIDED and not is_packed:
        fields.append(Field(f"int64 {name}_step", Meaning.STRIDE, name, last))
    if array.part is not None and not is_packed:
        fields.append(Field(f"int64 {name}_apart", Meaning.STRIDE, name, program.rank))
    return fields


def _fields_of_loop(loop: Loop) -> list[Field]:
    fields = [Field("int64 turns", Meaning.COUNT)]
    if loop.has_route:
        fields.append(Field("const Array *route", Meaning.ROUTE, "route", dtype=np.dtype("u1")))
    for number in loop.numbers:
        declaration = f"const Array *{number.name}_turns"
        fields.append(Field(declaration, Meaning.TURNS, number.name, dtype=number.dtype))
    return fields


def all_arrays(program: KernelProgram) -> list[Array]:
    """What is read, then what is written; of the parts of one array the first."""
    arrays = [*program.arrays, *(output.array for output in program.outputs)]
    return list({array.source: array for array in reversed(arrays)}.values())[::-1]


def struct_text(fields: tuple[Field, ...]) -> list[str]:
    """The struct that the host fills."""
    return ["struct Arguments {", *(f"    {field.declaration};" for field in fields), "};", ""]


def head(program: KernelProgram) -> str:
    """The first line of a kernel's function: it does what lies from `begin` up to `end`."""
    return f'extern "C" void {program.name}(const Arguments *arguments, char *scratch, int64 begin, int64 end) {{'


def locals_text(program: KernelProgram, meanings: tuple[Meaning, ...] = (Meaning.NUMBER, Meaning.EXTENT)) -> list[str]:
    """Numbers, steps along rows and between parts, and extents as local names."""
    lines = []
    for field in fields_of(program):
        if field.meaning in meanings or field.declaration.endswith(("_step", "_apart")):
            name = field.declaration.rpartition(" ")[2]
            lines.append(f"const {field.declaration} = arguments->{name};")
    return lines


def pointers_text(
    program: KernelProgram, offsets: dict[int, str], ending: str = "data", start: str = "", level: Level | None = None
) -> list[str]:
    """A pointer to the first element of a row for each array.

    Args:
        offsets: the indices along the outer axes.
        ending: what the pointers are called behind the name of the array.
        start: the ending of the pointers that these are relative to; the arrays themselves by default.
        level: that of the arrays; all of them by default.
    """
    written = {output.array.source for output in program.outputs}
    lines = []
    for array in all_arrays(program):
        if level not in (None, array.level):
            continue
        name = array.source
        kind = c_type(array.dtype) + " *" if name in written else f"const {c_type(array.dtype)} *"
        terms = [f"{index} * arguments->{name}_stride_{axis}" for axis, index in offsets.items()]
        origin = f"{name}_{start}" if start else f"({kind})arguments->{name}->data"
        lines.append(f"{kind}{name}_{ending} = {' + '.join([origin, *terms])};")
    return lines


def turns_text(program: KernelProgram) -> list[str]:
    """Pointers to what differs from turn to turn of the loop, and how many turns there are."""
    lines = []
    for field in fields_of(program):
        if field.meaning is Meaning.COUNT:
            lines.append("const int64 turns = arguments->turns;")
        elif field.meaning in (Meaning.ROUTE, Meaning.TURNS) and field.dtype is not None:
            name = field.declaration.rpartition("*")[2]
            kind = f"const {c_type(field.dtype)} *"
            lines.append(f"{kind}{name} = ({kind})arguments->{name}->data;")
    return lines


def row_indices(axes: tuple[int, ...], counter: str = "row") -> tuple[list[str], dict[int, str]]:
    """The lines that find the indices of `counter` along some axes, the last of them fastest, and their names."""
    if not axes:
        return [], {}
    if len(axes) == 1:
        return [], {axes[0]: counter}
    lines, rest = [], counter
    for axis in axes[:0:-1]:
        lines.append(f"const int64 index_{axis} = {rest} % extent_{axis};")
        lines.append(f"const int64 rest_{axis} = {rest} / extent_{axis};")
        rest = f"rest_{axis}"
    names = {axis: f"index_{axis}" for axis in axes}
    return [*lines, f"const int64 index_{axes[0]} = {rest};"], names
