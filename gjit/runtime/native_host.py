"""The Python side of a launch, generated: as few steps as the calls of kernels allow.

For `a * x + y` of two arrays and a float:

    def matches(x, y, a):
        return (
            type(x) is ndarray and x.dtype is dtype0 and x.shape == (1000,) and x.strides == (8,) and x.flags.aligned
            ...
            and type(a) is float
        )

    def launch(x, y, a):
        value0 = empty((1000,), dtype0, 'C')
        arguments = pack(id(x), id(y), id(value0), 1000, a)
        run(arguments, None, 0, 1000)
        return value0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gjit.cuda_kernels.program import Meaning
from gjit.ir.graph import Constant, Value
from gjit.ops.row import table
from gjit.runtime.layout import is_disturbed_by
from gjit.runtime.native_arguments import number
from gjit.runtime.native_kernel import KernelLaunch, partial_of
from gjit.runtime.native_launch import Launch, store_apart, temporary
from gjit.runtime.pool import scratch
from gjit.runtime.region_items import Step
from gjit.runtime.scalars import Fallback


@dataclass(slots=True)
class HostFunctions:
    """Whether inputs are those that a launch is for, and the launch itself."""

    matches: Callable[..., bool]
    launch: Callable[..., object]
    source: str


def host_functions(launch: Launch, parameters: list[Value], inputs: tuple[object, ...]) -> HostFunctions | None:
    """The functions for the inputs that a launch was made for; None where the index of a store is an input, a kernel
    stores and has totals, or a step of NumPy is no plain call.
    """
    drafts = [kernel.draft for kernel in launch.kernels if kernel is not None and kernel.draft.store is not None]
    if any(draft.totals for draft in drafts):
        return None
    stores = [draft.store for draft in drafts]
    steps = [step for steps in launch.draft.host for step in steps]
    if any(not isinstance(store[0].node.inputs[1], Constant) for store in stores) or not all(map(_is_call, steps)):
        return None
    return _Writer(launch, parameters, inputs).functions()


def _is_call(step: Step) -> bool:
    return step.node.op in table and not any(label.startswith("*") for label in step.node.labels)


@dataclass(slots=True)
class _Writer:
    launch: Launch
    parameters: list[Value]
    inputs: tuple[object, ...]
    namespace: dict[str, object] = field(default_factory=dict)
    known: dict[Value, str] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)

    def functions(self) -> HostFunctions:
        for place, value in enumerate(self.parameters):
            self.known[value] = f"input{place}"
        names = ", ".join(f"input{place}" for place in range(len(self.parameters)))
        self.namespace.update(
            ndarray=np.ndarray,
            empty=np.empty,
            shared=np.may_share_memory,
            disturbed=is_disturbed_by,
            apart=store_apart,
            number=number,
            temporary=temporary,
            take=scratch.take,
            give=scratch.give,
            errstate=np.errstate,
            Fallback=Fallback,
        )
        guard = " and ".join(map(self._guard, self.parameters, self.inputs)) or "True"
        lines = [f"def matches({names}):", f"    return {guard}", "", f"def launch({names}):"]
        lines += [f"    {line}" for line in self._launch_lines()]
        source = "\n".join(lines) + "\n"
        exec(compile(source, "<launch>", "exec"), self.namespace)
        return HostFunctions(self.namespace["matches"], self.namespace["launch"], source)

    def _launch_lines(self) -> Iterator[str]:
        for steps, kernel in zip(self.launch.draft.host, [*self.launch.kernels, None], strict=True):
            if steps:
                yield f"with errstate(**{self._bound(self.launch.host_errors)}):"
                for step in steps:
                    yield from (f"    {line}" for line in self._host_lines(step))
            if kernel is not None:
                yield from self._kernel_lines(kernel)
        yield from (f"give({block}.base)" for block in self.taken)
        yield f"return {', '.join(map(self._live, self.launch.draft.results)) or 'None'}"

    # Steps of NumPy

    def _host_lines(self, step: Step) -> Iterator[str]:
        node = step.node
        operands = zip(node.labels or ("",) * len(node.inputs), node.inputs, strict=True)
        arguments = ", ".join(label + self._live(value) for label, value in operands)
        name = self._named(node.result)
        yield f"{name} = {self._bound(table[node.op].function)}({arguments})"
        item = step.result
        if item.weak is not None:
            yield f"if type({name}) is not {self._bound(item.weak)}:"
        elif item.shape:
            test = f"if {name}.dtype != {self._bound(item.dtype)} or {name}.shape != {item.shape}"
            is_loose = item.viewed is not None or 1 in item.shape  # the stride of an axis of one element does not count
            yield f"{test}:" if is_loose else f"{test} or {name}.strides != {item.strides}:"
        else:
            yield f"if {name}.dtype != {self._bound(item.dtype)} or {name}.shape != ():"
        yield "    raise Fallback"

    # Kernels

    def _kernel_lines(self, kernel: KernelLaunch) -> Iterator[str]:
        draft = kernel.draft
        yield from self._target_lines(kernel)
        yield from self._written_lines(kernel)
        arrays = {name: self._live(value) for name, value in {**draft.sources, **draft.written}.items()}
        if draft.store is not None:
            arrays[draft.store[1]] = "target"
        for name, (_, value) in draft.fresh.items():
            line = self._fresh_line(kernel, name, value)
            arrays[name] = self._live(value)
            if line:
                yield line
        for step in draft.program.totals:
            arrays[f"{step.result}_partials"] = name = f"parts_{step.result}"
            yield f"{name} = empty({kernel.units}, {self._bound(partial_of(step))})"
        lines = [f"arguments = {self._bound(kernel.pack)}({', '.join(self._slots(kernel, arrays))})"]
        lines += self._run_lines(kernel, arrays)
        if draft.store is None:
            yield from lines
        else:
            given = ", ".join(f"{name!r}: {text}" for name, text in arrays.items() if text != "target")
            yield f"if {self._disturbing(kernel)}:"
            yield f"    apart({self._bound(kernel)}, {{{given}}}, target)"
            yield from ("else:", *(f"    {line}" for line in lines))
        if kernel.native.combine is not None:
            yield f"{self._bound(kernel.native.combine)}(arguments, {kernel.units})"
        for value, total in draft.totals.items():
            parts = ", ".join(f"parts_{part}[0]" for part in total.parts)
            yield f"{self._named(value)} = {self._bound(total.finish)}({parts})"

    def _run_lines(self, kernel: KernelLaunch, arrays: dict[str, str]) -> list[str]:
        if kernel.draft.program.checked:
            return self._checked_lines(kernel, arrays)
        is_plain = not kernel.is_large and not kernel.scratch_bytes
        run = f"{self._bound(kernel.native.run)}(arguments, None, 0, {kernel.units})"
        return [run if is_plain else f"{self._bound(kernel.run_ranges)}(arguments)"]

    def _checked_lines(self, kernel: Any, arrays: dict[str, str]) -> list[str]:
        """The call of a kernel that may leave something to NumPy."""
        operands = f"{{{', '.join(f'{name!r}: {text}' for name, text in arrays.items())}}}"
        finish, watch = self._bound(kernel.finish), self._bound(kernel.watch)
        if kernel.is_large:
            run = self._bound(kernel.run_checked)
            return [f"left = {run}(arguments)", "if left:", f"    {finish}(left, {operands})"]
        run, units = self._bound(kernel.native.run), kernel.units
        lines = [f"end = {run}(arguments, None, 0, {units}, {watch}())"]
        if kernel.scratch_bytes:
            lines = [
                f"flags = {watch}()",
                f"block = take({kernel.scratch_bytes})",
                f"end = {run}(arguments, block.ctypes.data, 0, {units}, flags)",
                "give(block)",
            ]
        return [*lines, f"if end != {units}:", f"    {finish}([(end, {units})], {operands})"]

    def _fresh_line(self, kernel: KernelLaunch, name: str, value: Value) -> str:
        source = self.launch.reused.get(value)
        if source is not None:
            self.known[value] = self.known[source]
            return ""
        shape, dtype, order = kernel.fresh[name]
        made = self._named(value)
        if value not in self.launch.temporaries:
            return f"{made} = empty({shape}, {self._bound(dtype)}, {order!r})"
        self.taken.append(made)
        return f"{made} = temporary({shape}, {self._bound(dtype)}, {order!r})"

    def _target_lines(self, kernel: KernelLaunch) -> list[str]:
        """The view that is stored into."""
        draft = kernel.draft
        if draft.store is None:
            return []
        owner, index, _ = draft.store[0].node.inputs
        return [
            f"target = {self._live(owner)}[{self._bound(index.value)}]",
            "if not target.flags.writeable:",
            "    raise Fallback",
        ]

    def _disturbing(self, kernel: KernelLaunch) -> str:
        arrays = dict.fromkeys(kernel.draft.sources[array.source] for array in kernel.draft.program.arrays)
        tests = [f"disturbed({self._live(value)}, target)" for value in arrays]
        return "True" if kernel.draft.stores_apart else " or ".join(tests) or "False"

    def _written_lines(self, kernel: KernelLaunch) -> list[str]:
        """What is written in place shares memory with nothing else."""
        draft, lines = kernel.draft, []
        arrays = [value for value, found in zip(self.parameters, self.inputs, strict=True) if _is_array(found)]
        for value in draft.written.values():
            name = self._live(value)
            names = [self._live(each) for each in arrays if each is not value]
            names += ["target"] * (draft.store is not None)
            tests = [f"not {name}.flags.writeable", *(f"shared({name}, {other})" for other in names)]
            lines += [f"if {' or '.join(tests)}:", "    raise Fallback"]
        return lines

    def _slots(self, kernel: KernelLaunch, arrays: dict[str, str]) -> Iterator[str]:
        for meaning, slot in zip(kernel.native.kernel.fields, kernel.slots, strict=True):
            if type(slot) is int:
                yield str(slot)
            elif type(slot) is tuple:
                yield self._number(kernel, *slot)
            elif meaning.meaning is Meaning.PARTIALS:
                yield f"id({arrays[f'{meaning.name}_partials']})"
            else:
                yield f"id({arrays[slot]})"

    def _number(self, kernel: KernelLaunch, name: str, dtype: np.dtype) -> str:
        source = kernel.draft.sources[name]
        kind = type(self.inputs[self.parameters.index(source)]) if source in self.parameters else None
        if (kind is float and dtype.kind == "f") or (kind is int and dtype.kind in "iu"):
            return self._live(source)
        return f"*number({self._live(source)}, {self._bound(dtype)})"

    # Names

    def _guard(self, value: Value, found: object) -> str:
        name, kind = self.known[value], self._bound(type(found))
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
        return self._bound(value.value) if isinstance(value, Constant) else self.known[value]

    def _named(self, value: Value) -> str:
        return self.known.setdefault(value, f"value{len(self.known)}")

    def _bound(self, thing: object) -> str:
        """The name that an object is bound to."""
        name = next((name for name, known in self.namespace.items() if known is thing), None)
        if name is None:
            name = f"object{len(self.namespace)}"
            self.namespace[name] = thing
        return name


def _is_array(value: object) -> bool:
    return type(value) is np.ndarray
