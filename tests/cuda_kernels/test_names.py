"""No value of a user's program can be called what generated text calls its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gjit.cuda_kernels.device_reductions import BLOCKS, COLUMNS, DEVIATIONS, NUMBERS, PLACES, TICKETS, WARPS
from gjit.ir.graph import Value
from gjit.runtime.native_names import Names
from tests.cuda_kernels.test_device_programs import CASES, GOLDEN

SUPPORT = (BLOCKS, COLUMNS, DEVIATIONS, NUMBERS, PLACES, TICKETS, WARPS)


def words(text: str) -> set[str]:
    without = re.sub(r'//.*|#.*|"[^"]*"|\b0x[0-9a-fp+.-]+\w*', "", text)
    return set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", without))


def is_free(word: str) -> bool:
    return Names().of(Value(name=word)) == word


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.cu")), ids=lambda path: path.stem)
def test_words_of_kernels_are_reserved(path: Path):
    program = CASES[path.stem].program
    own = {*program.dtypes(), *(output.array.source for output in program.outputs)}
    own |= {array.source for array in program.arrays}
    assert {word for word in words(path.read_text()) - own if is_free(word)} == set()


def test_functions_of_kernels_are_reserved():
    defined = {name for part in SUPPORT for name in re.findall(r"__forceinline__ \w+(?:<\w+>)? (\w+)\(", part)}
    assert len(defined) > 5
    assert {name for name in defined - {"combine"} if is_free(name)} == set()
