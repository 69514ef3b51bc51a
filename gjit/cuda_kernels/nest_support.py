"""What the text of a nest needs besides the functions of the rows."""

from __future__ import annotations

from collections.abc import Mapping

SUPPORT = r"""
#if defined(__clang__)
#pragma STDC FENV_ACCESS ON
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define RARELY(condition) __builtin_expect(!!(condition), 0)
#define TEXT_OF(name) #name
#define SYMBOL(prefix, name) TEXT_OF(prefix) name
#define INLINE static inline __attribute__((always_inline))
struct Array {
    void *header[2];
    char *data;
    int axes;
    int64 *extents;
    int64 *strides;
};
union Word {
    int64 whole;
    uint64 natural;
    float64 real;
    const Array *array;
};
typedef bool_ cell_bool_ __attribute__((may_alias));
typedef int8 cell_int8 __attribute__((may_alias));
typedef int16 cell_int16 __attribute__((may_alias));
typedef int32 cell_int32 __attribute__((may_alias));
typedef int64 cell_int64 __attribute__((may_alias));
typedef uint8 cell_uint8 __attribute__((may_alias));
typedef uint16 cell_uint16 __attribute__((may_alias));
typedef uint32 cell_uint32 __attribute__((may_alias));
typedef uint64 cell_uint64 __attribute__((may_alias));
typedef float32 cell_float32 __attribute__((may_alias));
typedef float64 cell_float64 __attribute__((may_alias));
extern "C" void *malloc(unsigned long);
extern "C" void free(void *);
extern "C" int feclearexcept(int);
extern "C" int fetestexcept(int);
#if defined(__x86_64__) || defined(__i386__)
enum { INVALID = 1, DIVISION = 4, OVERFLOWN = 8, UNDERFLOWN = 16 };
#else
enum { INVALID = 1, DIVISION = 2, OVERFLOWN = 4, UNDERFLOWN = 8 };
#endif
// Which of the flags are up that `wanted` asks for: 1 division, 2 overflow, 4 underflow, 8 invalid.
static inline int64 flags_up(int64 wanted) {
    int found = fetestexcept(INVALID | DIVISION | OVERFLOWN | UNDERFLOWN);
    int64 up = (found & DIVISION ? 1 : 0) | (found & OVERFLOWN ? 2 : 0);
    up |= (found & UNDERFLOWN ? 4 : 0) | (found & INVALID ? 8 : 0);
    return up & wanted;
}
// Memory of a nest's own: it is kept from one use to the next, and given back at the end.
struct Buffer {
    char *data = 0;
    int64 size = 0;
    ~Buffer() { free(data); }
    char *reserve(int64 wanted) {
        if (data && wanted <= size) return data;
        free(data);
        size = wanted < 64 ? 64 : wanted;
        data = (char *)malloc((unsigned long)size);
        return data;
    }
};
INLINE int64 nest_index(int64 index, int64 extent) { return index < 0 ? index + extent : index; }
INLINE int64 nest_clip_up(int64 bound, int64 extent) {
    if (bound < 0) return bound < -extent ? 0 : bound + extent;
    return bound < extent ? bound : extent;
}
INLINE int64 nest_clip_down(int64 bound, int64 extent) {
    if (bound < 0) return bound < -extent ? -1 : bound + extent;
    return bound < extent ? bound : extent - 1;
}
INLINE int64 nest_count(int64 distance, int64 step) { return distance <= 0 ? 0 : (distance - 1) / step + 1; }
template <typename T> INLINE bool nest_power(T base, T exponent, T *result) {
    if (exponent < 0) return false;
    T product = 1, factor = base;
    for (T rest = exponent; rest != 0;) {
        if (rest & 1)
            if (__builtin_mul_overflow(product, factor, &product)) return false;
        rest >>= 1;
        if (rest != 0 && __builtin_mul_overflow(factor, factor, &factor)) return false;
    }
    *result = product;
    return true;
}
static int64 nest_divisor(int64 a, int64 b) {
    if (a < 0) a = -a;
    if (b < 0) b = -b;
    while (b != 0) {
        int64 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
// Whether two views share no byte, or have the same elements at the same places. `area` holds extents and strides.
static bool nest_apart(char *a, const int64 *area_a, int axes_a, int64 size_a,
                       char *b, const int64 *area_b, int axes_b, int64 size_b) {
    int64 low_a = 0, high_a = size_a, low_b = 0, high_b = size_b, step = 0;
    for (int k = 0; k < axes_a; ++k) {
        if (area_a[2 * k] <= 0) return true;
        int64 reach = (area_a[2 * k] - 1) * area_a[2 * k + 1];
        if (reach < 0) low_a += reach; else high_a += reach;
        if (reach != 0) step = nest_divisor(step, area_a[2 * k + 1]);
    }
    for (int k = 0; k < axes_b; ++k) {
        if (area_b[2 * k] <= 0) return true;
        int64 reach = (area_b[2 * k] - 1) * area_b[2 * k + 1];
        if (reach < 0) low_b += reach; else high_b += reach;
        if (reach != 0) step = nest_divisor(step, area_b[2 * k + 1]);
    }
    if (a + high_a <= b + low_b || b + high_b <= a + low_a) return true;
    if (step > 0) {
        int64 offset = (b - a) % step;
        if (offset < 0) offset += step;
        if (offset >= size_a && offset + size_b <= step) return true;
    }
    if (a != b || axes_a != axes_b || size_a != size_b) return false;
    for (int k = 0; k < 2 * axes_a; ++k)
        if (area_a[k] != area_b[k]) return false;
    return true;
}
// NumPy's sum of floats: in pairs of halves, of which the smallest have eight sums side by side.
template <typename T, typename F> INLINE T nest_short_sum(F read, int64 start, int64 count) {
    T total = 0;
    for (int64 k = 0; k < count; ++k) total += read(start + k);
    return total;
}
template <typename T, typename F> INLINE T nest_block_sum(F read, int64 start, int64 count) {
    T sums[8];
    for (int lane = 0; lane < 8; ++lane) sums[lane] = read(start + lane);
    int64 k = 8;
    for (; k < count - count % 8; k += 8)
        for (int lane = 0; lane < 8; ++lane) sums[lane] += read(start + k + lane);
    T total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (; k < count; ++k) total += read(start + k);
    return total;
}
template <typename T, typename F> T nest_pairwise(F read, int64 start, int64 count) {
    if (count < 8) return nest_short_sum<T>(read, start, count);
    if (count <= 128) return nest_block_sum<T>(read, start, count);
    int64 half = count / 2;
    half -= half % 8;
    return nest_pairwise<T>(read, start, half) + nest_pairwise<T>(read, start + half, count - half);
}
template <typename T, typename F> INLINE T nest_sum(F read, int64 count) {
    return (T)0 + nest_pairwise<T>(read, 0, count);
}
template <typename T, typename F> INLINE T nest_integer_sum(F read, int64 count) {
    uint64 total = 0;
    for (int64 k = 0; k < count; ++k) total += (uint64)read(k);
    return (T)total;
}
template <typename T, typename F> INLINE T nest_product(F read, int64 count) {
    T total = 1;
    for (int64 k = 0; k < count; ++k) total *= read(k);
    return total;
}
template <typename T, typename F, typename C> INLINE T nest_fold(F read, int64 count, C combine) {
    T total = read(0);
    for (int64 k = 1; k < count; ++k) total = combine(total, read(k));
    return total;
}
// Sums of products, in lanes that are added at the end: which products meet depends on the count alone.
template <typename T, typename F> INLINE T nest_lanes(F read, int64 count) {
    T sums[8] = {};
    int64 k = 0;
    for (; k + 8 <= count; k += 8)
        for (int lane = 0; lane < 8; ++lane) sums[lane] += read(k + lane);
    T total = ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    for (; k < count; ++k) total += read(k);
    return total;
}
template <typename T> static T nest_dot(const char *a, const char *b, int64 count) {
    typedef T Vector __attribute__((vector_size(64)));
    typedef T Loose __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
    typedef T Cell __attribute__((may_alias));
    const int width = 64 / sizeof(T);
    const Cell *x = (const Cell *)a, *y = (const Cell *)b;
    T total = 0;
    int64 k = 0;
    if (count >= width) {
        Vector sums[4] = {};
        for (; k + 4 * width <= count; k += 4 * width)
            for (int part = 0; part < 4; ++part)
                sums[part] += (Vector) * (const Loose *)(x + k + part * width) *
                              (Vector) * (const Loose *)(y + k + part * width);
        for (; k + width <= count; k += width)
            sums[0] += (Vector) * (const Loose *)(x + k) * (Vector) * (const Loose *)(y + k);
        Vector all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for (int half = width / 2; half > 0; half /= 2)
            for (int lane = 0; lane < half; ++lane) all[lane] += all[lane + half];
        total = all[0];
    }
    for (; k < count; ++k) total += x[k] * y[k];
    return total;
}
"""


def library_text(functions: Mapping[str, int]) -> str:
    """Functions of the C library under names that the compiler knows nothing of: the very ones that Python calls."""
    lines = []
    for name, count in sorted(functions.items()):
        kind = "float" if name.endswith("f") and name != "erf" else "double"
        taken = ", ".join([kind] * count)
        symbol = f'__asm__(SYMBOL(__USER_LABEL_PREFIX__, "{name}"))'
        lines.append(f'extern "C" {kind} library_{name}({taken}) {symbol};\n')
    return "".join(lines)
