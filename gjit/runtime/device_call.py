"""The call of a region whose arrays lie on a device, as one generated function.

It looks at what the launch depends on, takes addresses, makes the results and launches, with nothing in between:

    def call(input0, input1):
        if not (type(input0) is kind and input0.shape == (1000,) and ... and type(input1) is float):
            return miss
        address0 = input0.data.ptr
        if address0 & 15 or input0.device.id != 0:
            return miss
        made0 = empty((1000,), float32, 'C')
        launch(shape, address0, made0.data.ptr, 1000, input1)
        return made0
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gjit.cuda_kernels.program import Field, Meaning
from gjit.ir.graph import Constant, Value
from gjit.runtime.device_kernel import StageLaunch, of_space
from gjit.runtime.device_launch import DeviceLaunch
from gjit.runtime.native_arguments import number

MISS: Any = object()
"""What the function gives for inputs that it is not for; nothing has been done."""
_MOST_INPUTS = 32


def device_call(launch: DeviceLaunch, parameters: list[Value], inputs: tuple[object, ...]) -> Callable | None:
    """The function for such inputs; None where a region does more than make arrays by one kernel."""
    if not launch.draft.is_single or len(inputs) > _MOST_INPUTS:
        return None
    (kernel,) = launch.kernels
    if kernel is None:
        return None
    draft = kernel.draft
    names = frozenset((*draft.sources, *draft.fresh))
    made = {value for _, value in draft.fresh.values()}
    is_plain = not draft.written and draft.store is None and not draft.totals
    if not is_plain or (True, names) not in kernel.ready or not set(launch.draft.results) <= made:
        return None
    return _Writer(kernel, launch.draft.results, parameters, inputs, names).function()


@dataclass(slots=True)
class _Writer:
    kernel: StageLaunch
    results: list[Value]
    parameters: list[Value]
    inputs: tuple[object, ...]
    names: frozenset[str]
    namespace: dict[str, Any] = field(default_factory=dict)

    def function(self) -> Callable:
        kernel, device = self.kernel, self.kernel.device
        ready, shape = kernel.ready[True, self.names]
        self.namespace.update(miss=MISS, empty=device.empty, launch=ready.launch, shape=shape, number=number)
        self.namespace["ticket"] = device.ticket
        names = [f"input{place}" for place in range(len(self.inputs))]
        arrays = [name for name, value in zip(names, self.inputs, strict=True) if self._is_array(value)]
        guards = [self._guard(name, value) for name, value in zip(names, self.inputs, strict=True)]
        lines = [f"if not ({' and '.join(guards) or 'True'}):", "    return miss"]
        lines += [f"address_{name} = {name}.data.ptr" for name in arrays]
        outside = [f"{name}.device.id != {device.index}" for name in arrays[:1]]
        together = " | ".join(f"address_{name}" for name in arrays)
        lines += [f"if {' or '.join([f'({together}) & 15', *outside])}:", "    return miss"]
        for name, (extents, dtype, order) in kernel.fresh.items():
            lines.append(f"made_{name} = empty({extents}, {self._bound(dtype)}, {order!r})")
        lines.append(f"launch(shape, {', '.join(self._argument(each) for each in ready.kernel.fields)})")
        made = {value: name for name, (_, value) in kernel.draft.fresh.items()}
        lines.append(f"return {', '.join(f'made_{made[value]}' for value in self.results) or 'None'}")
        source = "\n    ".join([f"def call({', '.join(names)}):", *lines])
        exec(compile(source, "<device call>", "exec"), self.namespace)
        return self.namespace["call"]

    def _is_array(self, value: object) -> bool:
        return type(value) is self.kernel.device.array_type

    def _guard(self, name: str, value: Any) -> str:
        kind = f"type({name}) is {self._bound(type(value))}"
        if not self._is_array(value):
            return kind
        dtype = f"{name}.dtype == {self._bound(value.dtype)}"
        return f"{kind} and {dtype} and {name}.shape == {value.shape} and {name}.strides == {value.strides}"

    def _argument(self, field: Field) -> str:
        draft = self.kernel.draft
        match field.meaning:
            case Meaning.ARRAY:
                if field.name in draft.fresh:
                    return f"made_{field.name}.data.ptr"
                return f"address_{self._input(draft.sources[field.name])}"
            case Meaning.NUMBER:
                source = draft.sources[field.name]
                live = self._bound(source.value) if isinstance(source, Constant) else self._input(source)
                return f"*number({live}, {self._bound(field.dtype)})"
            case Meaning.STRIDE | Meaning.EXTENT | Meaning.MULTIPLIER | Meaning.SHIFT:
                return str(of_space(field, draft.space))
        return "ticket()"

    def _input(self, value: Value) -> str:
        return f"input{self.parameters.index(value)}"

    def _bound(self, thing: object) -> str:
        """The name that an object is bound to."""
        name = f"object{len(self.namespace)}"
        self.namespace[name] = thing
        return name
