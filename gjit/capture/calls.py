"""Lowering of calls: rows of the op table, graphs of other functions, and everything else."""

from __future__ import annotations

import ast

from gjit.capture.resolve import Resolved, Standing
from gjit.capture.state import CaptureState
from gjit.ir.capturable import receiver_of
from gjit.ir.graph import CaptureKind, Constant, Node, Value
from gjit.ir.rules import call_problem
from gjit.ops import names

REFUSED = {
    "eval": "call the function that you mean",
    "exec": "write the statements in the function",
    "compile": "write the statements in the function",
    "globals": "name the global that you need",
    "locals": "name the local that you need",
    "__import__": "use an `import` statement",
    "breakpoint": "set GJIT_DISABLE=1 and debug the plain function",
}
"""Built-ins that need the interpreter's own frame, and what to write instead."""


CALLS_ITS_ARGUMENT: dict[str, tuple[int | str, ...]] = {
    "builtin.map": (0,),
    "builtin.filter": (0,),
    "builtin.sorted": ("key=",),
    "builtin.min": ("key=",),
    "builtin.max": ("key=",),
    "functools.reduce": (0,),
    "itertools.accumulate": (1, "func="),
    "itertools.groupby": (1, "key="),
    "itertools.takewhile": (0,),
    "itertools.dropwhile": (0,),
    "itertools.starmap": (0,),
    "itertools.filterfalse": (0,),
    "numpy.fromfunction": (0,),
    "numpy.apply_along_axis": (0,),
    "numpy.apply_over_axes": (0,),
    ".sort": ("key=",),
}
"""Arguments that a known function, or a method of this name, calls: by position or by label."""


class Calls(CaptureState):
    """Calls, attribute names and functions as callees."""

    def lower_Call(self, node: ast.Call) -> Value:
        resolved = self.static(node.func)
        if resolved is None:
            return self._call(self.callee(node.func), node)
        name = names.name_of(resolved.value)
        if name == "builtin.super" and not node.args:
            return self._super(node)
        if name is not None and name.startswith("builtin.") and name[8:] in REFUSED:
            self.refuse(node, f"`{name[8:]}` cannot be scripted", REFUSED[name[8:]])
        return self._call_resolved(resolved, name, node)

    def _call_resolved(self, resolved: Resolved, name: str | None, node: ast.Call) -> Value:
        if resolved.op is not None:
            inputs, labels = self.arguments(node)
            inputs = self._scripted_arguments(resolved.op.name, inputs, labels)
            return self.builder.add(resolved.op.name, inputs, labels=labels)
        if name is not None and name.startswith(("numpy.", "scipy.")) and not isinstance(resolved.value, type):
            inputs, labels = self.arguments(node)
            inputs = self._scripted_arguments(name, inputs, labels)
            return self.builder.add("library", inputs, labels=labels, function=name)
        if resolved.standing is Standing.FUNCTION:
            graph_name = self.graph_name(resolved.value, node)
            if graph_name is not None:
                return self._invoke(graph_name, resolved, node)
        return self._call(self.captured(resolved), node)

    def _invoke(self, graph_name: str, resolved: Resolved, node: ast.Call) -> Value:
        """A call of another graph of the program; one that cannot be bound is left to Python, which says so."""
        receiver = self._receiver(resolved)
        inputs, labels = self.arguments(node)
        call = Node("invoke", [*receiver, *inputs], labels=("",) * len(receiver) + labels)
        call.attributes["function"] = graph_name
        if not call_problem(call, self.program.functions[graph_name].parameters):
            call.span = self.builder.span
            return self.builder.block.append(call).result
        call.remove()
        return self.builder.add("call", [self.captured(resolved), *inputs], labels=("", *labels))

    def _receiver(self, resolved: Resolved) -> list[Value]:
        """The object that a bound callable passes first, as a list of one or none."""
        receiver = receiver_of(resolved.value)
        if receiver is None:
            return []
        slot = self.builder.slot(resolved.name, CaptureKind.OBJECT, receiver, guarded=False, namespace=None)
        return [self.builder.add("capture", slot=slot)]

    def callee(self, node: ast.expr) -> Value:
        """The called object; a method is looked up before the arguments are evaluated."""
        return self.expression(node)

    def _scripted_arguments(self, name: str, inputs: list[Value], labels: tuple[str, ...]) -> list[Value]:
        """Functions that a built-in will call are given to it as their graphs run them."""
        positions = CALLS_ITS_ARGUMENT.get(name, ())
        given = [
            (value, (label or index) in positions and _may_be_user_function(value))
            for index, (value, label) in enumerate(zip(inputs, labels, strict=True))
        ]
        return [self.builder.add("scripted", [value]) if is_called else value for value, is_called in given]

    def _call(self, callee: Value, node: ast.Call) -> Value:
        inputs, labels = self.arguments(node)
        if isinstance(node.func, ast.Attribute):
            inputs = self._scripted_arguments("." + node.func.attr, inputs, labels)
        return self.builder.add("call", [callee, *inputs], labels=("", *labels))

    def arguments(self, node: ast.Call) -> tuple[list[Value], tuple[str, ...]]:
        """Inputs and labels, in the order in which they are written."""
        inputs: list[Value] = []
        labels: list[str] = []
        for argument in node.args:
            starred = isinstance(argument, ast.Starred)
            inputs.append(self.expression(argument.value if starred else argument))
            labels.append("*" if starred else "")
        for keyword in node.keywords:
            inputs.append(self.expression(keyword.value))
            labels.append("**" if keyword.arg is None else keyword.arg + "=")
        return inputs, tuple(labels)

    def _super(self, node: ast.Call) -> Value:
        """`super()` finds its class in the cell `__class__` and its object in the first parameter."""
        if not self.scope.parameters:
            self.refuse(node, "`super()` needs a method with a first parameter", "name the class: super(Class, self)")
        first = self.read(ast.Name(self.scope.parameters[0], ast.Load()))
        cls = self.read(ast.Name("__class__", ast.Load()))
        return self.builder.add("call", [Constant(super), cls, first])


def _may_be_user_function(value: Value) -> bool:
    if isinstance(value, Constant):
        return False
    return not (isinstance(value.producer, Node) and value.producer.op == "function")
