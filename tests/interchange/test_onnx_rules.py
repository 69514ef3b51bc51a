"""Every rule of an op is run in ONNX Runtime against NumPy."""

from __future__ import annotations

import io

import numpy as np
import pytest

from gjit.ops.row import table
from tests.interchange.onnx_support import assert_same, onnxruntime, run, session_of

from gjit.interchange.onnx.model import write_model  # isort: skip - `onnx` may be missing
from gjit.interchange.onnx.rules import RULES  # isort: skip

NOT_IMPLEMENTED = onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented
DTYPES = [np.dtype(name) for name in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u1", "u2", "u4", "?")]
VALUES = {
    "f": [0.0, -0.0, 1.0, -1.5, 2.5, 3.5, 0.25, -7.0, 100.0, np.inf, -np.inf, np.nan],
    "i": [0, 1, -1, 2, -3, 7, 100, -100, 5, -5, 127, -128],
    "u": [0, 1, 2, 3, 7, 100, 200, 255, 5, 6, 9, 10],
    "b": [0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0],
}
A = np.arange(24, dtype="f8").reshape(2, 3, 4) - 5.5
I = np.arange(12).reshape(3, 4) % 5 - 2
M = A[0] > 0
K = np.array([2, 0, 1])
F4 = A.astype("f4")

CASES = {
    "builtin.abs": [((np.float64(-2.5),), {}), ((np.int64(-2),), {}), ((A,), {})],
    "builtin.bool": [((np.array(2.0),), {}), ((np.array([[0]]),), {})],
    "operator.not": [((np.array(2.0),), {}), ((np.array([[0]]),), {})],
    "builtin.float": [((np.int32(3),), {}), ((np.array([2.5]).reshape(()),), {})],
    "builtin.int": [((np.float64(-3.7),), {}), ((np.array(7, "i2"),), {})],
    "builtin.len": [((A,), {})],
    "builtin.max": [((3.0, np.float64(2.5)), {}), ((np.float64(2.5), np.float64(7)), {})],
    "builtin.min": [((np.float64(2.5), 1.5), {}), ((np.int64(2), np.int64(7)), {})],
    "builtin.round": [((2.5,), {}), ((np.float64(-3.5).item(),), {})],
    "builtin.sum": [(((np.ones(3), np.arange(3.0)),), {})],
    "math.log": [((2.5,), {}), ((8.0, 2.0), {})],
    "ndarray.item": [((np.array([[2.5]]),), {}), ((np.array(3, "i2"),), {})],
    "ndarray.astype": [
        ((A, np.int32), {}),
        ((I, np.float32), {}),
        ((I, bool), {}),
        ((I, np.uint8), {}),
        ((A, "f2"), {}),
    ],
    "numpy.where": [((M, A[0], 0.0), {}), ((M, F4[0], 1), {}), ((K, A, A), {"wrong": True})],
    "numpy.clip": [((A, -2.0, 3.0), {}), ((A, None, 3.0), {}), ((I, 0, 1), {})],
    "numpy.round": [((A * 0.37, 1), {}), ((A,), {}), ((I,), {}), ((A * 100, -2), {})],
    "numpy.power": [
        ((A, 2), {}),
        ((np.abs(A), 0.5), {}),
        ((I, 3), {}),
        ((np.abs(A), A), {}),
        ((I, 0), {}),
        ((I, 2), {}),
    ],
    "numpy.cumsum": [((A,), {}), ((A, 1), {}), ((I, 0), {})],
    "numpy.ptp": [((A,), {}), ((A, 1), {})],
    "numpy.count_nonzero": [((I,), {}), ((I, 1), {})],
    "numpy.reshape": [((A, (4, 6)), {}), ((A, -1), {}), ((A, (2, -1)), {})],
    "ndarray.reshape": [((A, 4, 6), {}), ((A, (3, -1)), {}), ((A, -1), {})],
    "numpy.ravel": [((A,), {})],
    "ndarray.flatten": [((A,), {})],
    "numpy.transpose": [((A,), {}), ((A, (1, 0, 2)), {}), ((A[0, 0],), {})],
    "ndarray.transpose": [((A,), {}), ((A, 1, 0, 2), {}), ((A, (2, 0, 1)), {})],
    "numpy.matrix_transpose": [((A,), {})],
    "numpy.swapaxes": [((A, 0, -1), {})],
    "numpy.moveaxis": [((A, 0, -1), {}), ((A, (0, 1), (-1, 0)), {})],
    "numpy.squeeze": [((A[:1], 0), {}), ((A[:1, :, :1], (0, 2)), {})],
    "numpy.expand_dims": [((A, 0), {}), ((A, (-1, 0)), {})],
    "numpy.atleast_1d": [((np.array(2.0),), {}), ((A,), {})],
    "numpy.atleast_2d": [((np.array(2.0),), {}), ((A[0, 0],), {}), ((A,), {})],
    "numpy.atleast_3d": [((np.array(2.0),), {}), ((A[0, 0],), {}), ((A[0],), {})],
    "numpy.broadcast_to": [((A[0], (2, 3, 4)), {}), ((np.array(1.0), (2,)), {})],
    "numpy.flip": [((A,), {}), ((A, 1), {}), ((A, (0, 2)), {})],
    "numpy.fliplr": [((A,), {})],
    "numpy.flipud": [((A,), {})],
    "numpy.concatenate": [(((A, A),), {}), (((A, F4), 1), {}), (((I, A[0]),), {}), (((A, I), None), {})],
    "numpy.stack": [(((A, A),), {}), (((A, A), -1), {})],
    "numpy.vstack": [(((A[0], A[0, 0]),), {})],
    "numpy.hstack": [(((A[0], A[1]),), {}), (((A[0, 0], A[0, 0]),), {})],
    "numpy.tile": [((A, 2), {}), ((A[0, 0], (2, 3)), {}), ((A, (2, 1)), {})],
    "numpy.take": [((A, K), {}), ((A, K, 1), {}), ((A, 1, 0), {}), ((A[0, 0], 2), {})],
    "numpy.matmul": [((A, A[0].T), {}), ((A[0, 0], A[0].T), {}), ((I, I.T), {}), ((F4, A[0].T), {})],
    "numpy.dot": [((A[0], A[0].T), {}), ((A[0, 0], A[0, 0]), {}), ((A, 2.0), {})],
    "ndarray.dot": [((A[0], A[0].T), {})],
    "numpy.inner": [((A[0], A[0]), {}), ((A[0, 0], A[0, 0]), {})],
    "numpy.outer": [((A[0, 0], A[0, 1]), {})],
    "numpy.vecdot": [((A[0], A[0]), {})],
    "numpy.einsum": [(("ij,kj->ik", A[0], A[0]), {}), (("ii", A[0, :, :3]), {})],
    "numpy.triu": [((A[0],), {}), ((A, 1), {})],
    "numpy.tril": [((A[0],), {}), ((I, -1), {})],
    "numpy.zeros": [((np.int64(3),), {}), (((np.int64(2), 3),), {"dtype": np.int16})],
    "numpy.ones": [((np.int64(3),), {}), (((np.int64(2), 3),), {"dtype": bool})],
    "numpy.empty": [((np.int64(0),), {}), (((np.int64(0), 3),), {"dtype": np.float32})],
    "numpy.full": [(((np.int64(2), 3), 2.5), {}), ((np.int64(2), np.int32(7)), {}), ((np.int64(2), 1.7, int), {})],
    "numpy.zeros_like": [((A,), {}), ((A, np.int32), {})],
    "numpy.ones_like": [((F4,), {}), ((I, bool), {})],
    "numpy.empty_like": [((A[:0],), {})],
    "numpy.full_like": [((A, 3), {}), ((I, 3.7), {})],
    "numpy.arange": [((np.int64(5).item(),), {}), ((2, np.int64(9), 3), {}), ((np.int64(5),), {"dtype": np.int16})],
    "numpy.eye": [((np.int64(3),), {}), ((np.int64(3), 4, 1), {"dtype": np.int32})],
    "numpy.identity": [((np.int64(3),), {})],
    "numpy.asarray": [((A,), {}), ((np.float64(2.5),), {}), (([np.float64(2.5), 1],), {})],
    "numpy.array": [((A,), {}), (([A[0], I],), {}), (([[np.float64(2.5), 1], [2, 3]], np.float32), {})],
    "numpy.copy": [((A,), {})],
    "ndarray.copy": [((A,), {})],
    "numpy.sort": [((I,), {}), ((I, 0), {})],
    "numpy.argsort": [((I,), {"kind": "stable"})],
    "operator.matmul": [((A, A[0].T), {})],
}
CASES["numpy.asanyarray"] = CASES["numpy.ascontiguousarray"] = CASES["numpy.asarray"]
CASES["numpy.astype"] = CASES["ndarray.astype"]
CASES["numpy.around"], CASES["ndarray.clip"] = CASES["numpy.round"], CASES["numpy.clip"]
CASES["numpy.permute_dims"] = CASES["numpy.transpose"]
CASES["operator.pow"] = CASES["numpy.power"]
CASES["numpy.where"].pop()
for _name in "sum prod max min amax amin mean var std any all argmax argmin".split():
    CASES[f"numpy.{_name}"] = [((A * 0.1,), {}), ((A * 0.1, 1), {}), ((I, 0), {"keepdims": True}), ((F4, -1), {})]
    if not _name.startswith("arg"):
        CASES[f"numpy.{_name}"].append(((A * 0.1, (0, 2)), {}))
    if _name in ("max", "min", "argmax", "argmin"):
        holes = A.copy()
        holes[0, 1, 2] = np.nan
        CASES[f"numpy.{_name}"].append(((holes, 2), {}))
    if _name in ("sum", "prod", "mean"):
        CASES[f"numpy.{_name}"].append(((F4, 0, np.float64), {}))
CASES["numpy.var"].append(((A, 1), {"ddof": 1}))
CASES["ndarray.any"], CASES["ndarray.all"] = CASES["numpy.any"], CASES["numpy.all"]
LOOSE = {"numpy.expm1": 64, "numpy.log1p": 64, "math.expm1": 64, "math.log1p": 64, "numpy.logaddexp": 64}
LOOSE |= {"numpy.sinh": 64, "numpy.cosh": 64, "numpy.tan": 64, "numpy.prod": 64, "numpy.var": 64, "numpy.std": 64}
WITHOUT_KERNELS = {"math.acos", "math.asin", "math.atan"}
"""The runtime has these for float32 only; the model is right by ONNX's own checker."""


def grid(dtype, count):
    """Special values against each other."""
    values = np.array(VALUES[dtype.kind]).astype(dtype)
    return (values,) if count == 1 else (values[:, None], values)


def elementwise_cases(op):
    row = table[op]
    ufunc = row.function if isinstance(row.function, np.ufunc) else getattr(np, row.ufunc.removeprefix("numpy."))
    for dtype in DTYPES[:3] if op == "numpy.reciprocal" else DTYPES:
        arguments = grid(dtype, ufunc.nin)
        try:
            row.function(*arguments)
        except TypeError:
            continue
        yield arguments, {}
    if ufunc.nin == 2 and op in BITS:
        yield from (((I, 3), {}), ((I, I.astype("i1")), {}))
    elif ufunc.nin == 2:
        yield from (((A, 2), {}), ((F4, 0.5), {}), ((I.astype("i1"), A[0]), {}))


BITS = {f"numpy.bitwise_{name}" for name in ("and", "or", "xor")} | {
    f"operator.{name}" for name in ("and", "or", "xor")
}
BITS |= {"operator.iand", "operator.ior", "operator.ixor"}


def host_cases(op):
    kinds = {"math": [0.5], "numpy": [np.float64(2.5), np.array([1, 2])]}
    value = 1.5 if op in ("math.acosh",) else 0.5
    yield from (((value if op.startswith("math") else each,), {}) for each in kinds[op.split(".")[0]])


def cases(op):
    if op in CASES:
        return CASES[op]
    row = table[op]
    is_class = isinstance(row.function, type)
    return list(host_cases(op) if op.startswith("math.") or is_class else elementwise_cases(op))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "op", sorted(name for name in RULES if not name.startswith("operator.i") or name == "operator.invert")
)
def test_every_rule_gives_what_numpy_gives(op):
    function, checked = table[op].function, 0
    for arguments, keywords in cases(op):
        if op == "ndarray.astype":
            expected = np.asarray(arguments[0]).astype(arguments[1])
        elif function is None or op.startswith("ndarray."):
            expected = getattr(arguments[0], op.removeprefix("ndarray."))(*arguments[1:], **keywords)
        else:
            expected = function(*arguments, **keywords)
        checked += outcome(op, arguments, keywords, expected)
    assert checked or op in WITHOUT_KERNELS, f"no case of {op} can be run"


def outcome(op, arguments, keywords, expected):
    """1 where the runtime has kernels for the case, and gave what is expected."""
    arrays = [value for value in arguments if takes_part(value)]
    fixed = [value for value in arguments if not takes_part(value)]

    def program(walk, given):
        given, rest = list(given), list(fixed)
        operands = [given.pop(0) if takes_part(value) else rest.pop(0) for value in arguments]
        return walk.operation(op, operands, keywords)

    file = io.BytesIO()
    write_model(program, [f"x{number}" for number in range(len(arrays))], arrays, file)
    try:
        session = session_of(file.getvalue())
    except NOT_IMPLEMENTED:
        return 0
    assert_same(run(session, arrays), expected, ulp=LOOSE.get(op, 8) + 8 * ("f2" in str(arguments)))
    return 1


def takes_part(value):
    """Whether an argument is an input of the model; axes and dtypes are not."""
    if isinstance(value, tuple | list):
        return any(map(takes_part, value))
    return isinstance(value, np.ndarray | np.generic) or (
        isinstance(value, float) and not isinstance(value, np.generic)
    )


def test_rules_name_ops_of_the_table():
    assert [name for name in RULES if name not in table] == []
    assert len(RULES) > 200
