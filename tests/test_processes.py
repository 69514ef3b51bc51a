"""Compiled functions and modules in other processes: pickled, copied, forked, spawned."""

from __future__ import annotations

import os
import pathlib
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import gjit
from tests import programs_for_processes as programs

X = np.array([1.0, 2.0, 3.0])
FILE = pathlib.Path(programs.__file__)
TRAVELS_ALONE = ["scripted", "calls_others", "closure", "traced"]
"""What needs no class of the program, and works where the program cannot be imported."""


@pytest.mark.parametrize("how", programs.COPIES)
@pytest.mark.parametrize("name", programs.THINGS)
def test_copies_do_what_the_original_does(name, how):
    thing = programs.THINGS[name]
    again = programs.COPIES[how](thing)
    assert type(again).__name__ == type(thing).__name__
    np.testing.assert_array_equal(again(X), thing(X))


@pytest.mark.parametrize("name", programs.THINGS)
def test_cloudpickle(name):
    cloudpickle = pytest.importorskip("cloudpickle")
    again = pickle.loads(cloudpickle.dumps(programs.THINGS[name]))
    np.testing.assert_array_equal(again(X), programs.THINGS[name](X))


def test_a_copy_of_a_compiled_module_has_its_own_parameters_and_stays_compiled():
    module = gjit.script(programs.Layer())
    for how in ("pickle", "deepcopy"):
        again = programs.COPIES[how](module)
        again.weight[:] = 5
        assert isinstance(again, programs.Layer)
        assert "weight" in str(again.graph)
        np.testing.assert_array_equal(again(X), X * 5)
        np.testing.assert_array_equal(module(X), X)


def test_a_compiled_function_found_by_name_is_its_own_copy():
    for copy in programs.COPIES.values():
        assert copy(programs.scripted) is programs.scripted


def run(arguments, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, env=environment, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("given", ["file", "-c", "stdin"])
def test_processes_of_a_program(method, given):
    """The main program is importable only where it is a file and the child is told so."""
    text = FILE.read_text()
    names = list(programs.THINGS) if given == "file" or method == "fork" else TRAVELS_ALONE
    match given:
        case "file":
            lines = run([sys.executable, str(FILE), method, *names])
        case "-c":
            lines = run([sys.executable, "-c", text, method, *names])
        case _:
            if method == "spawn":
                pytest.skip("multiprocessing itself looks for a file named <stdin>")
            with FILE.open() as file:
                lines = run([sys.executable, "-", method, *names], stdin=file)
    assert lines == [f"{name} True" for name in names]


SENDER = """
import pickle, sys, numpy as np, gjit
def helper(y):
    return y * 2
class Plan:
    def __init__(self, k):
        self.k = k
    def apply(self, x):
        return x + self.k
PLAN = Plan(3)
@gjit.script
def f(x):
    return PLAN.apply(helper(np.sqrt(x)))
sys.stdout.write(pickle.dumps(f).hex())
"""


def test_a_function_works_in_a_process_that_never_saw_its_source(tmp_path):
    (sent,) = run([sys.executable, "-c", SENDER + "print()"])
    receiver = f"import pickle, numpy as np; print(pickle.loads(bytes.fromhex({sent!r}))(np.array([4.0, 9.0])))"
    assert run([sys.executable, "-c", receiver], cwd=tmp_path) == ["[7. 9.]"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_child_works_while_the_parent_compiles():
    compiling, go_on = threading.Event(), threading.Event()
    function = gjit.script(lambda x: np.sqrt(x) + 1)

    def slow_pass(graph):
        if threading.current_thread() is thread:
            compiling.set()
            go_on.wait(60)
        return False

    registration = gjit.register_pass(slow_pass, stage="typed")
    thread = threading.Thread(target=function, args=(np.ones(3),))
    try:
        thread.start()
        assert compiling.wait(60)
        child = os.fork()
        if child == 0:
            right = (function(np.array([4.0, 9.0])) == [3, 4]).all()
            os._exit(0 if right and (programs.scripted(X) == programs.scripted(X)).all() else 1)
        assert waited(child) == 0
    finally:
        go_on.set()
        thread.join()
        registration.unregister()
    assert function(np.array([4.0])).tolist() == [3]


def waited(child, seconds=60):
    """The exit status of a child; it is ended when it takes longer."""
    timer = threading.Timer(seconds, os.kill, (child, 9))
    timer.start()
    try:
        return os.waitpid(child, 0)[1]
    finally:
        timer.cancel()
