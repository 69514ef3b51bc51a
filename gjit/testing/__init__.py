"""Tools that compare compiled functions with NumPy.

`assert_same_as_numpy` runs a compiled function and the plain function that it was made from, and fails with a report of
every difference that a program could see. `same` compares two objects in the same strict way. `check_grads` compares
gradients with differences. `emulated_device` runs a block on a device that needs no GPU, with faults on demand.
"""

from __future__ import annotations

from gjit.testing.comparison import same
from gjit.testing.devices import emulated_device
from gjit.testing.gradients import check_grads
from gjit.testing.running import assert_same_as_numpy

__all__ = ["assert_same_as_numpy", "check_grads", "emulated_device", "same"]
