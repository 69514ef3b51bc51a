"""Programs on the native engine for tests, and how their results are compared with the twin's."""

from __future__ import annotations

from unittest import mock

import numpy as np

from gjit.cuda_kernels.program import Combine, KernelProgram, Reduction
from gjit.ops.row import table
from gjit.runtime import native_region
from gjit.runtime.native_region import NativeRegion
from tests.runtime import region_programs
from tests.runtime.region_programs import Program, copies


class NativeProgram(Program):
    """As `Program`, with its regions on the native engine."""

    is_wide = True

    def __init__(self, build, *inputs: object):
        with mock.patch.object(region_programs, "TiledRegion", NativeRegion):
            super().__init__(build, *inputs)

    @property
    def launches(self) -> list:
        return [each for region in self.regions for each in region._launches.values() if each is not None]

    @property
    def is_exact(self) -> bool:
        """Whether the table says that every op gives NumPy's bits; sums of floats do not."""
        stages = [stage for launch in self.launches for stage in launch.draft.stages if stage is not None]
        return all(_is_exact(stage.program) for stage in stages)


def _is_exact(program: KernelProgram) -> bool:
    dtypes = program.dtypes()
    stores = [(dtypes[each.value], each.array.dtype) for each in program.outputs if isinstance(each.value, str)]
    return all(map(_is_exact_step, program.steps)) and not any(_may_overflow(*pair) for pair in stores)


def _may_overflow(source: np.dtype, target: np.dtype) -> bool:
    """Casts whose results depend on the layout in NumPy itself, where a number is out of range."""
    return source.kind in "fc" and target.kind in "iu"


def _is_exact_step(step) -> bool:
    if isinstance(step, Reduction):
        is_sum = step.combine in (Combine.SUM, Combine.PRODUCT, Combine.DEVIATION)
        return step.accumulator.kind in "biu" or not is_sum
    if step.row == "complex":
        return True
    if step.row == "numpy.astype" and _may_overflow(*step.loops):
        return False
    return table[step.row].kernel_exact(step.loops)


def check_native(build, *inputs, bound: float | None = None) -> NativeProgram:
    """Run a program on the native engine and node by node, on copies of the inputs.

    Results and written inputs have the same kinds, dtypes, shapes, strides and identities. Their values are the same
    bits, but for which NaN it is, where the table says so; where `bound` is given, values are that near.
    """
    program = NativeProgram(build, *inputs)
    with mock.patch.object(native_region, "_USES_BEFORE_FUNCTIONS", 1):
        for _ in range(2):  # the second call goes through generated host functions
            _check_call(program, inputs, bound)
    return program


def _check_call(program: NativeProgram, inputs: tuple, bound: float | None) -> None:
    ours, theirs = copies(inputs), copies(inputs)
    with np.errstate(all="ignore"):
        expected, failure = _outcome(program.twin, theirs)
        found, our_failure = _outcome(program.tiled, ours)
    assert our_failure == failure
    is_exact = program.is_exact
    for left, right in [*zip(found, expected, strict=True), *zip(ours, theirs, strict=True)]:
        assert_alike(left, right, ours, theirs)
        if is_exact or bound is not None:
            assert_values(left, right, 0.0 if is_exact else bound)


def _outcome(function, inputs) -> tuple[tuple, object]:
    try:
        results = function(*inputs)
    except Exception as error:
        return (), (type(error), str(error))
    return results if isinstance(results, tuple) else (results,), None


def assert_alike(left, right, ours=(), theirs=()) -> None:
    """The same kind, dtype, shape, strides, and the same input if it is one."""
    assert type(left) is type(right)
    if not isinstance(left, np.ndarray | np.generic):
        return
    assert left.dtype == right.dtype
    assert left.dtype.char == right.dtype.char
    assert left.shape == right.shape
    assert left.strides == right.strides
    assert [left is each for each in ours] == [right is each for each in theirs]


def assert_values(left, right, bound: float) -> None:
    """The same bits, or nearer than `bound` times the size; NaN where NaN is."""
    if not isinstance(left, np.ndarray | np.generic):
        assert left == right or left != left
        return
    if left.dtype.kind == "c":
        assert_values(left.real, right.real, bound)
        assert_values(left.imag, right.imag, bound)
        return
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype.kind == "f":
        nan = np.isnan(right)
        assert np.array_equal(np.isnan(left), nan)
        left, right = left[~nan], right[~nan]
        if not bound:
            assert np.array_equal(np.signbit(left), np.signbit(right))
    if bound:
        np.testing.assert_allclose(left.astype(float), right.astype(float), rtol=bound, atol=bound)
    else:
        assert np.array_equal(left, right)
