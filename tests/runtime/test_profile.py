from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import gjit
from gjit.runtime import profile as profile_module

LARGE = 1 << 20


def helper(a):
    scaled = np.exp(a) * 2.0 + 1.0
    return scaled


def program(u, steps):
    for _ in range(steps):
        u = helper(u) / 7.0
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return np.sqrt(u).sum()


def recursive(n):
    if n < 2:
        return n
    return recursive(n - 1) + recursive(n - 2)


def squares(n):
    for each in range(n):
        yield each * each


def total_of_squares(n):
    return sum(squares(n))


def fails(x):
    y = x + 1
    raise ValueError(y)


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


def test_the_result_is_that_of_a_call():
    u = np.linspace(0.0, 1.0, 500)
    profile = gjit.script(program).profile(u.copy(), steps=3)
    assert profile.result == program(u, 3)
    assert profile.function == "program"


def test_lines_are_the_users_in_order_of_their_time():
    profile = gjit.script(program).profile(np.ones(500), 4)
    times = {line.line: line.times for line in profile.lines if line.file == __file__}
    assert times[line_of(program, 1)] == 5
    assert times[line_of(program, 3)] == 4
    assert times[line_of(program, 4)] == 1
    assert line_of(helper, 1) in times
    totals = [line.total for line in profile.lines]
    assert totals == sorted(totals, reverse=True)
    assert all(0 <= line.in_regions <= line.total for line in profile.lines)
    assert sum(totals) <= profile.duration


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_regions_are_on_the_timeline_with_their_engine(engine):
    compiled = gjit.script(program, engine=engine)
    profile = compiled.profile(np.ones(LARGE), 2)
    regions = [event for event in profile.events if event.kind == "region"]
    assert len(regions) == compiled.statistics.launches + compiled.statistics.fallbacks > 0
    ways = [event.details["ran"] for event in regions]
    assert ways.count("as a whole") == compiled.statistics.launches
    assert ways.count("op by op") == compiled.statistics.fallbacks
    assert {event.details["engine"] for event in regions} <= {engine, "numpy"}
    assert any("exp" in event.details["ops"] for event in regions)
    assert sum(line.in_regions for line in profile.lines) > 0


def test_bars_nest_in_the_trace(tmp_path):
    gjit.script(program).profile(np.ones(LARGE), 2).save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    bars = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert {bar["cat"] for bar in bars} == {"function", "line", "region"}
    assert all(bar["dur"] >= 0 and bar["ts"] >= 0 for bar in bars)
    assert [bar["ts"] for bar in bars] == sorted(bar["ts"] for bar in bars)
    open_until = []
    for bar in bars:
        while open_until and open_until[-1] <= bar["ts"]:
            open_until.pop()
        assert not open_until or bar["ts"] + bar["dur"] <= open_until[-1] + 1e-3
        open_until.append(bar["ts"] + bar["dur"])
    assert len({(bar["pid"], bar["tid"]) for bar in bars}) == 1


def test_recursion_counts_no_time_twice():
    profile = gjit.script(recursive).profile(10)
    assert profile.result == 55
    lines = {line.line: line for line in profile.lines}
    assert lines[line_of(recursive, 1)].times == 177
    assert sum(line.total for line in profile.lines) <= profile.duration
    assert sum(event.kind == "function" for event in profile.events) == 177


def test_generators_are_watched_at_each_item():
    profile = gjit.script(total_of_squares).profile(5)
    assert profile.result == 30
    assert {line.line for line in profile.lines} >= {line_of(squares, 2), line_of(total_of_squares, 1)}


def test_the_table_has_the_lines_with_their_share():
    profile = gjit.script(program).profile(np.ones(LARGE), 2)
    head, titles, *rows = str(profile).splitlines()
    assert head.startswith("program on the engine auto: ")
    assert titles.split() == ["total", "ms", "share", "in", "regions", "times", "line"]
    assert len(rows) == len(profile.lines)
    assert any(row.endswith(f"test_profile.py:{line_of(program, 4)}  return np.sqrt(u).sum()") for row in rows)
    shares = [float(row.split()[1].rstrip("%")) for row in rows]
    assert sum(shares) == pytest.approx(100.0, abs=0.1 * len(rows))


def test_an_exception_comes_through_and_the_hook_is_taken_back():
    compiled = gjit.script(fails)
    before = sys.gettrace()
    with pytest.raises(ValueError, match="3"):
        compiled.profile(2)
    assert sys.gettrace() is before


def test_a_hook_that_was_there_comes_back():
    def hook(frame, kind, argument):
        return None

    before = sys.gettrace()
    sys.settrace(hook)
    try:
        gjit.script(program).profile(np.ones(9), 1)
        assert sys.gettrace() is hook
    finally:
        sys.settrace(before)


def test_no_call_is_watched_outside_a_profile():
    compiled = gjit.script(program)
    profile = compiled.profile(np.ones(9), 1)
    count = len(profile.events)
    compiled(np.ones(9), 1)
    assert len(profile.events) == count
    assert compiled.statistics.calls == 2


def test_a_long_timeline_is_cut_and_times_stay_complete(monkeypatch):
    monkeypatch.setattr(profile_module, "MOST_EVENTS", 10)
    profile = gjit.script(recursive).profile(10)
    assert len(profile.events) == 10
    assert profile.dropped > 100
    assert json.loads(profile.as_json())["otherData"]["dropped"] == profile.dropped
    assert max(line.times for line in profile.lines) == 177


def test_the_plain_function_runs_under_disable():
    with gjit.config(disable=True):
        profile = gjit.script(program).profile(np.ones(9), 1)
    assert profile.result == program(np.ones(9), 1)
    assert profile.lines == []
    assert str(profile).startswith("program on the engine auto")


def test_save_knows_two_forms(tmp_path):
    profile = gjit.script(recursive).profile(3)
    profile.save(tmp_path / "times.txt")
    assert (tmp_path / "times.txt").read_text() == f"{profile}\n"
    with pytest.raises(ValueError, match="saved as .json or .txt"):
        profile.save(tmp_path / "times.csv")


def test_methods_and_modules_have_profiles():
    class Scale(gjit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.factor = 2.0

        @gjit.script_method
        def forward(self, x):
            return np.exp(x) * self.factor

    module = Scale()
    profile = module.forward.profile(np.zeros(3))
    np.testing.assert_array_equal(profile.result, [2.0, 2.0, 2.0])
    assert len(profile.lines) == 1
