"""One kernel of each shape for a device: emulated against NumPy, its text word for word, and what compilers say.

`python -m tests.cuda_kernels.test_device_programs --update` writes the golden files.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cuda_kernels.device_cases import Case, emulated, random_case, reference, run
from tests.cuda_kernels.programs import PROGRAMS
from tests.cuda_kernels.support import COMPILER
from tests.cuda_kernels.test_device_elementwise import turned_cases
from tests.cuda_kernels.test_device_rows import split_cases

GOLDEN = Path(__file__).parent.parent / "golden" / "device_kernels"
EXTENTS = {1: (5001,), 2: (7, 70), 3: (4, 5, 66)}


def case_of(name: str) -> Case:
    if name in MADE:
        return MADE[name]()
    case = random_case(PROGRAMS[name], EXTENTS[PROGRAMS[name].rank], seed=1)
    loop = case.program.loop
    if loop is not None:
        case.turns = 7
        case.turned = {number.name: np.linspace(0.1, 0.5, 7).astype(number.dtype) for number in loop.numbers}
        case.turned["route"] = np.array([0, 1, 0, 0, 1, 1, 0], np.uint8)
    return case


MADE = {
    "turned": lambda: turned_cases()[2],
    "split_rows": lambda: split_cases()[0],
    "split_columns": lambda: split_cases()[2],
}
NAMES = [*PROGRAMS, *MADE]
CASES = {name: case_of(name) for name in NAMES}


@pytest.fixture(scope="module")
def unit():
    if COMPILER is None:
        pytest.skip("there is no g++")
    return emulated(list(CASES.values()))


@pytest.mark.parametrize("name", NAMES)
def test_programs_give_what_numpy_gives(unit, name):
    case = CASES[name]
    right = reference(case)
    for order in (0, 1, 2):
        got = run(unit, case, order)
        for output in case.program.outputs:
            given = case.outputs[output.array.source]
            np.testing.assert_allclose(given, right[output.array.name], rtol=1e-6, atol=1e-12, equal_nan=True)
        for step in case.program.totals:
            value = got[step.result]
            value = value["place"] if step.combine.is_place else value["squares"] if value.dtype.names else value
            np.testing.assert_allclose(value, right[step.result], rtol=1e-6)


def text_of(name: str) -> str:
    case = case_of(name)
    case.separate = frozenset({*case.arrays, *case.outputs})
    return case.emit("region").text


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_the_golden_ones(name):
    assert text_of(name) == (GOLDEN / f"{name}.cu").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_one_step(name):
    lines = text_of(name).splitlines()
    assert all(line.count(";") <= 1 for line in lines if not line.lstrip().startswith(("for", "//")))
    assert all(len(line) <= 160 for line in lines)
    assert not any(line.startswith("#") for line in lines)


def test_golden_texts_have_programs():
    assert {path.stem for path in GOLDEN.glob("*.cu")} == set(NAMES)


def update() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (GOLDEN / f"{name}.cu").write_text(text_of(name))


if __name__ == "__main__" and sys.argv[1:] == ["--update"]:
    update()
