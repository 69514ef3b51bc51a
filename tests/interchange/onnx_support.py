"""How the tests of models write and run them."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest

import gjit

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

ULP = 8
"""How far functions of a runtime may be from NumPy's, in units of the last place of the result."""


def model_of(thing: Any, example: Any) -> bytes:
    file = io.BytesIO()
    gjit.export_onnx(thing, file, example)
    return file.getvalue()


def session_of(data: bytes) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers in a structure, in order."""
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    return [] if value is None else [value]


def run(session: Any, arguments: Any) -> list[np.ndarray]:
    given = [np.asarray(leaf) for leaf in leaves(arguments) if not isinstance(leaf, str)]
    names = [each.name for each in session.get_inputs()]
    return session.run(None, dict(zip(names, given, strict=True)))


def assert_same(got: list[np.ndarray], expected: Any, *, ulp: int = ULP) -> None:
    """Equal dtypes and shapes; equal values, but for the last places of floats."""
    wanted = [np.asarray(leaf) for leaf in leaves(expected)]
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if one.dtype.kind == "f":
            step = np.finfo(one.dtype).eps * ulp
            np.testing.assert_allclose(one, other, rtol=step, atol=np.finfo(one.dtype).tiny)
        else:
            np.testing.assert_array_equal(one, other)


def check(thing: Any, plain: Any, example: Any, *calls: Any, ulp: int = ULP) -> None:
    """A model written for an example gives what the program gives, for the example and for other arguments."""
    session = session_of(model_of(thing, example))
    for arguments in (example, *calls):
        arguments = arguments if isinstance(arguments, tuple) else (arguments,)
        expected = plain(*copy.deepcopy(arguments))
        assert_same(run(session, arguments), expected, ulp=ulp)
