"""The parameters of a Python function, from its code object."""

from __future__ import annotations

import inspect
import types

from gjit.ir.graph import Parameter, ParameterKind

_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: ParameterKind.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParameterKind.NORMAL,
    inspect.Parameter.VAR_POSITIONAL: ParameterKind.VARIADIC,
    inspect.Parameter.KEYWORD_ONLY: ParameterKind.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD: ParameterKind.VARIADIC_KEYWORD,
}


def signature_of(function: types.FunctionType) -> list[Parameter]:
    """The parameters in order, without looking at annotations or at `__wrapped__`.

    >>> [parameter.name for parameter in signature_of(lambda x, *rest, scale=2: x)]
    ['x', 'rest', 'scale']
    """
    plain = types.FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    plain.__kwdefaults__ = function.__kwdefaults__
    return [
        Parameter(parameter.name, _KINDS[parameter.kind], parameter.default is not inspect.Parameter.empty)
        for parameter in inspect.signature(plain).parameters.values()
    ]
