"""Random NumPy programs as source text, with arguments to run them on.

A program is a few statements over a few variables: elementwise expressions, views, stores (overlapping ones too),
reductions, branches and loops. It may well raise; then the compiled one has to raise the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

DTYPES = ("f8", "f4", "f8", "f4", "?", "i1", "u1", "i4", "i8", "u8", "f2", "c8", "c16")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -7.25, 100.0, float("nan"), float("inf"), float("-inf"), 1e-40, 6e4)
NAMES = ("a", "b", "c")

UNARY = ("-{}", "abs({})", "np.sqrt({})", "np.square({})", "np.sign({})", "({} > 0)", "np.isnan({})", "np.exp({})")
UNARY += ("np.tanh({})", "np.where({} > 0, 1, -1)", "(+{})", "np.copy({})", "np.log1p({})", "({} + 1j)", "({})**2")
BINARY = ("({} + {})", "({} - {})", "({} * {})", "({} / {})", "np.maximum({}, {})", "np.minimum({}, {})", "({} < {})")
BINARY += ("({} == {})", "np.add({}, {})", "np.hypot({}, {})", "np.where({} > 1, {}, 0)", "({} // {})", "({} % {})")
REDUCTIONS = ("np.sum({})", "np.max({})", "np.mean({}, axis=0)", "np.sum({}, axis=-1, keepdims=True)", "np.any({})")
OF_NAMES = ("{}.T", "{}.copy()", "{}.astype('f4')", "{}.astype(np.float64)", "{}.sum()", "{}.mean(axis=0)", "{}.max()")
OF_NAMES += (
    "{}[::-1]",
    "{}[...]",
    "{}.std()",
    "{}.astype(bool)",
    "{}.sum(axis=-1, keepdims=True)",
    "{}.reshape(-1)[:1]",
)
SLICES = ("[1:]", "[:-1]", "[::2]", "[1::2]", "[::-1]", "[...]", "[:2]", "[-2:]", "[0]", "[-1:]", "[3:1]")
CONSTANTS = (
    "2",
    "0.5",
    "-1",
    "0.0",
    "-0.0",
    "3",
    "1e300",
    "True",
    "np.float32(1.5)",
    "np.int8(3)",
    "np.array(2.0)",
    "2j",
)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """An expression over the variables."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(NAMES * 5 + CONSTANTS))
    inner = expressions(depth=depth - 1)
    kind = draw(st.integers(0, 9))
    if kind < 5:
        return draw(st.sampled_from(BINARY)).format(draw(inner), draw(inner))
    if kind < 8:
        return draw(st.sampled_from(UNARY)).format(draw(inner))
    if kind == 8:
        return draw(st.sampled_from(OF_NAMES)).format(draw(st.sampled_from(NAMES)))
    return draw(st.sampled_from(REDUCTIONS)).format(draw(inner))


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """One statement, as lines."""
    name = draw(st.sampled_from(NAMES))
    kind = draw(st.integers(0, 11 if depth else 8))
    value = draw(expressions())
    if kind < 4:
        return [f"{name} = {value}"]
    if kind < 6:
        target = name + draw(st.sampled_from(SLICES + ("",)))
        return [f"{target} {draw(st.sampled_from(('+', '-', '*', '/')))}= {value}"]
    if kind < 8:
        return [f"{name}{draw(st.sampled_from(SLICES))} = {value}"]
    if kind == 8:
        source = draw(st.sampled_from(NAMES))
        one, other = draw(st.sampled_from(SLICES)), draw(st.sampled_from(SLICES))
        return [f"{name}{one} = {source}{other} * {draw(st.sampled_from(CONSTANTS))} + {source}{other}"]
    body = [line for part in draw(st.lists(statements(depth=depth - 1), min_size=1, max_size=3)) for line in part]
    indented = ["    " + line for line in body]
    if kind == 9:
        return [f"for k in range({draw(st.integers(0, 3))}):", *indented]
    if kind == 10:
        return [f"if np.any({value}):", *indented]
    return [f"{name} = {name}{draw(st.sampled_from(SLICES))}", *body]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a function `program(a, b, c)`."""
    lines = [line for part in draw(st.lists(statements(), min_size=1, max_size=6)) for line in part]
    results = draw(st.lists(expressions(depth=1), min_size=1, max_size=3))
    head = ["import numpy as np", "", "", "def program(a, b, c):"]
    return "\n".join([*head, *("    " + line for line in lines), f"    return {', '.join(results)}, a, b, c", ""])


@dataclass(frozen=True, slots=True)
class Layout:
    """How an array lies in its buffer: order of axes, steps, and where it begins."""

    order: str
    step: int
    offset: int


@st.composite
def arrays(draw: st.DrawFn, shapes: st.SearchStrategy[tuple[int, ...]]) -> np.ndarray:
    """An array of any dtype and layout, with special values."""
    dtype, shape = draw(st.sampled_from(DTYPES)), draw(shapes)
    layout = draw(st.builds(Layout, st.sampled_from("CF"), st.sampled_from((1, 1, 2, -1)), st.integers(0, 1)))
    seed = draw(st.integers(0, 2**32 - 1))
    return make_array(dtype, shape, layout, seed)


def make_array(dtype: str, shape: tuple[int, ...], layout: Layout, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    extents = tuple(size * abs(layout.step) + layout.offset for size in shape)
    values = rng.choice(np.array(SPECIAL), size=extents)
    with np.errstate(all="ignore"):
        buffer = np.asarray(np.nan_to_num(values, posinf=9, neginf=-9) if np.dtype(dtype).kind in "biu" else values)
        buffer = np.clip(buffer, 0 if dtype[0] in "u?" else -100, 100) if np.dtype(dtype).kind in "biu" else buffer
        buffer = buffer.astype(dtype, order=layout.order)
    parts = tuple(slice(layout.offset, layout.offset + size * abs(layout.step), abs(layout.step)) for size in shape)
    view = buffer[parts]
    return view[tuple(slice(None, None, -1) for _ in shape)] if layout.step < 0 else view


SHAPES = st.sampled_from([(), (0,), (1,), (5,), (3, 4), (4, 1), (1, 4), (4, 4), (2, 3, 4), (0, 4)])
SAME_SHAPES = st.sampled_from([(7,), (4, 4), (3, 5), (16_500,), (130, 129)])


@st.composite
def argument_sets(draw: st.DrawFn) -> tuple[object, ...]:
    """Three arguments: arrays of one shape, of any shapes, or views of one buffer; sometimes a scalar."""
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return tuple(draw(arrays(SHAPES)) for _ in NAMES)
    shape = draw(SAME_SHAPES)
    one = draw(arrays(st.just(shape)))
    if kind < 4:
        return one, draw(arrays(st.just(shape))), draw(arrays(st.just(shape)))
    if kind == 4:
        return one, one[1:], one[::-1]
    return one, draw(st.sampled_from((2, 0.5, np.float32(3), np.int64(2), True, 1j))), draw(arrays(st.just(shape[-1:])))
