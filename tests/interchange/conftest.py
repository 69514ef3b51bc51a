"""Tests of models need ONNX and its run time; `test_onnx_available.py` says so where they are missing."""

from __future__ import annotations

import importlib.util

_NEEDED = ("onnx", "onnxruntime")
_TESTS = ["test_onnx.py", "test_onnx_rules.py", "test_onnx_cpp.py"]
collect_ignore = [] if all(map(importlib.util.find_spec, _NEEDED)) else _TESTS
