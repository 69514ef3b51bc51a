"""Where `auto` runs programs: by sizes and ops alone."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.runtime import compiled, device
from gjit.scheduler.placement import Work, work_of
from tests.runtime.devices import NAME, without_kernels


@pytest.fixture
def gpu(monkeypatch):
    """A machine with a GPU, which the emulated device stands for."""
    monkeypatch.setattr(compiled, "accelerator", lambda: NAME)
    with without_kernels():
        yield


def heavy(x):
    return np.sin(np.exp(x) + np.cos(x)) * np.tanh(np.log1p(x) * np.arctan(x)) + np.cbrt(x) - np.sinh(x)


def light(x):
    return x * 2.0 + 1.0


def test_without_a_gpu_auto_is_the_cpu():
    assert device.accelerator() is None or device.has_gpu()
    f = gjit.script(heavy)
    f(np.ones(1 << 16))
    if device.accelerator() is None:
        assert f.statistics.transfers == 0


def test_with_a_gpu_large_work_goes_there_and_small_work_does_not(gpu):
    f = gjit.script(heavy)
    least = work_of(f._compiled.program[1].functions.values()).least_elements(gjit.settings.threads())
    small, large = np.full(16, 0.5), np.full(4 * least, 0.5)
    for _ in range(2):
        assert np.array_equal(f(small), heavy(small))
    assert f.statistics.transfers == 0
    for _ in range(2):
        assert np.array_equal(f(large), heavy(large))
    assert f.statistics.transfers == 4
    f(small)
    assert f.statistics.transfers == 4


def test_cheap_programs_never_go_there(gpu):
    f = gjit.script(light)
    for _ in range(2):
        f(np.ones(1 << 18))
    assert f.statistics.transfers == 0


def test_what_is_chosen_goes_before_what_pays(gpu):
    f = gjit.script(light)
    with gjit.device(NAME):
        f(np.ones(16))
    assert f.statistics.transfers == 2
    g = gjit.script(heavy, device="cpu")
    g(np.full(1 << 20, 0.5))
    assert g.statistics.transfers == 0


def test_ops_are_counted_by_kind_and_loop():
    def program(x, n):
        for _ in range(n):
            x = np.exp(x) + 1.0
        return x @ x

    assert work_of([gjit.script(program).graph]) == Work(cheap=8, dear=8, products=1)


def test_detection_needs_no_cupy(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not device.may_have_gpu()


def test_a_chosen_gpu_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    device.device_named.cache_clear()
    with pytest.raises(gjit.DeviceError, match="no GPU"):
        gjit.script(light, device="cuda")(np.ones(3))
