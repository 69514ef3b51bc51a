"""What a program can change: arrays written in place and variables of inner functions.

A model has no writes. A box (an array or a cell) has a state, and a write gives it another one; a block of the model
that writes boxes from outside gives their states as outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gjit.interchange.onnx import indexing
from gjit.interchange.onnx.builder import Builder
from gjit.interchange.onnx.values import Cell, Tensor, Unwritable, holds_tensor

Box = Tensor | Cell
State = tuple[Any, Any]


class Boxes:
    """Knows which boxes each block has written."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self._journals: list[dict[Box, State]] = []

    @contextmanager
    def journal(self) -> Iterator[dict[Box, State]]:
        """The boxes from outside that are written meanwhile, with their states before; these are restored."""
        depth, journal = self.builder.depth, {}  # type: ignore[var-annotated]
        self._journals.append(journal)
        try:
            yield journal
        finally:
            self._journals.pop()
            for box in [box for box in journal if box.depth > depth]:
                del journal[box]

    @staticmethod
    def state(box: Box) -> State:
        return (box.name, box.constant) if isinstance(box, Tensor) else (box.value, box.is_bound)

    def set_state(self, box: Box, state: State) -> None:
        for journal in self._journals:
            journal.setdefault(box, self.state(box))
        self.restore(box, state)

    @staticmethod
    def restore(box: Box, state: State) -> None:
        if isinstance(box, Tensor):
            box.name, box.constant = state
            box.version += 1
        else:
            box.value, box.is_bound = state

    def fresh(self, value: Any) -> Any:
        """A value whose tensors are read again where it is needed; containers of tensors are copied."""
        if isinstance(value, Tensor):
            return self.current(value)
        if type(value) in (tuple, list) and holds_tensor(value):
            return type(value)(map(self.fresh, value))
        if type(value) is dict and holds_tensor(value):
            return {key: self.fresh(each) for key, each in value.items()}
        return value

    def current(self, tensor: Tensor) -> Tensor:
        """The tensor, read again where what it is a part of has been written since."""
        stale = [base for base, version in tensor.bases if self.current(base).version != version]
        if not stale:
            return tensor
        if tensor.index is None:
            raise Unwritable("a view of an array is used after the array was written: copy it, or make it again")
        base = tensor.bases[0][0]
        fresh = indexing.read(self.builder, base, tensor.index)
        fresh.bases, fresh.index = [(base, base.version)], tensor.index
        return fresh

    def write(self, tensor: Tensor, name: str) -> None:
        """Give an array another state, and what it is a view of."""
        if tensor.frozen:
            raise Unwritable(f"a write into {tensor.frozen} has no form in a model: copy it first")
        if tensor.bases and tensor.index is None:
            raise Unwritable("a write into an array that may share memory with another one: copy it first")
        self.set_state(tensor, (name, None))
        for base, _ in tensor.bases:
            self.write(base, indexing.written(self.builder, base, tensor.index, tensor))
        tensor.bases = [(base, base.version) for base, _ in tensor.bases]
