"""How C++ is spelled for the system's compiler and for NVRTC."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

_UNSIGNED_CASTS = r"""
uint32 np_truncate_uint32(F x) {
    F half = (F)2147483648.0;
    return x >= half ? (uint32)np_truncate_int32(x - half) ^ 2147483648u : (uint32)np_truncate_int32(x);
}

uint64 np_truncate_uint64(F x) {
    F half = (F)9223372036854775808.0;
    return x >= half ? (uint64)np_truncate_int64(x - half) ^ 9223372036854775808ULL : (uint64)np_truncate_int64(x);
}
"""
"""What a cast of a float that does not fit gives is the processor's own in NumPy; these are the forms of x86."""
_CASTS_OF_THE_PROCESSOR = r"""
int32 np_truncate_int32(F x) { return (int32)x; }

int64 np_truncate_int64(F x) { return (int64)x; }
"""
_CASTS_OF_X86 = r"""
int32 np_truncate_int32(F x) { return x > (F)-2147483649.0 && x < (F)2147483648.0 ? (int32)x : -2147483647 - 1; }

int64 np_truncate_int64(F x) {
    bool_ fits = x >= (F)-9223372036854775808.0 && x < (F)9223372036854775808.0;
    return fits ? (int64)x : -9223372036854775807LL - 1;
}
"""
_VECTOR_MATH = {
    22: "sin cos exp log pow",
    35: "acos acosh asin asinh atan atanh atan2 cbrt cosh erf erfc exp2 expm1 hypot log10 log1p log2 sinh tan tanh",
}
"""The functions of glibc's vector math library by the minor version that brought them."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One meaning of the same kernels.

    function    what stands before the definition of a function
    structure   how a structure of `{size}` bytes begins
    declares    whether the functions of the C library have to be declared
    vectorised  those of them that have vector forms: their names for float64
    definitions functions of the prelude that only this dialect has, in the form of the prelude's own
    """

    name: str
    function: str
    structure: str
    declares: bool
    definitions: str
    vectorised: frozenset[str] = field(default=frozenset())


NATIVE = Dialect("native", "static inline", "struct", True, _CASTS_OF_THE_PROCESSOR + _UNSIGNED_CASTS)
"""C++ for the system's compiler."""
CUDA = Dialect("cuda", "__device__ __forceinline__", "struct __align__({size})", False, _CASTS_OF_X86 + _UNSIGNED_CASTS)
"""C++ for NVRTC; compiled by a C++ compiler, it needs these two words and `math.h`."""


def with_vector_math(glibc_minor: int) -> Dialect:
    """`NATIVE` with the vector math library of glibc 2.`glibc_minor`, which g++ links by `-lmvec`.

    >>> sorted(with_vector_math(31).vectorised)
    ['cos', 'exp', 'log', 'pow', 'sin']
    """
    names = [name for minor, names in _VECTOR_MATH.items() if minor <= glibc_minor for name in names.split()]
    return replace(NATIVE, vectorised=frozenset(names))
