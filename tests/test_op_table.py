"""Every row of the op table against what NumPy and Python really do. A new row is tested without touching this file."""

from __future__ import annotations

import contextlib
import inspect
import random
import zlib

import numpy as np
import pytest

from gjit.ir.graph import Node
from gjit.ir.types import UNKNOWN
from gjit.ops import OPAQUE, Effect, Kind, effects_of, names, result_types, table, viewed_inputs, written_inputs
from gjit.ops.operators import contained_in, not_contained_in
from tests.ops.operands import DTYPES, LAYOUTS, array, fits, node_input, observe, operand

with contextlib.suppress(ImportError):
    import scipy.special  # noqa: F401  # its rows are tested where it is installed

    table["scipy.special.erf"]  # brings the rows

OF_SCIPY = {f"scipy.special.{name}" for name in "erf erfc expit xlogy xlog1py entr gamma j0 jv beta ndtr".split()}
"""All rows of SciPy have the same rules; others of its functions crash, or never end, for orders without sense."""
CALLS = 50
SKIPPED = {"builtin.input", "builtin.open", "builtin.print"}  # they talk to the outside
ROWS = [
    op
    for op in table.rows.values()
    if op.function is not None
    and op.kind is not Kind.CONTROL
    and op.name not in SKIPPED
    and (op.name in OF_SCIPY or not op.name.startswith(("scipy.", "user.")))
]
IDS = [op.name for op in ROWS]

KEYWORDS = {
    "axis": [None, 0, -1, 1, (0,), (0, 1), ()],
    "keepdims": [True, False],
    "dtype": [None, np.float32, np.dtype("i8"), "c16", float],
    "where": [True, np.array([True])],
    "initial": [1, 0.5, 2**70],
    "ddof": [1, 0, 0.5],
    "decimals": [0, 2, -1],
    "copy": [True, False, None],
    "out": [np.zeros(3)],
    "n": [2, 4],
    "ord": [None, 1, 2, np.inf],
    "k": [0, 1],
    "offset": [0, 1],
    "mode": ["full", "constant"],
    "full_matrices": [False],
    "compute_uv": [False],
    "return_inverse": [True],
    "return_index": [True],
    "indexing": ["ij"],
    "sparse": [True],
    "endpoint": [False],
    "retstep": [True],
    "kind": ["stable"],
    "side": ["right"],
    "density": [True],
    "order": ["C", "F"],
    "nan": [1, 0.5],
    "a_min": [None],
    "min": [0],
    "max": [1.5],
    "shape": [(2, 3), 4, ()],
    "deg": [True],
    "returned": [True],
    "weights": [np.ones(3)],
    "method": ["lower"],
    "rowvar": [False],
    "full": [True],
    "prepend": [0],
    "period": [3.0],
    "equal_nan": [True],
    "ndmin": [2],
    "bins": [2, 4],
    "name": ["real"],
}
SHAPES = [
    "shape",
    "dimensions",
    "new_shape",
    "dims",
    "newshape",
    "reps",
    "axes",
    "dimensions",
    "axis",
    "pad_width",
    "source",
    "destination",
]
SIZES = ["N", "M", "n", "num", "repeats", "minlength", "bins", "ndim", "n_zeros", "reps", "prec", "maxlen"]
SEQUENCES = ["arrays", "tup", "arys", "args", "xi", "condlist", "choicelist", "choices", "multi_index", "object"]


def required(op) -> tuple[int, list[str]]:
    """How many positional arguments a call needs, and the names of all parameters."""
    try:
        parameters = list(inspect.signature(op.function).parameters.values())
    except (TypeError, ValueError):
        return 1, []
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(needed), [p.name for p in parameters]


def arguments_for(op, rng: random.Random) -> tuple[list, dict]:
    """A call that may make sense: operands by position, and sometimes a keyword that the function has."""
    needed, parameters = required(op)
    large = not any(word in op.name for word in ("pow", "shift", "fact", "comb", "perm"))
    given = needed
    fixed = op.kind is Kind.OPERATOR or op.name in ("getitem", "setitem", "delitem")
    if not fixed and (rng.random() < 0.3 or not needed):
        given += rng.randint(1, 2)
    arguments = []
    for index in range(given if "cum" not in op.name else min(given, 3)):
        name = parameters[index] if index < len(parameters) else ""
        arguments.append(one_argument(name, rng, large))
    if op.name.startswith("ndarray."):
        arguments[:1] = [array(rng.choice(DTYPES), rng.choice([(), (3,), (3, 3)]), rng.choice(LAYOUTS), rng)]
    choices = [name for name in parameters[given:] if name in KEYWORDS and (name != "out" or "cum" not in op.name)]
    keywords = {name: rng.choice(KEYWORDS[name]) for name in choices if rng.random() < 0.25}
    if "out" in keywords:
        keywords["out"] = keywords["out"].copy()
    return arguments, keywords


def one_argument(name: str, rng: random.Random, large: bool) -> object:
    if name == "out":  # NumPy 2.4 writes past the end of some outputs: strided bools of isnan, 0-d ones of cumsum
        return rng.choice([None, np.zeros(3)])
    if name in ("axis1", "axis2"):
        return rng.choice([0, -1])
    if name in SIZES:
        return rng.choice([0, 1, 3, True, np.int64(2), np.uint8(2), 2])
    if name in SHAPES and (rng.random() < 0.8 or "shape" in name):
        return rng.choice([0, 1, 3, (3,), (1, 3), (3, 3), (0, 1), (1, 0), -1, ((1, 1), (2, 0))])
    if name in SEQUENCES and rng.random() < 0.8:
        first = operand(rng, large=large)
        return rng.choice([list, tuple])([first, rng.choice([first, operand(rng, large=large)])])
    if name in KEYWORDS and rng.random() < 0.5:
        return rng.choice(KEYWORDS[name])
    return operand(rng, large=large)


def node_for(op, arguments: list, keywords: dict, rng: random.Random) -> Node:
    constants = rng.random() < 0.5
    inputs = [node_input(value, rng, constants or name in KEYWORDS) for name, value in _named(arguments, keywords)]
    labels = ("",) * len(arguments) + tuple(f"{name}=" for name in keywords)
    attributes = {"name": arguments[1]} if op.name == "getattr" else {}
    node = Node(op.name, inputs, labels=labels, attributes=attributes)
    for value in [*inputs]:
        if isinstance(value.producer, Node):
            assert value.uses == {node: value.uses[node]}
    for value, type_ in zip(node.results, result_types(node), strict=True):
        value.type = type_
    return node


def _named(arguments: list, keywords: dict):
    return [*(("", value) for value in arguments), *keywords.items()]


def calls_of(op):
    """Calls of the row: live arguments, the node that stands for them, and what the call does."""
    rng = random.Random(zlib.crc32(op.name.encode()))
    for _ in range(CALLS):
        arguments, keywords = arguments_for(op, rng)
        node = node_for(op, arguments, keywords, rng)
        yield arguments, keywords, node, observe(op.function, arguments, keywords)


def describe(op, arguments, keywords, node) -> str:
    shown = [f"{type(v).__name__} {getattr(v, 'dtype', '')}{getattr(v, 'shape', '')} {v!r}" for v in arguments]
    return (
        f"{op.name}({', '.join(shown)}, {keywords}) as {[str(v.type) for v in node.inputs]} -> {node.results[0].type}"
    )


CLAIMING = [op for op in ROWS if op.types is not None or op.effects is not OPAQUE]


@pytest.mark.parametrize("op", CLAIMING, ids=[op.name for op in CLAIMING])
def test_row_says_what_happens(op):
    known = returned = 0
    for arguments, keywords, node, outcome in calls_of(op):
        message = describe(op, arguments, keywords, node)
        effects = effects_of(node)
        if outcome.raised is not None or outcome.warned:
            assert Effect.RAISES in effects, message
        assert outcome.written <= set(written_inputs(node)), message
        assert not outcome.written or Effect.WRITES in effects, message
        if outcome.raised is not None:
            continue
        returned += 1
        known += node.results[0].type != UNKNOWN
        assert fits(node.results[0].type, outcome.result), f"{message}, not {outcome.result!r}"
        assert outcome.shared <= set(viewed_inputs(node)), message
    if op.types is not None and returned > 20:
        assert known, f"{op.name} has a type rule that never knows anything"


@pytest.mark.parametrize("op", [op for op in ROWS if op.method], ids=[op.name for op in ROWS if op.method])
def test_method_is_the_function(op):
    method = getattr(np.ndarray, op.method)
    compared = 0
    for arguments, keywords, _, outcome in calls_of(op):
        if arguments and type(arguments[0]) is np.ndarray and not outcome.written:
            other = observe(method, arguments, keywords)
            assert type(other.raised) is type(outcome.raised)
            assert type(other.result) is type(outcome.result)
            np.testing.assert_array_equal(other.result, outcome.result)
            compared += other.raised is None
    assert compared


@pytest.mark.parametrize("op", ROWS, ids=IDS)
def test_functions_are_found_again(op):
    if op.function in (contained_in, not_contained_in):
        assert names.name_of(op.function) is None
        return
    assert table.of_function(op.function).function is op.function
    assert names.object_named(names.name_of(op.function)) is op.function


def test_every_ufunc_with_a_numeric_loop_has_a_row():
    ufuncs = {value for value in vars(np).values() if isinstance(value, np.ufunc)}
    missing = {ufunc.__name__ for ufunc in ufuncs if table.of_function(ufunc) is None}
    assert missing == {"isnat"}


def test_operators_name_ufuncs_that_are_rows():
    assert {op.ufunc for op in table.rows.values() if op.ufunc} <= set(table.rows)


def test_rows_that_write_or_view_say_so_in_their_effects():
    for op in table.rows.values():
        fixed = op.effects if isinstance(op.effects, Effect) else None
        if op.writes and fixed is not None:
            assert Effect.WRITES in fixed, op.name


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="two rows"):
        table.add(table["numpy.sqrt"])


def test_kinds_are_all_used():
    assert {op.kind for op in table.rows.values()} == set(Kind)
