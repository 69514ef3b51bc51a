"""The benchmarks: they refuse wrong results, show peers that fail, and report what they measured."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import bench.__main__ as command
from bench import (
    baseline,
    call_cost,
    capture_time,
    cases,
    elementwise,
    examples,
    gpu_check,
    gpu_goals,
    gpu_programs,
    gpu_report,
    harness,
    memory,
    peers,
    plots,
    report,
)
from bench.cases import Case
from bench.harness import Measurement, Options, Program
from bench.peers import Peer

RATIO = Measurement("elementwise", "scaled_sum", 1000, 2.0, 1.5, 2.5, "x", 2e-3, 1e-3)
TIME = Measurement("import_time", "import gjit", 0, 30.0, 29.0, 31.0, "ms")
QUICK = Options(quick=True, engines=("auto",))
CASES = [case for name in ("elementwise", "rows", "grids", "loops", "science", "ocean")
         for case in command.WORKLOADS[name].cases()]  # fmt: skip


def small(plain, **options) -> Case:
    return Case("small", plain, lambda size: (np.linspace(0.0, 1.0, size),), quick=1000, **options)


def peer(program, **changes) -> Peer:
    same = peers.same
    made = Peer("mine", "json", lambda function, arguments: program, same, same, same)
    return dataclasses.replace(made, **changes)


def run_peer(monkeypatch, program, **options):
    monkeypatch.setitem(peers.PEERS, "mine", peer(program))
    found = cases.run_cases(
        "test", [small(lambda x: x * 2.0 + 1.0, **options)], dataclasses.replace(QUICK, peers=("mine",))
    )
    return {each.side: each for each in found}


def test_a_wrong_result_is_never_timed():
    def plain(x):
        return x + 1.0

    def compiled(x):
        return x + 1

    compiled.__wrapped__ = plain
    program = Program("wrong", compiled, plain, lambda size: (np.arange(size),))
    with pytest.raises(AssertionError):
        harness.speed_up("test", program, 8, Options(quick=True))


def test_gjit_and_a_peer_are_measured_beside_numpy(monkeypatch):
    found = run_peer(monkeypatch, lambda x: x * 2.0 + 1.0)
    assert list(found) == ["gjit", "mine"]
    for each in found.values():
        assert each.note == ""
        assert each.low <= each.value <= each.high
        assert each.plain_seconds > 0
        assert each.compiled_seconds > 0
    assert found["gjit"].noise is not None
    assert found["mine"].noise is None


def test_a_peer_that_is_wrong_is_shown_as_wrong(monkeypatch):
    found = run_peer(monkeypatch, lambda x: x * 2.0 + 1.5)
    assert found["mine"].note.startswith("wrong by")
    assert "wrong by" in report.line(found["mine"])
    assert found["gjit"].note == ""


@pytest.mark.parametrize("result", [lambda x: x[:-1], lambda x: x * np.nan, lambda x: (x, x)])
def test_other_shapes_and_nan_are_wrong(monkeypatch, result):
    assert run_peer(monkeypatch, result)["mine"].note.startswith("wrong by")


def test_a_peer_that_fails_is_shown_with_its_error(monkeypatch):
    def program(x):
        raise NotImplementedError("no")

    assert run_peer(monkeypatch, program)["mine"].note == "NotImplementedError"


def test_what_a_peer_cannot_run_is_left_out(monkeypatch):
    assert "mine" not in run_peer(monkeypatch, lambda x: x, without=frozenset({"mine"}))


def test_gjit_that_is_wrong_stops_the_run(monkeypatch):
    monkeypatch.setattr(cases.gjit, "script", lambda function, engine: _Wrong())
    with pytest.raises(AssertionError, match="disagree"):
        list(cases.run_cases("test", [small(lambda x: x + 1.0)], QUICK))


class _Wrong:
    def __call__(self, x):
        return x + 1.0 + 1e-15

    def compile(self, *arguments):
        return self


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_programs_run_at_a_small_size_without_warnings(case):
    with np.errstate(all="raise", under="ignore"):
        results, after = cases.outcome(case.plain, case.arguments(2000))
    assert any(np.isfinite(each).all() for each in (*results, *after))
    assert set(case.programs) | case.without <= set(peers.PEERS)


@pytest.mark.parametrize("name", [name for name, each in peers.PEERS.items() if peers.is_installed(each)][:3])
def test_installed_peers_agree_with_numpy(name):
    wanted = Options(quick=True, engines=("auto",), peers=(name,))
    chosen = next(case for case in CASES if case.name == "polynomial float64")
    found = list(cases.run_cases("test", [dataclasses.replace(chosen, quick=1000)], wanted))
    assert [each.note for each in found if each.side == name] == [""]


def test_numpy_is_replaced_in_helpers_too():
    class Other:
        @staticmethod
        def exp(x):
            return "other"

    assert peers.with_module(_outer, Other)(1.0) == "other"
    assert _outer(0.0) == 1.0


def _inner(x):
    return np.exp(x)


def _outer(x):
    return _inner(x)


def test_call_cost_measures_each_number_of_arrays():
    measurements = list(call_cost.run(Options(quick=True)))
    assert [each.program for each in measurements] == ["one_array", "three_arrays", "ten_arrays"]
    assert all(each.unit == "ns" and each.low <= each.value <= each.high for each in measurements)


def test_capture_time_is_positive():
    (measurement,) = capture_time.run(Options(quick=True))
    assert measurement.value > 0


def test_memory_counts_what_numpy_allocates():
    assert memory.peak(lambda size: np.ones(size), (1_000_000,)) >= 8_000_000


def test_programs_of_examples_are_all_found():
    names = {program.name for program in examples.programs()}
    assert {"black_scholes.black_scholes", "jacobi.jacobi", "mandelbrot.escape_time"} <= names


def test_a_quick_run_has_fewer_elementwise_programs():
    assert 0 < len(elementwise.PROGRAMS) < len(list(elementwise.cases()))


def test_a_line_of_the_table_shows_both_sides():
    line = report.line(RATIO)
    for part in ("scaled_sum", "2.00 x", "2.00 ms", "gjit"):
        assert part in line
    assert len(report.HEADER.split()) == 8


def test_json_holds_machine_and_measurements(tmp_path):
    file = tmp_path / "results" / "run.json"
    report.write_json([RATIO, TIME], file)
    assert json.loads(file.read_text())["machine"]["numpy"] == np.__version__
    assert report.read_json(file) == [RATIO, TIME]


def test_plots_are_drawn_for_workloads_with_ratios(tmp_path):
    pytest.importorskip("matplotlib")
    other = dataclasses.replace(RATIO, size=10, side="numba", value=0.5, low=0.4, high=0.6)
    files = plots.write_plots([RATIO, other, TIME, dataclasses.replace(RATIO, side="jax", note="wrong")], tmp_path)
    assert [file.name for file in files] == ["ratios.png", "elementwise.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)


def test_a_regression_is_what_noise_does_not_explain():
    before = [dataclasses.replace(RATIO, noise=0.02), TIME]
    for value, is_slower in ((1.9, False), (1.85, False), (1.7, True), (3.0, False)):
        after = [dataclasses.replace(RATIO, value=value, noise=0.01), dataclasses.replace(TIME, value=90.0)]
        assert bool(baseline.regressions(before, after)) == is_slower
    noisy = [dataclasses.replace(RATIO, value=1.7, noise=0.2)]
    assert baseline.regressions(before, noisy) == []
    assert baseline.regressions(before, [dataclasses.replace(RATIO, value=0.1, side="jax")]) == []


@pytest.fixture
def fake(monkeypatch):
    asked = []

    class Fake:
        @staticmethod
        def run(options):
            asked.append(options)
            yield RATIO

    monkeypatch.setitem(command.WORKLOADS, "import_time", Fake)
    monkeypatch.setattr(command.gjit, "config", lambda **knobs: None)
    return asked


def test_command_runs_the_named_workloads(fake, capsys, tmp_path):
    file = tmp_path / "a.json"
    assert command.main(["import_time", "--quick", "--json", str(file), "--peers", "none", "--engine", "native"]) == 0
    (options,) = fake
    assert (options.quick, options.peers, options.engines) == (True, (), ("native",))
    assert "scaled_sum" in capsys.readouterr().out
    assert report.read_json(file) == [RATIO]


@pytest.mark.parametrize(("value", "status"), [(2.0, 0), (9.0, 1)])
def test_command_fails_where_something_is_slower_than_before(fake, capsys, tmp_path, value, status):
    report.write_json([dataclasses.replace(RATIO, value=value)], tmp_path / "old.json")
    assert command.main(["import_time", "--baseline", str(tmp_path / "old.json")]) == status
    assert ("9.00 times NumPy before, 2.00 now" in capsys.readouterr().out) == bool(status)


@pytest.mark.parametrize("arguments", [["speed_of_light"], ["--peers", "speed_of_light"]])
def test_unknown_names_are_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert "speed_of_light" in capsys.readouterr().err


def test_the_check_of_a_gpu_runs_on_the_emulated_device(tmp_path, capsys):
    assert gpu_check.main(["--device", "emulated", "--quick", "--only", "questions", "--out", str(tmp_path)]) == 0
    answers = json.loads((tmp_path / "gpu_check.json").read_text())["answers"]
    assert answers["sums repeat to the bit"] is True
    assert answers["a call leaves no memory behind"] is True
    assert "emulated:0" in capsys.readouterr().out


def test_the_programs_of_the_check_find_differences():
    one = np.array([1.0, np.nan, 2.0])
    assert gpu_programs.ulps(one, one) == 0
    assert gpu_programs.ulps(one, np.nextafter(one, 9.0)) == 1
    assert gpu_programs.ulps(one, np.array([1.0, 1.0, 2.0])) == np.inf
    assert {"exp", "sqrt", "arctan2"} <= {name for name, _ in gpu_programs.functions()}


def test_goals_are_judged_and_drawn():
    goals = [
        gpu_goals.Goal("fast", 2.0, "x", 1.0, 3.0),
        gpu_goals.Goal("slow", 5.0, "us", 4.0, 2.0, is_least=True),
        gpu_goals.Goal("only told", 1.0, "us"),
    ]
    assert [goal.passed for goal in goals] == [True, False, None]
    picture = gpu_report.plot(goals)
    assert picture.count("<rect") == 2
    assert "MISS" in gpu_report.goal_line(goals[1])
