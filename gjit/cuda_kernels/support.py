"""What generated C++ needs besides the functions of the rows: array objects, loops, reductions of blocks."""

from __future__ import annotations

from gjit.cuda_kernels.lanes_support import lanes_support_text
from gjit.cuda_kernels.program import Combine, KernelProgram

ARRAYS = """\
struct Array {
    void *header[2];
    char *data;
};
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
static inline int64 smaller(int64 a, int64 b) { return a < b ? a : b; }
"""
"""An array object begins with its reference count and type; its data follow. INDEPENDENT promises that the turns of a
loop do not depend on each other."""

FLAGS = """\
#if defined(__x86_64__)
static inline void clear_flags() {
    uint32 state;
    __asm__ volatile("stmxcsr %0" : "=m"(state));
    state &= ~0x3fu;
    __asm__ volatile("ldmxcsr %0" : : "m"(state) : "memory");
}
// 1 invalid, 2 division by zero, 4 overflow
static inline int64 raised_flags() {
    uint32 state;
    __asm__ volatile("stmxcsr %0" : "=m"(state) : : "memory");
    return (state & 1) | (state >> 1 & 6);
}
#elif defined(__aarch64__)
static inline void clear_flags() { __asm__ volatile("msr fpsr, %0" : : "r"(0ULL) : "memory"); }
static inline int64 raised_flags() {
    uint64 state;
    __asm__ volatile("mrs %0, fpsr" : "=r"(state) : : "memory");
    return state & 7;
}
#else
#error "no floating-point flags"
#endif
"""
"""The floating-point errors of this thread, for checked kernels."""

REDUCTIONS = """\
struct Sum {
    template <typename T> static T combine(T a, T b) { return a + b; }
    template <typename T> static T start(T) { return 0; }
};
struct Product {
    template <typename T> static T combine(T a, T b) { return a * b; }
    template <typename T> static T start(T) { return 1; }
};
struct Maximum {
    template <typename T> static T combine(T a, T b) { return (a >= b) | (a != a) ? a : b; }
    template <typename T> static T start(T first) { return first; }
};
struct Minimum {
    template <typename T> static T combine(T a, T b) { return (a <= b) | (a != a) ? a : b; }
    template <typename T> static T start(T first) { return first; }
};
// All elements of a block. Which of them meet in which order depends on their number alone.
template <typename Way, typename T> static T reduce_block(const T *values, int64 count) {
    typedef T Vector __attribute__((vector_size(64)));
    typedef T Loose __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
    const int width = 64 / sizeof(T);
    if (count < width) {
        T result = Way::start(values[0]);
        for (int64 i = 0; i < count; ++i) result = Way::combine(result, values[i]);
        return result;
    }
    Vector lanes[8];
    for (int k = 0; k < 8; ++k)
        for (int lane = 0; lane < width; ++lane) lanes[k][lane] = Way::start(values[0]);
    int64 i = 0;
    const auto load = [&](int64 place) { return (Vector) * (const Loose *)(values + place); };
    for (; i + 8 * width <= count; i += 8 * width)
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) lanes[k] = Way::combine(lanes[k], load(i + k * width));
    for (; i + width <= count; i += width) lanes[0] = Way::combine(lanes[0], load(i));
    for (int lane = 0; i < count; ++i, ++lane) lanes[1][lane] = Way::combine(lanes[1][lane], values[i]);
#pragma GCC unroll 8
    for (int k = 4; k > 0; k /= 2)
#pragma GCC unroll 8
        for (int other = 0; other < k; ++other) lanes[other] = Way::combine(lanes[other], lanes[other + k]);
    T sums[width];
    for (int lane = 0; lane < width; ++lane) sums[lane] = lanes[0][lane];
    for (int half = width / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) sums[lane] = Way::combine(sums[lane], sums[lane + half]);
    return sums[0];
}
"""

PAIRS = """\
// The results of blocks, combined in pairs like the digits of a binary counter.
template <typename Way, typename T> struct Pairwise {
    T levels[56];
    int64 count = 0;
    void add(T partial) {
        int level = 0;
        for (int64 rest = count++; rest & 1; rest >>= 1) partial = Way::combine(levels[level++], partial);
        levels[level] = partial;
    }
    T total() const {
        int level = 0;
        while (!(count >> level & 1)) ++level;
        T result = levels[level];
        while (count >> ++level)
            if (count >> level & 1) result = Way::combine(levels[level], result);
        return result;
    }
};
// Makes the first partial result that of them all.
template <typename Way, typename T> static void combine(const Array *partials, int64 count) {
    T *values = (T *)partials->data;
    Pairwise<Way, T> parts;
    for (int64 k = 0; k < count; ++k) parts.add(values[k]);
    values[0] = parts.total();
}
"""

PLACES = """\
template <typename T> struct Place {
    T value;
    int64 place;
};
struct FirstMaximum {
    typedef Maximum Values;
    template <typename T> static bool beats(T b, T a) { return (b > a) | ((b != b) & (a == a)); }
    template <typename T> static Place<T> combine(Place<T> a, Place<T> b) { return beats(b.value, a.value) ? b : a; }
};
struct FirstMinimum {
    typedef Minimum Values;
    template <typename T> static bool beats(T b, T a) { return (b < a) | ((b != b) & (a == a)); }
    template <typename T> static Place<T> combine(Place<T> a, Place<T> b) { return beats(b.value, a.value) ? b : a; }
};
// The best element of a block and its place, which is looked for 64 elements at a time.
template <typename Way, typename T> static Place<T> place_in_block(const T *values, int64 count, int64 start) {
    const T best = reduce_block<typename Way::Values>(values, count);
    const auto is_best = [&](T value) { return (value == best) | ((value != value) & (best != best)); };
    int64 i = 0;
    for (; i + 64 <= count; i += 64) {
        bool found = false;
        for (int64 k = 0; k < 64; ++k) found |= is_best(values[i + k]);
        if (found) break;
    }
    while (!is_best(values[i])) ++i;
    return {best, start + i};
}
"""

DEVIATIONS = """\
template <typename T> struct Moments {
    int64 count;
    T base, sum, squares;
};
struct Deviation {
    template <typename T> static Moments<T> combine(Moments<T> a, Moments<T> b) {
        const T apart = b.base - a.base;
        const T distance = apart + (b.sum / (T)b.count - a.sum / (T)a.count);
        const T weight = (T)a.count * (T)b.count / (T)(a.count + b.count);
        const T sum = a.sum + (b.sum + (T)b.count * apart);
        return {a.count + b.count, a.base, sum, a.squares + b.squares + distance * distance * weight};
    }
};
// Of a block: the sum of the distances from its first element, which is small even where the elements are far from
// zero, and that of the squared distances from its own mean.
template <typename T> static Moments<T> moments_of_block(const T *values, int64 count) {
    const T base = values[0];
    alignas(64) T distances[1024];
    for (int64 i = 0; i < count; ++i) distances[i] = values[i] - base;
    const T sum = reduce_block<Sum>(distances, count);
    const T mean = sum / (T)count;
    for (int64 i = 0; i < count; ++i) distances[i] = (distances[i] - mean) * (distances[i] - mean);
    return {count, base, sum, reduce_block<Sum>(distances, count)};
}
"""


def support_text(program: KernelProgram) -> str:
    """The parts that the kernel of this program uses."""
    ways = {step.combine for step in program.reductions}
    parts = [ARRAYS, FLAGS] if program.checked else [ARRAYS]
    if ways:
        parts.append(REDUCTIONS)
    if any(way.is_place for way in ways):
        parts.append(PLACES)
    if Combine.DEVIATION in ways:
        parts.append(DEVIATIONS)
    if ways and not program.is_columns:
        parts.append(PAIRS)
    if program.loop is not None:
        parts.append(lanes_support_text(program))
    return "".join(parts)
