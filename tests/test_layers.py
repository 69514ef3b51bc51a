"""Imports go only downward, stand at the top of their files, and make no cycles; the graph knows no op."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "gjit"

LAYERS = (
    ("errors", "source", "settings"),
    ("ir",),
    ("ops",),
    ("capture", "passes", "scheduler", "cuda_kernels"),
    ("runtime",),
    ("interchange",),
    ("marks",),
    ("module", "report"),
    ("compiled",),
    ("api", "exporting", "saving"),
    ("freezing",),
    ("gradients",),
    ("optim",),
    ("testing",),
    ("",),  # gjit/__init__.py: the public names
    ("cli", "demo", "timing", "__main__"),
)
"""The parts of each layer, lowest first. Parts of layers that hold several packages may not import each other."""

RANKS = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}
SIBLINGS = ({"capture", "passes", "scheduler", "cuda_kernels"},)


def module_name(path: Path) -> str:
    parts = ("gjit", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def part_of(module: str) -> str:
    """The first name below `gjit`: `gjit.ir.graph` is of the part `ir`."""
    return module.removeprefix("gjit").removeprefix(".").split(".")[0]


def imported_modules(module: str) -> Iterator[tuple[int, str]]:
    """The modules of gjit that `module` imports, each with its line."""
    tree = ast.parse(FILES[module].read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}:{node.lineno} imports relatively"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield node.lineno, whole if whole in FILES else str(node.module)


def imports_of_gjit(module: str) -> list[tuple[int, str]]:
    return [(line, name) for line, name in imported_modules(module) if name == "gjit" or name.startswith("gjit.")]


@pytest.mark.parametrize("module", FILES)
def test_every_module_is_in_a_layer(module):
    assert part_of(module) in RANKS


@pytest.mark.parametrize("module", FILES)
def test_imports_go_only_downward(module):
    part = part_of(module)
    for line, imported in imports_of_gjit(module):
        other = part_of(imported)
        below = RANKS[other] < RANKS[part]
        beside = RANKS[other] == RANKS[part] and not any({part, other} <= group for group in SIBLINGS)
        assert other == part or below or beside, f"{FILES[module]}:{line} imports {imported}, which is not below"


EAGER = [module for module in FILES if module != "gjit"]
"""Every module but the package itself, which imports a public name when it is first used."""


@pytest.mark.parametrize("module", EAGER)
def test_imports_stand_at_the_top_of_the_file(module):
    tree = ast.parse(FILES[module].read_text())
    seen_code = False
    for statement in tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            assert not seen_code, f"{FILES[module]}:{statement.lineno} imports below other code"
        elif not is_docstring(statement):
            seen_code = True
            found = [node.lineno for node in ast.walk(statement) if isinstance(node, (ast.Import, ast.ImportFrom))]
            assert not found, f"{FILES[module]}:{found[0]} imports inside other code; optional packages: errors.require"


def is_docstring(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@pytest.mark.parametrize("module", EAGER)
def test_no_module_is_imported_by_a_name_in_the_code(module):
    """Optional packages go through `errors.require`; the imports of the user's program have names that are data."""
    for node in ast.walk(ast.parse(FILES[module].read_text())):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            assert not isinstance(node.args[0], ast.Constant), f"{FILES[module]}:{node.lineno} imports by name"


def test_imports_make_no_cycle():
    graph = {module: {name for _, name in imports_of_gjit(module) if name != module} for module in FILES}
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("module", [module for module in FILES if part_of(module) == "ir"])
def test_the_graph_knows_no_op_of_numpy_python_or_math(module):
    """Names of ops are data there: no text in `gjit.ir` names a row of the table."""
    tree = ast.parse(FILES[module].read_text())
    documentation = {id(node.value) for node in ast.walk(tree) if is_docstring(node)}
    families = ("numpy.", "operator.", "ndarray.", "math.", "builtin.")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            name = node.value.split("(")[0]
            is_op = name.startswith(families) and name.partition(".")[2].replace(".", "").isidentifier()
            assert not is_op, f"{FILES[module]}:{node.lineno} names the op {node.value!r}"


def test_no_optional_package_is_imported_at_the_top():
    optional = {"cupy", "pynvml", "scipy", "onnx", "onnxruntime", "dask", "rich", "graphviz", "matplotlib"}
    for module in FILES:
        for line, name in imported_modules(module):
            assert name.split(".")[0] not in optional, f"{FILES[module]}:{line} imports {name}"
