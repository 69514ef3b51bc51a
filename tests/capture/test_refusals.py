"""The message of each construct that cannot be scripted: file, line and caret, what, and what to write instead."""

import numpy as np
import pytest

import gjit


def generator(x):
    yield x


def generator_expression_is_fine(x):
    return sum(v for v in x)


async def coroutine(x):
    return x


def writes_global(x):
    global COUNT
    COUNT = x
    return x


def evaluates(x):
    return eval("x + 1")


def executes(x):
    exec("y = x")
    return x


def lists_locals(x):
    return locals()


COUNT = 0
REFUSED = [
    (generator, "`yield` cannot be scripted", "append to a list", "yield x"),
    (coroutine, "`async` cannot be scripted", "plain code", "async def coroutine(x):"),
    (writes_global, "the global 'COUNT' is assigned", "return the value", "global COUNT"),
    (evaluates, "`eval` cannot be scripted", "call the function", 'eval("x + 1")'),
    (executes, "`exec` cannot be scripted", "write the statements", 'exec("y = x")'),
    (lists_locals, "`locals` cannot be scripted", "name the local", "locals()"),
]


@pytest.mark.parametrize(("function", "problem", "hint", "line"), REFUSED, ids=[case[0].__name__ for case in REFUSED])
def test_message(function, problem, hint, line):
    with pytest.raises(gjit.UnsupportedError) as caught:
        gjit.script(function)(np.ones(3))
    message = str(caught.value)
    assert problem in message
    assert hint in message.split("instead: ")[1]
    assert f'File "{__file__}", line ' in message
    assert line in message
    assert "^" in message


def test_caret_is_under_the_construct():
    with pytest.raises(gjit.UnsupportedError) as caught:
        gjit.script(evaluates)(1)
    source, caret = str(caught.value).splitlines()[2:4]
    assert source[caret.index("^") : caret.rindex("^") + 1] == 'eval("x + 1")'


def test_generator_expressions_are_scripted():
    assert gjit.script(generator_expression_is_fine)(np.arange(4)) == 6


def test_a_refused_callee_is_a_host_call_that_is_counted():
    def caller(x):
        writes_global(x)
        return x + COUNT

    compiled = gjit.script(caller)
    assert compiled(2) == 4
    assert compiled.statistics.host_calls == 1
    assert "the global 'COUNT' is assigned" in str(gjit.explain(compiled, 2))


def test_strict_makes_it_an_error():
    def caller(x):
        return evaluates(x)

    with pytest.raises(gjit.UnsupportedError, match="`eval` cannot be scripted"):
        gjit.script(caller, strict=True)(1)


def test_source_that_cannot_be_found():
    namespace = {}
    exec("def made(x):\n    return x", namespace)
    with pytest.raises(gjit.UnsupportedError, match=r"the source of 'made' cannot be found"):
        gjit.script(namespace["made"])(1)
