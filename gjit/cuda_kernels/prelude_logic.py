"""Prelude: comparison, selection, logic and bits.

Conditions are joined by `&` and `|`, and `maximum` selects in steps: in these forms g++ turns loops into vector code.
"""

SOURCE = r"""
bool_ np_equal(I a, I b) { return a == b; }

bool_ np_equal(F a, F b) { return a == b; }

bool_ np_equal(C a, C b) { return (a.real == b.real) & (a.imag == b.imag); }

bool_ np_equal(int64 a, uint64 b) { return (a >= 0) & ((uint64)a == b); }

bool_ np_equal(uint64 a, int64 b) { return np_equal(b, a); }

bool_ np_not_equal(I a, I b) { return a != b; }

bool_ np_not_equal(F a, F b) { return a != b; }

bool_ np_not_equal(C a, C b) { return (a.real != b.real) | (a.imag != b.imag); }

bool_ np_not_equal(int64 a, uint64 b) { return !np_equal(a, b); }

bool_ np_not_equal(uint64 a, int64 b) { return !np_equal(b, a); }

bool_ np_less(I a, I b) { return a < b; }

bool_ np_less(F a, F b) { return a < b; }

bool_ np_less(C a, C b) {
    bool_ first = (a.real < b.real) & (a.imag == a.imag) & (b.imag == b.imag);
    return first | ((a.real == b.real) & (a.imag < b.imag));
}

bool_ np_less(int64 a, uint64 b) { return (a < 0) | ((uint64)a < b); }

bool_ np_less(uint64 a, int64 b) { return (b >= 0) & (a < (uint64)b); }

bool_ np_less_equal(I a, I b) { return a <= b; }

bool_ np_less_equal(F a, F b) { return a <= b; }

bool_ np_less_equal(C a, C b) {
    bool_ first = (a.real < b.real) & (a.imag == a.imag) & (b.imag == b.imag);
    return first | ((a.real == b.real) & (a.imag <= b.imag));
}

bool_ np_less_equal(int64 a, uint64 b) { return !np_less(b, a); }

bool_ np_less_equal(uint64 a, int64 b) { return !np_less(b, a); }

bool_ np_greater(T a, U b) { return np_less(b, a); }

bool_ np_greater_equal(T a, U b) { return np_less_equal(b, a); }

T np_where(bool_ condition, T x, T y) { return condition ? x : y; }

I np_maximum(I a, I b) { return a > b ? a : b; }

F np_maximum(F a, F b) { return !(a <= b) ? (a != a ? a : (b == b ? a : b)) : b; }

float16 np_maximum(float16 a, float16 b) { return np_isnan(a) || np_greater_equal(a, b) ? a : b; }

C np_maximum(C a, C b) { return np_isnan(a) || np_greater_equal(a, b) ? a : b; }

I np_minimum(I a, I b) { return a < b ? a : b; }

F np_minimum(F a, F b) { return !(a >= b) ? (a != a ? a : (b == b ? a : b)) : b; }

float16 np_minimum(float16 a, float16 b) { return np_isnan(a) || np_less_equal(a, b) ? a : b; }

C np_minimum(C a, C b) { return np_isnan(a) || np_less_equal(a, b) ? a : b; }

I np_fmax(I a, I b) { return a > b ? a : b; }

F np_fmax(F a, F b) { return (b != b) | (a > b) ? a : b; }

C np_fmax(C a, C b) { return np_isnan(b) || np_greater_equal(a, b) ? a : b; }

I np_fmin(I a, I b) { return a < b ? a : b; }

F np_fmin(F a, F b) { return (b != b) | (a < b) ? a : b; }

C np_fmin(C a, C b) { return np_isnan(b) || np_less_equal(a, b) ? a : b; }

T np_clip(T x, T low, T high) { return np_minimum(np_maximum(x, low), high); }

F np_clip(F x, F low, F high) {
    F risen = x < low ? low : x;
    F clipped = risen > high ? high : risen;
    return low != low ? low : (high != high ? high : clipped);
}

bool_ np_logical_and(T a, T b) { return np_cast_bool_(a) & np_cast_bool_(b); }

bool_ np_logical_or(T a, T b) { return np_cast_bool_(a) | np_cast_bool_(b); }

bool_ np_logical_xor(T a, T b) { return np_cast_bool_(a) != np_cast_bool_(b); }

bool_ np_logical_not(T x) { return !np_cast_bool_(x); }

bool_ np_isnan(I x) { return false; }

bool_ np_isnan(F x) { return x != x; }

bool_ np_isnan(C x) { return (x.real != x.real) | (x.imag != x.imag); }

bool_ np_isfinite(I x) { return true; }

bool_ np_isfinite(F x) { return fabsF(x) < np_infinity(x); }

bool_ np_isfinite(C x) { return np_isfinite(x.real) & np_isfinite(x.imag); }

bool_ np_isinf(I x) { return false; }

bool_ np_isinf(F x) { return fabsF(x) == np_infinity(x); }

bool_ np_isinf(C x) { return np_isinf(x.real) | np_isinf(x.imag); }

bool_ np_isposinf(F x) { return x == np_infinity(x); }

bool_ np_isneginf(F x) { return x == -np_infinity(x); }

bool_ np_isreal(T x) { return np_imag(x) == 0; }

bool_ np_isreal(float16 x) { return true; }

F np_largest(F x) { return nextafterF(np_infinity(x), (F)0); }

I np_nan_to_num(I x) { return x; }

F np_nan_to_num(F x) {
    F finite = x == np_infinity(x) ? np_largest(x) : x == -np_infinity(x) ? -np_largest(x) : x;
    return x != x ? (F)0 : finite;
}

float16 np_nan_to_num(float16 x) {
    uint16 magnitude = x.bits & 0x7fff;
    return {(uint16)(magnitude > 0x7c00 ? 0 : magnitude == 0x7c00 ? x.bits - 1 : x.bits)};
}

C np_nan_to_num(C x) { return {np_nan_to_num(x.real), np_nan_to_num(x.imag)}; }

bool_ np_signbit(float16 x) { return x.bits >> 15; }

bool_ np_signbit(float32 x) { return np_bits(x) >> 31; }

bool_ np_signbit(float64 x) { return np_bits(x) >> 63; }

I np_bitwise_and(I a, I b) { return (I)(a & b); }

I np_bitwise_or(I a, I b) { return (I)(a | b); }

I np_bitwise_xor(I a, I b) { return (I)(a ^ b); }

I np_invert(I x) { return (I)~x; }

bool_ np_invert(bool_ x) { return !x; }

I np_left_shift(I a, I b) {
    bool_ fits = (uint64)b < sizeof(I) * 8;
    return fits ? (I)((uint64)a << (fits ? b : 0)) : (I)0;
}

I np_right_shift(I a, I b) {
    bool_ fits = (uint64)b < sizeof(I) * 8;
    return fits ? (I)(a >> (fits ? b : 0)) : (I)(a < 0 ? -1 : 0);
}

uint8 np_bitwise_count(I x) {
    uint64 bits = (uint64)np_absolute(x);
    if (sizeof(I) < 8) bits &= (1ULL << (sizeof(I) * 8 % 64)) - 1;
    bits -= bits >> 1 & 0x5555555555555555ULL;
    bits = (bits & 0x3333333333333333ULL) + (bits >> 2 & 0x3333333333333333ULL);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return (uint8)(bits * 0x0101010101010101ULL >> 56);
}

uint64 np_magnitude(I x) { return x < 0 ? 0 - (uint64)x : (uint64)x; }

uint64 np_common_divisor(uint64 a, uint64 b) {
    while (a != 0) {
        uint64 rest = b % a;
        b = a;
        a = rest;
    }
    return b;
}

I np_gcd(I a, I b) { return (I)np_common_divisor(np_magnitude(a), np_magnitude(b)); }

I np_lcm(I a, I b) {
    uint64 divisor = np_common_divisor(np_magnitude(a), np_magnitude(b));
    return divisor == 0 ? (I)0 : (I)(np_magnitude(a) / divisor * np_magnitude(b));
}
"""
