"""From how many elements on regions are entered."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.ir.parser import parse_graph
from gjit.runtime import engines, gain, tiles
from gjit.scheduler.regions import form_regions

MIB = 1 << 20


def region_of(*lines: str, **types: str):
    parameters = ", ".join(f"%{name}: {type_}" for name, type_ in types.items())
    body = "\n  ".join(lines)
    graph = parse_graph(f"graph f({parameters}) {{\n  {body}\n}}")
    form_regions(graph)
    (region,) = (node for node in graph.all_nodes() if node.op == "region")
    return region


def least_of(function, *arguments) -> list[int | None]:
    graph = gjit.script(function).plan_for(*arguments).graph
    return [gain.least_elements(node, 2 * MIB) for node in graph.all_nodes() if node.op == "region"]


@pytest.mark.parametrize(("dtype", "size"), [("f4", 4), ("f8", 8), ("c16", 16)])
def test_the_number_follows_the_size_of_an_element(dtype, size):
    x = np.ones(3, dtype)
    assert least_of(lambda x, y: np.exp(np.sqrt(x) * y), x, x) == [2 * MIB // size]


def test_the_largest_element_counts():
    assert least_of(lambda x: np.exp(np.sqrt(x * 2.5)), np.ones(3, "i1")) == [2 * MIB // 8]


def test_selections_and_rows_pay_later():
    x = np.ones((3, 3))
    assert least_of(lambda x, y: np.where(np.sqrt(x) > y, x, y), x, x) == [4 * MIB // 8]
    assert least_of(lambda x: np.exp(np.sqrt(x)).sum(axis=1), x) == [4 * MIB // 8]


def test_where_numpy_reuses_every_temporary_only_many_steps_pay():
    x = np.ones(3)
    assert least_of(lambda x, y: x * 2 + y, x, x) == [None]
    assert least_of(lambda x, y: (x * 2 + y) / 3, x, x) == [8 * MIB // 8]


def test_as_many_results_as_steps_never_pay():
    def program(x):
        return np.exp(x), np.sqrt(x)

    assert least_of(program, np.ones(3)) == [None]


def test_elements_of_unknown_size_are_taken_for_eight_bytes():
    region = region_of("%0 = numpy.exp(%x)", "%1 = numpy.sqrt(%0)", "return %1", x="unknown")
    assert gain.least_elements(region, 2 * MIB) == 2 * MIB // 8


def test_region_without_gain_is_no_part_of_the_program_on_numpy_alone():
    def program(x, y):
        return x * 2 + y

    x = np.ones(4)
    compiled = gjit.script(program, engine="numpy")
    compiled(x, x)
    assert "region_" not in compiled.code
    assert compiled.statistics.regions == 1
    node = region_of("%0 = operator.mul(%x, 2)", "%1 = operator.add(%0, %x)", "return %1", x="array<float64, 1>")
    assert engines.engine_named("native").least_elements(node) is not None


def test_outer_operation_on_small_operands_is_tiled():
    def program(x, y):
        return np.sqrt((x[:, None] - y) ** 2 + 1.5)

    compiled = gjit.script(program)
    x = np.linspace(0, 1, 700)
    for size in (300, 700):
        result = compiled(x[:size], x)
        assert np.array_equal(result, program(x[:size], x))
        assert compiled.statistics.launches == (size > 374)
        assert compiled.statistics.fallbacks == 0


def test_call_site_and_region_agree():
    def program(x, y):
        return np.exp(np.sqrt(x) * y)

    compiled = gjit.script(program)
    for size in (2 * MIB // 4 - 1, 2 * MIB // 4):
        x = np.ones(size, np.float32)
        compiled(x, x)
    assert (compiled.statistics.launches, compiled.statistics.fallbacks) == (1, 0)


def test_fewer_elements_than_the_minimum_never_pay(monkeypatch):
    region = region_of("%0 = numpy.exp(%x)", "%1 = numpy.sqrt(%0)", "return %1", x="array<float64, 1>")
    assert tiles.least_elements(region) == 2 * MIB // 8
    monkeypatch.setattr(tiles, "MINIMUM_ELEMENTS", MIB)
    assert tiles.least_elements(region) == MIB
