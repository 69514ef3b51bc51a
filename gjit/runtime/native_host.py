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
from gjit.runtime.layout import is_disturbed_by
from gjit.runtime.native_arguments import number
from gjit.runtime.native_kernel import KernelLaunch
from gjit.runtime.native_launch import Launch, alike, move
from gjit.runtime.pool import scratch
from gjit.runtime.scalars import Fallback


@dataclass(slots=True)
class HostFunctions:
    """Whether inputs are those that a launch is for, and the launch itself."""

    matches: Callable[..., bool]
    launch: Callable[..., object]
    source: str


def host_functions(launch: Launch, parameters: list[Value], inputs: tuple[object, ...]) -> HostFunctions | None:
    """The functions for the inputs that a launch was made for; None where there is more than one kernel, or the index
    of a store is an input.
    """
    if not launch.draft.is_single or launch.kernels[0] is None:
        return None
    (kernel,) = launch.kernels
    store = kernel.draft.store
    if store is not None and not isinstance(store[0].node.inputs[1], Constant):
        return None
    return _Writer(kernel, launch.draft.results, parameters, inputs).functions()


@dataclass(slots=True)
class _Writer:
    launch: KernelLaunch
    results: list[Value]
    parameters: list[Value]
    inputs: tuple[object, ...]
    namespace: dict[str, object] = field(default_factory=dict)

    def functions(self) -> HostFunctions:
        launch = self.launch
        names = ", ".join(self._parameter(value) for value in self.parameters)
        self.namespace.update(
            ndarray=np.ndarray,
            empty=np.empty,
            shared=np.may_share_memory,
            disturbed=is_disturbed_by,
            alike=alike,
            move=move,
            number=number,
            Fallback=Fallback,
            pack=launch.pack,
            kernel=launch.native.run,
            run=launch.run_ranges,
            combine=launch.native.combine,
            take=scratch.take,
            give=scratch.give,
        )
        if launch.draft.program.checked:
            self.namespace.update(watch=launch.watch, run_checked=launch.run_checked, finish=launch.finish)
        guard = " and ".join(map(self._guard, self.parameters, self.inputs))
        lines = [f"def matches({names}):", f"    return {guard}", "", f"def launch({names}):"]
        lines += [f"    {line}" for line in self._launch_lines()]
        source = "\n".join(lines) + "\n"
        exec(compile(source, "<launch>", "exec"), self.namespace)
        return HostFunctions(self.namespace["matches"], self.namespace["launch"], source)

    def _launch_lines(self) -> list[str]:
        launch = self.launch
        lines = [*self._target_lines(), *self._written_lines()]
        lines += [
            f"made_{name} = empty({shape}, {self._bound(dtype)}, {order!r})"
            for name, (shape, dtype, order) in launch.fresh.items()
        ]
        lines += [
            f"parts_{step.result} = empty({launch.units}, {self._bound(step.partial)})"
            for step in launch.draft.program.totals
        ]
        lines.append(f"arguments = pack({', '.join(self._slots())})")
        lines += self._run_lines()
        if launch.native.combine is not None:
            lines.append(f"combine(arguments, {launch.units})")
        if launch.draft.store is not None:
            lines += ["if made is not target:", "    move(made, target)"]
        return [*lines, f"return {self._results()}"]

    def _run_lines(self) -> list[str]:
        launch = self.launch
        if launch.draft.program.checked:
            return self._checked_lines()
        is_plain = not launch.is_large and not launch.scratch_bytes
        return [f"kernel(arguments, None, 0, {launch.units})" if is_plain else "run(arguments)"]

    def _checked_lines(self) -> list[str]:
        """The call of a kernel that may leave something to NumPy."""
        launch, draft = self.launch, self.launch.draft
        names = dict.fromkeys((*draft.sources, *draft.written, *draft.fresh, *(draft.store or ())[1:]))
        operands = f"{{{', '.join(f'{name!r}: {self._array(name)}' for name in names)}}}"
        if launch.is_large:
            return ["left = run_checked(arguments)", "if left:", f"    finish(left, {operands})"]
        lines = [f"end = kernel(arguments, None, 0, {launch.units}, watch())"]
        if launch.scratch_bytes:
            lines = [
                "flags = watch()",
                f"block = take({launch.scratch_bytes})",
                f"end = kernel(arguments, block.ctypes.data, 0, {launch.units}, flags)",
                "give(block)",
            ]
        return [*lines, f"if end != {launch.units}:", f"    finish([(end, {launch.units})], {operands})"]

    def _target_lines(self) -> list[str]:
        """The view that is stored into; where storing would disturb what is read, a temporary takes its place."""
        draft = self.launch.draft
        if draft.store is None:
            return []
        owner, index, _ = draft.store[0].node.inputs
        tests = [f"disturbed({self._live(value)}, target)" for value in self._read_arrays()]
        made = f"alike(target) if {' or '.join(tests) or 'False'} else target"
        return [
            f"target = {self._live(owner)}[{self._bound(index.value)}]",
            "if not target.flags.writeable:",
            "    raise Fallback",
            f"made = {'alike(target)' if draft.stores_apart else made}",
        ]

    def _written_lines(self) -> list[str]:
        """What is written in place shares memory with nothing else."""
        draft, lines = self.launch.draft, []
        for value in draft.written.values():
            name = self._live(value)
            others = dict.fromkeys((*self._read_arrays(), *draft.written.values()))
            names = [self._live(each) for each in others if each is not value]
            names += ["target"] * (draft.store is not None)
            tests = [f"not {name}.flags.writeable", *(f"shared({name}, {other})" for other in names)]
            lines += [f"if {' or '.join(tests)}:", "    raise Fallback"]
        return lines

    def _read_arrays(self) -> list[Value]:
        program, sources = self.launch.draft.program, self.launch.draft.sources
        return list(dict.fromkeys(sources[array.name] for array in program.arrays))

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
        draft = self.launch.draft
        if draft.store is not None and name == draft.store[1]:
            return "made"
        return f"made_{name}" if name in self.launch.fresh else self._live({**draft.sources, **draft.written}[name])

    def _number(self, name: str, dtype: np.dtype) -> str:
        source = self.launch.draft.sources[name]
        kind = None if isinstance(source, Constant) else type(self._input(source))
        if (kind is float and dtype.kind == "f") or (kind is int and dtype.kind in "iu"):
            return self._live(source)
        return f"*number({self._live(source)}, {self._bound(dtype)})"

    def _results(self) -> str:
        draft = self.launch.draft
        made = {value: f"made_{name}" for name, (_, value) in draft.fresh.items()}
        for value, total in draft.totals.items():
            parts = ", ".join(f"parts_{part}[0]" for part in total.parts)
            made[value] = f"{self._bound(total.finish)}({parts})"
        return ", ".join(made.get(value) or self._live(value) for value in self.results) or "None"

    def _guard(self, value: Value, found: object) -> str:
        name, kind = self._parameter(value), self._bound(type(found))
        if type(found) is not np.ndarray:
            return f"type({name}) is {kind}"
        tests = [
            f"type({name}) is {kind}",
            f"{name}.dtype is {self._bound(found.dtype)}",
            f"{name}.shape == {found.shape}",
            f"{name}.strides == {found.strides}",
            f"{name}.flags.aligned",
        ]
        return " and ".join(tests)

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
