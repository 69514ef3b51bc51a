"""What the CUDA runtime does around CuPy and NVRTC, on stand-ins of the few parts that it calls."""

from __future__ import annotations

import ctypes
import struct
from types import SimpleNamespace

import numpy as np
import pytest

import gjit
from gjit.cuda_kernels.program import Field, Meaning
from gjit.runtime import cuda, gpu_facts, nvrtc
from gjit.runtime.device_arguments import Arguments


class RuntimeFault(RuntimeError):
    def __init__(self, status):
        self.status = status
        super().__init__(f"error {status}")


class DriverFault(RuntimeFault):
    pass


class NoMemory(MemoryError):
    pass


def device_with(functions) -> cuda.CudaDevice:
    device = cuda.CudaDevice.__new__(cuda.CudaDevice)
    device.index, device.name, device.functions = 0, "cuda:0", functions
    return device


@pytest.fixture
def cupy():
    runtime = SimpleNamespace(CUDARuntimeError=RuntimeFault)
    driver = SimpleNamespace(CUDADriverError=DriverFault)
    memory = SimpleNamespace(OutOfMemoryError=NoMemory)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, driver=driver, memory=memory))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (NoMemory("full"), MemoryError),
        (RuntimeFault(700), gjit.DeviceLostError),
        (DriverFault(719), gjit.DeviceLostError),
        (RuntimeFault(2), gjit.DeviceError),
        (ValueError("mine"), type(None)),
    ],
)
def test_errors_of_cupy_become_those_of_gjit(cupy, error, kind):
    assert type(device_with(cupy).failure(error)) is kind


def test_a_device_that_does_not_work_is_an_error(monkeypatch):
    broken = SimpleNamespace(cuda=SimpleNamespace(is_available=lambda: False))
    monkeypatch.setattr(cuda, "_cupy", lambda: broken)
    with pytest.raises(gjit.DeviceError, match="no device that works"):
        cuda.open_device(None)


class Nvrtc:
    """Compiles anything but what says `refuse`; counts its work."""

    class NVRTCError(Exception):
        pass

    def __init__(self):
        self.compiled = 0

    def getVersion(self):
        return 13, 0

    def getSupportedArchs(self):
        return [90, 75, 100]

    def createProgram(self, source, name, headers, names):
        return {"source": source}

    def compileProgram(self, program, options):
        self.compiled += 1
        program["options"] = options
        if "refuse" in program["source"]:
            raise self.NVRTCError("NVRTC_ERROR_COMPILATION")

    def getCUBIN(self, program):
        return b"\x7fELF" + program["source"].encode()

    def getPTX(self, program):
        return b"ptx"

    def getProgramLog(self, program):
        return "line 1: refused"

    def destroyProgram(self, program):
        program.clear()


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    library = Nvrtc()
    monkeypatch.setattr(nvrtc, "_nvrtc", lambda: library)
    nvrtc.architectures.cache_clear()
    with gjit.config(cache_dir=str(tmp_path)):
        yield library
    nvrtc.architectures.cache_clear()


def test_units_are_compiled_once_and_kept_whole(compiler):
    made = nvrtc.DeviceCompiler("90")
    assert made.compiled("text") == (b"\x7fELFtext\0", True)
    assert made.compiled("text") == (b"\x7fELFtext\0", False)
    assert compiler.compiled == 1
    assert made.compiled("other")[1]
    assert nvrtc.DeviceCompiler("75").compiled("text")[1]


def test_options_keep_the_values_of_ieee_arithmetic(compiler):
    options = nvrtc.DeviceCompiler("90").options
    assert {"--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "-arch=sm_90"} <= set(options)


def test_a_device_that_nvrtc_does_not_know_gets_code_for_an_older_one(compiler):
    assert nvrtc.DeviceCompiler("121").target == "compute_100"
    assert nvrtc.DeviceCompiler("121").compiled("text")[0] == b"ptx"
    with pytest.raises(gjit.CompileError, match="compute capability 60"):
        nvrtc.DeviceCompiler("60").compiled("text")


def test_refused_text_is_told_with_the_log(compiler):
    with pytest.raises(gjit.CompileError, match="line 1: refused"):
        nvrtc.DeviceCompiler("90").compiled("refuse")


def test_arguments_lie_where_their_addresses_say():
    f4, c16, u1 = np.dtype("f4"), np.dtype("c16"), np.dtype("u1")
    fields = [
        Field("const float32 *x_data", Meaning.ARRAY, "x", dtype=f4),
        Field("int32 extent_0", Meaning.EXTENT),
        Field("float32 a", Meaning.NUMBER, "a", dtype=f4),
        Field("complex128 b", Meaning.NUMBER, "b", dtype=c16),
        Field("uint8 c", Meaning.NUMBER, "c", dtype=u1),
        Field("int64 turns", Meaning.COUNT),
    ]
    arguments = Arguments(fields, is_wide=False)
    addresses = arguments.fill((1 << 40, 7, 1.5, 2.0, -3.0, 255, 1 << 33))
    kinds = (ctypes.c_uint64, ctypes.c_int32, ctypes.c_float, ctypes.c_double * 2, ctypes.c_uint8, ctypes.c_int64)
    values = [kind.from_address(address) for kind, address in zip(kinds, addresses, strict=True)]
    assert [values[place].value for place in (0, 1, 2, 4, 5)] == [1 << 40, 7, 1.5, 255, 1 << 33]
    assert list(values[3]) == [2.0, -3.0]
    with pytest.raises(struct.error):
        arguments.fill((0, 1 << 31, 1.5, 2.0, -3.0, 255, 1))


def test_the_freest_device_is_the_first_where_nobody_tells(monkeypatch):
    def missing(*arguments, **keywords):
        raise ImportError("no pynvml")

    monkeypatch.setattr(gpu_facts, "require", missing)
    assert gpu_facts.freest(["0000:01:00.0", "0000:02:00.0"]) == 0


def test_the_freest_device_has_no_other_process_and_the_most_memory(monkeypatch):
    free, busy = {"a": 10, "b": 50, "c": 90}, {"c": [SimpleNamespace(pid=-1)]}
    library = SimpleNamespace(
        nvmlInit=lambda: None,
        nvmlShutdown=lambda: None,
        nvmlDeviceGetHandleByPciBusId=lambda bus: bus,
        nvmlDeviceGetComputeRunningProcesses=lambda bus: busy.get(bus, []),
        nvmlDeviceGetMemoryInfo=lambda bus: SimpleNamespace(free=free[bus]),
    )
    monkeypatch.setattr(gpu_facts, "require", lambda *arguments, **keywords: library)
    assert gpu_facts.freest(["a", "b", "c"]) == 1
