"""Exceptions and managers of an interpreted graph. Every method is a walk (`gjit.ir.deep`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gjit.ir import evaluation
from gjit.ir.deep import Walk, drive
from gjit.ir.frames import Frame, Outcome, attempt
from gjit.ir.graph import Block, Node


class Handling:
    """The nodes that handle exceptions; `run_block` is what a subclass gives."""

    def __init__(self) -> None:
        self.handled: list[BaseException] = []

    def run_block(self, frame: Frame, block: Block) -> Walk:
        """The walk that runs a block whose parameters are bound; its result is an `Outcome`."""
        raise TypeError(f"{type(self).__name__} does not run blocks")

    def run_try(self, frame: Frame, node: Node) -> Walk:
        body, otherwise, final, *handlers = node.blocks
        outcome = yield self.run_block(frame, body)
        if outcome.op == "raise":
            outcome = yield self._handle(frame, handlers, outcome, bool(node.attributes.get("groups")))
        elif outcome.op == "yield":
            outcome = yield self.run_block(frame, otherwise)
        last = yield self.run_block(frame, final)
        if last.op != "yield":
            return _in_context(last, outcome)
        return None if outcome.op == "yield" else outcome

    def _handle_groups(self, frame: Frame, handlers: list[Block], error: BaseException) -> Outcome:
        """The handlers of `except*`, run by a statement of Python's own."""

        def run(block: Block, parts: list[BaseException]) -> Any:
            self.handled.extend(parts)
            try:
                frame.bind(block.parameters, parts)
                outcome = drive(self.run_block(frame, block))
            finally:
                del self.handled[len(self.handled) - len(parts) :]
            if outcome.op == "raise":
                raise outcome.values[0]
            return outcome.values

        types = [lambda block=block: run(block, [])[0] for block in handlers[::2]]
        bodies = [lambda part, block=block: run(block, [part]) for block in handlers[1::2]]
        result = attempt(evaluation.group_handler(len(types)), error, types, bodies)
        return result if isinstance(result, Outcome) else Outcome("yield")

    def _handle(self, frame: Frame, handlers: list[Block], raised: Outcome, groups: bool) -> Walk:
        error = raised.values[0]
        if groups:
            return self._handle_groups(frame, handlers, error)
        self.handled.append(error)
        try:
            for type_block, handler in zip(handlers[::2], handlers[1::2], strict=True):
                wanted = yield self.run_block(frame, type_block)
                if wanted.op == "yield":
                    caught = attempt(_catches, error, *wanted.values)
                    wanted = caught if isinstance(caught, Outcome) else wanted
                if wanted.op != "yield":
                    return _in_context(wanted, raised)
                if caught:
                    frame.bind(handler.parameters, [error])
                    return _in_context((yield self.run_block(frame, handler)), raised)
            return raised
        finally:
            self.handled.pop()

    def run_with(self, frame: Frame, node: Node) -> Walk:
        manager = frame.read(node.inputs[0])
        entered = attempt(_enter, manager)
        if isinstance(entered, Outcome):
            return entered
        leave, value = entered
        block = node.blocks[0]
        frame.bind(block.parameters, [value][: len(block.parameters)])
        outcome = yield self.run_block(frame, block)
        error = outcome.values[0] if outcome.op == "raise" else None
        details = (None, None, None) if error is None else (type(error), error, error.__traceback__)
        suppressed = attempt(lambda: bool(leave(manager, *details)) if error is not None else leave(manager, *details))
        if isinstance(suppressed, Outcome):
            return _in_context(suppressed, outcome)
        if error is not None:
            return None if suppressed else outcome
        if outcome.op != "yield":
            return outcome
        frame.bind(node.results, outcome.values)
        return None


def _in_context(outcome: Outcome, earlier: Outcome) -> Outcome:
    """An exception raised while another was handled has that as its context."""
    if outcome.op == earlier.op == "raise":
        error, context = outcome.values[0], earlier.values[0]
        if error is not context and error.__context__ is None:
            error.__context__ = context
    return outcome


def _catches(error: BaseException, *types: object) -> bool:
    if not types:
        return True
    try:
        try:
            raise error
        except types[0]:  # type: ignore[misc]
            return True
    except BaseException as other:
        if other is error:
            return False
        raise


def _enter(manager: object) -> tuple[Callable, object]:
    kind = type(manager)
    try:
        enter, leave = kind.__enter__, kind.__exit__
    except AttributeError:
        name = f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
        raise TypeError(f"{name!r} object does not support the context manager protocol") from None
    return leave, enter(manager)
