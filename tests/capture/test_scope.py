import ast
import textwrap

import pytest

from gjit.capture.names import free_names
from gjit.capture.scope import analyse

CELLS = [
    ("a branch that may not bind", "if c:\n    y = 1\nreturn y", {"y"}),
    ("both branches bind", "if c:\n    y = 1\nelse:\n    y = 2\nreturn y", set()),
    ("the other branch leaves", "if c:\n    y = 1\nelse:\n    return 0\nreturn y", set()),
    ("a loop variable after the loop", "for i in x:\n    pass\nreturn i", {"i"}),
    ("a loop variable in the loop", "for i in x:\n    c = c + i\nreturn c", set()),
    ("bound in a loop, read after it", "while c:\n    y = 1\n    c = c - 1\nreturn y", {"y"}),
    ("assigned in a try", "try:\n    y = 1\nexcept E:\n    y = 2\nreturn y", {"y"}),
    ("the name of an exception", "try:\n    f()\nexcept E as e:\n    g(e)", {"e"}),
    ("assigned in a with", "with x:\n    y = 1\nreturn y", {"y"}),
    ("assigned in a with that keeps exceptions", "with errstate():\n    y = 1\nreturn y", set()),
    ("deleted", "y = 1\ndel y\ny = 2\nreturn y", {"y"}),
    ("captured once, before", "k = 2\nreturn lambda v: v + k", set()),
    ("captured and assigned again", "k = 2\nf = lambda v: v + k\nk = 3\nreturn f", {"k"}),
    ("captured before it is assigned", "f = lambda v: v + k\nk = 3\nreturn f", {"k"}),
    ("captured in a loop", "for i in x:\n    c.append(lambda: i)", {"i"}),
    ("written by an inner function", "n = 0\ndef f():\n    nonlocal n\n    n = 1\nf()\nreturn n", {"n"}),
    ("a recursive inner function", "def f(n):\n    return f(n - 1)\nreturn f", {"f"}),
    ("walrus that may not run", "c and (y := 1)\nreturn y", {"y"}),
    ("walrus that runs", "if (y := x) > 0:\n    return y\nreturn -y", set()),
    ("walrus in the test of a loop", "while (y := f()) > 0:\n    g(y)\nreturn y", {"y"}),
    ("a comprehension hides its target", "i = 1\ny = [i for i in x]\nreturn i, y", set()),
    (
        "match binds in its case",
        "match x:\n    case [a, b]:\n        return a + b\n    case _:\n        return 0",
        set(),
    ),
    ("match binds, read after", "match x:\n    case [a]:\n        pass\nreturn a", {"a"}),
]


@pytest.mark.parametrize(("body", "cells"), [case[1:] for case in CELLS], ids=[case[0] for case in CELLS])
def test_cells(body, cells):
    function = ast.parse("def function(x, c):\n" + textwrap.indent(body, "    ")).body[0]

    def keeps_exceptions(manager):
        return ast.unparse(manager) == "errstate()"

    assert analyse(function, keeps_exceptions).cells == cells


def test_free_names_of_nested_functions():
    node = ast.parse("lambda a: [b + a + c for b in d] + (lambda e: e + f)(a)").body[0].value
    assert free_names(node) == {"c", "d", "f"}


def test_super_reads_its_class():
    node = ast.parse("def method(self):\n    return super().method()").body[0]
    assert free_names(node) == {"__class__", "super"}
