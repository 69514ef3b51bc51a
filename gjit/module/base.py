"""The base of modules: objects with parameters, buffers and submodules, whose `forward` can be traced or scripted.

A parameter is an ordinary NumPy array. `Parameter(array)` only marks an assignment: the module stores the array itself
and remembers the name, so `module.weight` is the plain array, and assigning another array to the name keeps it a
parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from gjit.runtime.device import asarray


class Parameter:
    """Marks an array that is assigned to an attribute of a module as one of its parameters.

    Args:
        data: an array, which is used itself, or anything that `numpy.array` takes.

    >>> import numpy as np
    >>> layer = Module()
    >>> layer.weight = Parameter(np.ones(2))
    >>> type(layer.weight).__name__, [name for name, _ in layer.named_parameters()]
    ('ndarray', ['weight'])
    """

    __slots__ = ("data",)

    def __init__(self, data: object):
        self.data = data if isinstance(data, np.ndarray) else np.array(data)

    def __repr__(self) -> str:
        return f"Parameter({self.data!r})"


class HookHandle:
    """A hook of a module; `remove` takes it away, and may be called again."""

    __slots__ = ("_hooks",)

    def __init__(self, hooks: dict[HookHandle, Callable], hook: Callable):
        self._hooks = hooks
        hooks[self] = hook

    def remove(self) -> None:
        """Take the hook away."""
        self._hooks.pop(self, None)


class Module:
    """Base of models: arrays marked as parameters, registered buffers and other modules are attributes.

    A subclass defines `forward`; calling the module calls it. Names of nested parts are joined by dots.
    """

    forward: Any  # the subclass defines it
    training: bool
    _parameter_names: dict[str, None]  # dictionaries keep the order of registration
    _buffer_names: dict[str, bool]
    _pre_hooks: dict[HookHandle, Callable]
    _hooks: dict[HookHandle, Callable]

    def __new__(cls, *arguments: object, **keywords: object) -> Module:
        """Registries exist before `__init__`, which need not call that of this class."""
        module = super().__new__(cls)
        module.__dict__.update(training=True, _parameter_names={}, _buffer_names={}, _pre_hooks={}, _hooks={})
        return module

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, Parameter):
            self._buffer_names.pop(name, None)
            self._parameter_names[name] = None
            value = value.data
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._parameter_names.pop(name, None)
        self._buffer_names.pop(name, None)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        for hook in list(self._pre_hooks.values()):
            changed = hook(self, arguments)
            if changed is not None:
                arguments = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*arguments, **keywords)
        for hook in list(self._hooks.values()):
            changed = hook(self, arguments, result)
            if changed is not None:
                result = changed
        return result

    def register_forward_pre_hook(self, hook: Callable) -> HookHandle:
        """Call `hook(module, arguments)` before each `forward`; what it returns, if anything, are the new arguments.

        Returns:
            A handle whose `remove()` takes the hook away again.
        """
        return HookHandle(self._pre_hooks, hook)

    def register_forward_hook(self, hook: Callable) -> HookHandle:
        """Call `hook(module, arguments, result)` after each `forward`; what it returns, if anything, is the result.

        Returns:
            A handle whose `remove()` takes the hook away again.
        """
        return HookHandle(self._hooks, hook)

    def register_buffer(self, name: str, array: np.ndarray | None, persistent: bool = True) -> None:
        """Make `array` the attribute `name`: state that is not trained.

        Args:
            persistent: whether it belongs to `state_dict`.

        Raises:
            KeyError: the module has an attribute of this name that is no buffer.
        """
        if hasattr(self, name) and name not in self._buffer_names:
            raise KeyError(f"the attribute {name!r} exists already")
        self._buffer_names[name] = persistent
        setattr(self, name, array)

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules held directly, each with the name of its attribute, in the order of assignment."""
        for name, value in self.__dict__.items():
            if isinstance(value, Module):
                yield name, value

    def children(self) -> Iterator[Module]:
        """The modules held directly."""
        for _, child in self.named_children():
            yield child

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module (named `prefix`) and all below it, each once, outer before inner."""
        yield from _distinct(self._all_modules(prefix))

    def modules(self) -> Iterator[Module]:
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def named_parameters(self, prefix: str = "") -> Iterator[tuple[str, np.ndarray]]:
        """The parameters of this module and all below it, each array once, with their full names."""
        yield from _distinct(self._all_arrays(prefix, lambda module: module._parameter_names))

    def parameters(self) -> Iterator[np.ndarray]:
        """The parameters of this module and all below it: the arrays themselves, to be updated in place."""
        for _, array in self.named_parameters():
            yield array

    def named_buffers(self, prefix: str = "") -> Iterator[tuple[str, np.ndarray]]:
        """The buffers of this module and all below it, each array once, with their full names."""
        yield from _distinct(self._all_arrays(prefix, lambda module: module._buffer_names))

    def buffers(self) -> Iterator[np.ndarray]:
        """The buffers of this module and all below it."""
        for _, array in self.named_buffers():
            yield array

    def state_dict(self) -> dict[str, np.ndarray]:
        """Parameters and persistent buffers by full name. The arrays are the module's own, not copies."""
        return dict(self._all_arrays("", _saved_names))

    def load_state_dict(self, state: Mapping[str, object], strict: bool = True) -> None:
        """Copy values into the arrays that `state_dict` names; they stay the same arrays.

        Args:
            state: array-likes by full name.
            strict: whether missing and unexpected names are errors.

        Raises:
            ValueError: names or shapes that do not fit; all are listed, and nothing has been written. Or the arrays lie
                on a device.
        """
        own = self.state_dict()
        if any(type(array) is not np.ndarray for array in own.values()):
            raise ValueError("the arrays of the module lie on a device; bring them back with `to('cpu')` first")
        problems = [f"{name!r} is missing" for name in own if name not in state] if strict else []
        problems += [f"{name!r} is unexpected" for name in state if name not in own] if strict else []
        given = {name: np.asarray(state[name]) for name in own if name in state}
        problems += [problem for name, array in given.items() if (problem := _misfit(name, own[name], array))]
        if problems:
            raise ValueError(f"the state does not fit {type(self).__name__}: {'; '.join(problems)}")
        for name, array in given.items():
            np.copyto(own[name], array, casting="same_kind")

    def train(self, mode: bool = True) -> Module:
        """Set `training` here and below, and return the module."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Module:
        """Set `training` to False here and below, and return the module."""
        return self.train(False)

    def to(self, device: str) -> Module:
        """Move parameters and buffers, here and below, to a device, and return the module.

        They become arrays that lie there, `cpu` brings NumPy arrays back; an array with several names stays one.
        Calls with arrays of that device run there.

        Raises:
            DeviceError: there is no such device.
        """
        moved: dict[int, tuple[Any, Any]] = {}  # with the arrays themselves, so that an id stays theirs
        for module in self.modules():
            for name in (*module._parameter_names, *module._buffer_names):
                array = module.__dict__.get(name)
                if array is not None:
                    if id(array) not in moved:
                        moved[id(array)] = array, asarray(array, device)
                    module.__dict__[name] = moved[id(array)][1]
        return self

    def apply(self, function: Callable[[Module], object]) -> Module:
        """Call `function` with every module below and then this one, and return the module."""
        for module in reversed(list(self.modules())):
            function(module)
        return self

    def extra_repr(self) -> str:
        """What `repr` shows in the parentheses besides arrays and submodules; a subclass may override it."""
        return ""

    def __repr__(self) -> str:
        own = [f"{name}: {_shown(self.__dict__.get(name))}" for name in (*self._parameter_names, *self._buffer_names)]
        head = ", ".join(part for part in (self.extra_repr(), *own) if part)
        lines = [f"({name}): {child!r}".replace("\n", "\n  ") for name, child in self.named_children()]
        body = "".join(f"\n  {line}" for line in lines)
        return f"{type(self).__name__}({head}{body}{chr(10) if body else ''})"

    def _all_modules(self, prefix: str) -> Iterator[tuple[str, Module]]:
        yield prefix, self
        for name, child in self.named_children():
            yield from child._all_modules(_joined(prefix, name))

    def _all_arrays(self, prefix: str, names_of: Callable[[Module], Iterable[str]]) -> Iterator[tuple[str, np.ndarray]]:
        for path, module in self._all_modules(prefix):
            for name in names_of(module):
                array = module.__dict__.get(name)
                if array is not None:
                    yield _joined(path, name), array


def _distinct(found: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Each object once, under the first of its names."""
    seen: set[int] = set()
    for name, value in found:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _saved_names(module: Module) -> list[str]:
    return [*module._parameter_names, *(name for name, persistent in module._buffer_names.items() if persistent)]


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def _misfit(name: str, own: np.ndarray, given: np.ndarray) -> str:
    if own.shape != given.shape:
        return f"{name!r} has the shape {given.shape} instead of {own.shape}"
    if not np.can_cast(given.dtype, own.dtype, "same_kind"):
        return f"{name!r} is {given.dtype} and cannot become {own.dtype}"
    return ""


def _shown(value: object) -> str:
    return f"{value.dtype}{list(value.shape)}" if hasattr(value, "dtype") and hasattr(value, "shape") else repr(value)
