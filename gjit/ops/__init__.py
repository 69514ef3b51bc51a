"""The op table: one row per operation, by family. Importing the package fills it."""

from gjit.ir.protocols import known_names
from gjit.ops import (  # noqa: F401  (each family fills the table)
    containers,
    control,
    create,
    elementwise,
    gradient_items,
    gradient_outside,
    gradient_rows,
    gradients_elementwise,
    gradients_fft,
    gradients_host,
    gradients_linalg,
    gradients_own,
    gradients_reduce,
    gradients_shape,
    guarded,
    host,
    host_math,
    index,
    linalg,
    methods,
    names,
    operators,
    reduce,
    scipy_special,
    shape,
)
from gjit.ops.aliases import viewed_inputs, written_inputs
from gjit.ops.exactness import is_layout_free, is_tile_free
from gjit.ops.row import OPAQUE, Effect, Kind, Op, effects_of, result_types, table

known_names.register(names.object_named, names.name_of)

__all__ = [
    "OPAQUE",
    "Effect",
    "Kind",
    "Op",
    "effects_of",
    "is_layout_free",
    "is_tile_free",
    "result_types",
    "table",
    "viewed_inputs",
    "written_inputs",
]
