"""Modules whose arrays lie on a device."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.runtime.emulated.array import EmulatedArray
from tests.runtime.devices import NAME, there, to_numpy, without_kernels


class Layer(gjit.Module):
    def __init__(self, size):
        self.weight = gjit.Parameter(np.arange(float(size * size)).reshape(size, size))
        self.shift = gjit.Parameter(np.ones(size))
        self.register_buffer("scale", np.full(size, 2.0))

    def forward(self, x):
        return np.tanh(x @ self.weight + self.shift) * self.scale


class Model(gjit.Module):
    def __init__(self, size):
        self.first, self.second = Layer(size), Layer(size)
        self.second.weight = gjit.Parameter(self.first.weight)

    def forward(self, x):
        return self.second(self.first(x)).sum()


def test_a_module_goes_to_a_device_and_back():
    model = Model(3)
    x = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    wanted = model(x)
    with without_kernels():
        assert model.to(NAME) is model
        assert all(type(array) is EmulatedArray for array in (*model.parameters(), *model.buffers()))
        assert model.first.weight is model.second.weight
        assert np.allclose(to_numpy(gjit.script(model)(there(x))), wanted)
        with pytest.raises(ValueError, match="to\\('cpu'\\)"):
            model.load_state_dict(model.state_dict())
    model.to("cpu")
    assert all(type(array) is np.ndarray for array in model.parameters())
    assert model(x) == wanted
    assert "float64[3, 3]" in repr(model)


def test_a_device_that_is_not_there():
    with pytest.raises(gjit.DeviceError):
        Model(2).to("emulated:99")
