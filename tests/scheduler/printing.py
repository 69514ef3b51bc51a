"""Print, compile and run what a test captures or writes as graph text."""

from __future__ import annotations

import copy
import types

from gjit.capture.script import capture_function
from gjit.ir.parser import parse_graph
from gjit.scheduler.bindings import Environment
from gjit.scheduler.host_program import HostProgram, compile_host_program, host_program


def scripted(function):
    return function


def of_text(text: str, **environment) -> tuple[HostProgram, types.FunctionType]:
    """The program of a graph text, and its function."""
    program = host_program(parse_graph(text), Environment(**environment))
    helpers = dict.fromkeys(program.helpers, scripted)
    return program, compile_host_program(program, {}, extra_bindings=helpers)


def printed(function: types.FunctionType) -> str:
    """The text of the program of a function, calls of unknown functions printed as plain calls."""
    graph, _ = capture_function(function)
    return host_program(graph, Environment(function.__globals__, calls_natively=lambda node: True)).source


def generated(function: types.FunctionType) -> types.FunctionType:
    """A function of the user, captured, printed and compiled; so are those that it calls."""
    graph, program = capture_function(function)
    cells = {name: types.CellType() for name in program.functions}
    made: dict[str, types.FunctionType] = {}
    for name, each in program.functions.items():
        owner = program.owners.get(name) or function
        printed_one = host_program(each, Environment(owner.__globals__))
        outside: dict[str, object] = {here: cells[other] for here, other in printed_one.functions.items()}
        outside |= dict.fromkeys(printed_one.helpers, scripted)
        made[name] = compile_host_program(
            printed_one,
            owner.__globals__,
            extra_bindings=outside,
            defaults=owner.__defaults__,
            keyword_defaults=owner.__kwdefaults__,
            qualified_name=owner.__qualname__,
        )
        cells[name].cell_contents = made[name]
    return next(made[name] for name, each in program.functions.items() if each is graph)


def outcome(function, *arguments) -> tuple:
    """What a call gives or raises, and what it makes of its arguments; the arguments themselves stay."""
    arguments = copy.deepcopy(arguments)
    try:
        result: object = function(*arguments)
    except Exception as error:
        return type(error), error.args, repr(arguments)
    return type(result), repr(result), repr(arguments)


def assert_same(function: types.FunctionType, *calls: tuple) -> None:
    """Compare a function with its generated form on the arguments of each call."""
    other = generated(function)
    for arguments in calls:
        assert outcome(other, *arguments) == outcome(function, *arguments), arguments
