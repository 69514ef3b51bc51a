"""What the archives of the corpus hold. `python -m tests.interchange.corpus.programs FOLDER` writes them anew.

Files that are in the corpus are never written again: later versions add files under new names.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import pathlib
import sys
from typing import NamedTuple

import numpy as np

import gjit
from gjit.demo import Net

SCALE = np.array([1.0, 2.0, 3.0])
TABLE = {"rows": [SCALE, SCALE[1:]], "name": "table"}


class Mode(enum.Enum):
    SLOW = 1
    FAST = 2


class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()


class Point(NamedTuple):
    x: float
    y: float = 2.0

    def norm(self):
        return np.hypot(self.x, self.y)


@dataclasses.dataclass(frozen=True)
class Plan:
    factor: float
    steps: tuple = (1, 2)

    @property
    def total(self):
        return self.factor * sum(self.steps)


class Account:
    rate = 0.5

    def __init__(self, value):
        self.value = value

    def grown(self, years):
        return self.value * (1 + self.rate) ** years


@gjit.script
def arrays(x):
    return np.tanh(x * SCALE) + TABLE["rows"][1].sum(), TABLE["name"]


@gjit.script
def control(x, n):
    total, found = 0.0, []
    for i in range(n):
        if i == 5:
            break
        if i % 2:
            continue
        total += x[i % len(x)]
        found.append(i)
    else:
        total = -total
    while total > 10:
        total /= 2
    try:
        total += x[n]
    except IndexError:
        found.append(-1)
    return total, found, [k * k for k in found if k > 0], {k: k + 1 for k in found}


@gjit.script
def classes(x):
    account, point, plan = Account(x.sum()), Point(3.0, y=4.0), Plan(2.0)
    mode = Mode.FAST if x.size > 2 else Mode.SLOW
    return account.grown(2), point.norm(), plan.total, mode.name, (Access.READ | Access.WRITE).value


class Layer(gjit.Module):
    def __init__(self):
        self.weight = gjit.Parameter(np.arange(6.0).reshape(2, 3))
        self.register_buffer("shift", np.array([1.0, -1.0]))

    def forward(self, x):
        return np.maximum(self.weight @ x + self.shift, 0)


class Model(gjit.Module):
    def __init__(self):
        self.layers = gjit.ModuleList([Layer(), Layer()])

    def forward(self, x):
        return [layer(x) for layer in self.layers]

    @gjit.export
    def largest(self, x):
        return max(float(each.max()) for each in self.forward(x))


X = np.array([0.5, -1.0, 2.0])
CORPUS = {
    "function_with_arrays": (arrays, [("", [X]), ("", [X.astype("f4")])]),
    "control_flow": (control, [("", [X, 3]), ("", [X, 9]), ("", [X * 100, 2])]),
    "classes_enums_dataclasses": (classes, [("", [X]), ("", [X[:2]])]),
    "module": (gjit.script(Model()), [("", [X]), (".largest", [X])]),
    "traced_hybrid_net": (gjit.trace(Net(), np.array(5)), [("", [np.array(x)]) for x in range(1, 8)]),
    "several_entry_points": ({"arrays": arrays, "control": control}, [("[arrays]", [X]), ("[control]", [X, 4])]),
}
"""By name of the file: what it holds, and calls of its entry points."""


def entry(loaded, name):
    """An entry point: the object itself, a method, or one of several."""
    if name.startswith("."):
        return getattr(loaded, name[1:])
    return loaded[name[1:-1]] if name else loaded


def as_json(value):
    """Arrays, scalars, tuples and containers as JSON, without loss."""
    match value:
        case np.ndarray():
            return {"array": value.dtype.str, "shape": value.shape, "values": value.tolist()}
        case np.generic():
            return {"scalar": value.dtype.str, "values": value.item()}
        case tuple() | list():
            return {type(value).__name__: [as_json(each) for each in value]}
        case dict():
            return {"dict": [[as_json(key), as_json(each)] for key, each in value.items()]}
    return value


def from_json(value):
    """What `as_json` was given."""
    if not isinstance(value, dict):
        return value
    if "values" in value:
        array = np.array(value["values"], value.get("array") or value["scalar"])
        return array.reshape(value["shape"]).copy() if "array" in value else array[()]
    if "dict" in value:
        return {from_json(key): from_json(each) for key, each in value["dict"]}
    ((kind, parts),) = value.items()
    return {"tuple": tuple, "list": list}[kind](map(from_json, parts))


def write(folder: pathlib.Path) -> None:
    for name, (held, calls) in CORPUS.items():
        results = [[entry, as_json(arguments), as_json(_call(held, entry, arguments))] for entry, arguments in calls]
        gjit.save(held, folder / f"{name}.gjit", extra_files={"calls.json": json.dumps(results)})


def _call(held, name, arguments):
    return entry(held, name)(*arguments)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
