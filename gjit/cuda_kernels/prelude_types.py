"""Prelude: bits of floats, and casts between all dtypes."""

SOURCE = r"""
uint32 np_bits(float32 x) { union { float32 value; uint32 bits; } u = {x}; return u.bits; }

uint64 np_bits(float64 x) { union { float64 value; uint64 bits; } u = {x}; return u.bits; }

float32 np_from_bits(uint32 x) { union { uint32 bits; float32 value; } u = {x}; return u.value; }

float64 np_from_bits(uint64 x) { union { uint64 bits; float64 value; } u = {x}; return u.value; }

float32 np_nan(float32) { return np_from_bits((uint32)0x7fc00000u); }

float64 np_nan(float64) { return np_from_bits((uint64)0x7ff8000000000000ULL); }

float32 np_infinity(float32) { return np_from_bits((uint32)0x7f800000u); }

float64 np_infinity(float64) { return np_from_bits((uint64)0x7ff0000000000000ULL); }

bool_ np_cast_bool_(I x) { return x != 0; }

bool_ np_cast_bool_(F x) { return x != 0; }

bool_ np_cast_bool_(C x) { return (x.real != 0) | (x.imag != 0); }

int8 np_cast_int8(I x) { return (int8)x; }

int8 np_cast_int8(F x) { return (int8)np_truncate_int32(x); }

int8 np_cast_int8(C x) { return np_cast_int8(x.real); }

int16 np_cast_int16(I x) { return (int16)x; }

int16 np_cast_int16(F x) { return (int16)np_truncate_int32(x); }

int16 np_cast_int16(C x) { return np_cast_int16(x.real); }

int32 np_cast_int32(I x) { return (int32)x; }

int32 np_cast_int32(F x) { return np_truncate_int32(x); }

int32 np_cast_int32(C x) { return np_cast_int32(x.real); }

int64 np_cast_int64(I x) { return (int64)x; }

int64 np_cast_int64(F x) { return np_truncate_int64(x); }

int64 np_cast_int64(C x) { return np_cast_int64(x.real); }

uint8 np_cast_uint8(I x) { return (uint8)x; }

uint8 np_cast_uint8(F x) { return (uint8)np_truncate_int32(x); }

uint8 np_cast_uint8(C x) { return np_cast_uint8(x.real); }

uint16 np_cast_uint16(I x) { return (uint16)x; }

uint16 np_cast_uint16(F x) { return (uint16)np_truncate_int32(x); }

uint16 np_cast_uint16(C x) { return np_cast_uint16(x.real); }

uint32 np_cast_uint32(I x) { return (uint32)x; }

uint32 np_cast_uint32(F x) { return np_truncate_uint32(x); }

uint32 np_cast_uint32(C x) { return np_cast_uint32(x.real); }

uint64 np_cast_uint64(I x) { return (uint64)x; }

uint64 np_cast_uint64(F x) { return np_truncate_uint64(x); }

uint64 np_cast_uint64(C x) { return np_cast_uint64(x.real); }

float16 np_cast_float16(I x) { return np_half((float32)x); }

float16 np_cast_float16(float16 x) { return x; }

float16 np_cast_float16(float32 x) { return np_half(x); }

float16 np_cast_float16(float64 x) { return np_half(x); }

float16 np_cast_float16(C x) { return np_half(x.real); }

float32 np_cast_float32(I x) { return (float32)x; }

float32 np_cast_float32(F x) { return (float32)x; }

float32 np_cast_float32(C x) { return (float32)x.real; }

float64 np_cast_float64(I x) { return (float64)x; }

float64 np_cast_float64(F x) { return (float64)x; }

float64 np_cast_float64(C x) { return (float64)x.real; }

complex64 np_cast_complex64(I x) { return {(float32)x, 0}; }

complex64 np_cast_complex64(F x) { return {(float32)x, 0}; }

complex64 np_cast_complex64(C x) { return {(float32)x.real, (float32)x.imag}; }

complex128 np_cast_complex128(I x) { return {(float64)x, 0}; }

complex128 np_cast_complex128(F x) { return {(float64)x, 0}; }

complex128 np_cast_complex128(C x) { return {(float64)x.real, (float64)x.imag}; }
"""
