"""Random exact regions on the engine `auto`: NumPy's bits and warnings, whether NumPy or native code runs them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from gjit.runtime import exact_launch, native
from tests.runtime.auto_programs import check_auto, tame_values
from tests.runtime.region_programs import special_values

pytestmark = [
    pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler"),
    pytest.mark.usefixtures("small_tiles", "kernels"),
]

UNARY = (
    "operator.neg builtin.abs numpy.sqrt numpy.square numpy.isnan numpy.sign numpy.logical_not numpy.reciprocal "
    "operator.invert numpy.rint numpy.isfinite numpy.signbit numpy.radians"
).split()
BINARY = (
    "operator.add operator.sub operator.mul operator.truediv operator.mod operator.floordiv operator.and operator.xor "
    "operator.lt operator.ge operator.eq operator.ne numpy.maximum numpy.minimum numpy.copysign numpy.logical_and "
    "operator.lshift operator.rshift"
).split()
IN_PLACE = "operator.iadd operator.isub operator.imul operator.itruediv operator.iand".split()
DTYPES = ["f8", "f8", "f4", "i4", "i8", "u1", "?"]
SCALARS = st.sampled_from([2, -3, 0.5, True, 0.0, -0.0, float("inf"), np.float32(2), np.int16(-4), 1e200, float("nan")])
SHAPES = {
    "line": [(2400,), (2400,), ()],
    "long line": [(10000,), (10000,)],
    "plane": [(15, 160), (15, 160), (160,), (15, 1)],
    "long rows": [(3, 5000), (3, 5000), (5000,)],
    "block": [(4, 6, 100), (4, 6, 100), (6, 100), (4, 1, 1)],
}
STATES = [None, None, None, {"all": "ignore"}, {"invalid": "ignore"}, {"divide": "ignore", "over": "ignore"}]


@st.composite
def input_arrays(draw):
    """Two or three arrays of one space, with or without what NumPy warns of."""
    shapes = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    style = draw(st.sampled_from(["C", "C", "C", "F", "strided"]))
    count, seed = draw(st.integers(2, 3)), draw(st.integers(0, 99))
    dtypes = [draw(st.sampled_from(DTYPES)) for _ in range(count)]
    chosen = [shapes[0], *(draw(st.sampled_from(shapes)) for _ in range(count - 1))]
    is_special = draw(st.sampled_from([False, False, True]))
    return [
        _array(*each, style, seed + place, is_special) for place, each in enumerate(zip(dtypes, chosen, strict=True))
    ]


def _array(dtype, shape, style, seed, is_special):
    wide = (*shape[:-1], shape[-1] * 2) if style == "strided" and shape else shape
    values = (
        special_values(dtype, int(np.prod(wide)), seed).reshape(wide)
        if is_special
        else tame_values(dtype, *wide, seed=seed)
    )
    if wide != shape:
        return values[..., ::2]
    return np.asfortranarray(values) if style == "F" else values


@st.composite
def node_choices(draw):
    """Recipes for nodes: what op, and numbers that choose among the values that exist by then."""
    kinds = st.sampled_from(["unary"] * 3 + ["binary"] * 6 + ["where", "where", "astype", "clip", "write", "power"])
    step = st.tuples(kinds, st.integers(0, 999), st.integers(0, 999), st.integers(0, 999), SCALARS)
    return (
        draw(st.lists(step, min_size=2, max_size=6)),
        draw(st.sampled_from(["", "", "store", "shifted"])),
        draw(st.integers(0, 9)),
    )


def build_of(choices):
    """A program that returns all that it does not use itself."""
    steps, ending, last = choices

    def build(nodes, *arrays):
        used = set()

        def counted(op, *inputs, **keywords):
            used.update(id(value) for value in inputs)
            return nodes(op, *inputs, **keywords)

        values = list(arrays)
        for kind, *numbers, scalar in steps:
            values.append(_add(counted, kind, values, numbers, scalar))
        if ending == "store":
            counted("setitem", arrays[last % len(arrays)], ..., values[-1])
        if ending == "shifted":
            left, right = (counted("getitem", arrays[0], (..., part)) for part in (slice(None, -2), slice(2, None)))
            mean = counted("operator.mul", counted("operator.add", left, right), 0.5)
            counted("setitem", arrays[last % 2 * (len(arrays) - 1)], (..., slice(1, -1)), mean)
        return [value for value in values[len(arrays) :] if id(value) not in used]

    return build


def _add(nodes, kind, values, numbers, scalar):
    first, second, third = numbers
    one, two = values[-1 - first % min(len(values), 3)], values[second % len(values)]
    match kind:
        case "unary":
            return nodes(UNARY[third % len(UNARY)], one)
        case "where":
            condition = nodes("operator.gt", two, scalar)
            return nodes("numpy.where", condition, one, scalar if third % 2 else values[third % len(values)])
        case "astype":
            return nodes("ndarray.astype", one, DTYPES[third % len(DTYPES)])
        case "clip":
            return nodes("numpy.clip", one, -third % 7, third % 9)
        case "write":
            return nodes(IN_PLACE[third % len(IN_PLACE)], one, two if third % 2 else scalar)
        case "power":
            return nodes("operator.pow", one, (2, 0.5, 3, -1)[third % 4])
    operands = (one, two, scalar)[third % 2 :][:2]
    return nodes(BINARY[third // 2 % len(BINARY)], *operands)


def test_random_exact_regions_are_their_twins(monkeypatch, request):
    monkeypatch.setattr(exact_launch, "_MOST_UNCLEAN", 1 << 30)
    native_counts = []

    # Without a search for a smaller example, which would compile hundreds of kernels.
    @settings(max_examples=40, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(input_arrays(), node_choices(), st.sampled_from(STATES))
    def check(inputs, choices, state):
        program = check_auto(build_of(choices), *inputs, state=state)
        event("native" if program.native_count else "numpy")
        native_counts.append(program.native_count)

    check()
    assert sum(count > 0 for count in native_counts) > len(native_counts) / 10
