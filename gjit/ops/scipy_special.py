"""The ufuncs of `scipy.special`: rows that appear once the user has imported it. gjit never imports SciPy."""

from __future__ import annotations

import sys

import numpy as np

from gjit.ops.effects import computes
from gjit.ops.row import Kind, Op, table
from gjit.ops.rules import ufunc_types

_MODULE = "scipy.special"
_KERNELS = {
    "erf": "np_erf({0})",
    "erfc": "np_erfc({0})",
    "expit": "np_expit({0})",
    "xlogy": "np_xlogy({0}, {1})",
    "xlog1py": "np_xlog1py({0}, {1})",
    "entr": "np_entr({0})",
}


def add_rows() -> bool:
    """Add the rows if the module is there and they are not; whether rows were added."""
    module = sys.modules.get(_MODULE)
    if module is None or not hasattr(module, "erf") or f"{_MODULE}.erf" in table.rows:
        return False
    for name, value in sorted(vars(module).items()):
        if isinstance(value, np.ufunc) and value.signature is None and not name.startswith("_"):
            rest = {"types": ufunc_types(value), "effects": computes, "layout_free": False}
            rest |= {"kernel": _KERNELS.get(name), "kinds": "f"}
            table.add(Op(name=f"{_MODULE}.{name}", kind=Kind.ELEMENTWISE, function=value, **rest))
    return True


table.suppliers.append(add_rows)
