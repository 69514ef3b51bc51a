from __future__ import annotations

import pytest


@pytest.mark.parametrize("package", ["onnx", "onnxruntime"])
def test_what_the_tests_of_models_need_is_installed(package):
    pytest.importorskip(package, reason="the tests of models are left out")
