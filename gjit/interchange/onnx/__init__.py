"""ONNX: a program of one example's types as a model that needs no Python."""

from gjit.interchange.onnx.model import OPSET, write_model

__all__ = ["OPSET", "write_model"]
