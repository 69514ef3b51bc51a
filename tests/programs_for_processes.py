"""What the tests of processes run: a program whose compiled functions and modules travel."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import sys

import numpy as np

import gjit

SCALE = np.arange(3.0)


class Settings:
    def __init__(self, shift):
        self.shift = shift


SETTINGS = Settings(2.0)


def helper(y):
    return y * 2 + SETTINGS.shift


@gjit.script
def scripted(x):
    return np.tanh(x * SCALE) + 3


@gjit.script
def calls_others(x):
    return helper(x) + scripted(x)


def make(k):
    return gjit.script(lambda x: helper(x) * k)


class Layer(gjit.Module):
    def __init__(self):
        self.weight = gjit.Parameter(np.ones(3))

    def forward(self, x):
        return x * self.weight


class Branching(gjit.ScriptModule):
    def __init__(self):
        self.weight = gjit.Parameter(np.full(3, 2.0))

    @gjit.script_method
    def forward(self, x):
        return x * self.weight if x.sum() > 0 else x


THINGS = {
    "scripted": scripted,
    "calls_others": calls_others,
    "closure": make(3.0),
    "traced": gjit.trace(lambda x: helper(x) + SCALE, np.ones(3)),
    "module": Layer(),
    "compiled_module": gjit.script(Layer()),
    "method_of_compiled_module": gjit.script(Layer()).forward,
    "traced_module": gjit.trace(Layer(), np.ones(3)),
    "script_module": Branching(),
    "script_method": Branching().forward,
}

COPIES = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def run_in_pool(method, names):
    """The results of each in a process of its own program."""
    x = np.array([1.0, 2.0, 3.0])
    with multiprocessing.get_context(method).Pool(1) as pool:
        for name in names:
            expected = THINGS[name](x)
            got = pool.apply_async(THINGS[name], (x,)).get(60)
            print(name, expected.tobytes() == got.tobytes())


if __name__ == "__main__":
    run_in_pool(sys.argv[1], sys.argv[2:])
