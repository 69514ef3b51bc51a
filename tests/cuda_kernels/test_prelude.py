"""The prelude holds what a text uses, and nothing else."""

from __future__ import annotations

import re

import pytest

from gjit.cuda_kernels.dialect import CUDA, NATIVE, with_vector_math
from gjit.cuda_kernels.prelude import prelude


def defined(text: str) -> list[str]:
    """The functions that a text defines, in its order."""
    return re.findall(r"\b(np_\w+)\([^)]*\) \{", text)


@pytest.mark.parametrize("dialect", [NATIVE, CUDA], ids=lambda dialect: dialect.name)
def test_only_what_is_used_is_there(dialect):
    text = prelude("float32 z = np_sqrt(x);", dialect)
    assert defined(text) == ["np_sqrt"]
    assert "struct" not in text
    assert "float64 np_sqrt" not in text


def test_nothing_used_leaves_the_names_of_types():
    assert set(re.findall(r"^\w+", prelude("", NATIVE), re.MULTILINE)) == {"typedef"}


@pytest.mark.parametrize("name", ["np_nan_to_num", "np_lcm", "np_divide", "np_clip", "np_spacing", "np_isreal"])
def test_functions_come_after_those_that_they_call(name):
    text = prelude(f"float16 a; complex128 b; {name}(a);", NATIVE)
    seen: set[str] = set()
    for definition in re.split(r"^(?=static|template)", text, flags=re.MULTILINE)[1:]:
        own = defined(definition)[0]
        assert set(re.findall(r"\bnp_\w+(?=\()", definition)) <= seen | {own}
        seen.add(own)
    assert name in seen


def test_float16_goes_by_way_of_float32():
    text = prelude("float16 y = np_exp(x);", NATIVE)
    assert "float16 np_exp(float16 x) { return np_half(np_exp(np_single(x))); }" in text


def test_integers_share_a_template():
    assert "template <class I> static inline I np_add(I a, I b)" in prelude("int8 z = np_add(x, y);", NATIVE)


def test_functions_of_the_c_library_are_declared_where_there_are_no_headers():
    text = "float64 y = np_arctan2(np_sin(a), b);"
    assert 'extern "C" double sin(double);' in prelude(text, NATIVE)
    assert 'extern "C" double atan2(double, double);' in prelude(text, NATIVE)
    assert 'extern "C"' not in prelude(text, CUDA)


def test_vector_forms_are_declared_where_the_library_has_them():
    text = "float32 y = np_sinh(np_sin(x));"
    old, new = (prelude(text, with_vector_math(minor)) for minor in (31, 36))
    vector = '__attribute__((simd("notinbranch"))) float'
    assert f"{vector} sinf(float);" in old
    assert f"{vector} sinhf(float);" not in old
    assert f"{vector} sinhf(float);" in new


def test_cuda_marks_functions_and_aligns_structures():
    text = prelude("complex128 z = np_add(x, y);", CUDA)
    assert "struct __align__(16) complex128 { float64 real, imag; };" in text
    assert "__device__ __forceinline__ complex128 np_add(complex128 a, complex128 b)" in text


def test_words_that_only_look_like_functions_are_left_alone():
    assert defined(prelude("float32 np_sqrt_of_x = x;", NATIVE)) == []
