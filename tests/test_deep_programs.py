"""Programs that nest a thousand levels deep."""

from __future__ import annotations

import importlib.util
import sys
import threading

import numpy as np
import pytest

import gjit
from gjit.ir import room

DEPTH = 1000


def function_of(text, tmp_path):
    path = tmp_path / "deep_program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("deep_program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def chain(count):
    branches = "".join(f"    elif x == {index}:\n        y = {index} * x\n" for index in range(1, count))
    return f"def f(x):\n    if x == 0:\n        y = 0\n{branches}    else:\n        y = -1\n    return y\n"


PROGRAMS = {
    "elif": (chain(DEPTH), [0, 1, DEPTH - 1, DEPTH + 5]),
    "sum": ("def f(x):\n    return " + " + ".join(["x"] * DEPTH) + "\n", [2, np.ones(3)]),
    "or": ("def f(x):\n    return " + " or ".join(f"x == {index}" for index in range(DEPTH)) + "\n", [5, -1]),
    "attributes": ("def f(x):\n    return x" + ".T" * DEPTH + "\n", [np.ones((2, 3))]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_deep_program_runs_and_prints(name, tmp_path):
    text, arguments = PROGRAMS[name]
    function = function_of(text, tmp_path)
    compiled = gjit.script(function)
    limit, size = sys.getrecursionlimit(), threading.stack_size()
    for argument in arguments:
        assert np.array_equal(compiled(argument), function(argument))
    assert compiled.statistics.host_calls == 0
    assert compiled.statistics.captures == 1
    assert str(gjit.parse_graph(str(compiled.graph))) == str(compiled.graph)
    assert "def f(x):" in compiled.code
    assert str(compiled.plan_for(arguments[0])).count("\n") > DEPTH / 2
    assert (sys.getrecursionlimit(), threading.stack_size()) == (limit, size)


def test_two_threads_compile_deep_programs_at_once(tmp_path):
    compiled = gjit.script(function_of(chain(300), tmp_path))
    results = {}
    threads = [threading.Thread(target=lambda k=k: results.update({k: compiled(k)})) for k in (3, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {3: 9, 7: 49}


def test_knobs_of_the_caller_hold_on_the_large_stack(tmp_path):
    compiled = gjit.script(function_of(chain(300), tmp_path))
    with gjit.config(dump=str(tmp_path / "dump")):
        compiled(3)
    assert list((tmp_path / "dump").iterdir())


def test_what_is_too_deep_for_any_stack_is_a_clear_error(monkeypatch, tmp_path):
    monkeypatch.setattr(room, "RECURSION_LIMIT", sys.getrecursionlimit())
    compiled = gjit.script(function_of(chain(DEPTH), tmp_path))
    with pytest.raises(gjit.UnsupportedError, match="the program nests too deeply") as caught:
        compiled(3)
    assert "instead: split it into functions" in str(caught.value)


def test_other_errors_pass_through_unchanged():
    def once_too_deep(answers=[RecursionError(), KeyError("x")]):
        raise answers.pop(0)

    with pytest.raises(KeyError):
        room.with_room(once_too_deep)
    assert room.with_room(lambda: 3) == 3


def test_a_compiled_function_that_is_called_deep_in_the_stack():
    compiled = gjit.script(lambda x: (x + 1) * 2 - x if x > 3 else -x)

    def descend(depth):
        return compiled(5) if depth == 0 else descend(depth - 1)

    used = 0
    frame = sys._getframe()
    while frame is not None:
        used, frame = used + 1, frame.f_back
    assert descend(sys.getrecursionlimit() - used - 40) == 7
