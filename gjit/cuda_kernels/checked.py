"""Kernels that give NumPy's bits or say how far they came: what NumPy would warn of, and NaNs, stop them.

Elements are computed in tiles. A tile is clean where no operand is NaN and no floating-point flag that counts is up; an
array that existed before is written when its tile is clean. The result is the first element, or row, that is not.

    static __attribute__((noipa)) bool_ region_tile(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
        const float64 *x_data = (const float64 *)arguments->x->data;
        const float64 *y_data = (const float64 *)arguments->y->data;
        float64 *t1_out_data = (float64 *)arguments->t1_out->data;
        uint64 nan_64 = 0;
        uint64 seen_64 = 0;
        INDEPENDENT
        for (int64 i = begin; i < end; ++i) {
            const float64 x = x_data[i];
            nan_64 |= (uint64)(x != x);
            const float64 y = y_data[i];
            nan_64 |= (uint64)(y != y);
            // return np.where(y > 0, x / y, 0.0)
            const float64 t0 = np_divide(x, y);
            seen_64 |= np_bits(t0);
            ...
            t1_out_data[i] = t2;
        }
        __asm__ volatile("" : : "r"(seen_64));
        return nan_64 != 0;
    }

A float, and an integer made of one, that is not sure to reach an output by arithmetic is part of `seen`: otherwise the
compiler might compute `x / y` only where it is selected, and a flag that NumPy raises would stay down. No tile is
inlined into the loop over the tiles, so that no operation moves to the other side of a look at the flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from gjit.cuda_kernels.arguments import fields_of, locals_text, pointers_text, row_indices, struct_text
from gjit.cuda_kernels.element import Texts, indented, load, place
from gjit.cuda_kernels.flat import loop, uniform, varying
from gjit.cuda_kernels.program import (
    Array,
    Kernel,
    KernelProgram,
    Level,
    Literal,
    Meaning,
    Number,
    Operation,
    Output,
)
from gjit.ops.kernels import c_type

_ELEMENTS, _HELD_ELEMENTS = 4096, 1024
_ARITHMETIC = frozenset(
    f"numpy.{name}" for name in ["add", "subtract", "multiply", "divide", "square", "sqrt", "reciprocal"]
)


def checked_kernel(program: KernelProgram) -> Kernel:
    """The function of a tile, that which writes what is held back, and the loop over the tiles."""
    fields = fields_of(program)
    lines = [*struct_text(fields), *_tile(program), ""]
    if program.held:
        lines += [*_commit(program), ""]
    lines += _tiles(program)
    return Kernel(program.name, "\n".join(lines) + "\n", fields)


def _tile(program: KernelProgram) -> list[str]:
    first = f"static __attribute__((noipa)) bool_ {program.name}_tile("
    lines = [f"{first}const Arguments *arguments, char *scratch, int64 begin, int64 end) {{"]
    widths = sorted({8 * dtype.itemsize for dtype in program.dtypes().values() if dtype.kind == "f"})
    body = [f"uint{width} {name}_{width} = 0;" for width in widths for name in ("nan", "seen")]
    body += [*locals_text(program), *_number_checks(program.numbers), *_held_pointers(program)]
    body += _walk(program, _elements)
    body += [f'__asm__ volatile("" : : "r"(seen_{width}));' for width in widths]
    body.append(f"return {' || '.join(f'nan_{width} != 0' for width in widths) or 'false'};")
    return [*lines, *indented(body, 1), "}"]


def _walk(program: KernelProgram, row: Callable[[KernelProgram, str, str], list[str]]) -> list[str]:
    """The lines for the elements, or for the rows, from `begin` up to `end`; `row` gives those of one row."""
    if program.rank == 1:
        return [*pointers_text(program, {}), *row(program, "begin", "end")]
    indices, names = row_indices(tuple(range(program.rank - 1)))
    lines = [*indices, *pointers_text(program, names), *row(program, "0", f"extent_{program.rank - 1}")]
    return ["for (int64 row = begin; row < end; ++row) {", *indented(lines, 1), "}"]


def _elements(program: KernelProgram, start: str, stop: str) -> list[str]:
    texts = Texts(program)
    before = [array for array in program.arrays if array.level is not Level.ELEMENT]
    inside = [array for array in program.arrays if array.level is Level.ELEMENT]
    sure = _sure_results(program)
    body = [*_loads(inside, "i"), *_operations(varying(program.steps), texts, sure)]
    body += [line for output in program.outputs for line in _stores(program, output, texts)]
    return [*_loads(before, "0"), *_operations(uniform(program.steps), texts, sure), *loop(body, start, stop)]


def _sure_results(program: KernelProgram) -> set[str]:
    """The values that no compiler can leave out: outputs, and what becomes one by arithmetic on floats alone."""
    dtypes = program.dtypes()
    sure = {output.value for output in program.outputs if isinstance(output.value, str)}
    for step in reversed(program.steps):
        if not isinstance(step, Operation) or step.result not in sure:
            continue
        if step.row in _ARITHMETIC and step.dtype.kind == "f":
            sure |= {each for each in step.operands if isinstance(each, str) and dtypes[each].kind == "f"}
    return sure


def _loads(arrays: Iterable[Array], index: str) -> Iterator[str]:
    for array in arrays:
        yield load(array, index)
        yield from _nan_check(array.name, array.dtype)


def _number_checks(numbers: Iterable[Number]) -> Iterator[str]:
    for number in numbers:
        yield from _nan_check(number.name, number.dtype)


def _nan_check(name: str, dtype: np.dtype) -> Iterator[str]:
    if dtype.kind == "f":
        width = 8 * dtype.itemsize
        yield f"nan_{width} |= (uint{width})({name} != {name});"


def _operations(steps: list[Operation], texts: Texts, sure: set[str]) -> Iterator[str]:
    results = iter(steps)
    for line in texts.operations(steps):
        yield line
        if not line.startswith("//"):
            step = next(results)
            yield from () if step.result in sure else _seen(step)
            yield from _step_checks(step, texts)


def _seen(step: Operation) -> Iterator[str]:
    source = step.loops[0]
    if step.dtype.kind == "f":
        yield f"seen_{8 * step.dtype.itemsize} |= np_bits({step.result});"
    elif step.row == "numpy.astype" and source.kind == "f" and step.dtype.kind != "b":
        width = 8 * source.itemsize
        yield f"seen_{width} |= (uint{width}){step.result};"


def _step_checks(step: Operation, texts: Texts) -> Iterator[str]:
    if step.row == "numpy.astype":
        operand = texts.operand(step.operands[0], step.loops[0])
        yield from _cast_check(operand, step.loops[0], step.result, step.loops[1])
    elif step.dtype != step.loops[-1]:
        yield from _cast_check("", step.loops[-1], step.result, step.dtype)


def _cast_check(source: str, kind: np.dtype, result: str, target: np.dtype) -> Iterator[str]:
    """Casts of what does not fit. Of constants the compiler knows the result, and raises no flag."""
    if kind.kind != "f":
        return
    width, limit = 8 * kind.itemsize, f"({c_type(kind)}){float(2 ** (8 * target.itemsize - 1)).hex()}"
    if target.kind == "i":
        yield f"nan_{width} |= (uint{width})!(({source} >= -{limit}) & ({source} < {limit}));"
    elif target.kind == "f" and target.itemsize < kind.itemsize:
        yield f"nan_{width} |= (uint{width})(np_absolute({result}) == np_infinity({result}));"


def _stores(program: KernelProgram, output: Output, texts: Texts) -> Iterator[str]:
    """The lines that write an output: where it belongs, or where it waits."""
    value, target = output.value, output.array.dtype
    kind = value.value.dtype if isinstance(value, Literal) else texts.dtypes[value]
    stored = texts.operand(value, target)
    if kind != target:
        name = f"{output.array.name}_cast"
        yield f"const {c_type(target)} {name} = {stored};"
        yield from _cast_check(texts.operand(value, kind), kind, name, target)
        stored = name
    is_held = output.array.name in program.held
    yield f"{_held_place(program, output) if is_held else place(output.array, 'i')} = {stored};"


def _held_place(program: KernelProgram, output: Output) -> str:
    """Where a new element waits until its tile is known to be clean."""
    last = f"extent_{program.rank - 1}"
    index = "i - begin" if program.rank == 1 else f"(row - begin) * {last} + i"
    return f"{output.array.name}_held[{index}]"


def _held_pointers(program: KernelProgram) -> Iterator[str]:
    """Each held output has a part of the scratch memory for as many elements as a tile has at most."""
    last = f"arguments->extent_{program.rank - 1}"
    size = _tile_elements(program)
    elements = str(size) if program.rank == 1 else f"({size} < {last} ? ({last} + 63) / 64 * 64 : {size})"
    start = "scratch"
    for output in _held_outputs(program):
        kind, name = c_type(output.array.dtype), output.array.name
        yield f"{kind} *{name}_held = ({kind} *){start};"
        start = f"({name}_held + {elements})"


def _tile_elements(program: KernelProgram) -> int:
    """How many elements are computed before a look at the flags, in whole rows at least; what is held stays in the
    cache next to what is read.
    """
    return _HELD_ELEMENTS if program.held else _ELEMENTS


def held_bytes(program: KernelProgram, last_extent: int) -> int:
    """How much scratch memory each thread brings for a launch with this last extent."""
    size = _tile_elements(program)
    elements = size if program.rank == 1 else max(size, -(-last_extent // 64) * 64)
    return sum(elements * output.array.dtype.itemsize for output in _held_outputs(program))


def _held_outputs(program: KernelProgram) -> list[Output]:
    return [output for output in program.outputs if output.array.name in program.held]


def _commit(program: KernelProgram) -> list[str]:
    """The function that writes the held elements of a clean tile where they belong."""
    head = f"static void {program.name}_commit(const Arguments *arguments, char *scratch, int64 begin, int64 end) {{"
    body = [*locals_text(program, (Meaning.EXTENT,)), *_held_pointers(program), *_walk(program, _moves)]
    return [head, *indented(body, 1), "}"]


def _moves(program: KernelProgram, start: str, stop: str) -> list[str]:
    moves = [f"{place(each.array, 'i')} = {_held_place(program, each)};" for each in _held_outputs(program)]
    return loop(moves, start, stop)


def _tiles(program: KernelProgram) -> list[str]:
    """The loop over the tiles; `flags` are those that count."""
    name, size, call = program.name, _tile_elements(program), "(arguments, scratch, start, stop)"
    last = f"arguments->extent_{program.rank - 1}"
    step = str(size) if program.rank == 1 else f"{last} < {size} ? {size} / {last} : 1"
    lines = [
        f"const int64 step = {step};",
        "for (int64 start = begin; start < end; start += step) {",
        "    const int64 stop = smaller(start + step, end);",
        "    clear_flags();",
        f"    if ({name}_tile{call} || (raised_flags() & flags)) return start;",
    ]
    lines += [f"    {name}_commit{call};"] if program.held else []
    lines += ["}", "return end;"]
    arguments = "const Arguments *arguments, char *scratch, int64 begin, int64 end, int64 flags"
    return [f'extern "C" int64 {name}({arguments}) {{', *indented(lines, 1), "}"]
