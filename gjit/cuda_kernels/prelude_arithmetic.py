"""Prelude: arithmetic by NumPy's rules. Integers wrap, `//` and `%` floor, and division by zero gives 0."""

SOURCE = r"""
bool_ np_add(bool_ a, bool_ b) { return a | b; }

I np_add(I a, I b) { return (I)((uint64)a + (uint64)b); }

F np_add(F a, F b) { return a + b; }

C np_add(C a, C b) { return {a.real + b.real, a.imag + b.imag}; }

I np_subtract(I a, I b) { return (I)((uint64)a - (uint64)b); }

F np_subtract(F a, F b) { return a - b; }

C np_subtract(C a, C b) { return {a.real - b.real, a.imag - b.imag}; }

bool_ np_multiply(bool_ a, bool_ b) { return a & b; }

I np_multiply(I a, I b) { return (I)((uint64)a * (uint64)b); }

F np_multiply(F a, F b) { return a * b; }

C np_multiply(C a, C b) {
    R real = np_rounded(a.real * b.real) - np_rounded(a.imag * b.imag);
    R imag = np_rounded(a.real * b.imag) + np_rounded(a.imag * b.real);
    return {real, imag};
}

F np_divide(F a, F b) { return a / b; }

C np_divide(C a, C b) {
    R real = np_absolute(b.real), imag = np_absolute(b.imag);
    if (real == 0 && imag == 0) return {a.real / real, a.imag / real};
    if (real >= imag) {
        R ratio = b.imag / b.real, scale = (R)1 / (b.real + b.imag * ratio);
        return {(a.real + np_rounded(a.imag * ratio)) * scale, (a.imag - np_rounded(a.real * ratio)) * scale};
    }
    R ratio = b.real / b.imag, scale = (R)1 / (b.imag + b.real * ratio);
    return {(np_rounded(a.real * ratio) + a.imag) * scale, (np_rounded(a.imag * ratio) - a.real) * scale};
}

I np_floor_divide(I a, I b) {
    if (b == 0) return 0;
    if ((I)-1 < (I)0 && b == (I)-1) return (I)(0 - (uint64)a);
    I quotient = (I)(a / b), rest = (I)(a % b);
    return (I)(quotient - (rest != 0 && (rest < 0) != (b < 0)));
}

F np_floor_divide(F a, F b) {
    if (b == 0) return a / b;
    F rest = fmodF(a, b);
    F quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= (F)1;
    if (quotient == 0) return copysignF((F)0, a / b);
    F whole = floorF(quotient);
    return quotient - whole > (F)0.5 ? whole + (F)1 : whole;
}

I np_remainder(I a, I b) {
    if (b == 0 || ((I)-1 < (I)0 && b == (I)-1)) return 0;
    I rest = (I)(a % b);
    return rest != 0 && (rest < 0) != (b < 0) ? (I)(rest + b) : rest;
}

F np_remainder(F a, F b) {
    F rest = fmodF(a, b);
    if (b == 0) return rest;
    if (rest == 0) return copysignF((F)0, b);
    return (b < 0) != (rest < 0) ? rest + b : rest;
}

I np_fmod(I a, I b) {
    if (b == 0 || ((I)-1 < (I)0 && b == (I)-1)) return 0;
    return (I)(a % b);
}

F np_fmod(F a, F b) { return fmodF(a, b); }

I np_power(I a, I b) {
    uint64 base = (uint64)a, result = 1;
    for (uint64 rest = (uint64)b; rest != 0; rest >>= 1, base *= base)
        if (rest & 1) result *= base;
    return (I)result;
}

F np_power(F a, F b) { return powF(a, b); }

float64 np_float_power(float64 a, float64 b) { return pow(a, b); }

I np_negative(I x) { return (I)(0 - (uint64)x); }

F np_negative(F x) { return -x; }

C np_negative(C x) { return {-x.real, -x.imag}; }

float16 np_negative(float16 x) { return {(uint16)(x.bits ^ 0x8000)}; }

T np_positive(T x) { return x; }

I np_absolute(I x) { return x < 0 ? (I)(0 - (uint64)x) : x; }

bool_ np_absolute(bool_ x) { return x; }

F np_absolute(F x) { return fabsF(x); }

float16 np_absolute(float16 x) { return {(uint16)(x.bits & 0x7fff)}; }

R np_absolute(C x) { return np_hypot(x.real, x.imag); }

F np_fabs(F x) { return fabsF(x); }

I np_sign(I x) { return (I)((x > 0) - (x < 0)); }

F np_sign(F x) { return x > 0 ? (F)1 : x < 0 ? (F)-1 : x == 0 ? (F)0 : x; }

F np_reciprocal(F x) { return (F)1 / x; }

C np_reciprocal(C x) {
    if (np_absolute(x.imag) <= np_absolute(x.real)) {
        R ratio = x.imag / x.real, scale = x.real + x.imag * ratio;
        return {(R)1 / scale, -ratio / scale};
    }
    R ratio = x.real / x.imag, scale = x.real * ratio + x.imag;
    return {ratio / scale, (R)-1 / scale};
}

I np_square(I x) { return (I)((uint64)x * (uint64)x); }

F np_square(F x) { return x * x; }

C np_square(C x) { return np_multiply(x, x); }

T np_conjugate(T x) { return x; }

C np_conjugate(C x) { return {x.real, -x.imag}; }

F np_degrees(F x) { return x * ((F)180.0 / (F)3.141592653589793238462643383279502884); }

F np_rad2deg(F x) { return np_degrees(x); }

F np_radians(F x) { return x * ((F)3.141592653589793238462643383279502884 / (F)180.0); }

F np_deg2rad(F x) { return np_radians(x); }

T np_real(T x) { return x; }

R np_real(C x) { return x.real; }

I np_imag(I x) { return (I)0; }

F np_imag(F x) { return (F)0; }

R np_imag(C x) { return x.imag; }
"""
