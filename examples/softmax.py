"""Softmax and layer normalisation: reductions along the last axis between elementwise parts.

Run: python examples/softmax.py
"""

import numpy as np

import gjit

WIDTH = 64


def softmax(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def layer_norm(x, gain, offset, epsilon=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + offset


# Both in a row. Python's numbers are weak, so float32 stays float32.
def normalised_attention_weights(scores, gain, offset):
    return softmax(layer_norm(scores, gain, offset) / np.float32(WIDTH) ** 0.5)


def scores(size):
    random = np.random.default_rng(3)
    return (random.standard_normal((max(1, size // WIDTH), WIDTH)),)


def scores_and_parameters(size):
    random = np.random.default_rng(4)
    return (*scores(size), random.standard_normal(WIDTH), random.standard_normal(WIDTH))


def single_precision(size):
    return tuple(array.astype(np.float32) for array in scores_and_parameters(size))


# `script` is a function too: the plain ones keep their names here, and call each other as before.
compiled_softmax = gjit.script(softmax)
compiled_layer_norm = gjit.script(layer_norm)
compiled_weights = gjit.script(normalised_attention_weights)

PROGRAMS = [
    (compiled_softmax, softmax, scores),
    (compiled_layer_norm, layer_norm, scores_and_parameters),
    (compiled_weights, normalised_attention_weights, single_precision),
]


def main():
    weights = compiled_weights(*single_precision(4 * WIDTH))
    print(f"{weights.dtype} {weights.shape}, the rows sum to {weights.sum(axis=1)}")
    print(compiled_softmax.graph_for(*scores(4 * WIDTH)))


if __name__ == "__main__":
    main()
