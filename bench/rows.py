"""Broadcasting, reductions along rows and of all elements, softmax and layer norm."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bench.cases import Case, run_cases
from bench.harness import Measurement, Options
from bench.peers import numba_program, numexpr_program
from examples.softmax import layer_norm, softmax
from gjit.errors import require

WIDTH = 512


def matrix(size):
    random = np.random.default_rng(3)
    return random.standard_normal((max(1, size // WIDTH), WIDTH))


def scaled(x, weight, offset):
    return x * weight[:, np.newaxis] + offset


def scaled_arguments(size):
    x = matrix(size)
    return x, np.linspace(0.5, 1.5, len(x)), np.linspace(-1.0, 1.0, WIDTH)


def scaled_loops(x, weight, offset):
    result = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            result[i, j] = x[i, j] * weight[i] + offset[j]
    return result


def row_norms(x):
    return np.sqrt((x * x).sum(axis=-1))


def row_norms_loops(x):
    result = np.empty(x.shape[0], x.dtype)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
        result[i] = np.sqrt(total)
    return result


def deviation(x):
    return np.sqrt(((x - x.mean()) ** 2).mean())


def deviation_loops(x):
    flat = x.ravel()
    mean = 0.0
    for i in range(flat.size):
        mean += flat[i]
    mean /= flat.size
    total = 0.0
    for i in range(flat.size):
        total += (flat[i] - mean) ** 2
    return np.sqrt(total / flat.size)


def softmax_loops(x):
    result = np.empty_like(x)
    for i in range(x.shape[0]):
        top, total = x[i].max(), 0.0
        for j in range(x.shape[1]):
            result[i, j] = np.exp(x[i, j] - top)
            total += result[i, j]
        for j in range(x.shape[1]):
            result[i, j] /= total
    return result


def layer_norm_loops(x, gain, offset):
    result = np.empty_like(x)
    width = x.shape[1]
    for i in range(x.shape[0]):
        mean = x[i].sum() / width
        total = 0.0
        for j in range(width):
            total += (x[i, j] - mean) ** 2
        scale = 1.0 / np.sqrt(total / width + 1e-5)
        for j in range(width):
            result[i, j] = (x[i, j] - mean) * scale * gain[j] + offset[j]
    return result


def _torch(function: Callable, compiles: bool) -> Callable[[], Callable]:
    return lambda: require("torch", extra="bench").compile(function) if compiles else function


def _torch_softmax(x):
    return require("torch", extra="bench").softmax(x, -1)


def _torch_layer_norm(x, gain, offset):
    return require("torch", extra="bench").nn.functional.layer_norm(x, (WIDTH,), gain, offset)


def _torch_deviation(x):
    return x.std(correction=0)


def torch_programs(function: Callable) -> dict[str, Callable]:
    """A program of PyTorch's own functions, compiled and as it is."""
    return {"torch.compile": _torch(function, True), "torchscript": _torch(function, False)}


def parameters(size):
    return matrix(size), np.linspace(0.5, 1.5, WIDTH), np.linspace(-1.0, 1.0, WIDTH)


def cases() -> list[Case]:
    """Programs of rows, in float64; softmax in float32 too."""
    loops = {
        "scaled": {"numba": numba_program(scaled_loops)},
        "norms": {"numba": numba_program(row_norms_loops)},
        "deviation": {"numba": numba_program(deviation_loops), **torch_programs(_torch_deviation)},
        "softmax": {"numba": numba_program(softmax_loops), **torch_programs(_torch_softmax)},
        "layer_norm": {"numba": numba_program(layer_norm_loops), **torch_programs(_torch_layer_norm)},
    }
    loops["scaled"]["numexpr"] = numexpr_program("x * weight + offset", "x", "weight", "offset")
    loops["norms"]["numexpr"] = _numexpr_norms
    single = tuple
    return [
        Case("broadcasting", scaled, scaled_arguments, programs=loops["scaled"], without=frozenset({"numexpr"})),
        Case("row norms", row_norms, lambda size: (matrix(size),), programs=loops["norms"]),
        Case("deviation", deviation, lambda size: (matrix(size),), programs=loops["deviation"]),
        Case("softmax", softmax, lambda size: (matrix(size),), programs=loops["softmax"]),
        Case("softmax float32", softmax, lambda size: single([matrix(size).astype("f4")]), programs=loops["softmax"]),
        Case("layer norm", layer_norm, parameters, programs=loops["layer_norm"]),
    ]


def _numexpr_norms() -> Callable:
    numexpr = require("numexpr", extra="bench")
    return lambda x: np.sqrt(numexpr.evaluate("sum(x * x, axis=1)", {"x": x}, {}))


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each program."""
    return run_cases("rows", cases(), options)
