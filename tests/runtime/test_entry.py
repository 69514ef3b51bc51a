import itertools
import traceback

import numpy as np
import pytest

import gjit
from gjit.capture.signature import signature_of
from gjit.ir.graph import CaptureKind, CaptureSlot
from gjit.runtime.entry import build_entry, call_with
from gjit.runtime.signature import key_of

SCALE = 2.0


def make(function, *, plans=None, guards=(), overrides=()):
    """An entry whose slow path gives back the bound values."""
    counter = itertools.count()
    entry = build_entry(
        function, signature_of(function), list(guards), plans or {}, lambda values: ("slow", values),
        counter.__next__, list(overrides),
    )  # fmt: skip
    return entry, counter


def plan_of(function, *arguments):
    return {key_of(list(arguments)): gjit.script(function).plan_for(*arguments)}


def every_kind(a, b=2, /, c=3, *rest, d, e=5, **more):
    return a


def test_arguments_are_bound_as_python_binds_them():
    entry, _ = make(every_kind)
    assert entry(1, d=4) == ("slow", [1, 2, 3, (), 4, 5, {}])
    assert entry(1, 7, 8, 9, d=4, e=0, f=6) == ("slow", [1, 7, 8, (9,), 4, 0, {"f": 6}])


@pytest.mark.parametrize(("arguments", "keywords"), [((), {"d": 1}), ((1,), {}), ((1,), {"a": 2, "d": 1})])
def test_wrong_arguments_give_pythons_message(arguments, keywords):
    entry, _ = make(every_kind)
    if keywords.get("a"):
        assert entry(*arguments, **keywords) == ("slow", [1, 2, 3, (), 1, 5, {"a": 2}])
        return
    with pytest.raises(TypeError) as plain:
        every_kind(*arguments, **keywords)
    with pytest.raises(TypeError, match=r"every_kind\(\)") as compiled:
        entry(*arguments, **keywords)
    assert str(plain.value) == str(compiled.value)


def test_call_with_gives_each_parameter_its_value():
    def record(a, b=2, /, c=3, *rest, d, e=5, **more):
        return a, b, c, rest, d, e, more

    assert call_with(record, signature_of(record), [1, 7, 8, (9,), 4, 0, {"f": 6}]) == (1, 7, 8, (9,), 4, 0, {"f": 6})


def test_a_mutable_default_is_the_functions_own_object():
    def collect(value, into=[]):
        return into

    entry, _ = make(collect)
    assert entry(1)[1][1] is collect.__defaults__[0]


def test_plans_are_found_by_type_dtype_and_rank():
    def function(x, k):
        return x

    def vector(x, k):
        return "float64 vector, int"

    def matrix(x, k):
        return "float64 matrix, int"

    plans = {**plan_of(vector, np.zeros(2), 1), **plan_of(matrix, np.zeros((2, 2)), 1)}
    entry, counter = make(function, plans=plans)
    assert entry(np.ones(9), 3) == "float64 vector, int"
    assert entry(np.ones((3, 4), order="F"), 3) == entry(np.ones((3, 4))[::-1], 3) == "float64 matrix, int"
    for other in (np.ones(9, "f4"), np.ones((9, 1, 1)), np.ones(9, ">f8"), 1.0, np.ones(9).view(np.matrix)):
        assert entry(other, 3)[0] == "slow"
    assert entry(np.ones(9), True)[0] == "slow"
    assert next(counter) == 9


def test_guards_look_at_the_live_name(monkeypatch):
    def function(x):
        return x * SCALE

    guard = CaptureSlot("SCALE", CaptureKind.GLOBAL, True, SCALE, globals())
    entry, _ = make(function, plans=plan_of(lambda x: "plan", 1), guards=[guard])
    assert entry(1) == "plan"
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert entry(1) == ("slow", [1])
    monkeypatch.delitem(globals(), "SCALE")
    assert entry(1) == ("slow", [1])


def test_a_parameter_hides_the_global_of_its_name_but_not_its_guard(monkeypatch):
    def function(SCALE):
        return SCALE

    guard = CaptureSlot("SCALE", CaptureKind.GLOBAL, True, SCALE, globals())
    entry, _ = make(function, plans=plan_of(lambda x: "plan", 1), guards=[guard])
    assert entry(1) == "plan"
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert entry(1) == ("slow", [1])


def test_guards_of_closures():
    k = 1

    def function(x):
        return x + k

    guard = CaptureSlot("k", CaptureKind.CELL, True, k, function.__closure__[0])
    entry, _ = make(function, plans=plan_of(lambda x: "plan", 1), guards=[guard])
    assert entry(1) == "plan"
    k = 5
    assert entry(1) == ("slow", [1])


def test_overrides_send_every_call_to_the_slow_path():
    def function(x):
        return x

    entry, _ = make(function, plans=plan_of(lambda x: "plan", 1), overrides=["set"])
    assert entry(1) == ("slow", [1])


def test_tracebacks_show_the_users_definition():
    entry, _ = make(every_kind)
    assert entry.__code__.co_filename == __file__
    assert entry.__code__.co_firstlineno == every_kind.__code__.co_firstlineno
    assert (entry.__name__, entry.__qualname__, entry.__module__) == ("every_kind", "every_kind", __name__)


def run(x, which):
    if which:
        raise ValueError("no")
    return x


def test_the_newest_plan_runs_in_the_frame_of_the_call():
    compiled = gjit.script(run)
    compiled(1, False)
    with pytest.raises(ValueError, match="no") as caught:
        compiled(1, True)
    frames = [frame for frame in traceback.extract_tb(caught.tb) if frame.filename == __file__ and frame.name == "run"]
    assert [frame.line for frame in frames] == ['raise ValueError("no")']


def test_older_plans_are_found_from_the_newest():
    compiled = gjit.script(lambda x: x + x)
    values = [1, 2.0, "a", [1], (1,), True, 1j]
    for value in values + values[::-1] + values:
        result = compiled(value)
        assert (type(result), result) == (type(value + value), value + value)
    assert compiled.statistics.signatures == len(values)
    assert compiled.statistics.calls == 3 * len(values)


def shadow(x):
    def inner():
        SCALE = x
        return lambda: SCALE

    return SCALE * inner()()


def test_a_guarded_name_may_mean_something_else_in_the_program(monkeypatch):
    compiled = gjit.script(shadow)
    for value in (2.0, 2.0, 5.0):
        monkeypatch.setitem(globals(), "SCALE", value)
        assert compiled(3.0) == shadow(3.0)


def test_methods_with_cells_and_defaults_run_in_the_entry():
    class Scaled:
        def __init__(self, k):
            self.k = k

        @gjit.script
        def times(self, x, /, *more, shift=1.0, **rest):
            total = [self.k * each for each in (x, *more)]
            return sum(total) + shift + len(rest)

    scaled = Scaled(2.0)
    assert scaled.times(1.0) == scaled.times(1.0) == 3.0
    assert scaled.times(1.0, 2.0, shift=0.0, a=1) == scaled.times(1.0, 2.0, shift=0.0, a=1) == 7.0
