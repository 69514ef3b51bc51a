"""The C++ program runs a model with ONNX Runtime's C API, where its headers and library are installed."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import gjit
from gjit.demo import EXPECTED, Net

SOURCE = pathlib.Path(__file__).parents[2] / "examples" / "onnx_runtime.cpp"
ROOT = pathlib.Path(os.environ.get("ORT_ROOT", "/usr/local"))


def header():
    return next(iter(ROOT.glob("include/**/onnxruntime_c_api.h")), None) if ROOT.is_dir() else None


def test_the_program_prints_the_values_of_the_net(tmp_path):
    pytest.importorskip("onnx")
    compiler = shutil.which("c++")
    if compiler is None or header() is None:
        pytest.skip("needs a C++ compiler, and ORT_ROOT with ONNX Runtime's headers and library")
    gjit.export_onnx(Net(), tmp_path / "net.onnx", np.array(5))
    flags = ["-std=c++17", f"-I{header().parent}", f"-L{ROOT}/lib", "-lonnxruntime", f"-Wl,-rpath,{ROOT}/lib"]
    subprocess.run([compiler, str(SOURCE), *flags, "-o", str(tmp_path / "run")], check=True)
    command = [str(tmp_path / "run"), str(tmp_path / "net.onnx"), *map(str, EXPECTED)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert dict(tuple(map(int, line.split())) for line in done.stdout.splitlines()) == EXPECTED
