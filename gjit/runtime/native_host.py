"""The Python side of a launch, generated: as few steps as the call of a kernel allows.

For `a * x + y` of two arrays and a float:

    def matches(x, y, a):
        return (
            type(x) is ndarray and x.dtype is dtype0 and x.shape == (1000,) and x.strides == (8,) and x.flags.aligned
            ...
            and type(a) is float
        )

    def launch(x, y, a):
        t1_out = empty((1000,), dtype0, 'C')
        arguments = pack(id(x), id(y), id(t1_out), 1000, a)
        run(arguments, None, 0, 1000)
        return t1_out
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.program import Meaning
from gjit.ir.graph import Constant, Value
from gjit.runtime.native_launch import Launch, number


@dataclass(slots=True)
class HostFunctions:
    """Whether inputs are those that a launch is for, and the launch itself."""

    matches: Callable[..., bool]
    launch: Callable[..., object]
    source: str


def host_functions(launch: Launch, parameters: list[Value], inputs: tuple[object, ...]) -> HostFunctions | None:
    """The functions for the inputs that a launch was made for; None where it does more than make fresh results."""
    draft = launch.draft
    if draft.before or draft.written or draft.store is not None:
        return None
    return _Writer(launch, parameters, inputs).functions()


@dataclass(slots=True)
class _Writer:
    launch: Launch
    parameters: list[Value]
    inputs: tuple[object, ...]
    namespace: dict[str, object] = field(default_factory=dict)

    def functions(self) -> HostFunctions:
        launch, names = self.launch, ", ".join(self._parameter(value) for value in self.parameters)
        self.namespace.update(ndarray=np.ndarray, empty=np.empty, pack=launch.pack, run=launch.run_ranges)
        self.namespace.update(kernel=launch.native.run, combine=launch.native.combine, total=launch.total, number=number)
        guard = " and ".join(map(self._guard, self.parameters, self.inputs))
        lines = [f"def matches({names}):", f"    return {guard}", "", f"def launch({names}):"]
        lines += [f"    {line}" for line in self._launch_lines()]
        source = "\n".join(lines) + "\n"
        exec(compile(source, "<launch>", "exec"), self.namespace)
        return HostFunctions(self.namespace["matches"], self.namespace["launch"], source)

    def _launch_lines(self) -> list[str]:
        launch = self.launch
        lines = [
            f"made_{name} = empty({shape}, {self._bound(dtype)}, {order!r})"
            for name, (shape, dtype, order) in launch.fresh.items()
        ]
        lines += [
            f"parts_{step.result} = empty({launch.units}, {self._bound(step.accumulator)})"
            for step in launch.draft.program.totals
        ]
        lines.append(f"arguments = pack({', '.join(self._slots())})")
        is_plain = not launch.is_large and not launch.scratch_bytes
        lines.append(f"kernel(arguments, None, 0, {launch.units})" if is_plain else "run(arguments)")
        if launch.native.combine is not None:
            lines.append(f"combine(arguments, {launch.units})")
        return [*lines, f"return {self._results()}"]

    def _slots(self):
        for meaning, slot in zip(self.launch.native.kernel.fields, self.launch.slots, strict=True):
            if type(slot) is int:
                yield str(slot)
            elif type(slot) is tuple:
                yield self._number(*slot)
            elif meaning.meaning is Meaning.PARTIALS:
                yield f"id(parts_{meaning.name})"
            else:
                yield f"id({self._array(slot)})"

    def _array(self, name: str) -> str:
        return f"made_{name}" if name in self.launch.fresh else self._live(self.launch.draft.sources[name])

    def _number(self, name: str, dtype: np.dtype) -> str:
        source = self.launch.draft.sources[name]
        kind = None if isinstance(source, Constant) else type(self._input(source))
        if (kind is float and dtype.kind == "f") or (kind is int and dtype.kind in "iu"):
            return self._live(source)
        return f"*number({self._live(source)}, {self._bound(dtype)})"

    def _results(self) -> str:
        results = []
        for kind, key in self.launch.draft.values:
            if kind == "value":
                results.append(self._live(key))
            else:
                results.append(f"made_{key}" if kind == "fresh" else f"total({key!r}, parts_{key}[0])")
        return ", ".join(results)

    def _guard(self, value: Value, found: object) -> str:
        name, kind = self._parameter(value), self._bound(type(found))
        if type(found) is not np.ndarray:
            return f"type({name}) is {kind}"
        layout = f"{name}.shape == {found.shape} and {name}.strides == {found.strides}"
        return f"type({name}) is {kind} and {name}.dtype is {self._bound(found.dtype)} and {layout} and {name}.flags.aligned"

    def _live(self, value: Value) -> str:
        return self._bound(value.value) if isinstance(value, Constant) else self._parameter(value)

    def _input(self, value: Value) -> object:
        return self.inputs[self.parameters.index(value)]

    def _parameter(self, value: Value) -> str:
        return f"input{self.parameters.index(value)}"

    def _bound(self, thing: object) -> str:
        """The name that an object is bound to."""
        name = next((name for name, known in self.namespace.items() if known is thing), None)
        if name is None:
            name = f"object{len(self.namespace)}"
            self.namespace[name] = thing
        return name
