import ast
import os
import pty
import subprocess
import sys
import time

import pytest

from gjit.source import Span, function_source


def decorate(function):
    return function


@decorate
@decorate
def decorated(x):
    # a comment
    return x  # the end


pair = (lambda x: x + 1, lambda x: x + 2)


def outer():
    if True:

        def inner(x):
            """Text at a lower indent:
            no indent, 'quotes' and a # sign
            """
            return x + 1

    return inner


def test_positions_are_those_of_the_file():
    found = function_source(decorated)
    line = found.span(found.node.body[-1]).line
    assert open(__file__).read().splitlines()[line - 1] == "    return x  # the end"
    assert found.file == __file__


def test_lambdas_on_one_line_are_told_apart():
    assert [ast.unparse(function_source(function).node.body) for function in pair] == ["x + 1", "x + 2"]


def test_nested_functions_with_odd_indentation():
    assert ast.unparse(function_source(outer()).node.body[-1]) == "return x + 1"


def test_two_functions_of_one_name():
    def first():
        def same(x):
            return x + 1

        return same

    def second():
        def same(x):
            return x + 2

        return same

    assert ast.unparse(function_source(second()).node.body[-1]) == "return x + 2"
    assert ast.unparse(function_source(first()).node.body[-1]) == "return x + 1"


def test_a_function_without_source():
    namespace = {}
    exec("def made(x):\n    return x", namespace)
    with pytest.raises((OSError, TypeError)):
        function_source(namespace["made"])


def test_a_notebook_cell():
    import linecache

    text = "def cell(x):\n    return x * 3\n"
    name = "<ipython-input-1-0123456789ab>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    assert ast.unparse(function_source(namespace["cell"]).node.body[0]) == "return x * 3"


def test_the_program_of_the_command_line():
    program = "from gjit.source import function_source\ndef f(x):\n    return x * 7\n"
    program += "print(function_source(f).node.body[0].lineno)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "3\n"


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pseudo-terminal")
def test_the_interactive_prompt():
    lines = [
        "from gjit.source import function_source; import ast",
        "def f(x):",
        "    return x * 7",
        "",
        "print(ast.unparse(function_source(f).node.body[0]).upper())",
        "exit()",
    ]
    shown = _typed(lines)
    assert "RETURN X * 7" in shown


def _typed(lines):
    """What a Python prompt shows when these lines are typed."""
    pid, terminal = pty.fork()
    if pid == 0:
        environment = {**os.environ, "PYTHON_BASIC_REPL": "1", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        os.execve(sys.executable, [sys.executable, "-q"], environment)
    shown = ""
    try:
        for line in ["", *lines]:
            shown += _read_until_prompt(terminal)
            os.write(terminal, line.encode() + b"\n")
        while True:
            shown += os.read(terminal, 4096).decode()
    except OSError:
        return shown
    finally:
        os.waitpid(pid, 0)


def _read_until_prompt(terminal):
    shown, end = "", time.monotonic() + 20
    while not shown.rstrip(" ").endswith((">>>", "...")) and time.monotonic() < end:
        shown += os.read(terminal, 4096).decode()
    return shown


def test_span_text():
    span = Span(__file__, 1)
    assert span.text() == "import ast"
    assert str(span) == f"{__file__}:1"
