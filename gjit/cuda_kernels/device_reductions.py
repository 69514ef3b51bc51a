"""Reductions among the threads of warps and blocks, in an order that depends on the extents alone."""

from __future__ import annotations

import numpy as np

from gjit.cuda_kernels.blocks import partial_type
from gjit.cuda_kernels.element import INDENT, literal
from gjit.cuda_kernels.program import Combine, Reduction

WARP = 32
_LINE = 116
_MOST_LANES = 4
_INLINE = "static __device__ __forceinline__"
_T = "template <typename T>"

NUMBERS = f"""\
struct Sum {{ {_T} {_INLINE} T combine(T a, T b) {{ return np_add(a, b); }} }};
struct Product {{
    {_T} {_INLINE} T combine(T a, T b) {{ return np_multiply(a, b); }}
}};
struct Maximum {{
    {_T} {_INLINE} T combine(T a, T b) {{
        return np_isnan(a) | np_greater_equal(a, b) ? a : b;
    }}
}};
struct Minimum {{
    {_T} {_INLINE} T combine(T a, T b) {{
        return np_isnan(a) | np_less_equal(a, b) ? a : b;
    }}
}};
"""
PLACES = f"""\
{_T} struct Place {{ T value; int64 place; }};
{_T} {_INLINE} bool is_before(Place<T> a, Place<T> b) {{
    const bool same = np_equal(a.value, b.value) | (np_isnan(a.value) & np_isnan(b.value));
    return same & (a.place < b.place);
}}
struct FirstMaximum {{
    {_T} {_INLINE} Place<T> combine(Place<T> a, Place<T> b) {{
        const bool larger = np_greater(a.value, b.value) | (np_isnan(a.value) & !np_isnan(b.value));
        return larger | is_before(a, b) ? a : b;
    }}
}};
struct FirstMinimum {{
    {_T} {_INLINE} Place<T> combine(Place<T> a, Place<T> b) {{
        const bool smaller = np_less(a.value, b.value) | (np_isnan(a.value) & !np_isnan(b.value));
        return smaller | is_before(a, b) ? a : b;
    }}
}};
"""
DEVIATIONS = f"""\
{_T} struct Moments {{ int64 count; T sum, squares; }};
struct Deviation {{
    {_T} {_INLINE} Moments<T> combine(Moments<T> a, Moments<T> b) {{
        if (a.count == 0) return b;
        if (b.count == 0) return a;
        const T distance = b.sum / (T)b.count - a.sum / (T)a.count;
        const T weight = (T)a.count * (T)b.count / (T)(a.count + b.count);
        return {{a.count + b.count, a.sum + b.sum, a.squares + b.squares + distance * distance * weight}};
    }}
}};
"""
"""A partial result of no elements has the count 0."""

WARPS = f"""\
{_T} {_INLINE} T from_lane(T value, int bits) {{
    union {{ T value; uint32 words[(sizeof(T) + 3) / 4]; }} own = {{value}}, other;
    #pragma unroll
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k) {{
        other.words[k] = __shfl_xor_sync(0xffffffffu, own.words[k], bits);
    }}
    return other.value;
}}
template <int count, typename T> {_INLINE} T of_first_lane(T value) {{
    union {{ T value; uint32 words[(sizeof(T) + 3) / 4]; }} own = {{value}}, first;
    #pragma unroll
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k) {{
        first.words[k] = __shfl_sync(0xffffffffu, own.words[k], 0, count);
    }}
    return first.value;
}}
// What `count` neighbouring lanes of a warp have together; it is the same for all of them.
template <typename Way, int count, typename T> {_INLINE} T of_warp(T value) {{
    #pragma unroll
    for (int bits = count / 2; bits > 0; bits /= 2) value = Way::combine(value, from_lane(value, bits));
    return of_first_lane<count>(value);
}}
"""
SHARED = """\
extern __shared__ __align__(16) char shared_memory[];
"""
BLOCKS = f"""\
// What the threads of a block have together; it is the same for all.
template <typename Way, int warps, typename T> {_INLINE} T of_block(T value) {{
    if (warps == 1) return of_warp<Way, 32>(value);
    T *slots = (T *)shared_memory;
    const int thread = (int)(threadIdx.y * blockDim.x + threadIdx.x);
    value = of_warp<Way, 32>(value);
    __syncthreads();
    if (thread % 32 == 0) slots[thread / 32] = value;
    __syncthreads();
    return of_warp<Way, warps>(slots[thread % warps]);
}}
"""
COLUMNS = f"""\
// What the threads of a block with one place along its first axis have together; it is the same for all of them.
template <typename Way, int team, typename T> {_INLINE} T of_column(T value) {{
    T *slots = (T *)shared_memory + threadIdx.x;
    __syncthreads();
    slots[threadIdx.y * blockDim.x] = value;
    __syncthreads();
    #pragma unroll
    for (unsigned half = team / 2; half > 0; half /= 2) {{
        T *own = slots + threadIdx.y * blockDim.x;
        if (threadIdx.y < half) *own = Way::combine(*own, own[half * blockDim.x]);
        __syncthreads();
    }}
    return *slots;
}}
"""
TICKETS = f"""\
// Whether this block is the last that comes here; what all others wrote before is then visible to its threads.
{_INLINE} bool is_last_block(uint32 *ticket, uint32 blocks) {{
    uint32 *turn = (uint32 *)shared_memory;
    __threadfence();
    __syncthreads();
    if (threadIdx.x + threadIdx.y == 0) *turn = atomicAdd(ticket, 1u);
    __syncthreads();
    const bool is_last = *turn == blocks - 1;
    if (is_last) __threadfence();
    return is_last;
}}
"""


def lanes_of(step: Reduction, vector: int) -> int:
    """How many partial results a thread has for vectors of so many elements: what takes many registers has one."""
    is_large = step.combine.is_place or step.combine is Combine.DEVIATION
    return 1 if is_large else min(vector, _MOST_LANES)


def is_cascaded(step: Reduction) -> bool:
    """Whether a few elements are added up before they join those before, so that errors stay small."""
    return step.accumulator.kind in "fc" and step.combine in (Combine.SUM, Combine.PRODUCT, Combine.DEVIATION)


def taken(step: Reduction, vector: int, lane: str, place: str) -> str:
    """The line that takes the term of one element into a thread's partial result."""
    part = f"{step.result}_{'parts' if is_cascaded(step) else 'sums'}[{_lane(step, vector, lane)}]"
    return f"{part} = {step.combine.value}::combine({part}, {single(step, f'{step.result}_term', place)});"


def _lane(step: Reduction, vector: int, lane: str) -> str:
    lanes = lanes_of(step, vector)
    if lanes == 1:
        return "0"
    return lane if lanes == vector or lane.isdigit() else f"{lane} % {lanes}"


def sums_of(reductions: list[Reduction], vector: int) -> list[str]:
    """The partial results of a thread."""
    return [line for step in reductions for line in array_of(step, "sums", lanes_of(step, vector))]


def parts_of(reductions: list[Reduction], vector: int) -> list[str]:
    """Those of a few elements, where they are apart."""
    cascaded = [step for step in reductions if is_cascaded(step)]
    return [line for step in cascaded for line in array_of(step, "parts", lanes_of(step, vector))]


def parts_joined(reductions: list[Reduction], vector: int) -> list[str]:
    """The partial results of a few elements into those of all before."""
    return [
        _joined(step, lane, f"{step.result}_parts[{lane}]")
        for step in reductions
        if is_cascaded(step)
        for lane in range(lanes_of(step, vector))
    ]


def lanes_joined(step: Reduction, vector: int) -> list[str]:
    """The partial results of all lanes into that of the first."""
    return [_joined(step, 0, f"{step.result}_sums[{lane}]") for lane in range(1, lanes_of(step, vector))]


def _joined(step: Reduction, lane: int, part: str) -> str:
    total = f"{step.result}_sums[{lane}]"
    return f"{total} = {step.combine.value}::combine({total}, {part});"


def single(step: Reduction, term: str, place: str) -> str:
    """One element as a partial result."""
    if step.combine.is_place:
        return f"{partial_type(step)}{{{term}, (int64){f'({place})' if ' ' in place else place}}}"
    return f"{partial_type(step)}{{1, {term}, 0}}" if step.combine is Combine.DEVIATION else term


def neutral(step: Reduction) -> str:
    """The partial result of no elements."""
    value = literal(step.neutral)
    if step.combine.is_place:
        return f"{partial_type(step)}{{{value}, 9223372036854775807}}"
    return f"{partial_type(step)}{{0, {value}, 0}}" if step.combine is Combine.DEVIATION else value


def array_of(step: Reduction, ending: str, count: int) -> list[str]:
    """An array of partial results of no elements, `NAME_ENDING`."""
    first, value = f"{partial_type(step)} {step.result}_{ending}[{count}] =", neutral(step)
    line = f"{first} {{{', '.join([value] * count)}}};"
    if len(line) <= _LINE:
        return [line]
    return [f"{first} {{", *(f"{INDENT}{value}," for _ in range(count)), "};"]


def of_block(step: Reduction, value: str, warps: int) -> str:
    """What all threads of a block have together."""
    return f"of_block<{step.combine.value}, {warps}>({value})"


def of_warp(step: Reduction, value: str, team: int) -> str:
    """What neighbouring lanes of a warp have together."""
    return f"of_warp<{step.combine.value}, {team}>({value})"


def of_column(step: Reduction, value: str, team: int) -> str:
    """What the threads of a block that share a column have together."""
    return f"of_column<{step.combine.value}, {team}>({value})"


def shared_bytes(reductions: list[Reduction], warps: int) -> int:
    """The shared memory that `of_block` and tickets need."""
    return max([4, *(step.partial.itemsize * warps for step in reductions)])


def number_of(step: Reduction, part: str) -> tuple[str, np.dtype]:
    """The number that a partial result holds, and its dtype."""
    if step.combine.is_place:
        return f"{part}.place", np.dtype("i8")
    return (f"{part}.squares" if step.combine is Combine.DEVIATION else part), step.accumulator
