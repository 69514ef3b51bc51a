from __future__ import annotations

import html.parser
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

import gjit
from gjit.report.page import document
from gjit.report.words import bytes_text

LARGE = 1 << 20
HOSTILE = "<script>alert('&\"')</script>"


def smooth(u, steps):
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return np.sqrt(np.abs(u * 3.0))


def helper(a):
    scaled = np.exp(a) * 2.0
    return scaled + 1.0


def calls_helper(u, v):
    return helper(u) * 3.0 + v


def only(explanation):
    (region,) = explanation.details
    return region


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


def test_a_region_tells_its_lines_names_and_bytes():
    compiled = gjit.script(smooth)
    store, root = gjit.explain(compiled, np.ones(LARGE), 3).details
    assert store.lines == f"line {line_of(smooth, 2)}"
    assert store.source == (f"{line_of(smooth, 2)}: u[1:-1] = 0.5 * (u[:-2] + u[2:])",)
    assert store.bytes_read == 2 * (LARGE - 2) * 8
    assert store.bytes_written == (LARGE - 2) * 8
    assert store.intermediates == ("add", "mul")
    assert store.intermediate_bytes == 2 * (LARGE - 2) * 8
    assert (root.bytes_read, root.bytes_written, root.intermediate_bytes) == (LARGE * 8, LARGE * 8, 2 * LARGE * 8)
    assert all(region.name in compiled.code for region in (store, root) if region.least_elements is not None)


def test_an_intermediate_has_the_name_that_the_user_gave_it():
    def program(x):
        shifted = x - 1.0
        return np.exp(shifted) * 2.0

    region = only(gjit.explain(gjit.script(program), np.ones(LARGE)))
    assert region.intermediates == ("shifted", "exp")
    assert "never whole in memory: 2 arrays (16.8 MB): shifted" in str(
        gjit.explain(gjit.script(program), np.ones(LARGE))
    )


def test_counters_are_those_of_the_region():
    compiled = gjit.script(lambda x: np.exp(np.sin(x) * 2.0 + 1.0) - 1.0)
    x = np.ones(LARGE)
    assert only(compiled.explain(x)).launches == 0
    compiled(x)
    compiled(x)
    region = only(compiled.explain(x))
    assert (region.launches, region.fallbacks) == (compiled.statistics.launches, compiled.statistics.fallbacks)
    assert region.launches + region.fallbacks == 2
    assert f"so far {region.launches} launch" in str(compiled.explain(x))


def test_sizes_follow_the_arguments():
    compiled = gjit.script(lambda a, b: np.exp(a * b[:, None]) - a.T[0, 0])
    few, many = compiled.explain(np.ones((4, 3)), np.ones(4)), compiled.explain(np.ones((40, 3)), np.ones(40))
    assert {region.bytes_written for region in few.details} == {4 * 3 * 8}
    assert {region.bytes_written for region in many.details} == {40 * 3 * 8}


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        (lambda x, m: np.exp(x[m] * 2.0) + 1.0, (np.ones(8), np.ones(8, bool))),
        (lambda d, k: np.exp(d[k] * 2.0) + np.sin(d[k]), ({"a": np.ones(8)}, "a")),
    ],
    ids=["chosen by data", "from a container"],
)
def test_what_cannot_be_derived_is_unknown(program, arguments):
    explanation = gjit.explain(gjit.script(program), *arguments)
    for region in explanation.details:
        assert region.bytes_read is None
        assert "reads unknown" in str(explanation)


def grows(u, steps):
    for _ in range(steps):
        u = u[1:]
        u = np.exp(u) * 2.0
    return u + 1.0


def test_an_array_that_changes_its_size_from_round_to_round_is_unknown():
    assert {region.bytes_read for region in gjit.explain(gjit.script(grows), np.ones(50), 3).details} == {None}


def twice(u, v):
    return recursive(u) + recursive(v)


def recursive(u, depth=2):
    return np.exp(u) * 2.0 if depth == 0 else recursive(u, depth - 1)


def test_a_function_that_is_called_with_two_sizes_is_unknown_and_with_one_is_known():
    different = gjit.explain(gjit.script(twice), np.ones(50), np.ones((2, 1)).ravel())
    same = gjit.explain(gjit.script(twice), np.ones(50), np.ones(50))
    inner = [region for region in different.details if region.function.startswith("recursive")]
    assert all(region.bytes_read is None for region in inner)
    assert all(region.bytes_read in (None, 400, 800) for region in same.details)


def test_the_host_part_tells_why():
    @gjit.ignore
    def outside(x):
        return x

    def program(x, f, n):
        total = 0.0
        for _ in range(n):
            x = np.exp(x) * 2.0 + 1.0
            print(end="")
        for i in range(n):
            total = total + len(str(i))
        y = np.linalg.inv(x @ x)
        z = np.apply_along_axis(np.sort, 0, x)
        return outside(x), f(x), [each for each in range(n)], y, z

    explanation = gjit.explain(gjit.script(program), np.ones((3, 3)), helper, 2)
    found = {each.what: each for each in explanation.host}
    text = str(explanation)
    assert "its rounds run in Python and call region_0" in text
    assert "its rounds run in Python: its body has no work on arrays" in text
    assert found["matmul"].reason == "no kernel of a region does this: runs as one call of NumPy"
    assert found["numpy.apply_along_axis"].reason == "library op: runs as one call of NumPy"
    assert found["f"].reason == "its callee is only known when it runs"
    assert found["list"].reason == "a comprehension runs in Python, item by item"
    assert found["matmul"].source == "y = np.linalg.inv(x @ x)"
    assert found["matmul"].place == f"line {line_of(program, 7)}"


def refused(x):
    global COUNT
    COUNT = x
    return x


def test_a_refused_callee_is_a_host_call_with_its_reason():
    explanation = gjit.explain(gjit.script(lambda x: refused(x) + 1), 2)
    (each,) = [each for each in explanation.host if each.what == "refused"]
    assert each.reason.startswith("host call: ")
    assert each.reason in str(explanation)
    assert explanation.fallbacks[0].reason == each.reason


def test_data_is_the_whole_explanation():
    explanation = gjit.explain(gjit.script(smooth), np.ones(9), 3)
    data = json.loads(explanation.as_json())
    assert data["function"] == "smooth"
    assert data["regions"] == len(data["details"]) == 2
    assert data["details"][0]["bytes_read"] == 2 * 7 * 8
    assert data["code"] == explanation.code
    assert data["host"][0]["kind"] == "loop"


class Page(html.parser.HTMLParser):
    """Collects tags and text; every tag that is opened has to be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)
        if tag not in ("br", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_shows_regions_and_lines_and_is_self_contained():
    explanation = gjit.explain(gjit.script(smooth), np.ones(LARGE), 3)
    page = Page(explanation._repr_html_())
    assert "u[1:-1] = 0.5 * (u[:-2] + u[2:])" in page.text
    assert all(region.name in page.text for region in explanation.details)
    assert "16.8\xa0MB" in page.text
    assert not {"script", "link", "iframe", "img"} & set(page.tags)
    assert page.tags.count("svg") == 1


def test_hostile_names_and_sources_are_text(tmp_path):
    path = tmp_path / f"{'x' * 3}&.py"
    path.write_text(
        "import numpy as np\n"
        "def program(x, key):\n"
        f"    y = np.exp(x) * 2.0 + 1.0  # {HOSTILE}\n"
        f"    for _ in range(3): y = y + 1.0; z = {HOSTILE!r}\n"
        f"    return getattr(y, {HOSTILE!r}, key), z\n"
    )
    namespace = {"__name__": "hostile"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    program = namespace["program"]
    explanation = gjit.explain(gjit.script(program), np.ones(4), HOSTILE)
    for text in (explanation._repr_html_(), document(explanation, explanation.svg)):
        page = Page(text)
        assert "script" not in page.tags
        assert HOSTILE in page.text
    ET.fromstring(explanation.svg)
    assert HOSTILE in json.loads(explanation.as_json())["details"][0]["source"][0]


def test_an_empty_program_has_every_form(tmp_path):
    explanation = gjit.explain(gjit.script(lambda: None))
    assert (explanation.regions, explanation.details, explanation.host) == (0, (), ())
    assert "0 regions on the engine" in str(explanation)
    assert "Regions" not in Page(explanation._repr_html_()).text
    ET.fromstring(explanation.svg)
    json.loads(explanation.as_json())


def test_save_writes_each_form(tmp_path):
    explanation = gjit.explain(gjit.script(calls_helper), np.ones(9), np.ones(9))
    for suffix in ("html", "json", "svg", "txt"):
        explanation.save(tmp_path / f"report.{suffix}")
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")
    assert json.loads((tmp_path / "report.json").read_text())["function"] == "calls_helper"
    assert ET.parse(tmp_path / "report.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "report.txt").read_text() == f"{explanation}\n"
    for name in ("report.pdf", "report"):
        with pytest.raises(ValueError, match="an explanation is saved as .html, .json, .svg, .txt"):
            explanation.save(tmp_path / name)
        assert not (tmp_path / name).exists()


def test_colours_of_the_table_are_those_of_the_picture():
    explanation = gjit.explain(gjit.script(smooth), np.ones(9), 3)
    assert len({region.colour for region in explanation.details}) == 2
    for region in explanation.details:
        assert f'fill="{region.colour}"' in explanation.svg
        assert f"{region.name}: {region.lines}" in explanation.svg


def test_explaining_runs_nothing_and_needs_no_memory():
    compiled = gjit.script(lambda x, n: np.exp(np.zeros((n, x.shape[0])) + x) * 2.0)
    explanation = gjit.explain(compiled, np.ones(1 << 20), 1 << 20)
    assert only(explanation).bytes_written == 8 << 40
    assert "writes 8.8 TB" in str(explanation)
    assert compiled.statistics.calls == 0


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_each_engine_tells_from_which_size_on_it_runs(engine):
    explanation = gjit.explain(gjit.script(smooth, engine=engine), np.ones(9), 3)
    for region in explanation.details:
        assert region.least_elements is None or f"from {region.least_elements} elements on" in str(explanation)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2 * 10**15, "2000.0 TB"), (None, "unknown")],
)
def test_bytes_in_words(size, text):
    assert bytes_text(size) == text


def test_the_page_of_the_documentation_shows_the_picture_of_its_program():
    page = Path(__file__).parent.parent / "docs" / "explain.md"
    picture = page.with_suffix(".svg").read_text()
    program = page.read_text().split("```python\n")[1].split("```")[0]
    texts = [each.text or "" for each in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
    line = 1 + program.splitlines().index("    return np.fft.fft(u)")
    assert any(text.endswith(f"line {line}") for text in texts)
    assert "relax" in texts
    assert len(picture) < 20_000
