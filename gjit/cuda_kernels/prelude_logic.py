"""Prelude: comparison, selection, logic, bits, and the parts of floats."""

SOURCE = r"""
bool_ np_equal(T a, T b) { return a == b; }

bool_ np_equal(F a, F b) { return a == b; }

bool_ np_equal(C a, C b) { return a.real == b.real && a.imag == b.imag; }

bool_ np_equal(int64 a, uint64 b) { return a >= 0 && (uint64)a == b; }

bool_ np_equal(uint64 a, int64 b) { return np_equal(b, a); }

bool_ np_not_equal(T a, T b) { return a != b; }

bool_ np_not_equal(F a, F b) { return a != b; }

bool_ np_not_equal(C a, C b) { return a.real != b.real || a.imag != b.imag; }

bool_ np_not_equal(int64 a, uint64 b) { return !np_equal(a, b); }

bool_ np_not_equal(uint64 a, int64 b) { return !np_equal(b, a); }

bool_ np_less(T a, T b) { return a < b; }

bool_ np_less(F a, F b) { return a < b; }

bool_ np_less(C a, C b) {
    bool_ first = a.real < b.real && a.imag == a.imag && b.imag == b.imag;
    return first || (a.real == b.real && a.imag < b.imag);
}

bool_ np_less(int64 a, uint64 b) { return a < 0 || (uint64)a < b; }

bool_ np_less(uint64 a, int64 b) { return b >= 0 && a < (uint64)b; }

bool_ np_less_equal(T a, T b) { return a <= b; }

bool_ np_less_equal(F a, F b) { return a <= b; }

bool_ np_less_equal(C a, C b) {
    bool_ first = a.real < b.real && a.imag == a.imag && b.imag == b.imag;
    return first || (a.real == b.real && a.imag <= b.imag);
}

bool_ np_less_equal(int64 a, uint64 b) { return !np_less(b, a); }

bool_ np_less_equal(uint64 a, int64 b) { return !np_less(b, a); }

T1 np_greater(T a, T b) { return np_less(b, a); }

T1 np_greater_equal(T a, T b) { return np_less_equal(b, a); }
"""
