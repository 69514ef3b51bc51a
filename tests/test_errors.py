import pytest

from gjit import errors
from gjit.source import Span


def test_excerpt_shows_line_and_caret(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("def f(x):\n    y = naïve(x) + exec('x')\n")
    column = len("    y = naïve(x) + ".encode())
    span = Span(str(file), 2, column, 2, column + len("exec('x')"))
    assert errors.excerpt(span).splitlines() == [
        f'  File "{file}", line 2',
        "    y = naïve(x) + exec('x')",
        "                   ^^^^^^^^^",
    ]


def test_a_span_over_several_lines_marks_its_first(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("x = (1 +\n     2)\n")
    assert errors.excerpt(Span(str(file), 1, 5, 2, 6)).splitlines()[2] == "         ^^^"


def test_unsupported_error_holds_its_parts():
    error = errors.UnsupportedError("no", Span("nowhere.py", 3), hint="yes")
    assert (error.problem, error.hint, error.span) == ("no", "yes", Span("nowhere.py", 3))
    assert str(error) == 'no\n  File "nowhere.py", line 3\n  instead: yes'


@pytest.mark.parametrize(
    ("error", "base"),
    [
        (errors.UnsupportedError, errors.GjitError),
        (errors.TraceError, errors.UnsupportedError),
        (errors.ArchiveError, errors.GjitError),
        (errors.CompileError, errors.GjitError),
        (errors.DeviceLostError, errors.DeviceError),
        (errors.DeviceError, errors.GjitError),
        (errors.InternalError, errors.GjitError),
    ],
)
def test_classes(error, base):
    assert issubclass(error, base)


def test_require_names_the_extra():
    with pytest.raises(ImportError, match=r"pip install 'gjit\[cuda\]'"):
        errors.require("a_package_that_is_not_there", extra="cuda")
    assert errors.require("math", extra="cuda").pi > 3
