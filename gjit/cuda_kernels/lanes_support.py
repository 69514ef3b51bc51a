"""What loops over lanes need besides the functions of the rows: vectors of elements, and those functions on vectors.

A function that has no vector form of its own is called for each lane, in a loop that the compiler is kept from
unrolling: so it becomes a call of the vector math library.
"""

from __future__ import annotations

from gjit.cuda_kernels.lanes import Call, calls_on_lanes
from gjit.cuda_kernels.lanes_functions import function_text, is_by_lane, part_of
from gjit.cuda_kernels.program import KernelProgram, Loop
from gjit.ops.kernels import c_type

_VECTORS = """\
#if defined(__AVX512F__)
#define LANES (64 / WIDTH)
#elif defined(__AVX__)
#define LANES (32 / WIDTH)
#else
#define LANES (16 / WIDTH)
#endif
#if defined(__clang__)
#define EACH_CHAIN _Pragma("clang loop unroll(full)") for (int chain = 0; chain < CHAINS; ++chain)
#define WHOLE
#else
#define EACH_CHAIN _Pragma("GCC unroll 16") for (int chain = 0; chain < CHAINS; ++chain)
#define WHOLE _Pragma("GCC unroll 1")
#endif
template <typename T, int bytes> struct VectorOf { typedef T Type __attribute__((vector_size(LANES * bytes))); };
template <int bytes> struct Sized;
template <> struct Sized<1> { typedef int8 Signed; typedef uint8 Unsigned; };
template <> struct Sized<2> { typedef int16 Signed; typedef uint16 Unsigned; };
template <> struct Sized<4> { typedef int32 Signed; typedef uint32 Unsigned; };
template <> struct Sized<8> { typedef int64 Signed; typedef uint64 Unsigned; };
template <typename T, bool is_float> struct WrappingOf { typedef T Type; };
template <typename T> struct WrappingOf<T, false> { typedef typename Sized<sizeof(T)>::Unsigned Type; };
// Elements that take each step together. Integers wrap as unsigned ones do; a comparison gives -1 or 0 in each lane.
template <typename T> struct Lanes {
    static const bool is_float = (T)0.5 != (T)0;
    typedef typename VectorOf<T, sizeof(T)>::Type Vector;
    typedef typename VectorOf<typename Sized<sizeof(T)>::Signed, sizeof(T)>::Type Mask;
    typedef typename VectorOf<typename WrappingOf<T, is_float>::Type, sizeof(T)>::Type Wrapping;
    typedef T Loose __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
    Vector values;
    static Lanes read(const T *from) { return {(Vector) * (const Loose *)from}; }
    void write(T *to) const { *(Loose *)to = (Loose)values; }
};
typedef VectorOf<Sized<WIDTH>::Signed, WIDTH>::Type Truth;
template <> struct Lanes<bool_> {
    typedef VectorOf<int8, 1>::Type Bytes;
    typedef int8 Loose __attribute__((vector_size(LANES), aligned(1), may_alias));
    Truth values;
    static Lanes read(const bool_ *from) {
        return {__builtin_convertvector(-(Bytes) * (const Loose *)from, Truth)};
    }
    void write(bool_ *to) const { *(Loose *)to = (Loose)-__builtin_convertvector(values, Bytes); }
};
template <typename T> static inline Lanes<T> all_lanes(T x) { return {x - typename Lanes<T>::Vector{}}; }
static inline Lanes<bool_> all_lanes(bool_ x) { return {(Sized<WIDTH>::Signed)-x - Truth{}}; }
template <typename T> static inline Lanes<bool_> truth(T comparison) {
    return {__builtin_convertvector(comparison, Truth)};
}
// A block may end in the middle of a vector: its last element stands in the lanes behind it, which are not stored.
template <typename T> static inline Lanes<T> load_lanes(const T *data, int64 step, int64 first, int64 left) {
    if (step == 1 && first + LANES <= left) return Lanes<T>::read(data + first);
    T elements[LANES];
    for (int lane = 0; lane < LANES; ++lane) elements[lane] = data[smaller(first + lane, left - 1) * step];
    return Lanes<T>::read(elements);
}
template <typename T> static inline void store_lanes(T *data, int64 step, int64 first, int64 left, Lanes<T> x) {
    if (step == 1 && first + LANES <= left) return x.write(data + first);
    T elements[LANES];
    x.write(elements);
    for (int64 lane = 0; lane < LANES && first + lane < left; ++lane) data[(first + lane) * step] = elements[lane];
}
template <typename T> struct Elements {
    T lane[LANES];
    Elements(Lanes<T> x) { x.write(lane); }
};
template <typename R, typename F, typename... T> static inline Lanes<R> called(F function, const Elements<T> &...x) {
    R results[LANES];
    INDEPENDENT WHOLE
    for (int lane = 0; lane < LANES; ++lane) results[lane] = function(x.lane[lane]...);
    return Lanes<R>::read(results);
}
template <typename T> T sample();
template <typename F, typename... T> static inline auto lifted(F function, Lanes<T>... x) {
    return called<decltype(function(sample<T>()...))>(function, Elements<T>(x)...);
}
"""
_HALF = """\
template <> struct Lanes<float16> {
    float16 values[LANES];
    static Lanes read(const float16 *from) {
        Lanes x;
        for (int lane = 0; lane < LANES; ++lane) x.values[lane] = from[lane];
        return x;
    }
    void write(float16 *to) const {
        for (int lane = 0; lane < LANES; ++lane) to[lane] = values[lane];
    }
};
static inline Lanes<float16> all_lanes(float16 x) {
    Lanes<float16> result;
    for (int lane = 0; lane < LANES; ++lane) result.values[lane] = x;
    return result;
}
"""
_COMPLEX = """\
template <> struct Lanes<{C}> {{
    Lanes<{R}> real, imag;
    static Lanes read(const {C} *from) {{
        {R} reals[LANES], imags[LANES];
        for (int lane = 0; lane < LANES; ++lane) reals[lane] = from[lane].real, imags[lane] = from[lane].imag;
        return {{Lanes<{R}>::read(reals), Lanes<{R}>::read(imags)}};
    }}
    void write({C} *to) const {{
        {R} reals[LANES], imags[LANES];
        real.write(reals);
        imag.write(imags);
        for (int lane = 0; lane < LANES; ++lane) to[lane] = {{reals[lane], imags[lane]}};
    }}
}};
static inline Lanes<{C}> all_lanes({C} x) {{ return {{all_lanes(x.real), all_lanes(x.imag)}}; }}
"""
_MOST_OPERATIONS = 256
"""In the unrolled body of a turn; longer ones take long to compile."""
_BY_LANE = 16
"""How many operations a function counts that is called for each lane."""


def lanes_support_text(program: KernelProgram) -> str:
    """Vectors of all dtypes of a program with a loop, and the functions that it calls on them."""
    loop = program.loop
    assert loop is not None
    calls = calls_on_lanes(program)
    dtypes = set(program.dtypes().values()) | {output.array.dtype for output in program.outputs}
    dtypes |= {dtype for _, operands in calls for dtype in operands}
    width = max(part_of(dtype).itemsize for dtype in dtypes)
    text = f"#define WIDTH {width}\n#define CHAINS {_chains(loop, calls)}\n{_VECTORS}"
    if any(dtype.char == "e" for dtype in dtypes):
        text += _HALF
    for dtype in sorted((dtype for dtype in dtypes if dtype.kind == "c"), key=lambda dtype: dtype.itemsize):
        text += _COMPLEX.format(C=c_type(dtype), R=c_type(part_of(dtype)))
    return text + "".join(function_text(name, operands) for name, operands in calls)


def _chains(loop: Loop, calls: list[Call]) -> int:
    """How many vectors of elements take a turn together: many for short bodies, whose chains are all latency."""
    dear = [call for call in calls if is_by_lane(*call)]
    size = max(len(piece.steps) for piece in loop.pieces) + (_BY_LANE - 1) * len(dear)
    most = 16 if len(loop.variables) == 1 and size <= 8 else 8
    return next((count for count in (most, 4, 2) if count * size <= _MOST_OPERATIONS), 1)
