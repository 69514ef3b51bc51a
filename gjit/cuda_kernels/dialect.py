"""How C++ is spelled for the system's compiler and for NVRTC."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gjit.cuda_kernels import prelude_own

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


NATIVE = Dialect("native", "static inline", "struct", True, prelude_own.NATIVE)
"""C++ for the system's compiler."""
CUDA = Dialect("cuda", "__device__ __forceinline__", "struct __align__({size})", False, prelude_own.CUDA)
"""C++ for NVRTC; compiled by a C++ compiler, it needs these two words and `math.h`."""


def with_vector_math(glibc_minor: int) -> Dialect:
    """`NATIVE` with the vector math library of glibc 2.`glibc_minor`, which g++ links by `-lmvec`.

    >>> sorted(with_vector_math(31).vectorised)
    ['cos', 'exp', 'log', 'pow', 'sin']
    """
    names = [name for minor, names in _VECTOR_MATH.items() if minor <= glibc_minor for name in names.split()]
    return replace(NATIVE, vectorised=frozenset(names))
