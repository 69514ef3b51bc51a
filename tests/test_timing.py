from __future__ import annotations

import gc
import time

import pytest

from gjit.timing import Comparison, compare, readable_seconds


def test_ratio_is_the_median_of_the_pairs_and_not_the_ratio_of_the_medians():
    comparison = Comparison(plain=(1.0, 20.0, 3.0), compiled=(1.0, 10.0, 1.0))
    assert comparison.ratios == (1.0, 2.0, 3.0)
    assert comparison.ratio == 2.0
    assert comparison.plain_seconds == 3.0
    assert comparison.compiled_seconds == 1.0
    assert comparison.spread == (1.0, 3.0)


def test_each_side_has_arguments_of_its_own_and_calls_alternate():
    calls = []
    comparison = compare(
        lambda a: calls.append(("plain", id(a))),
        lambda a: calls.append(("compiled", id(a))),
        lambda: ([],),
        rounds=4,
        least_seconds=0.0,
    )
    assert len(comparison.ratios) == 4
    names = [name for name, _ in calls[-8:]]
    assert names == ["plain", "compiled", "compiled", "plain"] * 2
    assert len({which for which in calls}) == 2


def test_short_calls_are_repeated():
    count = 0

    def short():
        nonlocal count
        count += 1

    compare(short, lambda: None, lambda: (), rounds=2, least_seconds=0.002)
    assert count > 50


def test_garbage_collection_is_restored_also_after_an_error():
    def fail_in_a_round():
        if not gc.isenabled():
            raise KeyError

    with pytest.raises(KeyError):
        compare(fail_in_a_round, fail_in_a_round, lambda: (), rounds=1)
    assert gc.isenabled()


def test_progress_counts_rounds():
    seen = []
    compare(time.time, time.time, lambda: (), rounds=3, progress=lambda done, rounds: seen.append((done, rounds)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0 ns"), (9.99e-7, "999 ns"), (1e-6, "1.00 us"), (0.5, "500 ms"), (12.34, "12.3 s")]
)
def test_times_are_readable(seconds, text):
    assert readable_seconds(seconds) == text
