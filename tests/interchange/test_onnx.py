"""Programs as models: what ONNX Runtime gives is what NumPy gives, for the example and for other inputs."""

from __future__ import annotations

import importlib
import io
import pathlib

import numpy as np
import pytest

import gjit
from gjit.demo import EXPECTED, Net
from tests.interchange.onnx_support import assert_same, check, model_of, onnx, run, session_of

WEIGHTS = np.arange(6.0).reshape(3, 2)


def test_the_hybrid_net_runs_from_one_file_with_its_loop_and_branch():
    for net in (Net(), gjit.trace(Net(), np.array(5))):
        data = model_of(net, np.array(5))
        assert {"Loop", "If", "Cast"} <= {node.op_type for node in onnx.load_from_string(data).graph.node}
        session = session_of(data)
        values = {x: run(session, np.array(x))[0] for x in EXPECTED}
        assert {x: value.item() for x, value in values.items()} == EXPECTED
        assert {value.dtype.name for value in values.values()} == {"float32"}


def early(x, n):
    total, seen = 0.0, np.zeros(4)
    for i in range(n):
        if i == 3:
            break
        if x[i, 0] > 5:
            return x[i]
        total += x[i].sum()
        seen[i] = total
        seen[-1] += 1
    else:
        seen += 100
    while total > 0 and total < 100:
        total = total * 2
    return seen + total


def nested(n):
    total, k = np.int64(1), 0
    while True:
        k += 1
        if k > n:
            break
        if k % 2:
            continue
        total *= k
        for j in range(k):
            if j * j > n:
                return total, -j
    return total, k


def relax(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return np.sqrt(u).sum(), u


def branching(x):
    if x.sum() > 3:
        y = x * 2
    elif x.min() < 0:
        return x[::-1], False
    else:
        y = x
    return [v * 2 for v in (y, x)][0], True


def indexing(x, i, flag):
    mask = x > 2
    y = x.copy()
    y[mask] = 0
    y[i] += 1
    y[:, 0] = flag
    row = y[1]
    row[1:] = -1.0  # a view: y changes too
    parts = (
        y.T[1:].copy(),
        y[::-1, None, -1].copy(),
        y[..., 1].copy(),
        y[i, 0],
        x[[0, 1], [2, 1]],
        x[mask],
        y[:, [1, 0]],
    )
    y[...] = y * 2
    return parts, y, row[0] if flag else row[-1], x.shape, x.size, (i // 2, i % 3, -i), bool(flag)


def structures(pair, table):
    def scaled(value, *, by=2):
        return value * by + table["shift"]

    out = []
    for number, (array, by) in enumerate(zip(pair, (1, 2))):
        out.append(scaled(array, by=by) + number)
    total = np.zeros(2, dtype=np.float32)
    for row in out[1]:
        total += row
    largest = max(total[0], total[1])
    return {"first": out[0], "rest": (np.concatenate(out), largest), "none": None}


def newton(x, steps):
    for _ in range(steps):
        x = x - (x * x - 2) / (2 * x)
        if abs(x * x - 2) < 1e-12:
            break
    return x


def captured(x):
    return x @ WEIGHTS + len(WEIGHTS), "constant".upper() == "CONSTANT"


def closure_counts(xs):
    count = 0

    def add(x):
        nonlocal count
        if x > 0:
            count = count + 1
        return count

    for x in xs:
        add(x)
    return count


def scripted_callee(x):
    return compiled_relax(x, 3)[1] + 1


compiled_relax = gjit.script(relax)
GRID, BIG = np.ones((4, 4)), np.arange(16.0).reshape(4, 4)
ONES = np.ones((3, 2), np.float32)
PROGRAMS = [
    (
        early,
        (GRID, np.array(3)),
        [(GRID, np.array(n)) for n in (0, 1, 2, 4)] + [(BIG, np.array(3)), (BIG, np.array(1))],
    ),
    (nested, (3,), [4, 5, 10, 0]),
    (relax, (np.ones(5), 3), [(np.arange(6.0) ** 2, 20), (np.ones(2), 0)]),
    (branching, np.ones(3), [np.arange(4.0), np.array([-1.0, 2]), np.array([0.5])]),
    (indexing, (BIG[:3], 1, True), [(BIG[1:], 2, False), (BIG[:, :3], 0, True)]),
    (structures, ((ONES, ONES * 3), {"shift": np.float32(3)}), [((ONES * 2, ONES[:2]), {"shift": np.float32(0)})]),
    (newton, (np.float64(1.0), 3), [(np.float64(5.0), 100), (np.float64(1.0), 0)]),
    (captured, np.ones(3), [np.ones(3) * 2]),
    (closure_counts, np.array([1.0, -1.0]), [np.array([1.0, 2.0, 3.0]), np.zeros(0)]),
    (scripted_callee, np.ones(5), [np.arange(7.0)]),
]


@pytest.mark.parametrize(("program", "example", "calls"), PROGRAMS, ids=[program.__name__ for program, *_ in PROGRAMS])
def test_programs(program, example, calls):
    check(gjit.script(program), program, example, *calls)


class Layer(gjit.Module):
    def __init__(self, scale):
        self.weight = gjit.Parameter(np.full((3, 3), scale))
        self.register_buffer("shift", np.ones(3))

    def forward(self, x):
        return np.maximum(x @ self.weight + self.shift, 0)


class Stack(gjit.Module):
    def __init__(self):
        self.layers = gjit.ModuleList([Layer(0.5), Layer(-0.5)])
        self.last = gjit.Sequential(Layer(2.0))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.last(x) if self.training else self.last(x) * 0.5


@pytest.mark.parametrize(
    "compile_", [lambda module: module, gjit.script, lambda module: gjit.trace(module, np.ones((2, 3)))]
)
def test_modules_bring_their_parameters(compile_):
    module = Stack().eval()
    check(compile_(module), module, np.ones((2, 3)), np.arange(12.0).reshape(4, 3))


def test_extents_are_free_and_named():
    model = onnx.load_from_string(model_of(gjit.script(lambda x, k: x.sum(axis=0) * k), (np.ones((2, 3), "f4"), 2)))
    described = model.graph.input[0].type.tensor_type
    assert [each.dim_param for each in described.shape.dim] == ["x_0", "x_1"]
    assert [each.name for each in model.graph.input] == ["x", "k"]
    assert model.graph.input[1].type.tensor_type.elem_type == onnx.TensorProto.INT64
    assert not model.graph.input[1].type.tensor_type.shape.dim
    assert [entry.version for entry in model.opset_import] == [18]


def test_what_needs_no_input_is_evaluated_and_what_nobody_reads_is_left_out():
    def program(x):
        np.exp(x)
        table = np.linspace(0, 1, 5)
        return x + np.sin(table).sum()

    model = onnx.load_from_string(model_of(gjit.script(program), np.ones(2)))
    assert [node.op_type for node in model.graph.node if node.op_type != "Identity"] == ["Add"]


def test_default_arguments_are_part_of_the_model(tmp_path):
    compiled = gjit.script(lambda x, k=3.0, *, shift=1.0: x * k + shift)
    gjit.export_onnx(compiled, tmp_path / "model.onnx", np.ones(2))
    session = session_of((tmp_path / "model.onnx").read_bytes())
    assert [each.name for each in session.get_inputs()] == ["x"]
    assert_same(run(session, np.arange(3.0)), compiled(np.arange(3.0)))


@pytest.mark.parametrize("name", ["black_scholes", "softmax"])
def test_examples_as_models(name):
    module = importlib.import_module(f"examples.{name}")
    for compiled, plain, make_arguments in module.PROGRAMS:
        check(compiled, plain, tuple(make_arguments(12)), ulp=2000)


@gjit.ignore
def left_out(x):
    return x


def raises_by_value(x):
    if x.sum() > 0:
        raise ValueError("positive")
    return x


def writes_argument(x):
    x[0] = 1
    return x


def writes_held(x):
    WEIGHTS[0] = x
    return x


def stale_view(x):
    y = x.copy()
    z = y.reshape(-1)
    y[0] = 5
    return z


def changes_dtype(x, n):
    k = np.int8(1)
    for _ in range(n):
        k = k * np.float32(0.5)
    return x * k


def unbound(x, t):
    for i in range(len(x)):
        if x[i] == t:
            break
    else:
        return -1
    return i


def swaps(x, n):
    u, v = x.copy(), np.zeros_like(x)
    for _ in range(n):
        v[1:] = u[:-1] + 1
        u, v = v, u
    return u


def grows(x, n):
    out = []
    for _ in range(n):
        out.append(x)
    return out[0]


REFUSED = [
    (lambda x: np.fft.fft(x), "numpy.fft.fft", np.ones(3)),
    (lambda x: np.linalg.solve(x, x), "numpy.linalg.solve", np.eye(3)),
    (lambda x: print(x), "builtin.print", np.ones(3)),
    (lambda x: left_out(x), "left_out", np.ones(3)),
    (lambda x: x * 2, "complex128", np.ones(3, complex)),
    (lambda x: np.random.rand() + x, "rand", np.ones(3)),
    (lambda x: x**x, "exponent", np.ones(3, int)),
    (raises_by_value, "exception", np.ones(3)),
    (writes_argument, "argument", np.ones(3)),
    (writes_held, "belongs to the program", np.ones(2)),
    (stale_view, "view", np.ones(3)),
    (changes_dtype, "int8", (np.ones(3), 3)),
    (unbound, "'i' has no value before the loop", (np.ones(3), 3.0)),
    (swaps, "a loop carries", (np.ones(3), 3)),
    (grows, "container", (np.ones(3), 30)),
    (lambda x: np.zeros(3)[x > 1] if x.sum() > 0 else x.reshape(1, -1), "axes", np.ones(3)),
    (lambda x: f"{x}", "text", np.ones(3)),
    (lambda x: np.ones(3).sort(x), "sort", 1),
]


@pytest.mark.parametrize(("program", "names", "example"), REFUSED)
def test_what_has_no_form_is_an_error_at_the_users_line(program, names, example):
    file = io.BytesIO()
    with pytest.raises(gjit.UnsupportedError, match=r"ONNX|interpreter") as caught:
        gjit.export_onnx(gjit.script(program), file, example)
    assert names in str(caught.value)
    assert file.getvalue() == b""
    if np.asarray(example if not isinstance(example, tuple) else 0).dtype != complex:
        assert pathlib.Path(__file__).name in str(caught.value)


def test_other_objects_are_type_errors():
    with pytest.raises(TypeError, match="export_onnx takes"):
        gjit.export_onnx(len, io.BytesIO(), np.ones(3))
