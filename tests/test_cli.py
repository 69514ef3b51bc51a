from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gjit import cli, settings
from gjit.runtime import kernel_cache

ROOT = Path(__file__).parent.parent


def run(*arguments):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "gjit", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_demo_prints_graphs_values_plan_and_timings():
    done = run("demo", "--size", "20000", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    for part in ("traced function", "scripted function", "traced module", "scripted method", "graph "):
        assert part in done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    values = {int(row[0]): {int(value) for value in row[1:]} for row in rows if len(row) == 5 and row[0].isdigit()}
    assert values == {1: {0}, 2: {0}, 3: {-5}, 4: {20}, 5: {190}, 6: {-4377}, 7: {-59051}}
    assert "traced again for other inputs: 0 times" in done.stdout
    assert "the same bits as plain NumPy: yes" in done.stdout
    assert "ratio" in done.stdout
    assert "round 2 of 2" in done.stderr
    assert "round" not in done.stdout.partition("ratio")[0].partition("timings")[2]


def test_info_shows_versions_machine_and_every_knob(capsys):
    assert cli.main(["info"]) == 0
    printed = capsys.readouterr().out
    assert np.__version__ in printed
    for name in ("python", "gjit", "cpu", "cores", "L2 cache", "compilers", "cache", "devices"):
        assert any(line.startswith(name) for line in printed.splitlines()), name
    for knob in settings.KNOBS.values():
        assert knob.variable in printed


def test_info_shows_knobs_as_they_are_set(capsys):
    with settings.config(threads=3):
        cli.main(["info"])
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("GJIT_THREADS"))
    assert line.split()[1] == "3"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["demo", "--size", "0"], "0 is not a positive number"),
        (["demo", "--rounds", "many"], "invalid"),
    ],
)
def test_wrong_arguments_end_with_a_message(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "demo" in printed
    assert "info" in printed


def test_cache_lists_sizes_and_clears(tmp_path, capsys):
    with settings.config(cache_dir=str(tmp_path), cache_size=50_000):
        for letter in "ab":
            kernel_cache.store(letter * 64, b"kernel" * 100)
        outputs = []
        for action in ("list", "size", "clear", "size"):
            assert cli.main(["cache", action]) == 0
            outputs.append(capsys.readouterr().out)
    listed = [line.split() for line in outputs[0].splitlines()]
    assert {line[-1] for line in listed} == {"a" * 64, "b" * 64}
    assert outputs[1].startswith(f"{tmp_path}: 2 kernels, 1,292 of 50,000 bytes")
    assert outputs[2].startswith("removed 2 kernels, 1,292 bytes")
    assert ": 0 kernels" in outputs[3]
