"""What gradients are at edges, what they keep of their arguments, and what is refused."""

from __future__ import annotations

import collections
import dataclasses

import numpy as np
import pytest

import gjit
from gjit.errors import UnsupportedError
from gjit.testing import check_grads

X = np.array([1.0, 2.0])
Pair = collections.namedtuple("Pair", "weight bias")


@dataclasses.dataclass
class Settings:
    weight: np.ndarray
    bias: float
    count: int = 3


def grads(function, *arguments, argnums=0):
    return gjit.grad(function, argnums)(*arguments)


@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        (lambda x: np.abs(x).sum(), [0.0, -1.0], [0.0, -1.0]),
        (lambda x: np.sqrt(x).sum(), [0.0, 4.0], [np.inf, 0.25]),
        (lambda x: np.linalg.norm(x), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: np.std(x), [2.0, 2.0], [0.0, 0.0]),
        (lambda x: np.hypot(x[0], x[1]), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: (x**0).sum() + (x**1).sum() + (x**2).sum(), [0.0, 3.0], [1.0, 7.0]),
        (lambda x: np.clip(x, 1.0, 2.0).sum(), [1.0, 2.0], [1.0, 1.0]),
        (lambda x: np.clip(x, 1.0, 2.0).sum(), [0.5, 2.5], [0.0, 0.0]),
        (lambda x: np.maximum(x, 1.0).sum(), [1.0, 3.0], [0.5, 1.0]),
        (lambda x: np.max(x), [2.0, 2.0], [0.5, 0.5]),
        (lambda x: np.minimum(x[0], x[1]), [2.0, 2.0], [0.5, 0.5]),
        (lambda x: np.where(x > 0, np.log(np.abs(x)), 0.0).sum(), [0.0, 2.0], [0.0, 0.5]),
        (lambda x: np.where(x != 0, 1 / np.where(x == 0, 1, x), 0.0).sum(), [0.0, 2.0], [0.0, -0.25]),
        (lambda x: np.where(x < 5, np.exp(x), 1.0).sum(), [0.0, 1000.0], [1.0, 0.0]),
        (lambda x: np.floor(x).sum() + np.sign(x).sum() + x.astype(np.int64).sum() + x.sum(), [1.3, -2.6], [1.0, 1.0]),
        (lambda x: x[np.argsort(x)][0] * 3, [5.0, 2.0], [0.0, 3.0]),
        (lambda x: np.prod(x), [0.0, 3.0], [3.0, 0.0]),
        (lambda x: np.sort(x)[0], [2.0, 2.0], [1.0, 0.0]),
    ],
)
def test_edges(function, point, expected):
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(grads(function, np.array(point)), expected)


def test_a_branch_that_is_not_taken_does_not_poison():
    def rows(x):
        length = np.sqrt((x**2).sum(axis=1))
        return np.where(length > 0.5, length, 1.0).sum()

    found = grads(rows, np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]])


def test_a_zero_cotangent_keeps_the_second_derivative():
    check_grads(lambda x: (np.sqrt(x) - 1.0) ** 2 + np.log(x) ** 2 + (1 / x - 1.0) ** 2, (np.array([1.0, 2.0]),))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 0, 3), (2, 3)])
def test_dtype_and_shape_are_kept(dtype, shape):
    x = np.ones(shape, dtype)
    found = grads(lambda x: np.sum(np.real(x * x * 0.5)), x)
    assert type(found) is np.ndarray
    assert (found.dtype, found.shape) == (x.dtype, x.shape)
    np.testing.assert_array_equal(found, x)


@pytest.mark.parametrize("order", ["C", "F", "strided", "reversed", "broadcast"])
def test_layouts(order):
    base = np.arange(12.0).reshape(3, 4)
    layouts = {"C": base, "F": np.asfortranarray(base), "strided": np.arange(48.0).reshape(6, 8)[::2, ::2]}
    layouts |= {"reversed": base[::-1, ::-1], "broadcast": np.broadcast_to(np.arange(4.0), (3, 4))}
    x = layouts[order]

    def loss(x):
        u = x.T.reshape(-1) * 2
        u[::2] *= u[1::2]
        return np.sum(u * x.ravel())

    np.testing.assert_allclose(grads(loss, x), grads(loss, x.copy(order="C")))


def test_numbers_get_numbers():
    assert grads(lambda x: x * x, 3.0) == 6.0
    assert type(grads(lambda x: x * x, 3.0)) is float
    assert type(grads(lambda x: x * x, np.float32(3))) is np.float32
    assert type(grads(lambda z: abs(z), 3 + 4j)) is complex
    assert grads(lambda x: x * x, np.array(3.0)).shape == ()


def test_containers():
    nest = {"a": [X, 2.0, None, "text", 3], "b": Pair(X * 2, 1.5), "c": Settings(X, 2.0), "d": (np.array([1, 2]),)}

    def loss(p):
        return np.sum(p["a"][0] * p["a"][1] * p["b"].weight) * p["b"].bias + np.sum(p["c"].weight) * p["c"].bias

    found = grads(loss, nest)
    np.testing.assert_allclose(found["a"][0], X * 2 * 2.0 * 1.5)
    assert found["a"][1:] == [15.0, None, None, None]
    assert isinstance(found["b"], Pair)
    assert found["b"].bias == 20.0
    np.testing.assert_allclose(found["b"].weight, X * 2.0 * 1.5)
    assert (found["c"].bias, found["c"].count) == (3.0, None)
    assert found["d"] == (None,)


def test_several_arguments_and_aux():
    a, b = grads(lambda a, b: np.sum(a * a * b), X, X + 1, argnums=(0, 1))
    np.testing.assert_allclose(a, 2 * X * (X + 1))
    np.testing.assert_allclose(b, X * X)
    np.testing.assert_allclose(grads(lambda a, b: np.sum(a * b), X, X + 1, argnums=-1), X)
    gradient, aux = gjit.grad(lambda x: (np.sum(x * x), {"k": x + 1}), has_aux=True)(X)
    np.testing.assert_allclose(gradient, 2 * X)
    np.testing.assert_allclose(aux["k"], X + 1)
    (value, aux), gradient = gjit.value_and_grad(lambda x: (np.sum(x * x), 7), has_aux=True)(X)
    assert (value, aux) == (5.0, 7)
    np.testing.assert_allclose(gradient, 2 * X)


def test_an_argument_that_is_not_used_has_a_gradient_of_zero():
    np.testing.assert_array_equal(grads(lambda a, b: np.sum(a), X, X, argnums=1), [0.0, 0.0])


class Layer(gjit.Module):
    def __init__(self, width):
        self.weight = gjit.Parameter(np.linspace(-1, 1, width * width).reshape(width, width))
        self.bias = gjit.Parameter(np.zeros(width))
        self.register_buffer("scale", np.array(2.0))

    def forward(self, x):
        return np.tanh(x @ self.weight + self.bias) * self.scale


class Network(gjit.Module):
    def __init__(self):
        self.layers = gjit.ModuleList([Layer(2), Layer(2)])
        self.last = Layer(2)
        self.layers[1].bias = gjit.Parameter(self.last.bias)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.last.forward(x)


def network_loss(network, x):
    return np.sum(network(x) ** 2)


@pytest.mark.parametrize("make", [Network, lambda: gjit.script(Network())])
def test_modules(make):
    network = make()
    found = grads(network_loss, network, X)
    assert list(found) == [name for name, _ in network.named_parameters()]
    for name, array in network.named_parameters():
        for index in np.ndindex(array.shape):
            ends = []
            for step in (1e-6, -2e-6):
                array[index] += step
                ends.append(network_loss(network, X))
            array[index] += 1e-6
            np.testing.assert_allclose(found[name][index], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-8)


class Spring:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, x):
        return 0.5 * np.sum(self.stiffness * x * x)

    def __call__(self, x):
        return self.energy(x) * 2

    @property
    def doubled(self):
        return self.stiffness * 2


def made_inside(k, x):
    return Spring(k).energy(x) + Spring(k * 2)(x)


def test_classes_of_the_user():
    check_grads(made_inside, (X, X + 1), order=1)
    found = grads(lambda spring, x: spring.energy(x), Spring(X), X)
    np.testing.assert_allclose(found.stiffness, 0.5 * X * X)
    with pytest.raises(TypeError, match="property 'doubled'"):
        grads(lambda spring, x: np.sum(spring.doubled * x), Spring(X), X)


def closures(x):
    def scaled(y, by=2.0):
        if by > 1:
            return y * x * by
        return y + x

    def twice(f, y):
        return f(f(y))

    return np.sum(twice(scaled, x) + scaled(x, by=0.5) + twice(lambda v: v * v, x))


def exceptions(x):
    try:
        y = x * 2
        if x[0] > 0:
            raise ValueError
    except ValueError:
        y = y * x
    finally:
        z = y + 1.0
    with np.errstate(all="ignore"):
        z = z * x
    return np.sum(z)


@pytest.mark.parametrize("function", [closures, exceptions])
def test_inner_functions_and_exceptions(function):
    check_grads(function, (X,), order=1)


# Errors


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (lambda x: np.sum(x * 2), (np.array([1, 2]),), "ndarray of int64"),
        (lambda x: x * 2, (3,), "int"),
        (lambda x: x, ("text",), "str"),
        (lambda x: x * 2, (X,), r"one real number, not an array of shape \(2,\)"),
        (lambda x: np.sum(x * 1j), (X,), "one real number"),
        (lambda x: 3, (X,), "one real number, not int"),
    ],
)
def test_what_has_no_derivative_is_a_type_error(function, arguments, message):
    with pytest.raises(TypeError, match=message):
        grads(function, *arguments)


def item_of_an_argument(x):
    x[0] = 3.0
    return np.sum(x)


def argument_in_place(x):
    x += 1
    return np.sum(x)


def view_of_an_argument(x):
    y = x.T[1:]
    y *= 2
    return np.sum(x)


def part_of_a_container(x):
    x["a"] *= 2
    return np.sum(x["a"])


@pytest.mark.parametrize("function", [item_of_an_argument, argument_in_place, view_of_an_argument, part_of_a_container])
def test_writes_to_arguments_are_errors_at_the_line(function):
    argument = {"a": X.copy()} if function is part_of_a_container else X.copy()
    with pytest.raises(UnsupportedError, match="is written") as error:
        grads(function, argument)
    assert error.value.span.line == function.__code__.co_firstlineno + (2 if "view" in function.__name__ else 1)


def test_an_op_without_gradient_is_an_error_where_it_matters():
    with pytest.raises(UnsupportedError, match="bincount") as error:
        grads(lambda x: np.histogram(x, weights=x)[0].sum(), X)
    assert "np.histogram" in str(error.value)
    assert grads(lambda x: (np.unique(x), np.sum(x))[1], X).tolist() == [1.0, 1.0]


@gjit.ignore
def hidden(x):
    return x * 2


def test_a_host_call_is_an_error_where_a_gradient_would_pass():
    with pytest.raises(UnsupportedError, match="hidden"):
        grads(lambda x: np.sum(hidden(x)), X)
    assert grads(lambda x: np.sum(x) * float(len(hidden("a"))), X).tolist() == [2.0, 2.0]


def test_wrong_argnums():
    with pytest.raises(ValueError, match="takes 1 arguments"):
        gjit.grad(lambda x: x, 1)
    with pytest.raises(TypeError, match="argnums"):
        gjit.grad(lambda x: x, "x")


# Other derivatives


def test_vjp_and_jvp():
    def f(x, y):
        return np.sin(x) * y, {"s": np.sum(x * y)}

    value, pull = gjit.vjp(f, X, X + 1)
    a, b = pull((np.array([1.0, 0.0]), {"s": 2.0}))
    np.testing.assert_allclose(a, np.array([np.cos(1.0) * 2, 0.0]) + 2 * (X + 1))
    np.testing.assert_allclose(b, np.array([np.sin(1.0), 0.0]) + 2 * X)
    np.testing.assert_allclose(value[0], np.sin(X) * (X + 1))
    value, tangent = gjit.jvp(lambda x, y: np.sin(x) * y, (X, X + 1), (np.ones(2), np.zeros(2)))
    np.testing.assert_allclose(tangent, np.cos(X) * (X + 1))
    with pytest.raises(ValueError, match="cotangent"):
        gjit.vjp(lambda x: x)(X, np.ones(3))


def test_jacobian_and_hessian():
    matrix = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_allclose(gjit.jacobian(lambda x: matrix @ x)(X), matrix)
    np.testing.assert_allclose(gjit.jacobian(lambda x: x * 2)(3.0), 2.0)
    found = gjit.jacobian(lambda p: p["a"] * p["b"])({"a": X, "b": X + 1})
    np.testing.assert_allclose(found["a"], np.diag(X + 1))
    rosenbrock = lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2  # noqa: E731
    expected = [[1200 * X[0] ** 2 - 400 * X[1] + 2, -400 * X[0]], [-400 * X[0], 200.0]]
    np.testing.assert_allclose(gjit.hessian(rosenbrock)(X), expected)
    with pytest.raises(TypeError, match="real array"):
        gjit.jacobian(lambda x: x * 1j)(X)


checkpointed = gjit.checkpoint(lambda x: np.sin(np.cos(x) * x))
gradient_of_step = gjit.grad(lambda x: np.sum(checkpointed(x)))


def test_custom_gradients_and_checkpoints():
    @gjit.custom_gradient
    def half_slope(x, y):
        return x * y, lambda g: (g * y * 0.5, None)

    a, b = grads(lambda x, y: np.sum(half_slope(x, y)), X, X + 1, argnums=(0, 1))
    np.testing.assert_allclose(a, (X + 1) * 0.5)
    np.testing.assert_allclose(b, [0.0, 0.0])
    np.testing.assert_allclose(half_slope(X, X), X * X)
    step = gjit.checkpoint(lambda x, y: np.sin(np.cos(x) * y))
    plain = grads(lambda x: np.sum(np.sin(np.cos(x) * x) * x), X)
    np.testing.assert_allclose(grads(lambda x: np.sum(step(x, x) * x), X), plain, rtol=1e-14)
    with pytest.raises(UnsupportedError, match="second derivatives"):
        grads(lambda x: np.sum(gradient_of_step(x)), X)


def square_sum(x):
    return np.sum(x * x)


gradient = gjit.grad(square_sum)


def test_gradients_inside_compiled_functions():
    np.testing.assert_allclose(gjit.script(lambda x: gradient(x) + gjit.grad(square_sum)(x))(X), 4 * X)
    np.testing.assert_allclose(gjit.trace(lambda x: gradient(x) + 1, X)(X + 1), 2 * (X + 1) + 1)
    np.testing.assert_allclose(gjit.grad(gjit.trace(square_sum, X))(X), 2 * X)
    np.testing.assert_allclose(grads(lambda x: np.sum(gradient(x) ** 2), X), 8 * X)


@pytest.mark.parametrize(
    "function", [lambda v: np.sum(np.exp(v)), lambda v: 3.0 / np.sqrt(np.sum(v**2)), lambda v: np.sum(np.tanh(v) * v)]
)
def test_hessians_of_one_expression(function):
    slope = gjit.grad(function)
    ends = [(slope(X + step) - slope(X - step)) / 2e-5 for step in np.eye(2) * 1e-5]
    np.testing.assert_allclose(gjit.hessian(function)(X), ends, rtol=1e-6)
    check_grads(slope, (X,))


def test_methods_of_numpy_numbers():
    np.testing.assert_allclose(grads(lambda x: x.max(axis=-1).sum() + x.prod() + (x**2).mean(0), X), [3.0, 4.0])
