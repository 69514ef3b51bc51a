from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check

INF, NAN = float("inf"), float("nan")
SPECIAL = [complex(a, b) for a in (1.0, -0.0, INF, NAN) for b in (0.0, -0.0, 2.0, -INF)]


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_arithmetic(dtype):
    def combine(a, b):
        return a + b, a - b, a * b, a / b, -a, a.conj(), a * 2, a * 2.5, a * 1j, 1 / a, a**2, a == b, a != b

    with np.errstate(all="ignore"):
        a, b = np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL[::-1], dtype))
        check(
            combine, call(a, b), call(np.array([3 + 4j, 1j], dtype), np.array([1 - 1j, 2], dtype)), check_warnings=True
        )


def test_scalars_multiply_by_python_s_or_numpy_s_rule():
    def multiply(z, w):
        return z[0] * w, z * w, w * z[0], z[0] * z[1], z[0] / z[1], z[0] ** 2, abs(z[0])

    z = np.array([complex(INF, 1), complex(0.1, -3)])
    check(
        multiply,
        *[call(z, w) for w in (2, 1j, complex(1, NAN), np.complex64(1 + 1j), np.float32(3))],
        call(z.astype("c8"), 1j),
    )


def test_magnitudes_do_not_overflow_and_cuts_follow_the_sign_of_zero():
    def functions(z):
        return np.abs(z), np.sqrt(z), np.log(z), np.angle(z), np.exp(1j * z.real), np.sign(z), np.arctan(z.real)

    check(
        functions,
        call(np.array([1e200 + 1e200j, 1e-200 - 1e-200j, -1 + 0j, complex(-1, -0.0), -1e300 + 0j])),
        call(np.array([1e20 + 1e20j, 2.5e-20 - 3e-20j, -1e20j], "c8")),
    )


def test_order_is_lexicographic():
    def order(a, b):
        return np.maximum(a, b), a.max(), a.argmax(), a > b, np.sort(a), a == b, a.sum(), np.isnan(a), a.min(), a.mean()

    check(
        order,
        call(np.array([1 + 5j, 1 + 6j, 9j]), np.array([1 + 6j, 1 + 2j, 5j])),
        call(np.array([1j, complex(0, NAN), 2]), np.array([1j, 1, 1])),
    )


def test_parts_are_views_that_can_be_written():
    def parts(z, x):
        z.imag[:] = 7.0
        z.real += x
        turned = x * 1j
        return z, turned, z.real, turned * 2.5, x + np.complex64(1j), x.imag, z.real[::2], np.real(z), np.imag(x)

    check(
        parts,
        call(np.array([1 + 1j, 2 - 2j]), np.array([1.0, 2.0])),
        call(np.array([1 + 1j, 2 - 2j], "c8"), np.array([1, 2], "f4")),
        call(np.array([1j, 1]), np.array([1, 2], "i1")),
        call(np.array([1j, 1, 2, 3])[::2], np.array([1.0, 2.0])),
    )


def test_conversions_to_real():
    def convert(z):
        return z.astype("f8"), np.real_if_close(z), z.real.astype(int), np.iscomplexobj(z)

    check(convert, call(np.array([1 + 1j, 2])), call(np.array([1 + 0j])), call(np.array([1.5])))


def test_escape_counts():
    def escape(c, limit):
        z = np.zeros_like(c)
        counts = np.zeros(c.shape, dtype=np.int32)
        alive = np.ones(c.shape, dtype=bool)
        for _ in range(limit):
            z[alive] = z[alive] ** 2 + c[alive]
            alive = np.abs(z) <= 2
            counts += alive
            if not alive.any():
                break
        return counts, z

    y, x = np.ogrid[-1:1:8j, -2:0.5:9j]
    check(
        escape,
        call(np.array([0j, 1 + 0j, 3 + 0j]), 5),
        call(x + 1j * y, 12),
        call((x + 1j * y).astype("c8"), 4),
        call(np.zeros(0, "c16"), 3),
    )


def test_whole_array_escape_iteration():
    def iterate(c, rounds):
        z = c.copy()
        for _ in range(rounds):
            z = np.where(np.abs(z) < 2, z * z + c, z)
        return np.abs(z) < 2, z.real + z.imag

    y, x = np.ogrid[-1:1:30j, -2:0.5:40j]
    check(iterate, call(x + 1j * y, 10), call((x + 1j * y).astype("c8"), 3), call(np.zeros((2, 0), "c16"), 1))


def test_transforms():
    def spectrum(x):
        transformed = np.fft.fft(x)
        power = np.abs(transformed) ** 2
        return power, np.fft.ifft(transformed * 2).real, np.fft.rfft(x).shape, np.fft.fftfreq(x.size)

    check(spectrum, call(np.sin(np.arange(16.0))), call(np.arange(5.0)), call(np.ones(8, "f4")))


def test_contour_sums():
    def contour(matrix, points, radius):
        total = np.zeros(matrix.shape, complex)
        identity = np.eye(len(matrix))
        for point in range(points):
            z = radius * np.exp(2j * np.pi * point / points)
            total += z * np.linalg.inv(z * identity - matrix)
        return total / points

    check(contour, call(np.array([[0.1, 0.2], [0.0, 0.3]]), 8, 1.0), call(np.zeros((1, 1)), 3, 2))


def test_a_number_on_the_left_of_a_comparison():
    def program(a):
        return a + (a + (2 < a)), (0.5 >= a) * a + a, (1 > a) + a * 2, a - (3 <= a) * a

    values = np.array([1 + 2j, complex(np.nan, 0), complex(np.inf, 1), -2.5, 0])
    for dtype in ("c8", "c16"):
        check(program, call(values.astype(dtype)), call(np.resize(values, (40, 60)).astype(dtype)))
    for dtype in ("f4", "f8", "f2"):
        check(program, call(np.array([1, np.nan, np.inf, -2.5, 0, -0.0], dtype)))
