"""Functions that read or write elements chosen by data, sort, search and count."""

from __future__ import annotations

import numpy as np

from gjit.ir.types import NONE
from gjit.ops.effects import computes, writing
from gjit.ops.probe import probed
from gjit.ops.row import ALL_INPUTS, Kind, Op, table
from gjit.ops.rules import fixed


def _row(name: str, data: str, *, sizes: str = "", weak: str = "", **rest) -> None:
    function = getattr(np, name)
    rest = {"effects": computes, "types": probed(function, data, sizes, weak), **rest}
    table.add(Op(name=f"numpy.{name}", kind=Kind.INDEX, function=function, **rest))


_row("take", "a indices", weak="indices", method="take")
_row("take_along_axis", "arr indices")
_row("compress", "condition a")
_row("extract", "condition arr")
_row("choose", "a choices")
_row("nonzero", "a", method="nonzero")
_row("flatnonzero", "a")
_row("argwhere", "a")
_row("searchsorted", "a v sorter", weak="v", method="searchsorted")
_row("digitize", "x bins")
_row("bincount", "x weights", sizes="minlength")
_row("histogram", "a weights", sizes="bins")
_row("sort", "a")
_row("argsort", "a", method="argsort")
_row("partition", "a", sizes="kth")
_row("argpartition", "a", sizes="kth", method="argpartition")
_row("lexsort", "keys")
_row("unique", "ar")
_row("isin", "element test_elements", weak="test_elements")
_row("diff", "a", views=(0,))
_row("ediff1d", "ary")
_row("gradient", "f varargs")
_row("ix_", "args", views=ALL_INPUTS)
_row("unravel_index", "indices", weak="indices", sizes="shape")
_row("ravel_multi_index", "multi_index", weak="multi_index", sizes="dims")
_row("triu_indices", "", sizes="n k m")
_row("tril_indices", "", sizes="n k m")
_row("diag_indices", "", sizes="n")

for _name in ("put", "putmask", "place", "put_along_axis", "fill_diagonal", "copyto"):
    _row(_name, "", types=fixed(NONE), effects=writing, writes=(0,))
