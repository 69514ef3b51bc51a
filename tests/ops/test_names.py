"""Names of functions and classes."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import subprocess
import sys

import numpy as np
import pytest

from gjit.ops.names import name_of, object_named

MODULES = [builtins, math, operator, itertools, np, np.linalg, np.fft, np.random]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_public_function_is_found_again(module):
    values = [value for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    for value in values:
        assert object_named(name_of(value)) is value


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.linalg.norm, "numpy.linalg.norm"),
        (len, "builtin.len"),
        (math.sqrt, "math.sqrt"),
        (np.float32, "numpy.float32"),
        (np.bool_, "numpy.bool"),
        (np.concat, "numpy.concatenate"),
        (operator.mul, "operator.mul"),
        (functools.reduce, "functools.reduce"),
        (np.ndarray.reshape, "ndarray.reshape"),
        (ValueError, "builtin.ValueError"),
    ],
)
def test_names(value, name):
    assert name_of(value) == name
    assert object_named(name) is value


@pytest.mark.parametrize(
    "name", ["", "os.system", "numpy.pi", "numpy.__loader__", "numpy.no_such", "len", "builtin.__import__"]
)
def test_other_names_are_refused(name):
    with pytest.raises(LookupError):
        object_named(name)


def test_users_objects_have_no_name():
    assert name_of(test_names) is None
    assert name_of(np.pi) is None
    assert name_of(np) is None


def test_scipy_is_never_imported():
    program = (
        "import sys, gjit.ops as o; o.names.name_of(len); 'scipy.special.erf' in o.table; print('scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
