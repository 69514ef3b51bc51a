"""Names of values in generated C++: the user's where they can be."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gjit.ir.graph import Value

_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
    const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float
    for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq requires concept linux unix i row block start stop begin end arguments scratch
    turn turns route chain left lifted truth sample called all_lanes load_lanes store_lanes Lanes Truth Elements
    VectorOf Sized WrappingOf LANES CHAINS WIDTH EACH_CHAIN WHOLE
    smaller combine reduce_block region Array Arguments Sum Product Maximum Minimum Pairwise INDEPENDENT
    delay put line lines unit tiles first count Place Moments FirstMaximum FirstMinimum Deviation place_in_block
    moments_of_block
    Vector Triple Fiber divided lane outer order host current launch body ticket shared_memory threadIdx blockIdx
    at column is_inside own across along result results row_or_last part parts counted thread blocks held k of_warp
    of_block of_column of_first_lane from_lane is_last_block is_before line_start line_step line_or_last
    blockDim gridDim warpSize NULL EOF NAN INFINITY HUGE_VAL stdin stdout stderr
    bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128
"""
_RESERVED = frozenset(_WORDS.split())
"""Words of C++ and of the generated text that no value may be called."""
_OWN = re.compile(
    r"_|np_|next_|M_|(extent|index|rest|multiplier|shift)_\d|region_|row_st|.*_(data|base|rows?|step|apart|block|parts?|"
    r"partials|lane|total|place|beats|vectors?|term|kept|held|result|tile|turns|chains|sums|all|rest|stride_\d+)$"
)
"""What generated text calls its own."""


@dataclass(slots=True)
class Names:
    """Gives each value a name of its own.

    >>> names = Names()
    >>> [names.of(Value(name="x")), names.of(Value(name="x")), names.of(Value(name="double")), names.of(Value())]
    ['x', 'x0', 'double0', 't0']
    """

    taken: set[str] = field(default_factory=set)

    def of(self, value: Value) -> str:
        """The user's name for a value, or one that begins with `t`."""
        name = re.sub(r"\W", "_", value.name, flags=re.ASCII)
        return self.unique(name if name and not name[0].isdigit() else "t")

    def unique(self, name: str) -> str:
        """This name, with a number where it is taken."""
        stem = f"v{name}" if _OWN.match(name) else name
        found, number = stem, 0
        while found in self.taken or found in _RESERVED or found == "t":
            found, number = f"{stem}{number}", number + 1
        self.taken.add(found)
        return found
