"""What is asked of an operation before it is written: whether it writes, and whether NumPy can compute it now."""

from __future__ import annotations

from typing import Any

from gjit.interchange.onnx.values import Tensor, holds_tensor
from gjit.ops.row import Kind, table


def target_of(op: str, positional: list[Any], keywords: dict[str, Any]) -> Tensor | None:
    out = keywords.get("out")
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if isinstance(out, Tensor):
        return out
    is_augmented = op.startswith("operator.i") and op not in (
        "operator.is",
        "operator.is_not",
        "operator.in",
        "operator.invert",
    )
    first = positional[0] if positional else None
    return first if is_augmented and isinstance(first, Tensor) and first.is_array else None


FOLDABLE = frozenset({Kind.OPERATOR, Kind.ELEMENTWISE, Kind.REDUCTION, Kind.LINALG})
"""Ops whose results are new arrays."""


def is_foldable(op: str, positional: list[Any], keywords: dict[str, Any]) -> bool:
    """Whether NumPy itself can compute the result now."""
    row = table.get(op)
    if row is None or row.kind not in FOLDABLE or row.function is None:
        return False
    values = [*positional, *keywords.values()]
    tensors = [value for value in values if isinstance(value, Tensor)]
    rest = [value for value in values if not isinstance(value, Tensor)]
    return all(tensor.constant is not None for tensor in tensors) and not holds_tensor(rest)


def constants_of(positional: list[Any], keywords: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    return list(map(_constant_of, positional)), {name: _constant_of(value) for name, value in keywords.items()}


def _constant_of(value: Any) -> Any:
    if not isinstance(value, Tensor) or value.is_array:
        return value.constant if isinstance(value, Tensor) else value
    return value.constant.item() if value.kind == "python" else value.constant[()]


def pure(op: str) -> str:
    name = op.removeprefix("operator.i")
    return f"operator.{name}" if op.startswith("operator.i") and op != "operator.invert" else op
