"""The benchmark harness: it refuses wrong results, and reports what it measured."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bench.__main__ as command
from bench import call_cost, capture_time, elementwise, examples, harness, report
from bench.harness import Measurement, Options, Program

RATIO = Measurement("elementwise", "scaled_sum", 1000, 2.0, 1.5, 2.5, "x", 2e-3, 1e-3)
TIME = Measurement("import_time", "import gjit", 0, 30.0, 29.0, 31.0, "ms")


def test_a_wrong_result_is_never_timed():
    def plain(x):
        return x + 1.0

    def compiled(x):
        return x + 1

    compiled.__wrapped__ = plain
    program = Program("wrong", compiled, plain, lambda size: (np.arange(size),))
    with pytest.raises(AssertionError):
        harness.speed_up("test", program, 8, Options(quick=True))


def test_call_cost_measures_each_number_of_arrays():
    measurements = list(call_cost.run(Options(quick=True)))
    assert [each.program for each in measurements] == ["one_array", "three_arrays", "ten_arrays"]
    assert all(each.unit == "ns" and each.low <= each.value <= each.high for each in measurements)


def test_capture_time_is_positive():
    (measurement,) = capture_time.run(Options(quick=True))
    assert measurement.value > 0


def test_programs_of_examples_are_all_found():
    names = {program.name for program in examples.programs()}
    assert {"black_scholes.black_scholes", "jacobi.jacobi", "mandelbrot.escape_time"} <= names


@pytest.mark.parametrize("plain", elementwise.PROGRAMS)
def test_elementwise_programs_give_no_warnings(plain):
    with np.errstate(all="raise"):
        plain(*elementwise.two_arrays(np.float64)(1000))


def test_a_line_of_the_table_shows_both_sides():
    line = report.line(RATIO)
    assert "scaled_sum" in line
    assert "2.00 x" in line
    assert "2.00 ms" in line
    assert len(report.HEADER.split()) == 7


def test_json_holds_machine_and_measurements(tmp_path):
    file = tmp_path / "results" / "run.json"
    report.write_json([RATIO, TIME], file)
    content = json.loads(file.read_text())
    assert content["machine"]["numpy"] == np.__version__
    assert Measurement(**content["measurements"][0]) == RATIO
    assert Measurement(**content["measurements"][1]) == TIME


def test_plots_are_drawn_for_workloads_with_ratios(tmp_path):
    pytest.importorskip("matplotlib")
    (file,) = report.write_plots([RATIO, TIME], tmp_path)
    assert file.read_bytes().startswith(b"\x89PNG")


def test_command_runs_the_named_workloads(monkeypatch, capsys, tmp_path):
    asked = []

    class Fake:
        @staticmethod
        def run(options):
            asked.append(options.quick)
            yield TIME

    monkeypatch.setitem(command.WORKLOADS, "import_time", Fake)
    assert command.main(["import_time", "--quick", "--json", str(tmp_path / "a.json")]) == 0
    assert asked == [True]
    assert "import gjit" in capsys.readouterr().out
    assert len(json.loads((tmp_path / "a.json").read_text())["measurements"]) == 1


def test_unknown_workload_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["speed_of_light"])
    assert "speed_of_light" in capsys.readouterr().err
