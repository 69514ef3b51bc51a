"""Kernels over one axis: contiguous arrays of any rank, walked as one line, or one-dimensional views.

extern "C" void hypotenuse(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const float64 *x_data = (const float64 *)arguments->x->data;
    const float64 *y_data = (const float64 *)arguments->y->data;
    float64 *result_data = (float64 *)arguments->result->data;
    INDEPENDENT
    for (int64 i = begin; i < end; ++i) {
        const float64 x = x_data[i];
        const float64 y = y_data[i];
        // return np.sqrt(x * x + y * y)
        const float64 t0 = np_multiply(x, x);
        const float64 t1 = np_multiply(y, y);
        const float64 t2 = np_add(t0, t1);
        const float64 t3 = np_sqrt(t2);
        result_data[i] = t3;
    }
}
"""

from __future__ import annotations

from gjit.cuda_kernels.arguments import fields_of, head, locals_text, pointers_text, struct_text, turns_text
from gjit.cuda_kernels.element import Texts, indented, load
from gjit.cuda_kernels.lanes import lanes_text
from gjit.cuda_kernels.program import Kernel, KernelProgram, Level, Meaning, Operation, Step


def flat_kernel(program: KernelProgram) -> Kernel:
    """One loop over the elements from `begin` up to `end`."""
    fields = fields_of(program)
    lines = [*struct_text(fields), head(program)]
    lines += indented(locals_text(program, (Meaning.NUMBER,)), 1)
    lines += indented([*pointers_text(program, {}), *turns_text(program)], 1)
    lines += indented(row_text(program, "begin", "end"), 1)
    lines.append("}")
    return Kernel(program.name, "\n".join(lines) + "\n", fields)


def row_text(program: KernelProgram, start: str, stop: str) -> list[str]:
    """The loop along one row: what is the same for all elements before it, then loads, ops and stores."""
    if program.loop is not None:
        return lanes_text(program, start, stop)
    texts = Texts(program)
    lines = [load(array, "0") for array in program.arrays if array.level is not Level.ELEMENT]
    lines += texts.operations(uniform(program.steps))
    body = [load(array, "i") for array in program.arrays if array.level is Level.ELEMENT]
    body += texts.operations(varying(program.steps))
    body += [texts.store(output, "i") for output in program.outputs]
    return [*lines, *loop(body, start, stop)]


def loop(body: list[str], start: str, stop: str) -> list[str]:
    """A loop whose turns do not depend on each other."""
    return ["INDEPENDENT", f"for (int64 i = {start}; i < {stop}; ++i) {{", *indented(body, 1), "}"]


def uniform(steps: tuple[Step, ...]) -> list[Operation]:
    """The ops with one result for a row, or for all."""
    return [step for step in steps if isinstance(step, Operation) and step.level < Level.ELEMENT]


def varying(steps: tuple[Step, ...]) -> list[Operation]:
    """The ops with a result for each element."""
    return [step for step in steps if isinstance(step, Operation) and step.level is Level.ELEMENT]
