"""What kernels for a device need besides the functions of the rows."""

from __future__ import annotations

import re

from gjit.cuda_kernels.device_reductions import BLOCKS, COLUMNS, DEVIATIONS, NUMBERS, PLACES, SHARED, TICKETS, WARPS

_VECTORS = """\
template <typename T, int count> struct __align__(sizeof(T) * count) Vector { T lanes[count]; };
"""
_DIVISION = """\
static __device__ __forceinline__ uint32 divided(uint32 number, uint32 multiplier, uint32 shift) {
    return (__umulhi(number, multiplier) + number) >> shift;
}
"""
_PARTS = (
    # a part, and the words by which a text shows that it needs it
    (_VECTORS, r"\bVector<"),
    (_DIVISION, r"\bdivided\("),
    (NUMBERS, r"\b(Sum|Product|Maximum|Minimum)\b"),
    (PLACES, r"\bPlace<"),
    (DEVIATIONS, r"\bMoments<"),
    (WARPS, r"\bof_(warp|block)<"),
    (SHARED, r"\bof_(block|column)<|\bshared_memory\b"),
    (BLOCKS, r"\bof_block<"),
    (COLUMNS, r"\bof_column<"),
    (TICKETS, r"\bis_last_block\("),
)


def device_support(text: str) -> str:
    """The parts that kernels of this text use, in an order in which they may be defined."""
    return "".join(part for part, words in _PARTS if re.search(words, text))
