"""The engine `auto`: regions move to native code when they are hot and exact, and nobody can tell."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import gjit
from gjit import settings
from gjit.runtime import auto, background, compiler, exact_launch, native, native_kernel
from gjit.runtime.tiles import TiledRegion
from tests.runtime.auto_programs import AutoProgram, check_auto, tame_values
from tests.runtime.region_programs import chain, in_place, risky, special_values

pytestmark = [
    pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler"),
    pytest.mark.usefixtures("small_tiles", "kernels"),
]

SIZE = 20_000


def guarded(nodes, x, y):
    """The division by zero happens where its result is not taken; NumPy warns all the same."""
    return [nodes("numpy.where", nodes("operator.ne", y, 0.0), nodes("operator.truediv", x, y), 0.0)]


def ran_natively(program) -> bool:
    return all(region.native == 2 for region in program.regions)


# Swapping


def test_a_region_moves_when_it_is_hot():
    x, y = tame_values("f8", SIZE), tame_values("f8", SIZE, seed=1)
    program = AutoProgram(chain, x, y)
    work = SIZE * 4  # operations
    with settings.config(compile="wait", hot=3 * work):
        counts = []
        for _ in range(5):
            program.tiled(x, y)
            counts.append((program.region.swaps, program.region.native))
    assert counts == [(0, 0), (0, 0), (1, 0), (1, 1), (1, 2)]
    assert program.region.tiled == 5


def test_nothing_moves_when_compile_is_never():
    x, y = tame_values("f8", SIZE), tame_values("f8", SIZE, seed=1)
    program = AutoProgram(chain, x, y)
    with settings.config(compile="never", hot=0):
        for _ in range(3):
            program.tiled(x, y)
    assert (program.region.swaps, program.region.native, program.region.tiled) == (0, 0, 3)


def test_each_kind_of_inputs_gets_its_kernel_and_others_stay_on_numpy():
    x = {kind: tame_values(kind, SIZE) for kind in ("f8", "f4", "f2")}
    program = AutoProgram(chain, x["f8"], x["f8"])
    with settings.config(compile="wait", hot=0):
        for kind in ("f8", "f4", "f2", "f8", "f4", "f2"):
            found = program.tiled(x[kind], x[kind])
            assert np.array_equal(found, program.twin(x[kind], x[kind]))
    assert (program.region.swaps, program.region.native) == (2, 2)


def test_other_extents_and_numbers_use_the_same_kernel():
    def build(nodes, x, a):
        return [nodes("operator.add", nodes("operator.mul", x, a), 1.0)]

    program = AutoProgram(build, np.ones(SIZE), 2.0)
    with settings.config(compile="wait", hot=0):
        for size, number in ((SIZE, 2.0), (SIZE - 1, 3.0), (SIZE + 5, -0.5)):
            x = tame_values("f8", size)
            assert np.array_equal(program.tiled(x, number), program.twin(x, number))
    assert (program.region.swaps, program.region.native) == (1, 2)


def test_regions_that_are_not_exact_are_numpy_s_alone():
    for op in ("numpy.exp", "numpy.sin", "numpy.log1p"):
        region = AutoProgram(lambda nodes, x: [nodes("operator.mul", nodes(op, x), 2.0)], np.ones(SIZE)).region
        assert type(auto.make_region(region.node, region.twin, region.source)) is TiledRegion


def test_the_background_thread_compiles_what_is_hot():
    x, y = tame_values("f8", SIZE), tame_values("f8", SIZE, seed=1)
    program = AutoProgram(guarded, x, np.abs(y) + 1.0)
    with settings.config(compile="background", hot=0):
        program.tiled(x, np.abs(y) + 1.0)
        assert background.worker.wait(60)
        program.tiled(x, np.abs(y) + 1.0)
    assert (program.region.swaps, program.region.native) == (1, 1)


def test_statistics_count_kernels_swaps_and_launches():
    compiled = gjit.script(lambda x, y: x * 1.25 + y * y - 7.5)
    x = tame_values("f8", 200_000)
    with settings.config(compile="wait", hot=0):
        for _ in range(3):
            compiled(x, x)
    counted = compiled.statistics
    assert (counted.swaps, counted.launches, counted.fallbacks) == (1, 3, 0)
    assert counted.compilations + counted.cache_hits == 2  # the host program and the kernel
    assert counted.as_dict()["swaps"] == 1


# The same bits and warnings


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
@pytest.mark.parametrize("build", [chain, in_place])
def test_values_without_nan_run_natively(build, dtype):
    program = check_auto(build, tame_values(dtype, SIZE), tame_values(dtype, SIZE, seed=1))
    assert ran_natively(program) or (build is in_place and dtype != "f8" and dtype != "f4")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("build", [chain, in_place, guarded, risky])
def test_special_values_are_numpy_s(build, dtype):
    check_auto(build, special_values(dtype, SIZE, 0), special_values(dtype, SIZE, 1))


@pytest.mark.parametrize("state", [None, {"divide": "ignore"}, {"all": "ignore"}, {"all": "raise"}, {"under": "warn"}])
def test_a_division_whose_result_is_not_taken_warns(state):
    x, y = tame_values("f8", SIZE) + 10.0, np.ones(SIZE)
    y[SIZE // 2] = 0.0
    program = check_auto(guarded, x, y, state=state)
    is_quiet = state in ({"divide": "ignore"}, {"all": "ignore"})
    assert program.region.native == (2 if is_quiet else 0)


@pytest.mark.parametrize("place", [0, 5000, SIZE - 1])
@pytest.mark.parametrize("bad", [0.0, np.nan, 1e-320])
def test_what_was_written_before_an_error_stays_and_the_rest_is_numpy_s(place, bad):
    def build(nodes, x, y):
        x = nodes("operator.iadd", x, y)
        x = nodes("operator.itruediv", x, y)
        return [nodes("operator.mul", nodes("operator.sub", x, y), 2.0)]

    y = np.abs(tame_values("f8", SIZE)) + 1.0
    y[place] = bad
    program = check_auto(build, tame_values("f8", SIZE, seed=1), y)
    assert program.region.native == 2


@pytest.mark.parametrize("shape", [(30, 70), (7, 9, 50), (3, 5000)])
@pytest.mark.parametrize("order", ["C", "F", "window"])
def test_the_rest_of_arrays_with_several_axes(shape, order):
    def build(nodes, target, x, y):
        nodes("setitem", target, ..., nodes("operator.add", nodes("operator.truediv", x, y), 1.0))
        return []

    def laid_out(values):
        if order == "window":
            wide = np.zeros([extent + 3 for extent in values.shape])
            view = wide[tuple(slice(1, extent + 1) for extent in values.shape)]
            view[...] = values
            return view
        return np.array(values, order=order)

    x, y = tame_values("f8", *shape) + 5.0, np.abs(tame_values("f8", *shape, seed=1)) + 1.0
    y.reshape(-1)[y.size * 2 // 3] = 0.0
    target = laid_out(np.zeros(shape))
    program = check_auto(build, target, laid_out(x), laid_out(y))
    assert program.region.native == 2


def test_a_store_that_disturbs_what_is_read_is_done_at_the_end():
    def build(nodes, u, left, right):
        mean = nodes("operator.truediv", nodes("operator.add", left, right), nodes("operator.mul", left, right))
        nodes("setitem", u, slice(1, -1), mean)
        return []

    u = np.abs(tame_values("f8", SIZE)) + 1.0
    program = check_auto(build, u, u[:-2], u[2:])
    assert program.region.native == 2
    u[SIZE // 2] = 0.0
    assert check_auto(build, u, u[:-2], u[2:]).region.native == 0  # nothing was written: NumPy begins anew


def test_threads_share_the_work_and_what_is_left(monkeypatch):
    monkeypatch.setattr(native_kernel, "THREADED_WORK", 1)

    def build(nodes, x, y):
        x = nodes("operator.itruediv", x, y)
        return [nodes("operator.sub", nodes("operator.mul", x, 2.0), y)]

    y = np.abs(tame_values("f8", 10 * SIZE)) + 1.0
    with settings.config(threads=3):
        assert check_auto(build, tame_values("f8", 10 * SIZE, seed=1) + 9.0, y).region.native == 2
        for place in (100, SIZE, 5 * SIZE, 10 * SIZE - 1):
            y[place] = 0.0
        assert check_auto(build, tame_values("f8", 10 * SIZE, seed=1) + 9.0, y).region.native == 2


def test_numbers_that_are_nan_or_out_of_range_are_numpy_s():
    def build(nodes, x, a):
        return [nodes("operator.add", nodes("operator.mul", x, a), x)]

    for dtype, number in (("f8", float("nan")), ("f8", float("inf")), ("f4", 1e300), ("i4", 2**40), ("f4", 3)):
        check_auto(build, tame_values(dtype, SIZE), number)


def test_warnings_that_are_errors_raise_at_their_operation():
    x, y = np.ones(SIZE), np.zeros(SIZE)
    program = AutoProgram(guarded, x, y + 1.0)
    with settings.config(compile="wait", hot=0):
        program.tiled(x, y + 1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
                program.tiled(x, y)
    assert program.region.native == 0


def test_data_that_are_never_clean_are_left_to_numpy_for_a_while(monkeypatch):
    monkeypatch.setattr(exact_launch, "_PAUSE", 4)
    x, y = np.ones(SIZE), np.zeros(SIZE)
    program, runs = AutoProgram(guarded, x, y), []
    with settings.config(compile="wait", hot=0), np.errstate(divide="warn"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program.tiled(x, y)
        (exact,) = program.region._exact
        program.tiled(x, y)
        (launch,) = next(iter(exact._launches.values())).kernels
        for _ in range(8):
            program.tiled(x, y)
            runs.append(launch.pause)
    assert runs == [0, 4, 3, 2, 1, 0, 0, 0]
    assert program.region.native == 0


# Compilers, threads, processes


def test_without_a_compiler_the_log_says_so_once(monkeypatch, caplog):
    node = AutoProgram(chain, np.ones(SIZE), np.ones(SIZE)).region.node
    monkeypatch.setenv("CXX", "no-such-compiler")
    for each in (compiler.find_compiler, compiler.may_find_compiler):
        each.cache_clear()
    try:
        with caplog.at_level(logging.WARNING, "gjit"):
            for _ in range(3):
                assert type(auto.make_region(node, None, None)) is TiledRegion
        assert caplog.text.count("no C++ compiler") == 1
    finally:
        for each in (compiler.find_compiler, compiler.may_find_compiler):
            each.cache_clear()


def test_a_compiler_that_keeps_no_flags_is_not_used(monkeypatch):
    clang = compiler.Compiler(("clang++",), "clang version 19", (), None)
    monkeypatch.setattr(auto, "find_compiler", lambda: clang)
    x = tame_values("f8", SIZE)
    program = AutoProgram(chain, x, x)
    with settings.config(compile="wait", hot=0):
        for _ in range(3):
            program.tiled(x, x)
    assert program.region.swaps == 0


def test_a_kernel_that_the_compiler_refuses_leaves_numpy(monkeypatch, caplog):
    monkeypatch.setattr(native, "_kernels", {})
    monkeypatch.setattr(native, "unit_text", lambda *parts: "this is not C++")
    x = tame_values("f8", SIZE)
    program = AutoProgram(chain, x, x)
    with settings.config(compile="wait", hot=0), caplog.at_level(logging.WARNING, "gjit"):
        for _ in range(3):
            program.tiled(x, x)
    assert program.region.swaps == 0
    assert caplog.text.count("a region stays on NumPy") == 1


PROCESS = """
import os, sys, time
import numpy as np
import gjit
from gjit.runtime import background
gjit.config(hot=0, cache_dir=sys.argv[1])
compiled = gjit.script(lambda x, y: x * 3.25 + y / 2.5 - {constant})
x = np.ones(100_000)
compiled(x, x)
"""


def run_process(text, folder, constant):
    program = PROCESS.format(constant=constant) + text
    return subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=120)


def test_a_process_ends_while_its_compiler_runs(tmp_path):
    done = run_process("print('done')", tmp_path, 1.0)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_nothing_is_left_of_the_compiler_when_a_process_ends(tmp_path):
    text = """
from gjit.runtime import compiler
while not compiler._running:
    time.sleep(0.001)
print([process.pid for process in compiler._running])
"""
    done = run_process(text, tmp_path, 2.0)
    assert done.returncode == 0, done.stderr
    (pid,) = map(int, done.stdout.strip("[]\n").split(","))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_compiles_what_its_parent_had_begun(tmp_path):
    text = """
pid = os.fork()
compiled(x, x)
assert background.worker.wait(60)
compiled(x, x)
print(compiled.statistics.swaps, flush=True)
if pid:
    os.waitpid(pid, 0)
else:
    os._exit(0)
"""
    done = run_process(text, tmp_path, 3.0)
    assert (done.returncode, done.stdout) == (0, "1\n1\n"), done.stderr


def test_threads_that_call_while_a_region_moves_see_one_set_of_bits():
    x, y = tame_values("f8", SIZE), np.abs(tame_values("f8", SIZE, seed=1)) + 1.0
    compiled = gjit.script(lambda x, y: np.where(x > 0.0, x / y, 0.0) * 1.5 - x * 0.3125)
    expected = compiled.__wrapped__(x, y)
    wrong: list[int] = []

    def work() -> None:
        for number in range(200):
            if not np.array_equal(compiled(x, y), expected):
                wrong.append(number)

    settings.config(hot=0)
    try:
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert background.worker.wait(60)
        work()
    finally:
        settings.config(hot=settings.KNOBS["hot"].default)
    assert wrong == []
    assert compiled.statistics.swaps == 1
    assert compiled.statistics.tiled_regions[0].native >= 200
