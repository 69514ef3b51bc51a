"""Where source text comes from, and what is refused in it."""

from __future__ import annotations

import importlib.util
import sys
import textwrap

import numpy as np
import pytest

import gjit
from gjit.testing import assert_same_as_numpy
from tests.semantics.support import call, check


def module_from(text, name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def odd_source():
    if True:

        def f(x):
            """text at a lower indent:
              two spaces
            no indent, a # sign, and 'quotes'
            """
            # a comment left of the body
            s = """a
b"""
            y = x + 1
            if len(s) == 3:
                y = y * 2
                z = 1
            else:
                z = 0
            return y, s, z, f"{x.shape[0]:>3}|{s!r}"

    return f


def test_source_with_odd_indentation():
    check(odd_source(), call(np.array([1.0, 2.0])))


def test_source_with_tabs_decorators_and_continuations(tmp_path):
    module = module_from(
        """
        import functools
        def twice(f):
        \t@functools.wraps(f)
        \tdef inner(*a):
        \t\treturn f(*a) * 2
        \treturn inner
        def f(x,
              y=1):
        \treturn x + \\
                 y
        @twice
        def g(x): return x + 1
        h = (lambda x:
             x * 3)
        """,
        "gjit_odd_source",
        tmp_path,
    )
    check(module.f, call(np.ones(2)), call(1, 2))
    check(module.h, call(2))
    assert gjit.script(module.g)(3) == 8


def test_a_function_whose_file_changed_keeps_its_meaning_or_says_so(tmp_path):
    module = module_from("def f(x):\n    return x + 1\n", "gjit_changing_source", tmp_path)
    compiled = gjit.script(module.f)
    assert compiled(1) == 2
    (tmp_path / "gjit_changing_source.py").write_text("def f(x):\n    return x + 10\n")
    assert compiled(1) == 2


def test_source_from_exec_is_refused_or_right():
    namespace = {}
    exec("def f(x):\n    return x + 1", namespace)
    compiled = gjit.script(namespace["f"])
    try:
        result = compiled(1)
    except (gjit.UnsupportedError, OSError):
        return
    assert result == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("    yield x", 3),
        ("    async def inner(): pass\n    return x", 3),
        ("    global y\n    y = x", 3),
        ("    eval('x')\n    return x", 3),
        ("    exec('y = 1')\n    return x", 3),
    ],
)
def test_what_is_not_supported_is_refused_with_its_line(text, line, tmp_path):
    module = module_from(f"\ndef f(x):\n{text}\n", "gjit_unsupported_source", tmp_path)
    compiled_error = None
    try:
        gjit.script(module.f)(1)
    except gjit.UnsupportedError as error:
        compiled_error = error
    assert compiled_error is not None
    assert "gjit_unsupported_source.py" in str(compiled_error)
    assert f"line {line}" in str(compiled_error)
    assert "^" in str(compiled_error)


def test_a_callee_that_is_not_supported_is_a_host_call():
    def numbers(limit):
        return eval("list(range(limit))")

    def program(limit):
        return [value * 2 for value in numbers(limit)]

    compiled = gjit.script(program)
    assert_same_as_numpy(compiled, 3, plain=program)
    assert compiled.statistics.host_calls > 0


def test_a_strict_program_refuses_host_calls():
    def numbers(limit):
        return eval("[limit]")

    def program(limit):
        return numbers(limit)

    with pytest.raises(gjit.UnsupportedError, match="eval"):
        gjit.script(program, strict=True)(3)
