from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from tests.semantics.support import call, check


def test_python_integers_are_unbounded():
    def power_of_three(count):
        result = 1
        for _ in range(count):
            result *= 3
        return result, -result >> 5, result % (2**61 - 1), result.bit_length()

    check(power_of_three, call(0), call(90), call(True))


def test_division_by_zero_raises_for_python_numbers_and_warns_for_numpy():
    def divide(left, right, kind):
        if kind == "true":
            return left / right
        if kind == "floor":
            return left // right
        if kind == "mod":
            return left % right
        return divmod(left, right)

    numbers = [(1, 4), (1, 0), (-7, 2), (1.0, 0.0), (0, 0), (5.0, float("inf")), (-5.0, float("inf"))]
    numbers += [(np.float64(1), 0), (np.int64(-7), np.int64(0)), (np.float32(-1), np.float32(0)), (7, np.int8(2))]
    check(divide, *[call(left, right, kind) for left, right in numbers for kind in ("true", "floor", "mod", "divmod")])


def test_powers_of_python_and_numpy_numbers():
    def power(base, exponent):
        return base**exponent

    pairs = [(2, 10), (2, -1), (0, -1), (-8, 1 / 3), (0.0, -1.0), (2.5, 2), (-1, 0.5), (10, 400), (2, 3.0), (1j, 2)]
    pairs += [(np.int64(2), 3), (np.float64(-8), 1 / 3), (np.float64(0), -1), (np.int8(2), 7), (2, np.float32(0.5))]
    check(power, *[call(base, exponent) for base, exponent in pairs])


def test_negative_integer_powers_of_numpy_integers_raise():
    def power(base, exponent):
        return base**exponent

    check(power, call(np.int64(2), -1), call(np.arange(3), -1), call(np.arange(1, 3), np.array([1, -1])))


def test_bit_operators_and_their_augmented_forms():
    def twiddle(a, b):
        a <<= 3
        c = a | b
        c ^= 5
        c &= ~b
        c >>= 1
        c //= 2
        c -= 1
        return a, c, ~a, a & b, a ^ b, a << b

    check(twiddle, call(5, 3), call(-9, 4), call(2**80, 1), call(True, 2), call(np.int16(5), 3), call(np.uint8(200), 1))


def test_rounding_and_conversions():
    def convert(value):
        return round(value), round(value, 1), int(value), float(value), bool(value), abs(-value), +value, -value

    values = [2.5, 3.5, -0.5, 0.0, 7, -3, True, np.float64(2.5), np.float32(-1.5), np.int8(-7), 1e300]
    check(convert, *[call(value) for value in values])


def test_conversions_that_raise():
    def convert(value, kind):
        return int(value) if kind == "int" else float(value) if kind == "float" else complex(value)

    check(
        convert,
        *[
            call(value, kind)
            for value in ("12", "x", 10**400, None, 1j, float("nan"))
            for kind in ("int", "float", "c")
        ],
        call(np.array([1.5]), "int"),
        call(np.array([1, 2]), "float"),
        call(float("inf"), "int"),
    )


def test_the_math_module_gives_python_numbers():
    def measure(value):
        return (
            math.sqrt(value),
            math.floor(value),
            math.ceil(value),
            math.trunc(value),
            math.hypot(value, 3),
            math.gcd(12, 18, int(value)),
            math.isclose(value, 4.0),
            math.copysign(1, -value),
            math.frexp(value),
            math.fsum([0.1] * 10),
            math.factorial(20),
            math.pi * value,
            math.inf > value,
            math.log(value + 1, 2),
            math.atan2(value, -1.0),
        )

    check(measure, call(4.0), call(9), call(np.float32(2)), call(np.float64(0)), call(-1.0), call(np.array(2.0)))


def test_math_domain_errors():
    def domain(value):
        return math.log(value), math.acos(value)

    check(domain, call(0.5), call(0), call(-1), call(2.0), call("x"), call(np.ones(2)))


def test_cmath_and_complex_python_numbers():
    def polar(value):
        return cmath.phase(value), cmath.sqrt(value), value.conjugate(), value.real, value.imag, abs(value), value * 1j

    check(polar, call(1 + 2j), call(-1.0), call(3), call(np.complex64(1 - 1j)), call(complex(-1, -0.0)))


def test_comparisons_and_boolean_arithmetic():
    def compare(a, b):
        return a < b, a <= b, a == b, a != b, a is b, a > b or None, (a > b) + (a < b), not a == b, True + (a == b)

    check(compare, call(1, 2.0), call(2**63, np.float64(2**63)), call(np.float32(0.1), 0.1), call(np.int8(1), True))
    check(compare, call(float("nan"), float("nan")), call(np.nan, 1), call("a", "b"), call(None, 1))


def test_builtins_over_numbers():
    def summarise(numbers):
        return (
            min(numbers),
            max(numbers),
            sum(numbers),
            sum(numbers, 0.5),
            sorted(numbers, reverse=True),
            any(numbers),
            all(numbers),
            [pow(2, 5, 7), divmod(7, 2), abs(-3), bin(5), hex(255), oct(8)],
            max(numbers, key=abs),
            min((), default="none"),
        )

    check(
        summarise, call([3, -5, 2.5]), call((True, 2)), call(np.array([1.0, -2.0])), call([]), call([np.float32(1), 2])
    )


def test_methods_of_numbers():
    def methods(whole, real):
        return (
            whole.bit_count(),
            whole.to_bytes(4, "little", signed=True),
            whole.numerator,
            real.hex(),
            real.is_integer(),
            real.as_integer_ratio(),
            float.fromhex("0x1.8p1"),
            int("ff", 16),
            int.from_bytes(b"\x01\x00", "big"),
        )

    check(methods, call(5, 2.5), call(-1, 4.0), call(1 << 40, 1.0), call(3, float("inf")), call(True, 0.1))


def test_the_operator_module():
    def apply(a, b):
        return operator.add(a, b), operator.mul(a, b), operator.lt(a, b), operator.neg(a), operator.truediv(b, a)

    check(apply, call(2, 3), call(np.array([1, 2]), 2), call(np.float32(1), np.int8(3)), call(0, 1))


def test_operator_in_place_functions_write_their_argument():
    def accumulate(a, b):
        return operator.iadd(a, b), a

    check(accumulate, call(np.zeros(2), 1), call([1], [2]), call(1, 2))


def test_numpy_scalars_overflow_with_numpy_s_warning():
    def grow(value):
        return value + value, value * value, value - value - value, -value

    check(grow, call(np.int8(100)), call(np.uint8(200)), call(np.int64(2**62)), call(np.float32(3e38)), call(100))


def test_augmented_assignment_of_numbers_rebinds():
    def step(value):
        before = value
        value += 1
        value *= 2
        value -= 0.5
        value **= 2
        return before, value

    check(step, call(1), call(2.0), call(np.int32(3)), call(np.float32(1)), call(1j), call(True))


def test_item_and_tolist_give_python_numbers():
    def read(values):
        first = values[0].item()
        return first + 1, int(values[1]), float(values.sum()), bool(values[0] == 1), values.tolist(), values.item(-1)

    check(read, call(np.array([1, 2], "i4")), call(np.array([1.5, 2.0], "f4")), call(np.array([True, False])))


def test_the_truth_of_arrays():
    def truth(values):
        return "yes" if values else "no"

    check(
        truth,
        call(np.array([2.0])),
        call(np.array([[0]])),
        call(np.float64(0)),
        call(np.array([1, 2])),
        call(np.zeros(0)),
        call(np.bool_(True)),
        call(np.array(float("nan"))),
    )


def test_bit_by_bit_checksum():
    def crc(data, polynomial=0x1021):
        register = 0xFFFF
        for byte in data:
            register ^= int(byte) << 8
            for _ in range(8):
                if register & 0x8000:
                    register = ((register << 1) ^ polynomial) & 0xFFFF
                else:
                    register = (register << 1) & 0xFFFF
        return register

    check(crc, call(np.arange(9, dtype="u1")), call(b"123456789"), call([]), call([1, 2], polynomial=0x8005))
