"""The README and the documentation say what is there: commands, examples, public names, knobs, errors, links."""

from __future__ import annotations

import ast
import inspect
import os
import re
import tomllib
from pathlib import Path

import pytest

import gjit
from gjit import errors, settings

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ERRORS = [name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)]


def text_of(name):
    return (ROOT / name).read_text()


def blocks(file, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", file.read_text(), re.MULTILINE | re.DOTALL)


def commands():
    lines = [line for block in blocks(ROOT / "README.md", "sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("python3 -m venv")]


def test_each_command_of_the_readme_is_one_line_that_sets_up_its_own_environment():
    assert len(commands()) == 2
    demo, tests = commands()
    for command in (demo, tests):
        assert "-m pip install" in command
        assert " && " in command
    assert demo.endswith("-m gjit demo")
    assert "[test]" in tests
    assert "-m pytest" in tests


def test_ci_runs_the_readme_command():
    script = text_of(".ci/run")
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    pattern = re.search(r"grep -m 1 -E '([^']+)' README.md", script)[1]
    matching = [line for line in text_of("README.md").splitlines() if re.search(pattern, line)]
    assert matching == [commands()[1]]
    for check in ("ruff check", "ruff format --check", "mypy"):
        assert check in script


NEEDED = {"dask.md": ["dask.array"], "onnx.md": ["onnx", "onnxruntime"]}
"""Packages that the programs of a page import."""


@pytest.mark.parametrize(
    ("file", "index", "block"),
    [(file.name, index, block) for file in DOCUMENTS for index, block in enumerate(blocks(file, "python"))],
    ids=lambda value: value if isinstance(value, str) and len(value) < 40 else "",
)
def test_python_in_the_documentation_runs(file, index, block, tmp_path, monkeypatch, capsys):
    for package in NEEDED.get(file, ()):
        pytest.importorskip(package)
    path = tmp_path / f"{file}-{index}.py"
    path.write_text(block)
    monkeypatch.chdir(tmp_path)
    exec(compile(ast.parse(block), str(path), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("name", sorted(gjit.__all__))
def test_every_public_name_is_documented(name):
    assert re.search(rf"`{name}\b", text_of("docs/api.md"))


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_class_is_documented(name):
    assert f"`{name}`" in text_of("docs/errors.md")


@pytest.mark.parametrize("knob", settings.KNOBS.values(), ids=lambda knob: knob.name)
def test_every_knob_is_documented(knob):
    row = next((line for line in text_of("docs/knobs.md").splitlines() if f"`{knob.variable}`" in line), "")
    assert f"`{knob.name}`" in row


def test_every_extra_is_documented():
    for extra in PROJECT["project"]["optional-dependencies"]:
        assert f"`{extra}`" in text_of("README.md")


def test_numpy_is_the_only_dependency():
    assert [re.match(r"[\w-]+", each)[0] for each in PROJECT["project"]["dependencies"]] == ["numpy"]


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.name)
def test_links_lead_somewhere(file):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", file.read_text()):
        if "://" not in target:
            assert (file.parent / target).exists(), target


def test_every_document_is_reached_from_the_index():
    linked = set(re.findall(r"\]\(([\w-]+\.md)", text_of("docs/index.md")))
    assert linked == {file.name for file in DOCUMENTS} - {"README.md", "index.md"}


def test_no_absolute_path_or_host_of_one_machine():
    for name in ("README.md", "pyproject.toml", ".ci/run", ".github/workflows/cpu.yml", ".github/workflows/gpu.yml"):
        assert not re.search(r"(?<![\w./])/(home|root|work|tmp|usr/(?!bin/env))|index-url|https?://", text_of(name)), (
            name
        )


def test_every_ignored_lint_rule_has_its_reason():
    lines = text_of("pyproject.toml").splitlines()
    for line in lines:
        if re.fullmatch(r'\s+"[A-Z]{1,4}\d*",.*', line):
            assert " # " in line, line
