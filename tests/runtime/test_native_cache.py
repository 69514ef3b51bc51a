"""Compiled kernels on disk: found again, safe against damage, crashes, other users and other writers."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gjit import settings
from gjit.errors import CompileError
from gjit.runtime import kernel_cache, native
from gjit.runtime.compiler import find_compiler
from tests.runtime.native_programs import NativeProgram
from tests.runtime.region_programs import chain

pytestmark = pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler")

SOURCE = 'extern "C" int answer() { return 42; }\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "_libraries", {})
    monkeypatch.setattr(native, "_kernels", {})
    monkeypatch.setattr(native, "counters", native.Counters())
    with settings.config(cache_dir=str(tmp_path / "kept")):
        yield tmp_path / "kept"


def load() -> int:
    """What a unit answers that this process does not have in memory."""
    native._libraries.clear()
    return native.load_unit(SOURCE, find_compiler()).answer()


def kept_file(folder):
    (path,) = folder.glob("*.kernel")
    return path


def test_a_kept_kernel_is_not_compiled_again(folder):
    assert load() == load() == 42
    assert (native.counters.compilations, native.counters.cache_hits) == (1, 1)


def test_the_key_holds_what_machine_code_depends_on():
    compiler = find_compiler()
    keys = {
        kernel_cache.key_of(SOURCE, compiler),
        kernel_cache.key_of(SOURCE + " ", compiler),
        kernel_cache.key_of(SOURCE, type(compiler)(compiler.command, "other", compiler.options, compiler.dialect)),
        kernel_cache.key_of(SOURCE, type(compiler)(compiler.command, compiler.version, ("-O0",), compiler.dialect)),
    }
    assert len(keys) == 4
    assert kernel_cache.key_of(SOURCE, compiler) in keys


@pytest.mark.parametrize("place", [0, 20, 60, -1])
def test_a_damaged_byte_is_noticed(folder, place, caplog):
    load()
    data = bytearray(kept_file(folder).read_bytes())
    data[place] ^= 1
    kept_file(folder).write_bytes(data)
    with caplog.at_level(logging.WARNING, "gjit"):
        assert load() == 42
    assert "is damaged" in caplog.text
    assert native.counters.compilations == 2
    load()
    assert native.counters.compilations == 2


@pytest.mark.parametrize("data", [b"", b"not a kernel", b"gjit kernel 1\n"])
def test_other_files_are_not_used(folder, data):
    load()
    kept_file(folder).write_bytes(data)
    assert load() == 42
    assert native.counters.compilations == 2


def test_a_kernel_under_another_key_is_not_used(folder):
    kernel_cache.store("0" * 64, b"kernel")
    os.rename(folder / ("0" * 64 + ".kernel"), folder / ("1" * 64 + ".kernel"))
    assert kernel_cache.load("0" * 64) is None
    assert kernel_cache.load("1" * 64) is None


def test_the_folder_is_private(folder):
    load()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert kept_file(folder).stat().st_mode & 0o077 == 0


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
def test_a_folder_that_others_may_write_is_not_used(folder, caplog):
    folder.mkdir()
    folder.chmod(0o777)
    with caplog.at_level(logging.WARNING, "gjit"):
        assert load() == 42
    assert list(folder.iterdir()) == []
    assert "others may write" in caplog.text


def test_a_folder_that_cannot_be_made_costs_only_time(tmp_path, monkeypatch):
    monkeypatch.setattr(native, "_libraries", {})
    (tmp_path / "file").write_text("")
    with settings.config(cache_dir=str(tmp_path / "file" / "kept")):
        assert load() == 42


def test_a_kernel_that_cannot_be_loaded_is_a_compile_error(folder, monkeypatch):
    def refuse(kernel):
        raise OSError("failed to map segment from shared object")

    monkeypatch.setattr(native, "_loaded", refuse)
    with pytest.raises(CompileError, match="failed to map"):
        load()


def test_refused_source_shows_the_compilers_log(folder):
    with pytest.raises(CompileError, match="error"):
        native.load_unit("int answer( {", find_compiler())
    assert not list(folder.glob("*.kernel")) if folder.exists() else True


WRITER = """
import sys
from gjit import settings
from gjit.runtime import kernel_cache
settings.config(cache_dir=sys.argv[1])
while True:
    kernel_cache.store("k" * 64, b"kernel" * 100_000)
    print("stored", flush=True)
"""


def start_writer(folder):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "stored\n"
    return process


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_writers_leave_nothing_half_written(folder):
    for delay in (0.0, 0.003, 0.011):
        process = start_writer(folder)
        time.sleep(delay)
        process.kill()
        process.communicate()
        assert kernel_cache.load("k" * 64) == b"kernel" * 100_000


def test_concurrent_writers_and_readers_see_whole_files(folder):
    writers = [start_writer(folder) for _ in range(2)]
    try:
        for _ in range(200):
            assert kernel_cache.load("k" * 64) == b"kernel" * 100_000
    finally:
        for process in writers:
            process.kill()
            process.communicate()


def test_a_program_finds_its_kernel_again(folder, monkeypatch):
    monkeypatch.setattr("gjit.runtime.native_region.MINIMUM_ELEMENTS", 1)
    x = np.linspace(0, 1, 1000)
    for compilations, hits in ((1, 0), (1, 1)):
        native._libraries.clear()
        native._kernels.clear()
        program = NativeProgram(chain, x, x)
        assert np.array_equal(program.tiled(x, x), program.twin(x, x))
        assert (native.counters.compilations, native.counters.cache_hits) == (compilations, hits)


def test_libraries_do_not_depend_on_files_that_stay(folder):
    library = native.load_unit(SOURCE, find_compiler())
    for path in folder.iterdir():
        path.unlink()
    assert isinstance(library, ctypes.CDLL)
    assert library.answer() == 42
