"""Every shape of kernel goes through NVIDIA's compiler for each generation of devices, and nothing spills."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from gjit.cuda_kernels.device import unit_text
from tests.cuda_kernels import nvrtc, test_device_op_rows, test_device_programs, test_device_rows, test_device_totals
from tests.cuda_kernels.test_device_elementwise import CASES as ELEMENTWISE

ARCHITECTURES = (75, 80, 90, 100)
ALL = {
    "programs": list(test_device_programs.CASES.values()),
    "elementwise": ELEMENTWISE,
    "rows": [*test_device_rows.CASES, *test_device_rows.softmax_cases()],
    "columns": [*test_device_rows.SPLIT, *test_device_rows.COLUMNS],
    "totals": test_device_totals.CASES,
    "op_rows": [test_device_op_rows.device_case(case) for case in test_device_op_rows.CASES],
}
FEW = [*ALL["programs"], *ELEMENTWISE[::6], *ALL["rows"][1::5], *ALL["totals"][::6]]
FULL = [pytest.param(name, marks=pytest.mark.slow) for name in ALL]


def source_of(cases) -> str:
    return unit_text(case.emit(f"k{place}") for place, case in enumerate(cases))


def check(cases, architecture: int) -> None:
    if architecture not in nvrtc.architectures():
        pytest.skip(f"this NVRTC does not know sm_{architecture}")
    usages = nvrtc.compile_unit(source_of(cases), architecture)
    assert len(usages) == len(cases)
    assert not {name: usage for name, usage in usages.items() if usage.spilled}
    assert max(usage.registers for usage in usages.values()) <= 160


@pytest.mark.skipif(nvrtc.library() is None, reason="needs the package nvidia-cuda-nvrtc")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_shape_compiles_for_every_generation_and_nothing_spills(architecture):
    check(FEW if architecture in (75, 100) else ALL["programs"], architecture)


@pytest.mark.skipif(nvrtc.library() is None, reason="needs the package nvidia-cuda-nvrtc")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", FULL)
def test_every_kernel_that_runs_emulated_compiles(name, architecture):
    check(ALL[name], architecture)


@pytest.mark.skipif(nvrtc.library() is not None or shutil.which("nvcc") is None, reason="needs nvcc, and no NVRTC")
def test_nvcc_compiles_every_shape(tmp_path):
    path = tmp_path / "unit.cu"
    path.write_text(source_of(FEW))
    flags = ["-arch=sm_90", "-std=c++17", "--fmad=false", "-Werror=all-warnings", "-diag-suppress=186", "-cubin"]
    done = subprocess.run(["nvcc", *flags, str(path), "-o", os.devnull], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
