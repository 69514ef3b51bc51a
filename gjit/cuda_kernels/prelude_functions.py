"""Prelude: roots, exponentials, trigonometry, rounding, and what looks at the bits of a float."""

SOURCE = r"""
F np_sqrt(F x) { return sqrtF(x); }

F np_cbrt(F x) { return cbrtF(x); }

F np_exp(F x) { return expF(x); }

F np_exp2(F x) { return exp2F(x); }

F np_expm1(F x) { return expm1F(x); }

F np_log(F x) { return logF(x); }

F np_log2(F x) { return log2F(x); }

F np_log10(F x) { return log10F(x); }

F np_log1p(F x) { return log1pF(x); }

F np_logaddexp(F a, F b) {
    if (a == b) return a + (F)0.693147180559945309417232121458176568;
    F distance = a - b;
    if (distance > 0) return a + log1pF(expF(-distance));
    return distance <= 0 ? b + log1pF(expF(distance)) : distance;
}

F np_log2_of_1p(F x) { return (F)1.442695040888963407359924681001892137 * log1pF(x); }

F np_logaddexp2(F a, F b) {
    if (a == b) return a + (F)1;
    F distance = a - b;
    if (distance > 0) return a + np_log2_of_1p(exp2F(-distance));
    return distance <= 0 ? b + np_log2_of_1p(exp2F(distance)) : distance;
}

F np_sin(F x) { return sinF(x); }

F np_cos(F x) { return cosF(x); }

F np_tan(F x) { return tanF(x); }

F np_arcsin(F x) { return asinF(x); }

F np_arccos(F x) { return acosF(x); }

F np_arctan(F x) { return atanF(x); }

F np_arctan2(F y, F x) { return atan2F(y, x); }

F np_hypot(F a, F b) { return hypotF(a, b); }

F np_angle(F x) { return atan2F((F)0, x); }

R np_angle(C x) { return np_arctan2(x.imag, x.real); }

F np_sinc(F x) {
    F scaled = x * (F)3.141592653589793238462643383279502884;
    return scaled == 0 ? (F)1 : sinF(scaled) / scaled;
}

float16 np_sinc(float16 x) {
    float16 scaled = np_half(np_single(x) * 3.140625f);
    if (np_single(scaled) == 0) return np_half(1.0f);
    float16 sine = np_half(sinf(np_single(scaled)));
    return np_half(np_single(sine) / np_single(scaled));
}

F np_sinh(F x) { return sinhF(x); }

F np_cosh(F x) { return coshF(x); }

F np_tanh(F x) { return tanhF(x); }

F np_arcsinh(F x) { return asinhF(x); }

F np_arccosh(F x) { return acoshF(x); }

F np_arctanh(F x) { return atanhF(x); }

I np_floor(I x) { return x; }

F np_floor(F x) { return floorF(x); }

I np_ceil(I x) { return x; }

F np_ceil(F x) { return ceilF(x); }

I np_trunc(I x) { return x; }

F np_trunc(F x) { return truncF(x); }

F np_rint(F x) { return rintF(x); }

I np_round(I x) { return x; }

F np_round(F x) { return rintF(x); }

F np_copysign(F a, F b) { return copysignF(a, b); }

float16 np_copysign(float16 a, float16 b) { return {(uint16)((a.bits & 0x7fff) | (b.bits & 0x8000))}; }

F np_nextafter(F a, F b) { return nextafterF(a, b); }

float16 np_nextafter(float16 a, float16 b) {
    float32 from = np_single(a), to = np_single(b);
    if (from != from || to != to) return {(uint16)0x7e00};
    if (from == to) return a;
    if (from == 0) return {(uint16)((b.bits & 0x8000) | 1)};
    return {(uint16)((from > 0) == (to > from) ? a.bits + 1 : a.bits - 1)};
}

F np_spacing(F x) {
    if (fabsF(x) == np_infinity(x)) return np_nan(x);
    return nextafterF(x, x < 0 ? -np_infinity(x) : np_infinity(x)) - x;
}

float16 np_spacing(float16 x) {
    uint32 exponent = x.bits & 0x7c00, step = x.bits & 0x03ff ? 0x2800 : x.bits & 0x8000 ? 0x2c00 : 0x2800;
    if (exponent == 0x7c00) return {(uint16)0x7e00};
    if (x.bits == 0x7bff) return {(uint16)0x7c00};
    if (exponent > step) return {(uint16)(exponent - step)};
    if (exponent > 0x0400) return {(uint16)(1 << ((exponent - 0x0400 + 0x2800 - step) >> 10))};
    return {(uint16)1};
}

F np_ldexp(F x, int32 power) { return ldexpF(x, power); }

T np_ldexp(T x, int64 power) {
    int64 clamped = power > 2147483647 ? 2147483647 : power < -2147483647 ? -2147483647 : power;
    return np_ldexp(x, (int32)clamped);
}

F np_heaviside(F x, F middle) { return x != x ? np_nan(x) : x == 0 ? middle : x < 0 ? (F)0 : (F)1; }

F np_erf(F x) { return erfF(x); }

F np_erfc(F x) { return erfcF(x); }

F np_expit(F x) { return (F)1 / ((F)1 + expF(-x)); }

F np_xlogy(F a, F b) { return (a == 0) & (b == b) ? (F)0 : a * logF(b); }

F np_xlog1py(F a, F b) { return (a == 0) & (b == b) ? (F)0 : a * log1pF(b); }

F np_entr(F x) { return x != x ? x : x > 0 ? -x * logF(x) : x == 0 ? (F)0 : -np_infinity(x); }
"""
