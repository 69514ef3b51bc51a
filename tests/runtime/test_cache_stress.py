"""Processes that die while they write the cache: later ones find whole kernels or none."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest

from gjit import settings
from gjit.runtime import kernel_cache, native

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")

KEYS = 12
WRITER = """
import itertools, sys
from gjit import settings
from gjit.runtime import kernel_cache
settings.config(cache_dir=sys.argv[1], cache_size=2_000_000)
print("begins", flush=True)
for number in itertools.count():
    key = f"{number * 7 % 12:064d}"
    kernel_cache.store(key, key.encode() * 5_000)
    kernel_cache.load(f"{number % 12:064d}")
"""
PROGRAM = """
import sys
import numpy as np
import gjit
gjit.config(cache_dir=sys.argv[1], engine="native")
x = np.arange(10_000.0)
assert np.array_equal(gjit.script(lambda x: x * 2.5 + 1.0)(x), x * 2.5 + 1.0)
"""


def kill_writers(folder, times: int) -> None:
    """Start two writers at a time and kill each at a moment of its own."""
    moments = random.Random(5)
    for _ in range(times // 2):
        command = [sys.executable, "-c", WRITER, str(folder)]
        writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        for writer in writers:
            assert writer.stdout.readline() == "begins\n"
        for writer in writers:
            time.sleep(moments.uniform(0.0, 0.03))
            writer.kill()
            writer.communicate()
        check_kernels(folder)


def check_kernels(folder) -> None:
    with settings.config(cache_dir=str(folder)):
        for number in range(KEYS):
            key = f"{number:064d}"
            assert kernel_cache.load(key) in (None, key.encode() * 5_000)
        assert all(len(entry.key) == 64 for entry in kernel_cache.entries())


def check_later_processes(folder) -> None:
    """A program compiles and runs, what the dead have left does not pile up, and nobody is told of damage."""
    if native.is_available():
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(folder)], capture_output=True, text=True, timeout=100)
        assert (done.returncode, done.stderr) == (0, "")
    with settings.config(cache_dir=str(folder)):
        for part in folder.glob("new-*"):
            old = time.time() - 10_000
            os.utime(part, (old, old))
        kernel_cache.make_room()
        assert list(folder.glob("new-*")) == []


def test_killed_writers_leave_whole_kernels(tmp_path):
    kill_writers(tmp_path / "kept", 20)
    check_later_processes(tmp_path / "kept")


@pytest.mark.slow
def test_many_killed_writers_leave_whole_kernels(tmp_path):
    kill_writers(tmp_path / "kept", 200)
    check_later_processes(tmp_path / "kept")


def test_the_cache_keeps_what_was_used_last(tmp_path):
    with settings.config(cache_dir=str(tmp_path), cache_size=35_000):
        for number in range(5):
            kernel_cache.store(f"{number:064d}", b"x" * 10_000)
            _set_age(tmp_path, number, 100 - number)
            if number == 2:
                assert kernel_cache.load(f"{0:064d}") is not None  # used again
        assert [int(entry.key) for entry in kernel_cache.entries()] == [0, 4, 3]
        assert kernel_cache.make_room(0)
        assert kernel_cache.entries() == []


def _set_age(folder, number, seconds):
    when = time.time() - seconds
    os.utime(folder / f"{number:064d}.kernel", (when, when))


def test_other_files_in_the_folder_are_left_alone(tmp_path):
    (tmp_path / "notes.kernel").write_text("mine")
    (tmp_path / "new-york.txt").write_text("mine")
    with settings.config(cache_dir=str(tmp_path)):
        kernel_cache.store("a" * 64, b"kernel")
        assert [entry.key for entry in kernel_cache.make_room(0)] == ["a" * 64]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new-york.txt", "notes.kernel"]


def test_a_folder_that_is_not_there_is_empty(tmp_path):
    with settings.config(cache_dir=str(tmp_path / "nothing")):
        assert kernel_cache.entries() == kernel_cache.make_room() == []
