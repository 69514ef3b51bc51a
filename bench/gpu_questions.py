"""What only a GPU can tell of CuPy, NVRTC and the driver: costs and facts that the runtime relies on."""

from __future__ import annotations

import concurrent.futures
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import gjit
from bench.gpu_goals import Bench

_EMPTY = 'extern "C" __global__ void nothing(float *x, long long n, float a) { if (n < 0) x[0] = a; }'
_TINY = 'extern "C" __global__ void tiny(float *x, const float *y) { x[0] = y[0] * 0.5f; }'


def answers(bench: Bench) -> Iterator[tuple[str, object]]:
    """Names and answers; what fails is answered with its error, since the next question may still have one."""
    questions = (_subnormals, _repeats, _freed, _threads)
    if bench.device.name.startswith("cuda"):
        questions += (_launch_costs, _graph_cost, _raw_subnormals, _compile_threads)
    for question in questions:
        try:
            yield from question(bench)
        except Exception as error:
            yield question.__name__.strip("_"), f"{type(error).__name__}: {error}"


def _subnormals(bench: Bench) -> Iterator[tuple[str, object]]:
    """Whether float32 keeps what is smaller than the smallest normal number."""
    x = np.full(1000, 1e-40, "f4")
    found = gjit.script(lambda x: x * 0.5 + x, device=bench.device.name)(x)
    yield "subnormal numbers are kept", bool((found == x * np.float32(0.5) + x).all())


def _repeats(bench: Bench) -> Iterator[tuple[str, object]]:
    """Whether sums have the same bits each time."""
    x = bench.array(min(bench.elements, 1 << 22), "f4")
    total = gjit.script(lambda x: (x * 1.5).sum())
    yield "sums repeat to the bit", len({gjit.to_numpy(total(x)).tobytes() for _ in range(10)}) == 1


def _freed(bench: Bench) -> Iterator[tuple[str, object]]:
    """Whether memory runs out as an error, and comes back."""
    function = gjit.script(lambda x: x * 2.0 + 1.0)
    x = bench.array(1000, "f4")
    function(x)
    pool = bench.xp.pool if hasattr(bench.xp, "pool") else bench.xp.get_default_memory_pool()
    before = pool.used_bytes()
    for _ in range(100):
        function(x)
    yield "a call leaves no memory behind", pool.used_bytes() == before


def _threads(bench: Bench) -> Iterator[tuple[str, object]]:
    """Whether threads get right results from one compiled function."""
    function = gjit.script(lambda x: (x * 2.0 + 1.0) * x, device=bench.device.name)

    def work(seed: int) -> bool:
        x = np.random.default_rng(seed).random(1000)
        return all(np.array_equal(function(x), (x * 2.0 + 1.0) * x) for _ in range(20))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        yield "four threads get right results", all(pool.map(work, range(8)))


def _launch_costs(bench: Bench) -> Iterator[tuple[str, object]]:
    """What a launch costs the host: through frozen pointers, and through a RawKernel."""
    cupy = bench.xp
    kernel = cupy.RawKernel(_EMPTY, "nothing")
    x = cupy.zeros(16, np.float32)
    raw = _host_cost(bench, lambda: kernel((1,), (32,), (x, np.int64(16), np.float32(1.0))))
    function, pointer = kernel.kernel, cupy.cuda.function.CPointer
    memory = np.array([x.data.ptr, 16, 0], np.int64)
    frozen = tuple(pointer(memory.ctypes.data + 8 * place) for place in range(3))
    yield "microseconds of a launch by RawKernel", raw
    yield "microseconds of a launch by frozen pointers", _host_cost(bench, lambda: function((1,), (32,), frozen))
    yield "microseconds of the current stream", _host_cost(bench, cupy.cuda.get_current_stream)


def _host_cost(bench: Bench, work: Callable[[], Any]) -> float:
    return bench.host_seconds(work, calls=500) * 1e6


def _graph_cost(bench: Bench) -> Iterator[tuple[str, object]]:
    """What a node of a replayed graph costs."""
    cupy = bench.xp
    kernel = cupy.RawKernel(_TINY, "tiny")
    x, y = cupy.zeros(16, np.float32), cupy.ones(16, np.float32)
    kernel((1,), (32,), (x, y))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        for _ in range(100):
            kernel((1,), (32,), (x, y))
        graph = stream.end_capture()
        graph.launch()
        stream.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            graph.launch()
        stream.synchronize()
    yield "microseconds of a node in a graph", (time.perf_counter() - start) / 2000 * 1e6


def _raw_subnormals(bench: Bench) -> Iterator[tuple[str, object]]:
    """Whether CuPy's own way of compiling loses subnormal numbers."""
    cupy = bench.xp
    kernel = cupy.RawKernel(_TINY, "tiny", ("--fmad=false", "--ftz=false"))
    x, y = cupy.zeros(1, np.float32), cupy.full(1, 1e-40, np.float32)
    kernel((1,), (1,), (x, y))
    yield "RawKernel keeps subnormal numbers", float(x[0]) != 0.0


def _compile_threads(bench: Bench) -> Iterator[tuple[str, object]]:
    """How much faster four threads compile eight units than one does."""
    compiler = bench.device.compiler
    units = [_TINY.replace("tiny", f"tiny{place}") for place in range(16)]

    def seconds(texts: list[str], threads: int) -> float:
        with tempfile.TemporaryDirectory() as folder, gjit.config(cache_dir=str(Path(folder))):
            start = time.perf_counter()
            with concurrent.futures.ThreadPoolExecutor(threads) as pool:
                list(pool.map(compiler._compile, texts))
            return time.perf_counter() - start

    one, four = seconds(units[:8], 1), seconds(units[8:], 4)
    yield "times as fast NVRTC compiles on four threads", one / four
