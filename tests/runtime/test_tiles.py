from __future__ import annotations

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from gjit import settings as knobs
from gjit.runtime import arrangement, tile_plan, tile_run, tiles
from tests.runtime.region_programs import Program, assert_same, check_same, special_values

SIZE = 3 * 8192 + 517


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Tiles as short as they may be, so that small arrays are cut too."""
    monkeypatch.setattr(tiles, "MINIMUM_ELEMENTS", 1)
    monkeypatch.setattr(tile_plan, "MINIMUM_BYTES", 1)
    monkeypatch.setattr(arrangement, "TILE_BYTES", 1)
    monkeypatch.setattr(arrangement, "_MAXIMUM_OVERSIZE", 1 << 40)


def chain(nodes, x, y):
    """a*x + b*y - c, as operators."""
    left = nodes("operator.mul", 2.5, x)
    return [nodes("operator.sub", nodes("operator.add", left, nodes("operator.mul", 1.5, y)), 0.5)]


def arrays(*dtypes, size=SIZE):
    return [special_values(dtype, size, seed) for seed, dtype in enumerate(dtypes)]


@pytest.mark.parametrize("dtypes", [("f4", "f4"), ("f8", "f8"), ("f2", "f2"), ("c8", "c8"), ("c16", "f4"), ("i4", "f4"), ("u1", "i8")])
def test_a_chain_is_tiled_with_the_bits_of_its_twin(dtypes):
    assert assert_same(chain, *arrays(*dtypes)).tiled == 1


LAYOUTS = {
    "C": lambda x: x.reshape(200, -1),
    "F": lambda x: x.reshape(-1, 200).T,
    "columns of C": lambda x: x.reshape(200, -1)[:, ::2],
    "rows of C": lambda x: x.reshape(200, -1)[::3],
    "columns of F": lambda x: x.reshape(-1, 200).T[:, 1:],
    "three axes": lambda x: x.reshape(100, 2, -1),
    "inner axis cut": lambda x: x.reshape(100, 2, -1)[..., 3:40],
    "strided line": lambda x: x[::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_regular_layouts_are_tiled(layout, dtype):
    x, y = (LAYOUTS[layout](value[:24000]) for value in arrays(dtype, dtype))
    assert assert_same(chain, x, y).tiled == 1


BROADCASTS = {
    "row": ((150, 160), (160,)),
    "column": ((150, 160), (150, 1)),
    "row and column": ((150, 1), (1, 160)),
    "one element": ((24000,), (1,)),
    "zero rank": ((24000,), ()),
    "plane": ((50, 20, 24), (20, 24)),
    "outer axes": ((50, 20, 24), (50, 1, 1)),
}


@pytest.mark.parametrize("case", BROADCASTS)
@pytest.mark.parametrize("order", "CF")
def test_broadcast_operands_are_tiled(case, order):
    x, y = (
        np.asarray(special_values("f8", int(np.prod(shape)), 1).reshape(shape), order=order)
        for shape in BROADCASTS[case]
    )
    assert assert_same(chain, x, y).tiled == 1


def test_small_subexpressions_are_computed_once():
    def build(nodes, x, row):
        return [nodes("operator.add", nodes("operator.mul", x, nodes("numpy.exp", row)), x)]

    region = assert_same(build, *arrays("f8", size=24000)[:1], special_values("f8", 1, 3))
    assert region.tiled == 1
    assert "def before" in region.programs()[0]


@pytest.mark.parametrize(
    "awkward",
    [
        lambda x: x[::-1],
        lambda x: x.astype(">f8"),
        lambda x: x.astype(np.longdouble),
        lambda x: x.astype(object),
        lambda x: x.view(np.recarray),
        lambda x: np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view("f8"),
    ],
)
def test_what_is_no_plain_array_runs_op_by_op(awkward):
    x = np.linspace(1, 2, 24000)
    program = Program(chain, x, x)
    result = program.tiled(awkward(x), x)
    expected = program.twin(awkward(x), x)
    assert program.region.tiled == 0
    assert type(result) is type(expected)
    assert result.dtype == expected.dtype
    assert result.strides == expected.strides
    assert np.array_equal(result, expected)


def test_mixed_layouts_run_op_by_op():
    x = np.arange(24000.0).reshape(150, 160)
    assert assert_same(chain, x, x.reshape(160, 150).T).tiled == 0


def test_sizes_without_elements_or_below_the_minimum_run_op_by_op(monkeypatch):
    assert assert_same(chain, np.empty((0, 3)), np.empty((0, 3))).tiled == 0
    monkeypatch.setattr(tiles, "MINIMUM_ELEMENTS", 1 << 20)
    assert assert_same(chain, np.ones(30000), np.ones(30000)).tiled == 0


@pytest.mark.parametrize("value", [7, True, -2.5, 1e300, -1e-310, float("nan"), 1 + 2j, 10**30, np.float64(3), np.int8(3), np.array(2.5)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "c8", "?"])
def test_scalars_are_as_weak_as_numpy_takes_them(dtype, value):
    def build(nodes, x, scalar):
        return [nodes("operator.add", nodes("operator.mul", x, scalar), x)]

    assert_same(build, *arrays(dtype), value)


@pytest.mark.parametrize("value", [300, -1, 255, 2.5, 1e300, True])
def test_where_and_comparisons_with_python_numbers(value):
    def build(nodes, x, y, scalar):
        less = nodes("operator.lt", x, scalar)
        return [nodes("operator.add", nodes("numpy.where", less, x, scalar), y)]

    for dtypes in (("u1", "u1"), ("f4", "f4"), ("f8", "i4")):
        assert_same(build, *arrays(*dtypes), value)


@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, -1, -1.0, 3, 0, 1.5, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "u1", "?"])
@pytest.mark.parametrize("op", ["operator.pow", "operator.ipow"])
def test_powers_with_python_exponents(op, dtype, exponent):
    def build(nodes, x, y):
        power = nodes(op, nodes("operator.add", x, y), exponent)
        return [nodes("operator.mul", power, y)]

    assert_same(build, *arrays(dtype, dtype))


def test_a_power_whose_exponent_is_an_input_runs_op_by_op_for_python_numbers():
    def build(nodes, x, y, power):
        return [nodes("operator.add", nodes("operator.pow", x, power), y)]

    assert assert_same(build, *arrays("f8", "f8"), 2).tiled == 0
    assert assert_same(build, *arrays("f8", "f8"), np.float64(2)).tiled == 1


# Writes.


def smooth(nodes, target, left, right):
    nodes("setitem", target, slice(1, -1), nodes("operator.mul", 0.5, nodes("operator.add", left, right)))
    return []


def test_a_store_is_computed_right_in_its_target():
    target, left, right = np.zeros(SIZE + 2), *arrays("f8", "f8")
    region = assert_same(smooth, target, left, right)
    assert region.tiled == 1
    assert "target_)" in region.programs()[0]


@pytest.mark.parametrize("dtype", ["f4", "i4", "?", "c16", "f2"])
def test_a_store_casts(dtype):
    target, left, right = np.zeros(SIZE + 2, dtype), *arrays("f8", "f8")
    assert assert_same(smooth, target, left, right).tiled == 1


def test_a_store_that_overlaps_what_is_read_goes_through_a_temporary():
    (u,) = arrays("f8")
    region = assert_same(smooth, u, u[:-2], u[2:])
    assert region.tiled == 1
    assert "target" not in region.programs()[-1]


def test_a_store_over_the_very_elements_that_are_read_needs_no_temporary():
    (u,) = arrays("f8")
    region = assert_same(smooth, u, u[1:-1], u[1:-1])
    assert region.tiled == 1
    assert "target_)" in region.programs()[-1]


@pytest.mark.parametrize("index", [2, ..., (slice(None), slice(3, 50)), (slice(None, None, 2), None), slice(400, 500)])
def test_stores_at_other_indices(index):
    def build(nodes, target, value, other):
        nodes("setitem", target, index, nodes("operator.mul", nodes("operator.add", value, other), 0.5))
        return []

    target = np.zeros((300, 120))
    shape = target[index].shape if index != slice(400, 500) else (1, 120)
    value = special_values("f8", int(np.prod(shape)), 5).reshape(shape)
    assert_same(build, target, value, value)


def test_a_store_into_a_read_only_array_raises_as_numpy_does():
    target, left, right = np.zeros(SIZE + 2), *arrays("f8", "f8")
    target.flags.writeable = False
    assert assert_same(smooth, target, left, right).tiled == 0


def test_a_store_whose_index_is_an_input():
    def build(nodes, target, index, value):
        nodes("setitem", target, index, nodes("operator.mul", nodes("operator.add", value, 1), 0.5))
        return []

    program = Program(build, np.zeros(SIZE), slice(1, -1), np.ones(SIZE - 2))
    for index in (slice(1, -1), slice(2, None), slice(0, -2), slice(0, -2)):
        ours, theirs = np.zeros(SIZE), np.zeros(SIZE)
        program.tiled(ours, index, np.ones(SIZE - 2))
        program.twin(theirs, index, np.ones(SIZE - 2))
        assert np.array_equal(ours, theirs)
    assert program.region.tiled == 4


def in_place(nodes, x, y):
    x = nodes("operator.iadd", x, y)
    return [nodes("operator.imul", x, 0.5), nodes("operator.sub", x, y)]


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f8"), ("c8", "f4"), ("f8", "i8"), ("i4", "f8"), ("u1", "i2")])
def test_in_place_operators_write_the_array_itself(dtypes):
    region = assert_same(in_place, *arrays(*dtypes))
    assert region.tiled == (np.can_cast(np.result_type(*dtypes), dtypes[0], "same_kind") and dtypes[0] != "i4")


def test_in_place_operators_on_overlapping_arrays_run_op_by_op():
    (x,) = arrays("f8")
    assert assert_same(in_place, x[1:], x[:-1]).tiled == 0
    assert assert_same(in_place, x, x).tiled == 1
    assert assert_same(in_place, np.broadcast_to(x[:1], (SIZE,)), x).tiled == 0


def test_out_arguments_of_ufuncs():
    def build(nodes, x, y, out):
        total = nodes("numpy.add", x, y, out=out)
        return [nodes("numpy.sqrt", nodes("numpy.multiply", total, total), out)]

    assert assert_same(build, *arrays("f8", "f8", "f8")).tiled == 1
    assert assert_same(build, *arrays("f4", "f4", "f8")).tiled == 1
    x, y, _ = arrays("f8", "f8", "f8")
    assert assert_same(build, x[:-1], y[:-1], x[1:]).tiled == 0


def test_an_in_place_operator_on_a_temporary_that_is_returned():
    def build(nodes, x, y):
        fresh = nodes("operator.mul", x, y)
        changed = nodes("operator.iadd", fresh, 1.0)
        return [fresh, changed, nodes("operator.isub", changed, nodes("numpy.exp", y))]

    assert assert_same(build, *arrays("f8", "f8")).tiled == 1


# Reductions.


def softmax(nodes, x):
    powers = nodes("numpy.exp", nodes("operator.sub", x, nodes("numpy.max", x, axis=-1, keepdims=True)))
    return [nodes("operator.truediv", powers, nodes("numpy.sum", powers, axis=-1, keepdims=True))]


def layer_norm(nodes, x):
    mean = nodes("numpy.mean", x, axis=-1, keepdims=True)
    spread = nodes("numpy.sqrt", nodes("operator.add", nodes("numpy.var", x, axis=-1, keepdims=True), 1e-5))
    return [nodes("operator.truediv", nodes("operator.sub", x, mean), spread)]


@pytest.mark.parametrize("program", [softmax, layer_norm])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 3, 8, 129, 1000, 9000])
def test_row_reductions_are_part_of_the_region(program, dtype, columns):
    x = np.random.default_rng(columns).standard_normal((65000 // columns, columns)).astype(dtype)
    assert assert_same(program, x).tiled == 1
    assert_same(program, np.asfortranarray(x))


def test_row_reductions_of_special_values_warn_as_the_twin_does():
    x = special_values("f8", 24000, 7).reshape(150, 160)
    assert_same(softmax, x)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "any", "all", "var", "std"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "?"])
@pytest.mark.parametrize("keepdims", [True, False])
def test_each_row_reduction(name, dtype, keepdims):
    def build(nodes, x, y):
        return [nodes(f"numpy.{name}", nodes("numpy.multiply", x, y), axis=-1, keepdims=keepdims)]

    with np.errstate(all="ignore"):
        x, y = (value.reshape(30, 8, 100) for value in arrays(dtype, dtype, size=24000))
        assert assert_same(build, x, y).tiled == 1


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "any", "all"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "?", "f2", "c8"])
@pytest.mark.parametrize("shape", [(30011,), (200, 150), (7, 11, 390)])
def test_totals(name, dtype, shape):
    def build(nodes, x, y):
        return [nodes(f"numpy.{name}", nodes("operator.add", nodes("numpy.multiply", x, y), x))]

    random = np.random.default_rng(3)
    x, y = (np.asarray((random.standard_normal(shape) * 9), dtype if dtype[0] != "u" else "i8").astype(dtype) for _ in "xy")
    in_parts = dtype in ("f4", "f8") or name in ("any", "all") or (dtype in ("i4", "u1", "?") and name != "mean")
    region = assert_same(build, x, y)
    assert region.tiled == (in_parts or (dtype == "f2" and name in ("max", "min")))
    assert_same(build, np.asfortranarray(x), np.asfortranarray(y))


def test_totals_of_nan_and_of_negative_zeros():
    def build(nodes, x, y):
        product = nodes("operator.mul", x, y)
        shifted = nodes("operator.add", product, product)
        return [nodes("numpy.sum", shifted), nodes("numpy.max", shifted), shifted]

    zeros = np.full(SIZE, -0.0)
    assert_same(build, zeros, np.ones(SIZE))
    assert_same(build, *arrays("f8", "f8"))


# Floating-point errors.


def risky(nodes, x, y):
    quotient = nodes("operator.truediv", x, y)
    root = nodes("numpy.sqrt", nodes("numpy.log", quotient))
    return [nodes("operator.pow", nodes("numpy.exp", root), 2), quotient]


@pytest.mark.parametrize("state", [{}, {"all": "ignore"}, {"all": "warn"}, {"divide": "ignore"}, {"under": "warn", "invalid": "ignore"}])
def test_each_op_warns_once_with_the_text_and_order_of_numpy(state):
    x, y = arrays("f8", "f8")
    with np.errstate(**state):
        assert assert_same(risky, x * 1e6, y).tiled == 1


def test_warnings_name_the_line_of_the_user_and_are_shown_once_for_it(recwarn):
    program = Program(risky, np.zeros(SIZE), np.zeros(SIZE))
    program.tiled(np.zeros(SIZE), np.zeros(SIZE))
    assert [(each.filename, each.lineno, str(each.message)) for each in recwarn] == [
        ("program.py", 1, "invalid value encountered in divide")
    ]
    assert "__warningregistry__" in program.globals


@pytest.mark.parametrize("mode", ["raise", "call", "print"])
def test_error_states_that_act_at_once_run_op_by_op(mode, capsys):
    with np.errstate(all=mode, call=lambda kind, flag: None):
        assert assert_same(risky, *arrays("f8", "f8")).tiled == 0


def test_warnings_that_are_errors_run_op_by_op():
    import warnings

    program = Program(risky, np.zeros(SIZE), np.zeros(SIZE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value encountered in divide"):
            program.tiled(np.zeros(SIZE), np.zeros(SIZE))
    assert program.region.tiled == 0


def test_a_store_and_a_cast_warn_once():
    def build(nodes, target, x):
        nodes("setitem", target, ..., nodes("operator.mul", nodes("numpy.exp", x), x))
        return []

    for dtype in ("f4", "i4"):
        assert assert_same(build, np.zeros(SIZE, dtype), special_values("f8", SIZE, 1)).tiled == 1


# Threads.


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_count_of_threads_changes_nothing(count, monkeypatch):
    monkeypatch.setattr(tile_run, "THREADED_WORK", 1)

    def build(nodes, x, y):
        (result,) = chain(nodes, x, y)
        return [result, nodes("numpy.sum", nodes("numpy.sqrt", result))]

    with knobs.config(threads=count):
        assert assert_same(build, *(np.abs(value) for value in arrays("f4", "f4"))).tiled >= 0
        assert assert_same(risky, *arrays("f8", "f8")).tiled == 1
        assert assert_same(in_place, *arrays("f8", "f8")).tiled == 1


def test_a_signature_is_planned_once():
    program = Program(chain, *arrays("f8", "f8"))
    for _ in range(3):
        program.tiled(*arrays("f8", "f8"))
    program.tiled(*arrays("f4", "f8"))
    assert program.region.tiled == 4
    assert len(program.region.programs()) == 1, "the same text serves both"


# Programs at random.

UNARY = (
    "operator.neg operator.pos builtin.abs numpy.sqrt numpy.exp numpy.sin numpy.log1p numpy.tanh numpy.square numpy.floor "
    "numpy.isnan numpy.sign numpy.logical_not numpy.reciprocal numpy.conjugate operator.invert numpy.cbrt numpy.arctan"
).split()
BINARY = (
    "operator.add operator.sub operator.mul operator.truediv operator.floordiv operator.mod operator.and operator.or "
    "operator.lt operator.ge operator.eq operator.ne numpy.maximum numpy.minimum numpy.fmax numpy.hypot numpy.arctan2 "
    "numpy.copysign numpy.logical_and numpy.power numpy.less operator.lshift"
).split()
IN_PLACE = "operator.iadd operator.isub operator.imul operator.itruediv operator.iand operator.ifloordiv".split()
DTYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
SCALARS = st.sampled_from([2, -3, 0.5, True, 1j, 0.0, -0.0, float("inf"), np.float32(2), np.int16(-4), np.float64(1e200)])
SHAPES = {
    "line": [(24000,), (24000,), ()],
    "plane": [(150, 160), (150, 160), (160,), (150, 1), (1, 1)],
    "block": [(40, 6, 100), (40, 6, 100), (6, 100), (40, 1, 1), (100,)],
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
    kinds = st.sampled_from(["unary"] * 3 + ["binary"] * 5 + ["where", "astype", "clip", "in place", "rows", "power"])
    step = st.tuples(kinds, st.integers(0, 999), st.integers(0, 999), st.integers(0, 999), SCALARS)
    return draw(st.lists(step, min_size=2, max_size=7)), draw(st.sampled_from(["", "", "", "store", "total"])), draw(st.integers(0, 999))


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
        case "in place":
            return nodes(IN_PLACE[third % len(IN_PLACE)], one, two if third % 2 else scalar)
        case "rows":
            return nodes(f"numpy.{('max', 'sum', 'mean', 'any')[third % 4]}", one, axis=-1, keepdims=third % 3 > 0)
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
