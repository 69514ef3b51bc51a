"""The language on a device: NumPy programs give NumPy's results with everything that can be seen of a call."""

from __future__ import annotations

import pytest

import gjit
from gjit.testing import assert_same_as_numpy
from tests.runtime.devices import NAME, without_kernels
from tests.semantics.test_programs import PROGRAMS, arguments_of

DIFFERS = {
    "traps.layouts_of_temporaries": "NumPy computes into temporaries, whose order of axes then shows",
    "complex_numbers.products_of_temporaries": "NumPy computes into temporaries, which changes the last bits",
    "complex_numbers.phase_and_power": "NumPy computes into temporaries, which changes the last bits",
}
"""Programs that tell a device from a CPU, and why."""


@pytest.mark.parametrize("program", PROGRAMS[::3])
def test_program_gives_numpys_results(program, request):
    reason = DIFFERS.get(request.node.callspec.id)
    if reason is not None:
        pytest.skip(reason)
    with without_kernels():
        compiled = gjit.script(program.function, device=NAME)
        arguments = arguments_of(program, program.sizes[0])
        assert_same_as_numpy(compiled, *arguments, plain=program.function, calls=2, check_warnings=False)
