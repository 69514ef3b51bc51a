"""Networks, forwards: layers as helper functions that call each other."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    """Over the last axis."""
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def mlp(x, w1, b1, w2, b2, w3, b3):
    hidden = relu(x @ w1 + b1)
    hidden = relu(hidden @ w2 + b2)
    return softmax(hidden @ w3 + b3)


def attention(queries, keys, values):
    scores = queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])
    return softmax(scores) @ values


def convolve(images, weights):
    """Batched two-dimensional convolution without padding."""
    kernel = weights.shape[0]
    batch = images.shape[0]
    rows, columns = images.shape[1] - kernel + 1, images.shape[2] - kernel + 1
    channels = weights.shape[3]
    output = np.empty((batch, rows, columns, channels), dtype=np.float32)
    for i in range(rows):
        for j in range(columns):
            output[:, i, j, :] = np.sum(
                images[:, i : i + kernel, j : j + kernel, :, np.newaxis] * weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return output


def convolve_with_bias(images, weights, bias):
    return convolve(images, weights) + bias


def max_pool(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]], dtype=x.dtype)
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return output


def lenet(images, conv1, bias1, conv2, bias2, dense1, dense_bias1, dense2, dense_bias2):
    x = relu(convolve(images, conv1) + bias1)
    x = max_pool(x)
    x = relu(convolve(x, conv2) + bias2)
    x = max_pool(x)
    x = np.reshape(x, (x.shape[0], x.shape[1] * x.shape[2] * x.shape[3]))
    x = relu(x @ dense1 + dense_bias1)
    return x @ dense2 + dense_bias2


def normalise(x, eps=1e-5):
    """Every channel over the batch."""
    mean = np.mean(x, axis=0, keepdims=True)
    deviation = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(deviation + eps)


def residual_block(images, conv1, conv2, conv3):
    """Narrow, convolve with padding, widen, and add what came in."""
    x = relu(normalise(convolve(images, conv1)))
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, x.shape[3]), dtype=np.float32)
    padded[:, 1:-1, 1:-1, :] = x
    x = relu(normalise(convolve(padded, conv2)))
    x = normalise(convolve(x, conv3))
    return relu(x + images)


def float32s(rng, *shapes):
    return tuple((rng.random(shape, dtype=np.float32) - np.float32(0.3)) for shape in shapes)


def mlp_arguments(size, rng):
    return float32s(rng, (size, 30), (30, 64), (64,), (64, 48), (48,), (48, 10), (10,))


def lenet_arguments(size, rng):
    extent = 12 + 4 * size
    flat = ((extent - 4) // 2 - 4) // 2
    convolutions = (5, 5, 1, 6), (6,), (5, 5, 6, 16), (16,)
    return float32s(rng, (2, extent, extent, 1), *convolutions, (flat**2 * 16, 40), (40,), (40, 10), (10,))


def residual_arguments(size, rng):
    return float32s(rng, (4, size, size, 8), (1, 1, 8, 4), (3, 3, 4, 4), (1, 1, 4, 8))


PROGRAMS = [
    Program(softmax, lambda size, rng: float32s(rng, (size, 3, size, size)), (1, 4, 40)),
    Program(mlp, mlp_arguments, (1, 20, 3000)),
    Program(attention, lambda size, rng: float32s(rng, *((2, size, 16),) * 3), (1, 9, 260)),
    Program(
        convolve_with_bias,
        lambda size, rng: float32s(rng, (4, size, size, 3), (3, 3, 3, 8), (8,)),
        (3, 8, 20),
    ),
    Program(lenet, lenet_arguments, (1, 2)),
    Program(residual_block, residual_arguments, (1, 5, 14)),
]
