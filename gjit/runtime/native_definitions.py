"""The values of a region in single assignment: what each step makes, from which values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gjit.ir.graph import Block, Value
from gjit.runtime.region_items import Item, Step, Unsupported
from gjit.runtime.region_values import Typing
from gjit.scheduler.fusible import REDUCING, Form, may_be_alias


@dataclass(slots=True, eq=False)
class Definition:
    """One value: an input, a constant, or what a step makes. An operator in place makes a new one of the same memory.

    value     the value of the graph
    item      its dtype, shape and order
    step      what makes it; None from outside
    operands  what the step reads
    """

    value: Value
    item: Item
    step: Step | None = None
    operands: tuple[Definition, ...] = ()

    @property
    def is_reduction(self) -> bool:
        return self.step is not None and self.step.operation.form in REDUCING

    @property
    def is_total(self) -> bool:
        """Whether it is one scalar of all elements."""
        return self.is_reduction and not self.item.is_array

    @property
    def is_view(self) -> bool:
        return self.step is not None and self.step.operation.form is Form.VIEW


@dataclass(slots=True)
class Definitions:
    """All values of a region.

    made      what the steps make, in their order
    results   of the region
    written   the last value of each input that is written in place, by that input
    store     what is stored, and the step that stores it
    """

    made: list[Definition]
    results: list[Definition]
    written: dict[Definition, Definition]
    store: tuple[Definition, Step] | None = None


def read_definitions(body: Block, typing: Typing) -> Definitions:
    """The values of a region's body."""
    return _Reader(body, typing).read()


class _Reader:
    def __init__(self, body: Block, typing: Typing):
        self.body, self.typing = body, typing
        self.current: dict[Item, Definition] = {}
        self.first: dict[Item, Definition] = {}
        self.shared: set[Item] = set()  # the roots of values that another value may be a view of

    def read(self) -> Definitions:
        found = Definitions([], [], {})
        for step in self.typing.steps:
            operands = tuple(map(self._of, step.operands))
            if step.operation.form is Form.STORE:
                found.store = operands[0], step
                continue
            found.made.append(self._make(step, operands))
        found.results = [self._of(self.typing.item(value)) for value in self.body.terminator.inputs]
        for root in self._written():
            found.written[self.first[root]] = self.current[root]
        return found

    def _of(self, item: Item) -> Definition:
        known = self.current.get(item.root)
        if known is None:
            known = Definition(self.typing.value_of(item.root), item.root)
            self.current[item.root] = self.first[item.root] = known
        return known

    def _make(self, step: Step, operands: tuple[Definition, ...]) -> Definition:
        if step.out is not None:
            root = step.out.root
            if root in self.shared or root.viewed is not None:
                raise Unsupported
            self._of(root)
        made = Definition(step.node.result, step.result, step, operands)
        if step.operation.form is Form.VIEW or may_be_alias(step.operation, step.node):
            self.shared.update((operands[0].item.root, step.result.root))
        self.current[step.result.root] = made
        return made

    def _written(self) -> Iterator[Item]:
        roots = dict.fromkeys(step.out.root for step in self.typing.steps if step.out is not None and step.result)
        return (root for root in roots if root.position < 0)
