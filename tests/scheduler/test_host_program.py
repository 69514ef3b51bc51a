"""The text of host programs: what folds into one expression, what becomes a variable."""

from __future__ import annotations

import ast
import inspect
import textwrap

import numpy as np
import pytest

from tests.scheduler.printing import of_text, printed


def same_text(function) -> None:
    """The program is the function as it was written (up to the names of NumPy functions)."""
    source = ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(function))))
    assert printed(function).replace("numpy_", "np.") == source


def running_sum(x, n):
    for i in range(1, n):
        x[i] = x[i] + x[i - 1]
    return x


def count_multiples(n, xs):
    count = 0
    i = 0
    while i < n and xs[i] >= 0:
        if xs[i] % 3 == 0:
            count += 1
        elif not xs[i] % 5:
            count -= 1
        else:
            xs[i] += count
        i += 1
    return count


def fibonacci(a, b, n):
    while a < n:
        a, b = (b, a + b)
    return a


def slices(a, i, n):
    a[1:-1] = a[2:] + a[:-2]
    a[i, :] *= 2
    a[i:n, ..., None] -= 1
    return a[::-1]


def calls(x, f, names):
    f(x, *names, key=x, **names).method(1).other = f
    del names[0], x.attribute
    return np.sqrt(x * x + f(x)) if 0 < x <= f(x) else f"{x!r}: {names:>{x}}"


def comprehensions(xs, n):
    squares = [x * n for x in xs if x if x < n]
    table = {x: [y for y in x] for x, n in xs}
    return (squares, table, {*squares, 1}, (x for x in xs))


def inner_functions(n):

    def add(a, /, b, *rest, c=n, **more):
        nonlocal n
        n += a
        return lambda d, *, e=1: d + e + c

    return add(n, 1)


def jumps(n, xs):
    for i, (a, *b) in enumerate(xs):
        if a:
            continue
        for c in b:
            if c == n:
                break
        else:
            xs.append(i)
    else:
        return None
    return xs


def exceptions(x, manager):
    try:
        x = 1 / x
    except (ValueError, ZeroDivisionError) as error:
        raise KeyError(x) from error
    except TypeError:
        raise
    else:
        x = 2
    finally:
        print(x)
    with manager as entered:
        return entered
    return x


@pytest.mark.parametrize(
    "function",
    [
        running_sum,
        count_multiples,
        fibonacci,
        slices,
        comprehensions,
        inner_functions,
        exceptions,
    ],
    ids=lambda function: function.__name__,
)
def test_program_prints_as_the_function_was_written(function):
    same_text(function)


def test_parts_of_an_expression_fold_into_it():
    assert printed(calls).splitlines()[1:] == [
        "    f(x, *names, key=x, **names).method(1).other = f",
        "    del names[0]",
        "    del x.attribute",
        "    return numpy_sqrt(x * x + f(x)) if 0 < x <= f(x) else f'{x!r}: {names:>{x}}'",
    ]


def test_else_of_a_loop_is_native():
    text = printed(jumps)
    assert "for i, (a, *b) in enumerate(xs):" in text
    assert "        else:\n            xs.append(i)" in text


def test_order_of_effects_makes_a_variable():
    program, function = of_text(
        """graph f(%g, %h) {
          %0 = call(%g)
          %1 = call(%h)
          %2 = operator.sub(%1, %0)
          return %2
        }"""
    )
    assert program.source.splitlines()[1:] == [
        "    call = scripted(g)()",
        "    return scripted(h)() - call",
    ]
    order: list[str] = []
    assert function(lambda: order.append("g") or 1, lambda: order.append("h") or 5) == 4
    assert order == ["g", "h"]


def test_value_used_twice_is_evaluated_once():
    program, function = of_text(
        "graph f(%g) { %0 = call(%g) %1 = operator.mul(%0, %0) %2 = operator.add(%1, %0) return %2 }"
    )
    assert program.source.count("scripted") == 1
    assert function(lambda: 3) == 12


def test_unused_results_still_run():
    program, function = of_text("graph f(%x) { %0 = operator.truediv(1, %x) return None }")
    assert program.source == "def f(x):\n    1 / x"
    with pytest.raises(ZeroDivisionError):
        function(0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-0.0", -0.0),
        ("-1", -1),
        ("1e308", 1e308),
        ("inf", float("inf")),
        ("nan", float("nan")),
        (str(2**70), 2**70),
        ("complex(-0.0, 2.0)", complex(-0.0, 2.0)),
        ('"a\\n{}"', "a\n{}"),
        ("None", None),
        ("True", True),
        ("...", ...),
        ("(1, (2.0,))", (1, (2.0,))),
        ("slice(1, None, None)", slice(1, None)),
        ("float32(0.5)", np.float32(0.5)),
        ('dtype("float32")', np.dtype("f4")),
    ],
)
def test_constants_print_exactly(text, value):
    program, function = of_text(f"graph f() {{ return {text} }}")
    assert type(function()) is type(value)
    assert repr(function()) == repr(value)
    assert compile(program.source, "", "exec")


def test_negative_base_keeps_its_parentheses():
    program, function = of_text("graph f(%x) { %0 = operator.pow(-1, %x) return %0 }")
    assert function(2) == 1
    assert "(-1) ** x" in program.source


def test_methods_print_on_proved_arrays_alone():
    text = "graph f(%x{}) {{ %0 = numpy.sum(%x, axis=0) return %0 }}"
    assert "x.sum(axis=0)" in of_text(text.format(": array<int64, 2>"))[0].source
    program, function = of_text(text.format(""))
    assert "numpy_sum(x, axis=0)" in program.source
    assert function([[1, 2], [3, 4]]).tolist() == [4, 6]


@pytest.mark.parametrize(
    ("node", "dtype", "expected"),
    [
        ("numpy.sum(%x)", "float64", "numpy_sum(x)"),
        ("numpy.sum(%x) {method=True}", "float64", "x.sum()"),
        ("numpy.sum(%x, dtype=1)", "int64", "numpy_sum(x, dtype=1)"),
        ("numpy.max(%x)", "bool", "x.max()"),
        ("numpy.mean(%x)", "int64", "numpy_mean(x)"),
        ("numpy.cumsum(%x)", "complex128", "numpy_cumsum(x)"),
        ("numpy.argmax(%x)", "float64", "x.argmax()"),
        ("numpy.ravel(%x)", "float64", "x.ravel()"),
        ("numpy.round(%x)", "float64", "numpy_round(x)"),
        ("numpy.trace(%x)", "int64", "x.trace()"),
    ],
)
def test_a_function_that_may_warn_is_no_method_since_the_warning_names_a_line(node, dtype, expected):
    program, _ = of_text(f"graph f(%x: array<{dtype}, 2>) {{ %0 = {node} return %0 }}")
    assert program.source.endswith(f"return {expected}")


def test_names_from_outside_never_collide():
    program, function = of_text(
        "graph f(%numpy_exp, %exp) { %len = numpy.exp(%exp) %0 = builtin.len(%numpy_exp) "
        "%1 = operator.add(%len, %0) %2 = operator.mul(%1, %len) return %2 }"
    )
    assert function([1, 2, 3], 0.0) == 4.0
    assert "len(numpy_exp)" in program.source


def test_methods_of_strings_are_called_as_they_are():
    text = """graph f(%t: {type}) {{
      %0 = getattr(%t) {{name="strip"}}
      %1 = call(%0)
      %2 = getattr(%1) {{name="{method}"}}
      %3 = call(%2, "a")
      return %3
    }}"""
    assert "return t.strip().removeprefix('a')" in of_text(text.format(type="str", method="removeprefix"))[0].source
    assert "scripted" in of_text(text.format(type="unknown", method="removeprefix"))[0].source
