"""What a global name, a free variable or an attribute of a module is when the function is captured."""

from __future__ import annotations

import functools
import site
import sys
import sysconfig
import types
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

import numpy as np

from gjit.ir.capturable import has_graph
from gjit.ir.graph import CaptureKind
from gjit.ops import Op, names, table

_IMMUTABLE = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), np.dtype)


class Standing(Enum):
    """How the graph refers to an object."""

    CONSTANT = auto()  # immutable: stands as an operand, the name is guarded
    ROW = auto()  # a function of the op table, the name is guarded
    MODULE = auto()  # its attributes are resolved in turn
    FUNCTION = auto()  # a Python function, or something with a graph
    CLASS = auto()  # a class, guarded
    OBJECT = auto()  # anything else: loaded each time


@dataclass(frozen=True, slots=True)
class Resolved:
    """One name, looked up: the object, where the name lives, and how the graph may use it."""

    value: object
    standing: Standing
    name: str
    kind: CaptureKind
    namespace: object
    op: Op | None = None


class UnboundName(Exception):
    """The name has no value when the function is captured; it may get one before it is read."""


def resolve_name(function: types.FunctionType, name: str) -> Resolved:
    """A free variable, global or built-in of `function`.

    Raises UnboundName for a name without a value.
    """
    if name in function.__code__.co_freevars:
        cell = function.__closure__[function.__code__.co_freevars.index(name)]
        try:
            value = cell.cell_contents
        except ValueError:
            raise UnboundName(name) from None
        return _resolved(value, name, CaptureKind.CELL, cell)
    return resolve_global(function, name)


def resolve_global(function: types.FunctionType, name: str) -> Resolved:
    """A global or built-in of `function`, whatever variables there are around it.

    Raises UnboundName for a name without a value.
    """
    scope = function.__globals__
    if name in scope:
        return _resolved(scope[name], name, CaptureKind.GLOBAL, scope)
    builtins = scope.get("__builtins__", __builtins__)
    builtins = vars(builtins) if isinstance(builtins, types.ModuleType) else builtins
    if name not in builtins:
        raise UnboundName(name)
    return _resolved(builtins[name], name, CaptureKind.GLOBAL, scope)


def resolve_attribute(module: Resolved, name: str) -> Resolved | None:
    """`module.name`; None when the module has no such attribute (reading it then raises as in Python)."""
    try:
        value = getattr(module.value, name)
    except AttributeError:
        return None
    return _resolved(value, name, CaptureKind.GLOBAL, vars(module.value))


def _resolved(value: object, name: str, kind: CaptureKind, namespace: object) -> Resolved:
    return Resolved(value, standing(value), name, kind, namespace, table.of_function(value))


def standing(value: object) -> Standing:
    """How a graph refers to `value`."""
    if table.of_function(value) is not None:
        return Standing.ROW
    if is_immutable(value) or names.name_of(value) is not None:
        return Standing.CONSTANT
    if isinstance(value, types.ModuleType):
        return Standing.MODULE
    if has_graph(value) or type(value) is types.FunctionType:
        return Standing.FUNCTION
    if isinstance(value, type):
        return Standing.CLASS
    return Standing.OBJECT


def is_immutable(value: object) -> bool:
    """Whether the value can stand in a graph as a constant."""
    if type(value) is tuple:
        return all(is_immutable(element) for element in value)
    if type(value) is slice:
        return all(is_immutable(part) for part in (value.start, value.stop, value.step))
    return type(value) in _IMMUTABLE or isinstance(value, np.dtype) or _is_plain_scalar(value)


def _is_plain_scalar(value: object) -> bool:
    return isinstance(value, np.generic) and type(value) is value.dtype.type and value.dtype.kind in "biufcmM"


def is_user_code(function: types.FunctionType, package: str) -> bool:
    """Whether a function belongs to the user (or to the package whose function is scripted) rather than to the
    standard library, another installed package or gjit itself."""
    if is_own_code(function):
        return False
    return not _is_installed(function.__code__.co_filename) or _package(function.__module__) in (package, "gjit")


def is_own_code(function: types.FunctionType) -> bool:
    """Whether a function is part of gjit and called as it is; `forward` and `__call__` of modules are scripted,
    and gradient rules are."""
    module = function.__module__ or ""
    return module.startswith("gjit.") and not module.startswith(("gjit.module.", "gjit.demo", "gjit.ops.gradients_"))


def is_user_class(cls: type) -> bool:
    """Whether a class was written by the user: it comes neither with Python nor with an installed package."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return cls.__module__ != "builtins" and not (file and _is_installed(file))


def _package(module: str | None) -> str:
    return (module or "").partition(".")[0]


def is_stable_namespace(namespace: object) -> bool:
    """Whether a module's names need no guard: nobody rebinds the functions of NumPy or the standard library."""
    file = namespace.get("__file__") if isinstance(namespace, dict) else None
    if isinstance(namespace, dict) and file is None:
        return namespace.get("__name__") in sys.builtin_module_names
    return bool(file) and _is_installed(file)


@functools.cache
def _is_installed(file: str) -> bool:
    if file.startswith("<frozen"):
        return True
    path = Path(file)
    return any(path.is_relative_to(folder) for folder in _installed_folders())


@functools.cache
def _installed_folders() -> tuple[Path, ...]:
    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.update(site.getsitepackages() if hasattr(site, "getsitepackages") else ())
    return tuple(Path(folder) for folder in folders if folder)
