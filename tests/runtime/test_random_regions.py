from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.runtime.region_programs import check_same, special_values

pytestmark = pytest.mark.usefixtures("small_tiles")


UNARY = (
    "operator.neg operator.pos builtin.abs numpy.sqrt numpy.exp numpy.sin numpy.log1p numpy.tanh numpy.square "
    "numpy.floor numpy.isnan numpy.sign numpy.logical_not numpy.reciprocal numpy.conjugate "
    "operator.invert numpy.cbrt numpy.arctan"
).split()
BINARY = (
    "operator.add operator.sub operator.mul operator.truediv operator.floordiv operator.mod operator.and operator.or "
    "operator.lt operator.ge operator.eq operator.ne numpy.maximum numpy.minimum numpy.fmax numpy.hypot numpy.arctan2 "
    "numpy.copysign numpy.logical_and numpy.power numpy.less operator.lshift"
).split()
IN_PLACE = "operator.iadd operator.isub operator.imul operator.itruediv operator.iand operator.ifloordiv".split()
DTYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SCALARS = st.sampled_from(
    [2, -3, 0.5, True, 1j, 0.0, -0.0, float("inf"), np.float32(2), np.int16(-4), np.float64(1e200)]
)
# Complex arrays and those of eight bytes are large enough for NumPy to reuse temporaries.
SHAPES = {
    "line": [(40000,), (40000,), ()],
    "plane": [(200, 200), (200, 200), (200,), (200, 1), (1, 1)],
    "thin block": [(40, 1, 1000), (40, 1, 1000), (1, 1000), (1, 1, 1)],
    "block": [(40, 10, 100), (40, 10, 100), (10, 100), (40, 1, 1), (100,)],
}


@st.composite
def input_arrays(draw):
    shapes = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    style = draw(st.sampled_from(["C", "C", "F", "strided", "mixed"]))
    found = []
    for index in range(draw(st.integers(1, 3))):
        shape = shapes[0] if index == 0 else draw(st.sampled_from(shapes))
        dtype = draw(st.sampled_from(DTYPES))
        found.append(_laid_out(shape, dtype, draw(st.integers(0, 3)), style if style != "mixed" else "CF"[index % 2]))
    return found


def _laid_out(shape, dtype, seed, style):
    if style == "strided" and shape:
        wide = (*shape[:-1], shape[-1] * 2)
        return special_values(dtype, int(np.prod(wide)), seed).reshape(wide)[..., ::2]
    values = special_values(dtype, int(np.prod(shape)), seed).reshape(shape)
    return np.asfortranarray(values) if style == "F" else values


@st.composite
def node_choices(draw):
    """Recipes for nodes: what op, and numbers that choose among the values that exist by then."""
    others = "where astype clip write rows row power".split()
    kinds = st.sampled_from(["unary"] * 3 + ["binary"] * 5 + others)
    step = st.tuples(kinds, st.integers(0, 999), st.integers(0, 999), st.integers(0, 999), SCALARS)
    return (
        draw(st.lists(step, min_size=2, max_size=7)),
        draw(st.sampled_from(["", "", "", "store", "total"])),
        draw(st.integers(0, 999)),
    )


def _build(choices):
    steps, ending, last = choices

    def build(nodes, *arrays):
        values = list(arrays)
        for kind, first, second, third, scalar in steps:
            values.append(_add(nodes, kind, values, (first, second, third), scalar))
        made = values[len(arrays) :]
        if ending == "total":
            made.append(nodes(f"numpy.{('sum', 'mean', 'max', 'all')[last % 4]}", made[-1]))
        if ending == "store":
            nodes("setitem", arrays[last % len(arrays)], ..., made[-1])
        return made[last % 3 :: 2]

    return build


def _add(nodes, kind, values, numbers, scalar):
    first, second, third = numbers
    one, two = values[-1 - first % min(len(values), 3)], values[second % len(values)]
    match kind:
        case "unary":
            return nodes(UNARY[third % len(UNARY)], one)
        case "where":
            return nodes("numpy.where", one, two, scalar if third % 2 else values[third % len(values)])
        case "astype":
            return nodes("ndarray.astype", one, DTYPES[third % len(DTYPES)])
        case "clip":
            return nodes("numpy.clip", one, -third % 7, third % 9)
        case "write":
            return nodes(IN_PLACE[third % len(IN_PLACE)], one, two if third % 2 else scalar)
        case "rows":
            return nodes(f"numpy.{('max', 'sum', 'mean', 'any')[third % 4]}", one, axis=-1, keepdims=third % 3 > 0)
        case "row":
            row = nodes(f"numpy.{('max', 'sum', 'mean', 'any')[third % 4]}", one, axis=-1)
            return nodes("getitem", row, ((slice(None), None), (..., None))[third % 2])
        case "power":
            return nodes("operator.pow", one, (2, 0.5, 3, -1, 2.5)[third % 5])
    operands = (one, two, scalar)[third % 2 :][:2]
    return nodes(BINARY[third // 2 % len(BINARY)], *operands)


def test_random_regions_are_their_twins():
    tiled = []

    @settings(max_examples=60)
    @given(input_arrays(), node_choices())
    def check(inputs, choices):
        program = check_same(_build(choices), *inputs)
        event("tiled" if program.tiled_count else "op by op")
        tiled.append(program.tiled_count)

    check()
    assert sum(tiled) > len(tiled) / 8
