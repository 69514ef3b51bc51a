"""Gradients of the ops that gradient graphs are made of: what makes second derivatives."""

from __future__ import annotations

import numpy as np

from gjit.ops.gradient_rows import fit, unfit
from gjit.ops.gradients import differentiate, zero

differentiate("gradient.fit", cotangent=lambda g, r, cotangent, like: unfit(g, cotangent))
differentiate("gradient.unfit", cotangent=lambda g, r, cotangent, like: fit(g, cotangent))
differentiate("gradient.finished", gradient=lambda g, r, value, gradient: g)
differentiate("gradient.cotangent", given=lambda g, r, given, result: g)
differentiate("gradient.put_back", cotangent=lambda g, r, cotangent, index, like: np.take(np.ravel(g), index))
differentiate(
    "gradient.stacked",
    rows=lambda g, r, rows, value, like: list(np.reshape(g, (len(rows), *np.shape(like)))),
)
zero("gradient.einsum_parts")
