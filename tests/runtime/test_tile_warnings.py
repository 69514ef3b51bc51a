from __future__ import annotations

import warnings

import numpy as np
import pytest

from tests.runtime.region_programs import SIZE, Program, arrays, assert_same, risky, special_values

pytestmark = pytest.mark.usefixtures("small_tiles")


@pytest.mark.parametrize(
    "state", [{}, {"all": "ignore"}, {"all": "warn"}, {"divide": "ignore"}, {"under": "warn", "invalid": "ignore"}]
)
def test_each_op_warns_once_with_the_text_and_order_of_numpy(state):
    x, y = arrays("f8", "f8")
    with np.errstate(**state):
        assert assert_same(risky, x, y).tiled == 1


def test_warnings_name_the_line_of_the_user_and_are_shown_once_for_it(recwarn):
    program = Program(risky, np.zeros(SIZE), np.zeros(SIZE))
    program.tiled(np.zeros(SIZE), np.zeros(SIZE))
    assert [(each.filename, each.lineno, str(each.message)) for each in recwarn] == [
        ("program.py", 1, "invalid value encountered in divide")
    ]
    assert "__warningregistry__" in program.globals


@pytest.mark.parametrize("mode", ["raise", "call", "print"])
def test_error_states_that_act_at_once_run_op_by_op(mode, capsys):
    with np.errstate(all=mode, call=lambda kind, flag: None):
        assert assert_same(risky, *arrays("f8", "f8")).tiled == 0


def test_warnings_that_are_errors_run_op_by_op():
    program = Program(risky, np.zeros(SIZE), np.zeros(SIZE))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value encountered in divide"):
            program.tiled(np.zeros(SIZE), np.zeros(SIZE))
    assert program.region.tiled == 0


def test_a_store_and_a_cast_warn_once():
    def build(nodes, target, x):
        nodes("setitem", target, ..., nodes("operator.mul", nodes("numpy.exp", x), x))
        return []

    for dtype in ("f4", "i4"):
        assert assert_same(build, np.zeros(SIZE, dtype), special_values("f8", SIZE, 1)).tiled == 1
