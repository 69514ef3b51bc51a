"""Prelude: what each dialect defines in its own way. Casts of floats to integers, and float16."""

_NATIVE_ROUNDED = r"""
F np_rounded(F x) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
    return __builtin_assoc_barrier(x);
#else
    return x;
#endif
#else
    return x;
#endif
}
"""
"""A product that is rounded before anything is added: g++ fuses the two in complex arithmetic whatever its options say,
and in vector code alone, so that bits would depend on where an element lies."""
_CUDA_ROUNDED = r"""
F np_rounded(F x) { return x; }
"""
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
_NATIVE_CASTS = r"""
int32 np_truncate_int32(F x) { return (int32)x; }

int64 np_truncate_int64(F x) { return (int64)x; }
"""
_CUDA_CASTS = r"""
int32 np_truncate_int32(F x) { return x > (F)-2147483649.0 && x < (F)2147483648.0 ? (int32)x : -2147483647 - 1; }

int64 np_truncate_int64(F x) {
    bool_ fits = x >= (F)-9223372036854775808.0 && x < (F)9223372036854775808.0;
    return fits ? (int64)x : -9223372036854775807LL - 1;
}
"""
_NATIVE_HALF = r"""
float32 np_single(float16 x) {
#if defined(__FLT16_MAX__)
    union { uint16 bits; _Float16 value; } u = {x.bits};
    return (float32)u.value;
#else
    uint32 sign = (uint32)(x.bits & 0x8000) << 16, magnitude = x.bits & 0x7fff;
    if (magnitude >= 0x7c00) return np_from_bits((uint32)(sign | 0x7f800000u | (magnitude & 0x3ff) << 13));
    if (magnitude >= 0x0400) return np_from_bits((uint32)(sign | ((magnitude << 13) + 0x38000000u)));
    return np_from_bits(sign | np_bits((float32)magnitude * 5.9604644775390625e-8f));
#endif
}

uint16 np_half_bits(uint64 bits) {
    uint16 sign = (uint16)(bits >> 48 & 0x8000);
    uint64 magnitude = bits & 0x7fffffffffffffffULL;
    if (magnitude > 0x7ff0000000000000ULL) return (uint16)(sign | 0x7e00 | (magnitude >> 42 & 0x3ff));
    if (magnitude >= 0x40effe0000000000ULL) return (uint16)(sign | 0x7c00);
    if (magnitude < 0x3f10000000000000ULL) {
        float64 units = np_from_bits(magnitude) * 16777216.0 + 4503599627370496.0;
        return (uint16)(sign | (uint16)(units - 4503599627370496.0));
    }
    magnitude += 0x000001ffffffffffULL + (magnitude >> 42 & 1);
    return (uint16)(sign | (magnitude - 0x3f00000000000000ULL) >> 42);
}

float16 np_half(float32 x) {
#if defined(__FLT16_MAX__)
    union { _Float16 value; uint16 bits; } u = {(_Float16)x};
    return {u.bits};
#else
    union { float64 value; uint64 bits; } u = {(float64)x};
    return {np_half_bits(u.bits)};
#endif
}

float16 np_half(float64 x) {
#if defined(__FLT16_MAX__)
    union { _Float16 value; uint16 bits; } u = {(_Float16)x};
    return {u.bits};
#else
    return {np_half_bits(np_bits(x))};
#endif
}
"""
_CUDA_HALF = r"""
float32 np_single(float16 x) {
#if defined(__CUDACC__)
    float32 y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
#else
    union { uint16 bits; _Float16 value; } u = {x.bits};
    return (float32)u.value;
#endif
}

float16 np_half(float32 x) {
#if defined(__CUDACC__)
    float16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
#else
    union { _Float16 value; uint16 bits; } u = {(_Float16)x};
    return {u.bits};
#endif
}

float16 np_half(float64 x) {
#if defined(__CUDACC__)
    float16 y;
    asm("cvt.rn.f16.f64 %0, %1;" : "=h"(y.bits) : "d"(x));
    return y;
#else
    union { _Float16 value; uint16 bits; } u = {(_Float16)x};
    return {u.bits};
#endif
}
"""
NATIVE = _NATIVE_ROUNDED + _NATIVE_CASTS + _UNSIGNED_CASTS + _NATIVE_HALF
CUDA = _CUDA_ROUNDED + _CUDA_CASTS + _UNSIGNED_CASTS + _CUDA_HALF
"""With twins for a C++ compiler, on which the same text runs in tests."""
