"""Kernels that store into an array which they read at other places: `u[1:-1] = u[:-2] + u[2:]`.

Results wait in row buffers, which stay in the cache, until nothing reads the old elements any more: row `r` is written
when row `r + delay` has been computed. Rows run in order; of one axis, pieces of a fixed length are the rows.

extern "C" void relaxed(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    const int64 delay = arguments->delay;
    float64 *target_rows = (float64 *)scratch;
    const auto put = [&](int64 row) {
        float64 *target_data = (float64 *)arguments->target->data + row * arguments->target_stride_0;
        const float64 *target_row = target_rows + row % (delay + 1) * extent_1;
        INDEPENDENT
        for (int64 i = 0; i < extent_1; ++i) {
            target_data[i] = target_row[i];
        }
    };
    for (int64 row = begin; row < end; ++row) {
        ...
        float64 *target_row = target_rows + row % (delay + 1) * extent_1;
        INDEPENDENT
        for (int64 i = 0; i < extent_1; ++i) {
            ...
            target_row[i] = t3;
        }
        if (row - delay >= begin) put(row - delay);
    }
    for (int64 row = end - delay < begin ? begin : end - delay; row < end; ++row) {
        put(row);
    }
}
"""

from __future__ import annotations

from gjit.cuda_kernels.arguments import fields_of, head, locals_text, pointers_text, row_indices, struct_text
from gjit.cuda_kernels.element import Texts, indented, load, place
from gjit.cuda_kernels.flat import loop, uniform, varying
from gjit.cuda_kernels.program import Kernel, KernelProgram, Level, Meaning, Output
from gjit.ops.kernels import c_type

PIECE = 4096
"""How many elements of one axis are a row."""


def delayed_kernel(program: KernelProgram) -> Kernel:
    """One loop over the rows from `begin` up to `end`, all of which one thread runs."""
    fields = fields_of(program)
    (delayed,) = [output for output in program.outputs if output.array.name == program.delayed]
    length = f"extent_{program.rank - 1}" if program.rank > 1 else str(PIECE)
    kind, name = c_type(delayed.array.dtype), program.delayed
    lines = [*struct_text(fields), head(program)]
    lines += indented(locals_text(program, (Meaning.NUMBER, Meaning.EXTENT, Meaning.DELAY)), 1)
    body = [f"{kind} *{name}_rows = ({kind} *)scratch;", "const auto put = [&](int64 row) {"]
    body += [*indented(_put(program, delayed, kind, length), 1), "};"]
    body += ["for (int64 row = begin; row < end; ++row) {", *indented(_row(program, delayed, kind, length), 1)]
    body += ["    if (row - delay >= begin) put(row - delay);", "}"]
    body += ["for (int64 row = end - delay < begin ? begin : end - delay; row < end; ++row) {", "    put(row);", "}"]
    lines += [*indented(body, 1), "}"]
    return Kernel(program.name, "\n".join(lines) + "\n", fields, (delayed.array.dtype,))


def _pointers(program: KernelProgram) -> list[str]:
    """Where the row begins in each array, and how long it is."""
    if program.rank > 1:
        indices, found = row_indices(tuple(range(program.rank - 1)))
        lines = [*indices, *pointers_text(program, found), f"const int64 count = extent_{program.rank - 1};"]
    else:
        lines = [f"const int64 first = row * {PIECE};", f"const int64 count = smaller({PIECE}, extent_0 - first);"]
        lines += pointers_text(program, {})
    return lines


def _index(program: KernelProgram) -> str:
    return "i" if program.rank > 1 else "(first + i)"


def _waiting(delayed: Output, kind: str, length: str) -> str:
    name = delayed.array.name
    return f"{kind} *{name}_row = {name}_rows + row % (delay + 1) * {length};"


def _put(program: KernelProgram, delayed: Output, kind: str, length: str) -> list[str]:
    name = delayed.array.name
    target = place(delayed.array, _index(program))
    lines = [*_pointers(program), _waiting(delayed, kind, length)]
    return lines + loop([f"{target} = {name}_row[i];"], "0", "count")


def _row(program: KernelProgram, delayed: Output, kind: str, length: str) -> list[str]:
    texts, index = Texts(program), _index(program)
    lines = [*_pointers(program), _waiting(delayed, kind, length)]
    lines += [load(array, "0") for array in program.arrays if array.level is not Level.ELEMENT]
    lines += texts.operations(uniform(program.steps))
    body = [load(array, index) for array in program.arrays if array.level is Level.ELEMENT]
    body += texts.operations(varying(program.steps))
    for output in program.outputs:
        if output is delayed:
            body.append(f"{program.delayed}_row[i] = {texts.operand(output.value, output.array.dtype)};")
        else:
            body.append(texts.store(output, index))
    return lines + loop(body, "0", "count")
