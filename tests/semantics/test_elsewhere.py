"""Programs run from their printed graphs in a process that never imports the modules they were written in."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
import threading
import zlib

import numpy as np
import pytest

import examples
import gjit
import tests.semantics.programs
from gjit import demo
from tests.semantics import elsewhere

SCALE = np.array([2.0, 3.0])


class Counter:
    def __init__(self):
        self.count = 0

    def add(self, amount):
        self.count += amount
        return self


def helper(x, factor=2.0):
    return x * factor


def differences(function, *argument_sets, **options):
    return elsewhere.differences(gjit.script(function), function, [(args, {}) for args in argument_sets], **options)


def in_worker(function, *args):
    """The first outcome of a call that runs only in the worker."""
    elsewhere.by_value()
    compiled = gjit.script(function)
    request = elsewhere.request_for(compiled, [(args, {})], 1, __file__)
    return elsewhere.answer_to(elsewhere.dumps(request))["outcomes"][0][0]


def programs():
    for file in sorted(file.name for file in pkgutil.iter_modules(tests.semantics.programs.__path__)):
        for program in getattr(importlib.import_module(f"tests.semantics.programs.{file}"), "PROGRAMS", ()):
            yield pytest.param(program, id=f"{file}.{program.name}")


def example_programs():
    for file in sorted(file.name for file in pkgutil.iter_modules(examples.__path__)):
        for compiled, plain, make_arguments in importlib.import_module(f"examples.{file}").PROGRAMS:
            yield pytest.param(compiled, plain, make_arguments, id=f"{file}.{plain.__name__}")


@pytest.mark.parametrize("program", list(programs()))
def test_every_program_runs_from_its_text(program):
    generator = np.random.default_rng(zlib.crc32(program.name.encode()))
    arguments = [program.make_arguments(size, generator) for size in program.sizes[:-1]]
    assert differences(program.function, *arguments, host_calls=0) == []


@pytest.mark.parametrize(("compiled", "plain", "make_arguments"), list(example_programs()))
def test_every_example_runs_from_its_text(compiled, plain, make_arguments):
    sets = [(make_arguments(size), {}) for size in (1, 64, 3_000)]
    assert elsewhere.differences(compiled, plain, sets, host_calls=0) == []


def test_the_worker_refuses_the_modules_of_the_tests():
    def imports(x):
        import tests.semantics.support

        return tests, x

    outcome = in_worker(imports, 1)
    assert outcome["raised"][0] is ImportError
    assert "the program must come from its text" in outcome["raised"][1]


def test_the_worker_is_another_process_without_the_module_of_the_test():
    def where(name):
        import os
        import sys

        return os.getpid(), name in sys.modules

    process, imported = in_worker(where, __name__)["value"]
    assert process == elsewhere.WORKER.process.pid
    assert __name__ in sys.modules
    assert not imported


def test_a_difference_is_found():
    compiled = gjit.script(lambda x: x + 1)
    found = elsewhere.differences(compiled, lambda x: x + 1.0, [((np.arange(3),), {})])
    assert "dtype" in found[0]


def test_mutation_text_draws_and_exceptions_come_back():
    def program(x, counter, fail):
        x[1:] += SCALE[0]
        print("seen", counter.add(2).count)
        np.random.random(3)
        return {"x": x, "first": x[:1], "helper": helper(x)}[("x", "first", "helper", "none")[fail]]

    assert differences(program, *[(np.arange(3.0), Counter(), fail) for fail in range(4)]) == []


def test_arrays_keep_layout_and_what_they_share():
    def program(whole, part, turned):
        part[:] = 7.0
        return whole.sum(), turned.flags.f_contiguous, turned.strides, whole.base is part.base

    whole = np.arange(24.0).reshape(4, 6)
    assert differences(program, (whole, whole[::2, 1::3], whole.T[::-1])) == []


def test_classes_are_the_same_classes_when_they_come_back():
    def program(kind):
        return kind(), kind

    assert isinstance(in_worker(program, Counter)["value"][0], Counter)
    assert in_worker(program, Counter)["value"][1] is Counter


def test_a_compiled_function_among_the_arguments_is_scripted_from_its_source():
    def apply(function, x):
        return function(x)

    assert differences(apply, (gjit.script(helper), np.ones(2)), (functools.partial(helper, factor=3.0), 2)) == []


def test_a_program_of_modules_is_given_by_its_text():
    net = demo.Net()
    traced = gjit.trace(net, np.array(5))
    assert elsewhere.differences(traced, net, [((np.array(x),), {}) for x in (3, 5, 7)]) == []


def test_what_cannot_travel_says_so():
    with pytest.raises(elsewhere.CannotTravel, match="cannot pickle"):
        differences(lambda lock: lock.locked(), (threading.Lock(),))


def test_a_worker_that_dies_is_an_error_and_another_one_takes_its_place():
    def leave(x):
        import os

        os._exit(3)

    with pytest.raises(RuntimeError, match="the worker died"):
        in_worker(leave, 1)
    assert in_worker(lambda x: x + 1, 1)["value"] == 2
