"""Functions that make arrays from sizes, host values or other arrays, and NumPy's scalar classes."""

from __future__ import annotations

import numpy as np

from gjit.ops.effects import computes
from gjit.ops.probe import probed
from gjit.ops.row import ALL_INPUTS, Kind, Op, TypeRule, table
from gjit.ops.rules_create import arange_types, filled_types, scalar_class_types


def _row(name: str, types: TypeRule | None, **rest) -> None:
    function = getattr(np, name)
    rest = {"effects": computes, **rest}
    table.add(Op(name=f"numpy.{name}", kind=Kind.CREATE, function=function, types=types, **rest))


for _name in ("zeros", "ones", "empty"):
    _row(_name, probed(getattr(np, _name), shape="shape"))
for _name, _array in (("zeros_like", "a"), ("ones_like", "a"), ("empty_like", "prototype")):
    _row(_name, probed(getattr(np, _name), _array, shape="shape"))
_row("full", filled_types(np.full))
_row("full_like", filled_types(np.full_like))
_row("arange", arange_types)
_row("linspace", probed(np.linspace, "start stop", "num"))
_row("logspace", probed(np.logspace, "start stop base", "num"))
_row("geomspace", probed(np.geomspace, "start stop", "num"))
_row("eye", probed(np.eye, sizes="N M k"))
_row("identity", probed(np.identity, sizes="n"))
_row("tri", probed(np.tri, sizes="N M k"))
_row("tril", probed(np.tril, "m", "k"))
_row("triu", probed(np.triu, "m", "k"))
_row(
    "diag", probed(np.diag, "v", "k"), views=(0,), is_view=lambda node: getattr(node.inputs[0].type, "rank", None) != 1
)
_row("diagflat", probed(np.diagflat, "v", "k"))
_row("vander", probed(np.vander, "x", "N"))
_row("indices", probed(np.indices, sizes="dimensions"))
_row("meshgrid", probed(np.meshgrid, "xi"), views=ALL_INPUTS)
_row("fromfunction", None, effects=table["call"].effects)
_row("array", probed(np.array, "object"), views=(0,))
_row("asarray", probed(np.asarray, "a"), views=(0,))
_row("asanyarray", probed(np.asanyarray, "a"), views=(0,))
_row("ascontiguousarray", probed(np.ascontiguousarray, "a"), views=(0,))
_row("asfortranarray", probed(np.asfortranarray, "a"), views=(0,))
_row("copy", probed(np.copy, "a"))

for _class in (
    *(np.bool, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
):
    _row(_class.__name__, scalar_class_types(_class), views=(0,))
