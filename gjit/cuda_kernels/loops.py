"""Loops for engines that run one element at a time: each element takes all turns by itself.

float64 x = x0;
for (int64 turn = 0; turn < turns; ++turn) {
    const float64 dt = dt_turns[turn];
    // x = x + dt * (x - x * x * x)
    const float64 t0 = np_multiply(x, x);
    const float64 t1 = np_multiply(t0, x);
    const float64 t2 = np_subtract(x, t1);
    const float64 t3 = np_multiply(dt, t2);
    const float64 t4 = np_add(x, t3);
    x = t4;
}
"""

from __future__ import annotations

from gjit.cuda_kernels.element import Texts, indented
from gjit.cuda_kernels.program import Loop, Number, Piece
from gjit.ops.kernels import c_type


def loop_text(loop: Loop, texts: Texts) -> list[str]:
    """The lines for one element; afterwards its variables have their last values."""
    lines = [
        f"{texts.kind(each.dtype)} {each.name} = {texts.operand(each.initial, each.dtype)};" for each in loop.variables
    ]
    return [*lines, *turns_loop(loop, [_piece_text(piece, texts) for piece in loop.pieces])]


def turns_loop(loop: Loop, pieces: list[list[str]]) -> list[str]:
    """The loop over the turns, around the lines of its pieces."""
    body = [number_text(number) for number in loop.numbers]
    if not loop.has_route:
        body += pieces[0]
    else:
        cases = [[f"case {place}: {{", *indented(lines, 1), "} break;"] for place, lines in enumerate(pieces)]
        body += ["switch (route[turn]) {", *(line for case in cases for line in case), "}"]
    return ["for (int64 turn = 0; turn < turns; ++turn) {", *indented(body, 1), "}"]


def number_text(number: Number) -> str:
    """A number of one turn as a local name."""
    return f"const {c_type(number.dtype)} {number.name} = {number.name}_turns[turn];"


def _piece_text(piece: Piece, texts: Texts) -> list[str]:
    lines = list(texts.operations(piece.steps))
    changed = {name for name, _ in piece.assignments}
    values = []
    for name, value in piece.assignments:
        text = texts.operand(value, texts.dtypes[name])
        if value != name and value in changed:  # assignments are simultaneous
            lines.append(f"const {texts.kind(texts.dtypes[name])} next_{name} = {text};")
            text = f"next_{name}"
        values.append(f"{name} = {text};")
    return lines + values
