"""The emulated device reports what a device would do wrong silently."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from gjit.cuda_kernels.emulation import waiting_kernels
from gjit.errors import CompileError, DeviceError
from gjit.runtime.compiler import find_compiler
from gjit.runtime.emulated_device import emulated_unit

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")

UNIT = """
extern __shared__ __align__(16) char shared_memory[];
static __device__ __forceinline__ int everybody(int value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}
extern "C" __global__ void __launch_bounds__(256) places(int *out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 100 * (int)blockIdx.x + (int)threadIdx.x;
}
extern "C" __global__ void __launch_bounds__(256) reversed(int *out) {
    int *slots = (int *)shared_memory;
    slots[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = slots[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(256) unguarded(int *out) {
    int *slots = (int *)shared_memory;
    slots[threadIdx.x] = (int)threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = slots[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(256) divergent(int *out) {
    if (threadIdx.x < 40) __syncthreads();
    out[threadIdx.x] = 1;
}
extern "C" __global__ void __launch_bounds__(256) warps(int *out) {
    out[threadIdx.x] = everybody((int)threadIdx.x);
}
extern "C" __global__ void __launch_bounds__(256) next_lane(int *out) {
    out[threadIdx.x] = __shfl_down_sync(0xffffffffu, (int)threadIdx.x, 1);
}
extern "C" __global__ void __launch_bounds__(256) behind(int *out) {
    shared_memory[8] = 1;
}
extern "C" __global__ void __launch_bounds__(256) counted(int *out) {
    atomicAdd(out, 1);
}
"""


@pytest.fixture(scope="module")
def unit():
    return emulated_unit(UNIT)


def launch(unit, name, threads, shared=0, order=0, blocks=1, count=None):
    out = np.full(2000, -7, np.int32)
    values = [ctypes.c_void_p(out.ctypes.data)] + ([] if count is None else [ctypes.c_int(count)])
    unit.launch(name, (blocks,), (threads,), shared, [ctypes.addressof(value) for value in values], order)
    return out


@pytest.mark.parametrize("order", [0, 1, 2, 99])
def test_every_thread_of_every_block_runs_once(unit, order):
    out = launch(unit, "places", 33, order=order, blocks=5, count=150)
    wanted = [100 * block + thread for block in range(5) for thread in range(33)][:150]
    assert out[:150].tolist() == wanted
    assert (out[150:] == -7).all()


@pytest.mark.parametrize("order", [0, 1, 2, 99])
def test_barriers_hold_back_all_threads(unit, order):
    assert launch(unit, "reversed", 256, 1024, order)[:256].tolist() == list(range(255, -1, -1))


def test_a_missing_barrier_shows(unit):
    assert len({launch(unit, "unguarded", 256, 1024, order).tobytes() for order in (0, 1, 2, 99)}) > 1


def test_shared_memory_begins_with_ones(unit):
    assert -1 in launch(unit, "unguarded", 64, 1024)[:64]


def test_divergent_barriers_are_reported_and_the_device_goes_on(unit):
    with pytest.raises(DeviceError, match="divergent barrier in block .* 40 threads wait for the block"):
        launch(unit, "divergent", 64)
    assert launch(unit, "reversed", 64, 256)[0] == 63


@pytest.mark.parametrize("order", [0, 3])
def test_shuffles(unit, order):
    out = launch(unit, "warps", 64, order=order)
    assert out[:64].tolist() == [sum(range(32))] * 32 + [sum(range(32, 64))] * 32
    assert launch(unit, "next_lane", 32)[:32].tolist() == [*range(1, 32), 31]


def test_writes_behind_shared_memory_are_reported(unit):
    launch(unit, "behind", 1, 9)
    with pytest.raises(DeviceError, match="behind shared memory"):
        launch(unit, "behind", 1, 8)


@pytest.mark.parametrize(("threads", "blocks", "shared"), [(1025, 1, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1 << 20)])
def test_shapes_beyond_a_device_are_refused(unit, threads, blocks, shared):
    with pytest.raises(DeviceError, match="beyond"):
        launch(unit, "counted", threads, shared, blocks=blocks)


def test_only_kernels_that_wait_take_fibers():
    assert waiting_kernels(UNIT) == {"reversed", "unguarded", "divergent", "warps", "next_lane"}


def test_a_text_that_does_not_compile_is_an_error():
    with pytest.raises(CompileError, match="unit.cu:1"):
        emulated_unit('extern "C" __global__ void __launch_bounds__(1) broken() { nothing; }')
