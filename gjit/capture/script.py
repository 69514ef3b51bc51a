"""From the source of a Python function to its graph."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator

from gjit.capture.class_body import ClassBody
from gjit.capture.names import bound_names, declared, parameter_names, walk_scope, written_names
from gjit.capture.private_names import owner_of, with_mangled_names, written_name
from gjit.capture.program import CalleeRefused, CaptureAgain, Program
from gjit.capture.resolve import is_user_code
from gjit.capture.scope import Scope, analyse
from gjit.capture.statements import Statements
from gjit.errors import UnsupportedError
from gjit.ir.builder import Builder
from gjit.ir.capturable import graph_of, has_graph
from gjit.ir.graph import Constant, Graph, Parameter, ParameterKind, Value
from gjit.ir.types import CELL, UNKNOWN
from gjit.source import FunctionSource, function_source


def capture_function(
    function: types.FunctionType,
    *,
    strict: bool = False,
    loads: frozenset[tuple[int, str]] = frozenset(),
    reads_again: bool = False,
    generator: bool = False,
) -> tuple[Graph, Program]:
    """The graph of `function` and of everything that it calls.

    Args:
        function: a Python function whose source can be found.
        strict: make a called function that cannot be scripted an error, instead of a call of the interpreter.
        loads: (namespace id, name) pairs of names to be looked up on each use, since they keep changing.
        generator: let the function itself be a generator: another one, which is scripted, uses it up.
        reads_again: look up every name that holds a number on each use: the program runs code that may assign it.

    Raises:
        UnsupportedError: the function itself uses something that cannot be scripted; the message shows the line.
    """
    package = (function.__module__ or "").partition(".")[0]
    program = Program(None if generator else function, package, strict, reads_again, loads)
    while True:
        program.functions, program.names, program.owners = {}, {}, {}
        try:
            return FunctionCapture.of(program, function).run(), program
        except CalleeRefused as refusal:
            if strict:
                raise refusal.error from None
            program.refuse(refusal.function, refusal.error)
        except CaptureAgain:
            continue


class FunctionCapture(Statements):
    """Captures one function, or one inner function of it."""

    def __init__(self, program: Program, function: types.FunctionType, source: FunctionSource, builder: Builder):
        super().__init__(program, function, source, builder, Scope([]), {})
        self.loops: list[list[str]] = []
        self.is_whole = False  # the function itself, not one inside it
        self.written_globals: set[str] = set()

    @staticmethod
    def of(program: Program, function: types.FunctionType) -> FunctionCapture:
        """A capture of a whole function, registered in the program under a name of its own."""
        try:
            source = function_source(function)
        except (OSError, TypeError, SyntaxError) as error:
            raise UnsupportedError(
                f"the source of {function.__qualname__!r} cannot be found ({error})",
                hint="put the function into a file or a notebook cell",
            ) from None
        if isinstance(source.node, ast.AsyncFunctionDef):
            raise UnsupportedError("`async` cannot be scripted", source.span(source.node), hint="use plain code")
        parameters = _parameters(source.node.args)
        name = program.reserve(function)
        graph = Graph(name, parameters, functions=program.functions, span=source.span(source.node))
        program.functions[name] = graph
        return FunctionCapture(program, function, source, Builder(graph))

    def run(self) -> Graph:
        graph, self.is_whole = self.builder.graph, True
        node = with_mangled_names(self.source.node, owner_of(self.function.__code__.co_qualname))
        for name in sorted(written_names(node).intersection(self.function.__code__.co_freevars)):
            self.program.note_written(self.lookup(name))
        self.body(node, graph.block.parameters, {})
        return graph

    def body(self, node: ast.FunctionDef | ast.Lambda, parameters: list[Value], environment: dict[str, Value]) -> None:
        """Lower parameters and statements into the current block."""
        self.scope = analyse(node, self.keeps_exceptions)
        hidden = self.scope.bound | self.scope.globals
        self.environment = {name: value for name, value in environment.items() if name not in hidden}
        suite = node.body if isinstance(node.body, list) else [ast.copy_location(ast.Return(node.body), node.body)]
        self.written_globals = bound_names(suite) & self.scope.globals
        with self.at(node):
            for name in sorted(self.scope.cells):
                self.environment[name] = self._cell(name)
            for name, value in zip(parameter_names(node.args), parameters, strict=True):
                value.name = name
                self.bind(name, value)
        self.statements(suite)
        if not self.builder.ended:
            self.builder.end("return", [Constant(None)])
        self._check_generator(node)

    def _cell(self, name: str) -> Value:
        cell = self.builder.add("cell", name=name)
        cell.type, cell.name = CELL, name
        return cell

    def _check_generator(self, node: ast.FunctionDef | ast.Lambda) -> None:
        """A generator is used up where it is made: in an inner function, or in one that the scripted function calls."""
        body = node.body if isinstance(node.body, list) else [node.body]
        found = next((inner for inner in walk_scope(body) if isinstance(inner, ast.Yield | ast.YieldFrom)), None)
        if found is not None and self.function is self.program.root and self.is_whole:
            self.refuse(found, "`yield` cannot be scripted", "append to a list and return it")
        if found is not None and not self.suspends:
            self.refuse(found, "a `yield` that is never reached cannot be scripted", "return iter(())")

    def inner_function(self, node: ast.FunctionDef | ast.Lambda, name: str) -> Value:
        """A `function` node: defaults and annotations are evaluated now, the body sees the names around it."""
        defaults = [self.expression(default) for default in (*node.args.defaults, *filter(None, node.args.kw_defaults))]
        annotated = list(annotations_of(node))
        values = [self.annotation(annotation) for _, annotation in annotated]
        parameters = tuple(_parameters(node.args))
        optional = {"annotations": tuple(name for name, _ in annotated), "doc": docstring(node)}
        given = {key: value for key, value in optional.items() if value}
        function = self.builder.node("function", [*defaults, *values], name=name, parameters=parameters, **given)
        block = function.add_block(len(parameters))
        with self.builder.at(block):
            self._inside().body(node, block.parameters, self.seen_inside(self.class_body))
        return function.result

    def inner_class(self, node: ast.ClassDef) -> Value:
        """A `class` node: bases and keywords are evaluated now, then the body runs."""
        inputs, labels = self.arguments(ast.Call(ast.Name(node.name, ast.Load()), node.bases, node.keywords))
        made = self.builder.node("class", inputs, labels=labels, name=written_name(node))
        made.result.name = node.name
        block = made.add_block([UNKNOWN, CELL])
        inner = self._inside()
        inner.environment = self.seen_inside(self.class_body)
        inner.class_body = ClassBody.of(node, made, self.builder.graph)
        inner.scope.nonlocals = declared(node.body, ast.Nonlocal)
        inner.written_globals = bound_names(node.body) & inner.class_body.globals
        with self.builder.at(block):
            inner.class_statements(node)
        return made.result

    def _inside(self) -> FunctionCapture:
        """The capture of what stands inside this."""
        return FunctionCapture(self.program, self.function, self.source, self.builder)

    def class_statements(self, node: ast.ClassDef) -> None:
        """Lower the body of a class into the current block."""
        namespace, cell = self.builder.block.parameters
        namespace.name, cell.name = "namespace", "__class__"
        with self.at(node):
            doc = docstring(node)
            if doc is not None:
                self.builder.node("class.store", [namespace, Constant(doc)], results=0, name="__doc__")
        self.statements(node.body)
        if not self.builder.ended:
            self.builder.end("yield")

    def annotation(self, node: ast.expr) -> Value:
        """The value of an annotation: its text where the module asks for that."""
        if self.function.__code__.co_flags & annotations.compiler_flag:
            return Constant(_text_of_annotation(node))
        return self.expression(node)

    def graph_name(self, callee: object, node: ast.Call) -> str | None:
        """The name under which the program holds the graph of a called function, or None for a host call."""
        if has_graph(callee):
            return self._import_graph(callee)
        known = self.program.names.get(id(callee))
        if known is not None:
            return known
        if not self.program.is_scripted(callee):
            if self.program.strict and is_user_code(callee, self.program.package):
                self.refuse(node, f"{callee.__qualname__!r} runs in the interpreter", "script it, or drop strict=True")
            if is_user_code(callee, self.program.package):
                self.program.note_host_call()
            return None
        try:
            FunctionCapture.of(self.program, callee).run()
        except UnsupportedError as error:
            raise CalleeRefused(callee, error) from None
        return self.program.names[id(callee)]

    def _import_graph(self, callee: object) -> str:
        """Bring in a function that was scripted or traced by itself."""
        known = self.program.names.get(id(callee))
        if known is not None:
            return known
        function = getattr(callee, "__gjit_function__", None)
        if type(function) is types.FunctionType:
            name = self.program.names.get(id(function))
            if name is None:
                name = FunctionCapture.of(self.program, function).run().name
            return name
        return self.program.adopt(callee, graph_of(callee))


def annotations_of(node: ast.FunctionDef | ast.Lambda) -> Iterator[tuple[str, ast.expr]]:
    """The annotations of parameters and result, by name, in the order in which Python evaluates them."""
    arguments = node.args
    each = [*arguments.args, *arguments.posonlyargs, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
    for argument in each:
        if argument is not None and argument.annotation is not None:
            yield argument.arg, argument.annotation
    if getattr(node, "returns", None) is not None:
        yield "return", node.returns


def docstring(node: ast.FunctionDef | ast.Lambda | ast.ClassDef) -> str | None:
    """The text that stands first in a definition."""
    return None if isinstance(node, ast.Lambda) else ast.get_docstring(node, clean=False)


def _text_of_annotation(node: ast.expr) -> str:
    """What the compiler makes of an annotation that is not evaluated."""
    place = ast.AnnAssign(ast.Name("name", ast.Store()), node, None, 1)
    module = ast.fix_missing_locations(ast.Module([place], []))
    namespace: dict[str, dict[str, str]] = {}
    exec(compile(module, "<annotation>", "exec", annotations.compiler_flag, True), namespace)
    return namespace["__annotations__"]["name"]


def _parameters(arguments: ast.arguments) -> list[Parameter]:
    """The signature, in the order of `parameter_names`."""
    positional = [*arguments.posonlyargs, *arguments.args]
    first_default = len(positional) - len(arguments.defaults)
    parameters = [
        Parameter(
            argument.arg,
            ParameterKind.POSITIONAL_ONLY if index < len(arguments.posonlyargs) else ParameterKind.NORMAL,
            index >= first_default,
        )
        for index, argument in enumerate(positional)
    ]
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, ParameterKind.VARIADIC))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(Parameter(argument.arg, ParameterKind.KEYWORD_ONLY, default is not None))
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, ParameterKind.VARIADIC_KEYWORD))
    return parameters
