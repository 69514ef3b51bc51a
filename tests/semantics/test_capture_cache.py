"""What is captured when, and what makes a compiled function look again."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

import gjit
from gjit.testing import assert_same_as_numpy, same
from tests.semantics.support import call, check

FACTOR = 2.0
TABLE = np.array([1.0, 2.0])
SETTINGS = {"scale": 1}


def test_one_compiled_function_sees_many_signatures():
    def double(x):
        return x * 2 + x.sum() if isinstance(x, np.ndarray) else x * 2

    check(
        double,
        call(np.ones(3)),
        call(np.ones(3, "f4")),
        call(np.ones((2, 3), "i4")),
        call(np.ones((0, 3))),
        call(2.5),
        call(3),
        call(np.float32(2)),
        call(True),
        call(np.ones((4, 4)).T[::2]),
        call(np.ones(3, "c8")),
        call(np.ones(5)),
        call(np.array(2.0)),
        call(np.ones(3, ">f8")),
        call("ab"),
        call([1]),
        call(None),
        call(np.ones(3)),
    )


def test_an_extent_does_not_make_a_signature():
    compiled = gjit.script(lambda x: x * 2 + 1)
    for size in range(20):
        compiled(np.ones(size))
    assert compiled.statistics.signatures == 1


def test_a_number_does_not_make_a_signature():
    compiled = gjit.script(lambda x, k: x * k + k)
    for number in range(20):
        compiled(np.ones(3), number)
    assert compiled.statistics.signatures == 1


def test_a_changed_global_is_seen(monkeypatch):
    module = sys.modules[__name__]

    def scale(x):
        return x * FACTOR

    compiled = gjit.script(scale)
    for value in (2.0, 3.0, np.float32(1), 5, "ab", 2.0):
        monkeypatch.setattr(module, "FACTOR", value)
        assert_same_as_numpy(compiled, 3, plain=scale)


def test_a_global_that_changes_all_the_time_stays_right(monkeypatch):
    module = sys.modules[__name__]

    def scale(x):
        return x * FACTOR + 1

    compiled = gjit.script(scale)
    for value in range(40):
        monkeypatch.setattr(module, "FACTOR", value)
        assert compiled(3) == 3 * value + 1


def test_a_global_that_is_deleted_and_comes_back(monkeypatch):
    module = sys.modules[__name__]

    def scale(x):
        return x * FACTOR

    compiled = gjit.script(scale)
    assert compiled(2) == 4.0
    monkeypatch.delattr(module, "FACTOR")
    with pytest.raises(NameError, match="name 'FACTOR' is not defined"):
        compiled(2)
    monkeypatch.setattr(module, "FACTOR", 5, raising=False)
    assert compiled(2) == 10


def test_a_global_array_or_container_is_seen_with_its_new_content():
    def look_up(x):
        return x + TABLE.sum() + SETTINGS["scale"]

    compiled = gjit.script(look_up)
    for value in (1.0, 7.0):
        TABLE[0] = value
        SETTINGS["scale"] = value * 2
        assert_same_as_numpy(compiled, 1.0, plain=look_up)
    TABLE[0], SETTINGS["scale"] = 1.0, 1


def helper(x):
    return x + 1


def test_a_redefined_helper_is_called(monkeypatch):
    module = sys.modules[__name__]

    def program(x):
        return helper(x) * 2

    compiled = gjit.script(program)
    assert_same_as_numpy(compiled, 3, plain=program)
    monkeypatch.setattr(module, "helper", lambda x: x - 1)
    assert_same_as_numpy(compiled, 3, plain=program)
    monkeypatch.setattr(module, "helper", abs)
    assert_same_as_numpy(compiled, -3, plain=program)


def test_a_global_changed_by_the_program_s_own_call():
    namespace = {"np": np, "level": 1}

    def program(x, change):
        first = x * FACTOR
        change()
        return first, x * FACTOR

    module = sys.modules[__name__]

    def change():
        module.FACTOR += 1

    before = module.FACTOR
    compiled = gjit.script(program)
    try:
        expected = program(2, change)
        module.FACTOR = before
        assert compiled(2, change) == expected
        assert namespace["level"] == 1
    finally:
        module.FACTOR = before


def test_a_closure_variable_is_bound_late():
    number = 0

    def multiply(x):
        return number * x

    compiled = gjit.script(multiply)
    found = []
    for number in range(5):
        found.append(compiled(number))
    assert found == [0, 1, 4, 9, 16]


def test_two_closures_over_one_code_object():
    def make(base, shift):
        def inner(x):
            return base(x) + shift

        return inner

    one, two = gjit.script(make(abs, 0.5)), gjit.script(make(np.sqrt, 2))
    assert (one(-4.0), two(4.0), one(-1)) == (4.5, 4.0, 1.5)


def test_lists_and_dictionaries_are_not_cached_by_identity():
    def reduce(x, axes, options):
        result = x.sum(axis=tuple(axes))
        if options["negative"]:
            result = -result
        return result + options.get("bias", 0)

    compiled = gjit.script(reduce)
    x, axes, options = np.arange(6.0).reshape(2, 3), [0], {"negative": False}
    for change in (
        lambda: None,
        lambda: axes.__setitem__(0, 1),
        lambda: options.update(negative=True),
        lambda: axes.append(0),
    ):
        change()
        assert_same_as_numpy(compiled, x, axes, options, plain=reduce)


class Holder:
    def __init__(self, scale, weights):
        self.scale, self.weights, self.calls = scale, weights, 0

    def apply(self, x):
        self.calls += 1
        self.weights[0] += 1.0
        return x * self.scale + self.weights


def test_attributes_change_between_calls():
    def program(holder, x):
        y = holder.apply(x)
        holder.last = y.sum()
        return y + holder.scale

    compiled = gjit.script(program)
    expected, found = Holder(2.0, np.zeros(2)), Holder(2.0, np.zeros(2))
    for scale in (2.0, 2.0, 3, 0.5, np.float32(1)):
        expected.scale = found.scale = scale
        assert same(program(expected, np.ones(2)), compiled(found, np.ones(2))) is None
        assert same(expected, found) is None


def test_a_method_replaced_on_the_class_or_the_instance(monkeypatch):
    def program(holder, x):
        return holder.apply(x)

    compiled = gjit.script(program)
    assert_same_as_numpy(compiled, Holder(2.0, np.zeros(2)), np.ones(2), plain=program)
    monkeypatch.setattr(Holder, "apply", lambda self, x: x - self.scale)
    assert_same_as_numpy(compiled, Holder(2.0, np.zeros(2)), np.ones(2), plain=program)
    special = Holder(1, np.zeros(1))
    special.apply = abs
    assert_same_as_numpy(compiled, special, -3, plain=program)


def test_the_compiled_function_is_released():
    def program(x):
        return x + 1

    compiled = gjit.script(program)
    compiled(np.ones(2))
    reference = weakref.ref(compiled)
    del compiled
    gc.collect()
    assert reference() is None


def test_arguments_and_results_are_released():
    class Array(np.ndarray):
        pass

    compiled = gjit.script(lambda x: (x + 1) * 2)
    x = np.ones(1000).view(Array)
    result = compiled(x)
    references = [weakref.ref(x), weakref.ref(result)]
    del x, result
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_closures_made_by_the_program_are_released():
    def program(x, made):
        big = x * 2.0

        def inner(y):
            return y + big

        made.append(weakref.ref(big))
        return inner(x)

    compiled = gjit.script(program)
    made = []
    for _ in range(5):
        compiled(np.ones(10), made)
    gc.collect()
    assert [reference() is None for reference in made] == [True] * 5


def test_disabled_compilation_runs_the_plain_function(monkeypatch):
    monkeypatch.setenv("GJIT_DISABLE", "1")
    compiled = gjit.script(helper)
    assert_same_as_numpy(compiled, np.ones(2), plain=helper)


def test_a_compiled_function_keeps_name_signature_and_module():
    compiled = gjit.script(helper)
    assert compiled.__name__ == "helper"
    assert compiled.__wrapped__ is helper
    assert compiled.__module__ == __name__


def test_pickling_a_compiled_function_by_name():
    module = sys.modules[__name__]
    assert pickle.loads(pickle.dumps(module.compiled_helper))(1) == 2


compiled_helper = gjit.script(helper)
compiled_helper.__qualname__ = "compiled_helper"


def test_pickling_closures_by_value():
    cloudpickle = pytest.importorskip("cloudpickle")

    def make(shift):
        def inner(x):
            return x * FACTOR + shift

        return inner

    compiled = gjit.script(make(0.5))
    copied = pickle.loads(cloudpickle.dumps(compiled))
    assert copied(np.array([1.0])).tolist() == [2.5]
