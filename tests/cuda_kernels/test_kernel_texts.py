"""The text of one kernel of each shape, word for word.

`python -m tests.cuda_kernels.test_kernel_texts --update` writes the golden files.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from gjit.cuda_kernels.element import literal
from gjit.cuda_kernels.emit import emit
from gjit.cuda_kernels.program import BLOCK, Meaning
from gjit.cuda_kernels.support import support_text
from gjit.cuda_kernels.sweeps import plan_sweeps
from gjit.runtime import native
from gjit.runtime.compiler import find_compiler
from tests.cuda_kernels.programs import PROGRAMS

GOLDEN = Path(__file__).parent.parent / "golden" / "kernels"


@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_are_the_golden_ones(name):
    assert emit(PROGRAMS[name]).text == (GOLDEN / f"{name}.cpp").read_text()


def test_golden_texts_have_programs():
    assert {path.stem for path in GOLDEN.glob("*.cpp")} == set(PROGRAMS)


@pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler")
@pytest.mark.parametrize("name", PROGRAMS)
def test_texts_compile(name):
    native.native_kernel(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_line_is_one_step(name):
    lines = emit(PROGRAMS[name]).text.splitlines()
    assert all(line.count(";") <= 1 for line in lines if not line.lstrip().startswith(("for", "//")))
    assert all(len(line) <= 160 for line in lines)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_struct_is_the_list_of_fields(name):
    kernel = emit(PROGRAMS[name])
    struct = kernel.text.split("};")[0]
    assert re.findall(r"    (.*);", struct) == [field.declaration for field in kernel.fields]
    assert list(kernel.fields_of(Meaning.EXTENT))


def test_what_is_dear_is_kept_and_what_is_cheap_is_computed_again():
    assert plan_sweeps(PROGRAMS["softmax"]).kept == ["e"]
    assert plan_sweeps(PROGRAMS["variance"]).kept == []


def test_reductions_come_only_with_programs_that_reduce():
    assert "reduce_block" not in support_text(PROGRAMS["flat"])
    assert "reduce_block" in support_text(PROGRAMS["totals"])
    assert str(BLOCK) in emit(PROGRAMS["totals"]).text


@pytest.mark.parametrize("value", [0.1, -0.0, 5e-324, 1e308, 1 / 3])
def test_numbers_in_texts_are_exact(value):
    text = literal(np.float64(value)).removeprefix("(float64)")
    assert float.fromhex(text).hex() == value.hex()


@pytest.mark.parametrize("kind", ["i1", "i8", "u8"])
def test_extreme_integers_in_texts(kind):
    limits = np.iinfo(kind)
    assert eval(literal(limits.max * np.ones((), kind)[()]).partition(")")[2].rstrip("u")) == limits.max
    assert eval(literal(np.dtype(kind).type(limits.min)).partition(")")[2].rstrip("u")) == limits.min


def update() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, program in PROGRAMS.items():
        (GOLDEN / f"{name}.cpp").write_text(emit(program).text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        print(find_compiler())
