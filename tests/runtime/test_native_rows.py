"""Every row of the op table that has a kernel runs in a native region, as a function and as a method of arrays."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import gjit
from gjit.ops import Kind, table
from gjit.runtime import native

pytestmark = [
    pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler"),
    pytest.mark.usefixtures("kernels"),
]

DTYPES = ["f8", "f4", "i8", "?", "c16"]
APART = {
    "numpy.astype": "np.astype(t, 'f4')",
    "ndarray.astype": "t.astype('f4')",
    "numpy.where": "np.where(t, t, u)",
    "numpy.clip": "np.clip(t, u, t)",
    "ndarray.clip": "t.clip(u, t)",
    "numpy.ldexp": "np.ldexp(t, 3)",
}
POWERS = {"numpy.power": "np.power(t, 3)"}
"""Of integers: NumPy raises for negative exponents, so the exponent has to be known."""


def calls(dtype: np.dtype) -> dict[str, str]:
    """For each row with a kernel for operands of this dtype, a call of it on `t` and `u`."""
    found = {}
    for op in table.rows.values():
        if op.kind is not Kind.ELEMENTWISE or not op.name.startswith(("numpy.", "ndarray.")):
            continue
        owner, _, name = op.name.rpartition(".")
        if not has_kernel(op, dtype):
            continue
        special = APART.get(op.name) or (POWERS.get(op.name) if dtype.kind in "iu" else None)
        operands = ["t", "u"][: getattr(op.function, "nin", 1)]
        function = f"np.{name}({', '.join(operands)})"
        method = f"t.{op.method or name}()"
        found[op.name] = special or (function if owner == "numpy" else method)
        if op.method and not special:
            found[f"{op.name} as a method"] = method
    return found


def has_kernel(op, dtype: np.dtype) -> bool:
    count = getattr(op.function, "nin", 3 if op.name.endswith(("where", "clip")) else 1)
    if isinstance(op.function, np.ufunc):
        try:
            loops = op.function.resolve_dtypes(
                (*(dtype,) * count, None) if op.name != "numpy.ldexp" else (dtype, int, None)
            )
        except TypeError:
            return False
        is_wanted = op.function.nout == 1 and loops[0] == dtype
        return is_wanted and op.kernel_text(loops) is not None
    if op.name.endswith("astype"):
        return dtype.kind != "c"
    own = op if op.kernel is not None else table.get(op.ufunc)
    return own is not None and own.kernel_text((dtype,) * (count + 1)) is not None


def program(texts: dict[str, str]):
    """A function that makes two arrays, calls everything on them, and computes with what it gets."""
    lines = [f"    r{place} = np.add({text}, 0)" for place, text in enumerate(texts.values())]
    results = ", ".join(f"r{place}" for place in range(len(texts)))
    body = "\n".join(["    t = np.maximum(x, y)", "    u = np.minimum(x, y)", *lines, f"    return {results},"])
    text = f"def program(x, y):\n{body}\n"
    file, namespace = f"<rows {hash(text)}>", {"np": np}
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), namespace)
    return namespace["program"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_with_kernels_are_reached(dtype):
    texts = calls(np.dtype(dtype))
    assert len(texts) > 10
    random = np.random.default_rng(0)
    x, y = (np.abs(random.standard_normal(500) * 3 + 1).astype(dtype) for _ in range(2))
    plain = program(texts)
    compiled = gjit.script(plain, engine="native")
    with np.errstate(all="ignore"):
        found, expected = compiled(x, y), plain(x, y)
    assert compiled.statistics.regions == 1, compiled.code
    assert (compiled.statistics.launches, compiled.statistics.fallbacks) == (1, 0)
    inside = {node.op for node in compiled.graph_for(x, y).all_nodes() if node.op != "region"}
    regions = [node for node in compiled.graph_for(x, y).all_nodes() if node.op == "region"]
    fused = {node.op for region in regions for node in region.blocks[0]}
    missing = {name.partition(" ")[0] for name in texts} & inside - fused
    assert not missing
    for name, one, other in zip(texts, found, expected, strict=True):
        assert one.dtype == other.dtype, name
        eps = np.finfo(one.dtype).eps if one.dtype.kind in "fc" else 0
        np.testing.assert_allclose(one, other, rtol=32 * eps, atol=32 * eps, err_msg=name)
