"""What kernels for a device need besides the functions of the rows."""

from __future__ import annotations

_VECTORS = """\
template <typename T, int count> struct __align__(sizeof(T) * count) Vector { T lanes[count]; };
"""
_DIVISION = """\
static __device__ __forceinline__ uint32 divided(uint32 number, uint32 multiplier, uint32 shift) {
    return (__umulhi(number, multiplier) + number) >> shift;
}
"""
_PARTS = {"Vector<": _VECTORS, "divided(": _DIVISION}
"""Each part, and the word by which a text shows that it needs it."""


def device_support(text: str) -> str:
    """The parts that kernels of this text use, in an order in which they may be defined."""
    return "".join(part for word, part in _PARTS.items() if word in text)
