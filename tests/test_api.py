"""The compiled object as its user sees it."""

import copy
import inspect
import pickle
import threading
import traceback
import typing
import warnings

import numpy as np
import pytest

import gjit
from gjit.testing import assert_same_as_numpy

SCALE = 2.0
SETTINGS = {"offset": 1.0}


def documented(x: np.ndarray, k: int = 3, *, power: float = 2.0) -> np.ndarray:
    """Documentation."""
    return x**power + k


def test_name_signature_documentation_and_types_are_kept():
    compiled = gjit.script(documented)
    assert (compiled.__name__, compiled.__qualname__, compiled.__module__) == ("documented", "documented", __name__)
    assert compiled.__doc__ == "Documentation."
    assert inspect.signature(compiled) == inspect.signature(documented)
    assert typing.get_type_hints(compiled) == typing.get_type_hints(documented)
    assert compiled.__wrapped__ is documented
    assert repr(compiled) == "<gjit function documented>"


def test_decorator_bare_and_with_options():
    @gjit.script
    def bare(x):
        return x + 1

    @gjit.script(strict=True)
    def with_options(x):
        return x + 1

    assert bare(1) == with_options(1) == 2
    assert gjit.script(bare) is bare


@pytest.mark.parametrize("thing", [len, np.add, 3, "text"])
def test_only_python_functions_are_scripted(thing):
    with pytest.raises(TypeError, match=r"gjit.script takes a Python function, method or class"):
        gjit.script(thing)


def test_methods_properties_and_classes():
    @gjit.script
    class Line:
        def __init__(self, slope):
            self.slope = slope

        def __call__(self, x):
            return self.slope * x

        @property
        def steep(self):
            return self.slope > 1

        @staticmethod
        def flat():
            return Line(0.0)

        @classmethod
        def unit(cls):
            return cls(1.0)

        def __add__(self, other):
            return Line(self.slope + other.slope)

    line = Line(2.0) + Line.unit()
    assert isinstance(line, Line)
    assert line(np.ones(2)).tolist() == [3.0, 3.0]
    assert line.steep
    assert not Line.flat().steep
    assert isinstance(vars(Line)["__call__"], gjit.CompiledFunction)


def test_bound_methods():
    class Counter:
        def __init__(self):
            self.count = 0

        def step(self, by):
            self.count += by
            return self.count

    counter = Counter()
    step = gjit.script(counter.step)
    assert [step(2), step(by=3)] == [2, 5]
    assert counter.count == 5


def test_extents_and_values_need_no_new_signature():
    compiled = gjit.script(lambda x, k: (x * k + 1.0).sum())
    for size in (0, 1, 5, 300_000):
        assert_same_as_numpy(compiled, np.linspace(0, 1, size), float(size))
    assert compiled.statistics.signatures == 1
    assert compiled.statistics.captures == 1
    assert compiled.signatures == ["float64[1], float"]


def test_dtype_and_rank_do():
    compiled = gjit.script(lambda x: np.sqrt(x) + 1)
    for x in (np.ones(3), np.ones(3, "f4"), np.ones((2, 2)), np.ones((2, 3)).T, np.ones(6)[::2], np.float64(2), 2.0, 2):
        assert_same_as_numpy(compiled, x)
    assert compiled.statistics.signatures == 6


def test_more_signatures_than_the_entry_checks_by_itself():
    compiled = gjit.script(lambda x: x + x)
    kinds = [np.dtype(char) for char in "?bBhHiIlLfdFD"]
    for _ in range(3):
        for dtype in kinds:
            assert_same_as_numpy(compiled, np.ones(2, dtype))
    assert compiled.statistics.signatures == len(kinds)
    assert compiled.statistics.calls == 3 * len(kinds)


def test_a_changed_global_is_seen(monkeypatch):
    def function(x):
        return x * SCALE

    compiled = gjit.script(function)
    assert compiled(3.0) == 6.0
    monkeypatch.setitem(globals(), "SCALE", 5)
    assert compiled(3.0) == 15.0
    monkeypatch.setitem(globals(), "SCALE", "ab")
    assert compiled(3) == "ababab"
    monkeypatch.delitem(globals(), "SCALE")
    with pytest.raises(NameError, match="name 'SCALE' is not defined"):
        compiled(3)
    assert compiled.statistics.guard_failures == 3


def test_a_name_that_keeps_changing_becomes_a_load():
    def outer():
        n = 0

        def function(a):
            return n * a

        compiled = gjit.script(function)
        results = []
        for n in range(30):
            results.append(compiled(n))
        return compiled, results

    compiled, results = outer()
    assert results == [n * n for n in range(30)]
    assert compiled.statistics.captures <= 10


def test_equal_values_of_other_types_are_not_confused(monkeypatch):
    def function(x):
        return x * SCALE, np.copysign(x, SCALE)

    compiled = gjit.script(function)
    for value in (1, 1.0, True, 0.0, -0.0, np.float32(1), np.int8(1), 1 + 0j):
        monkeypatch.setitem(globals(), "SCALE", value)
        if value != 1 + 0j or type(value) is not complex:
            assert_same_as_numpy(compiled, np.array([1, 2], "i2"))


def test_mutable_globals_are_read_when_the_function_runs():
    def function(x):
        return x + SETTINGS["offset"]

    compiled = gjit.script(function)
    assert compiled(1.0) == 2.0
    SETTINGS["offset"] = 10.0
    try:
        assert compiled(1.0) == 11.0
    finally:
        SETTINGS["offset"] = 1.0
    assert compiled.statistics.captures == 1


def helper(x):
    return x + 1


def test_a_redefined_function_is_seen(monkeypatch):
    def function(x):
        return helper(x) * 2

    compiled = gjit.script(function)
    assert compiled(1) == 4
    monkeypatch.setitem(globals(), "helper", lambda x: x + 10)
    assert compiled(1) == 22


def test_two_closures_over_one_code_object():
    def make(k):
        return gjit.script(lambda x: x * k)

    double, triple = make(2), make(3)
    assert [double(5), triple(5), double(5)] == [10, 15, 10]


def test_traceback_shows_the_users_line():
    def function(x):
        y = x + 1
        return y[10]

    compiled = gjit.script(function)
    with pytest.raises(IndexError) as caught:
        compiled(np.ones(3))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.name, last.line) == (__file__, "function", "return y[10]")


@pytest.mark.parametrize("size", [4, 400_000])
def test_warnings_show_the_users_line(size):
    def function(x):
        y = x * 1.0
        return np.sqrt(y) + np.log(y)

    compiled = gjit.script(function)
    x = np.ones(size)
    x[size // 2] = -1.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compiled(x)
    line = function.__code__.co_firstlineno + 2
    assert [(str(each.message), each.filename, each.lineno) for each in caught] == [
        ("invalid value encountered in sqrt", __file__, line),
        ("invalid value encountered in log", __file__, line),
    ]


@pytest.mark.parametrize("size", [4, 400_000])
def test_floating_point_errors_that_raise(size):
    def function(x):
        y = x * 2.0
        return 1.0 / y + x

    compiled = gjit.script(function)
    x = np.ones(size)
    x[1] = 0.0
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
        compiled(x)


def test_threads_share_plans():
    compiled = gjit.script(lambda x, k: np.sqrt(np.abs(x)) * k + x)
    arguments = [(np.linspace(-1, 1, 1000 + i, dtype=dtype), float(i)) for i in range(3) for dtype in "fd"]
    expected = [compiled.__wrapped__(*each) for each in arguments]
    wrong = []

    def work():
        for _ in range(30):
            for each, want in zip(arguments, expected, strict=True):
                if not np.array_equal(compiled(*each), want):
                    wrong.append(each)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert compiled.statistics.signatures == 2
    assert compiled.statistics.calls == 6 * 30 * len(arguments)


def test_stages_print():
    compiled = gjit.script(lambda x: np.sqrt(x * x + 1.0))
    x = np.ones(3)
    assert "operator.mul" in str(compiled.graph)
    assert "array<float64, 1>" in str(compiled.graph_for(x))
    assert "region" in str(compiled.plan_for(x))
    assert compiled.statistics.calls == 0
    assert "sqrt(x * x + 1.0)" in compiled.code
    explanation = gjit.explain(compiled, x)
    assert explanation.regions == 1
    assert "mul, add, sqrt" in str(explanation)
    assert '"regions": 1' in explanation.as_json()
    with pytest.raises(TypeError, match="script or trace it first"):
        gjit.explain(len, x)


def test_dump_writes_a_file_for_each_stage(tmp_path):
    with gjit.config(dump=str(tmp_path)):
        gjit.script(lambda x: np.sqrt(x * (2 + 1)))(np.ones(3))
    names = sorted(path.name.split("_", 1)[1] for path in tmp_path.iterdir())
    assert any("fold" in name for name in names)
    assert any("plan" in name for name in names)
    assert any(name.endswith("host_program.py") for name in names)


def test_rewrite_replaces_what_two_functions_say():
    compiled = gjit.script(lambda x: np.log(1.0 + x) * np.log(1.0 + x * 2))
    assert gjit.rewrite(compiled.graph, lambda a: np.log(1.0 + a), lambda a: np.log1p(a)) == 2
    x = np.linspace(0, 1, 5)
    assert compiled(x).tolist() == (np.log1p(x) * np.log1p(x * 2)).tolist()
    with pytest.raises(gjit.GjitError, match="different numbers of parameters"):
        gjit.rewrite(compiled.graph, lambda a: a, lambda a, b: a)


def test_a_registered_pass_runs_on_every_graph():
    seen = []

    @gjit.register_pass(stage="typed")
    def count_nodes(graph):
        seen.append(sum(1 for _ in graph.all_nodes()))
        return False

    try:
        gjit.script(lambda x: x + 1)(np.ones(2))
        assert len(seen) == 1
    finally:
        count_nodes.unregister()


def test_a_pass_that_breaks_the_graph_is_named():
    @gjit.register_pass(stage="typed", name="drops the end")
    def broken(graph):
        graph.block.terminator.remove()
        return True

    try:
        with pytest.raises(gjit.InternalError, match="drops the end"):
            gjit.script(lambda x: x + 1)(np.ones(2))
    finally:
        broken.unregister()


@gjit.script
def found_by_name(x):
    return x + SCALE


def test_pickled_by_name_where_the_name_leads_to_it():
    assert pickle.loads(pickle.dumps(found_by_name)) is found_by_name
    assert copy.deepcopy(found_by_name) is found_by_name


def test_a_traced_function_travels_as_its_graph():
    again = pickle.loads(pickle.dumps(gjit.trace(lambda x: abs(2 * x) + 1, np.ones(2))))
    assert again(np.array([-3, 4])).tolist() == [7, 9]


def test_a_closure_travels_as_its_graph():
    cloudpickle = pytest.importorskip("cloudpickle")

    def make(k):
        return gjit.script(lambda x: x * k)

    again = pickle.loads(cloudpickle.dumps(make(3)))
    assert isinstance(again, gjit.CompiledFunction)
    assert again(5) == 15
    assert pickle.loads(pickle.dumps(make(3)))(5) == 15
