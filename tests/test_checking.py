"""GJIT_CHECK: every call is compared with the plain function before it is made, and leaves one set of marks."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import gjit

CALLS = []
COUNT = 0


def set_count(value):
    global COUNT
    COUNT = value


@pytest.fixture(autouse=True)
def checked():
    with gjit.config(check=True):
        yield


@pytest.fixture
def wrong_exp():
    """A pass that makes a wrong graph: sin for exp."""

    def swap(graph):
        for node in graph.all_nodes():
            if node.op == "numpy.exp":
                node.op = "numpy.sin"

    registration = gjit.register_pass(swap, stage="typed")
    yield
    registration.unregister()


def test_a_wrong_result_is_an_internal_error_that_shows_it(wrong_exp):
    compiled = gjit.script(lambda x: np.exp(x))
    with pytest.raises(gjit.InternalError, match=r"differs from NumPy in 1 way:\n  result: value: 3 of 3 elements"):
        compiled(np.ones(3))


def test_a_wrong_graph_is_found_on_every_call(wrong_exp):
    compiled = gjit.script(lambda x: np.exp(x))
    with gjit.config(check=False):
        compiled(np.ones(3))
    for _ in range(2):
        with pytest.raises(gjit.InternalError):
            compiled(np.ones(3))


def test_without_the_knob_nothing_is_compared(wrong_exp):
    with gjit.config(check=False):
        assert gjit.script(lambda x: np.exp(x))(np.zeros(1)).tolist() == [0.0]


def test_a_call_happens_once(capsys):
    def program(x, log, generator):
        x += 1
        log.append(len(log))
        CALLS.append(x.sum())
        print("called", len(CALLS))
        return generator.random(2), np.random.random(), x

    CALLS.clear()
    x, log, generator = np.zeros(2), [], np.random.default_rng(3)
    np.random.seed(5)
    drawn, legacy, result = gjit.script(program)(x, log, generator)
    assert result is x
    assert (x.tolist(), log, CALLS) == ([1.0, 1.0], [0], [2.0])
    assert capsys.readouterr().out == "called 1\n"
    assert drawn.tolist() == np.random.default_rng(3).random(2).tolist()
    np.random.seed(5)
    assert legacy == np.random.random()


def test_names_that_the_program_assigns_are_assigned_once():
    def program():
        set_count(COUNT + 1)
        return COUNT

    def make():
        count = 0

        def increase():
            nonlocal count
            count += 1
            return count

        return increase

    set_count(0)
    compiled = gjit.script(program)
    assert [compiled() for _ in range(3)] == [1, 2, 3]
    increase = gjit.script(make())
    assert [increase() for _ in range(3)] == [1, 2, 3]


def test_exceptions_and_warnings_come_through_once():
    def program(x, index):
        return np.log(x)[index]

    compiled = gjit.script(program)
    with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        assert compiled(np.zeros(2), 1) == -np.inf
    assert len(caught) == 1
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        compiled(np.ones(2), 5)


def test_compiled_functions_that_are_called_inside_are_part_of_the_comparison(wrong_exp):
    inner = gjit.script(lambda x: np.exp(x))

    def outer(x, function):
        return function(x) + 1

    with pytest.raises(gjit.InternalError, match="outer differs"):
        gjit.script(outer)(np.ones(3), inner)


def test_arguments_that_cannot_be_copied_are_not_compared(caplog):
    compiled = gjit.script(lambda values: sum(values))
    assert compiled(value for value in (1, 2, 3)) == 6
    assert "is not compared" in caplog.text


def test_arguments_that_share_memory_still_do():
    def shift(a, b):
        a[1:] = b
        return a

    x = np.arange(5.0)
    assert gjit.script(shift)(x, x[:-1]) is x
    assert x.tolist() == [0.0, 0.0, 1.0, 2.0, 3.0]


def test_traced_functions_and_modules():
    traced = gjit.trace(lambda x: x * 2 + 1, np.ones(2))
    assert traced(np.ones(3)).tolist() == [3.0, 3.0, 3.0]


def test_a_graph_alone_has_nothing_to_be_compared_with():
    compiled = gjit.script(lambda x, k=2: x * k)
    bound = gjit.bind(gjit.parse_graph(str(compiled.graph)), compiled.captures)
    assert bound(3) == 6
    with gjit.config(disable=True):
        assert bound(3) == 6


def test_the_environment_variable_is_enough(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nimport gjit\n\n\n"
        "@gjit.register_pass(stage='typed')\ndef swap(graph):\n"
        "    for node in graph.all_nodes():\n"
        "        node.op = 'numpy.sin' if node.op == 'numpy.exp' else node.op\n\n\n"
        "@gjit.script\ndef f(x):\n    return np.exp(x)\n\n\nf(np.ones(3))\n"
    )
    root = os.path.dirname(os.path.dirname(gjit.__file__))
    environment = {**os.environ, "GJIT_CHECK": "1", "PYTHONPATH": root}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
    assert done.returncode != 0
    assert "InternalError: bug in gjit: GJIT_CHECK found a wrong result: f differs from NumPy" in done.stderr
