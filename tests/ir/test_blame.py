import pytest

import gjit
from gjit.ir.blame import blame


def test_an_unexpected_exception_names_the_stage_and_shows_the_graph():
    graph = gjit.script(lambda x: x + 41).graph
    with pytest.raises(gjit.InternalError) as caught, blame("some pass", graph):
        raise KeyError("lost")
    assert "bug in gjit: the stage 'some pass' failed (KeyError: 'lost')" in str(caught.value)
    assert "operator.add(%x, 41)" in str(caught.value)
    assert isinstance(caught.value.__cause__, KeyError)


def test_gjits_own_errors_pass():
    graph = gjit.script(lambda x: x + 41).graph
    with pytest.raises(gjit.UnsupportedError), blame("some pass", graph):
        raise gjit.UnsupportedError("no")


def test_a_pass_that_fails_is_named():
    @gjit.register_pass(stage="typed", name="stumbles")
    def stumbles(graph):
        raise ValueError("oops")

    try:
        with pytest.raises(gjit.InternalError, match=r"'stumbles' failed \(ValueError: oops\)"):
            gjit.script(lambda x: x + 1)(2)
    finally:
        stumbles.unregister()
