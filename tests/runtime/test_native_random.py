"""Random regions on the native engine: what NumPy gives, with its bits where the op table says that it gives them."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import Phase, event, given, settings

from gjit.runtime import native
from tests.runtime import test_random_regions as random_regions
from tests.runtime.native_programs import check_native

pytestmark = [
    pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler"),
    pytest.mark.usefixtures("kernels"),
]

SHAPES = {
    "line": [(2400,), (2400,), ()],
    "odd": [(7, 13), (13,), (7, 1), (1, 1)],
    "plane": [(15, 160), (160,), (15, 1), (1, 1)],
    "long rows": [(3, 1500), (3, 1500), (1500,)],
    "block": [(4, 6, 100), (4, 6, 100), (6, 100), (4, 1, 1), (100,)],
}


def test_random_regions_are_what_numpy_gives(monkeypatch):
    monkeypatch.setattr(random_regions, "SHAPES", SHAPES)
    ran = []

    # Without a search for a smaller example, which would compile hundreds of kernels.
    @settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(random_regions.input_arrays(), random_regions.node_choices())
    def check(inputs, choices):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = check_native(random_regions._build(choices), *inputs)
        event("op by op" if not program.tiled_count else "exact" if program.is_exact else "near")
        ran.append(program.tiled_count)

    check()
    assert sum(ran) > len(ran) / 10
