"""Every archive of the corpus is read, and does what it did when it was written."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import gjit
from gjit.testing import same
from tests.interchange.corpus import programs
from tests.interchange.support import saved

FOLDER = pathlib.Path(programs.__file__).parent
FILES = sorted(FOLDER.glob("*.gjit"))


def test_the_corpus_is_there():
    assert {file.stem for file in FILES} >= set(programs.CORPUS)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_an_archive_of_the_corpus_gives_the_results_in_it(file):
    extra = {"calls.json": None}
    loaded = gjit.load(file, extra_files=extra)
    calls = json.loads(extra["calls.json"])
    assert calls
    for name, arguments, expected in calls:
        result = programs.entry(loaded, name)(*programs.from_json(arguments))
        assert_alike(programs.from_json(expected), result)
    assert gjit.load(saved(loaded)) is not None


def assert_alike(expected, result):
    """Equal but for the last bits of functions, which are those of a build of NumPy."""
    assert type(expected) is type(result)
    if isinstance(expected, tuple | list):
        assert len(expected) == len(result)
        for pair in zip(expected, result, strict=True):
            assert_alike(*pair)
    elif isinstance(expected, np.ndarray | np.generic | float):
        assert np.asarray(expected).dtype == np.asarray(result).dtype
        tolerance = 1e-5 if np.asarray(expected).dtype == np.float32 else 1e-12
        np.testing.assert_allclose(result, expected, rtol=tolerance)
    else:
        assert result == expected


def test_results_are_compared_in_value_and_kind():
    values = [np.float32(1.5), np.arange(3), (1, [2.0]), {"a": np.zeros((0, 2))}, None, "text", True]
    for value in values:
        again = programs.from_json(json.loads(json.dumps(programs.as_json(value))))
        assert same(value, again) is None
    assert same(np.float32(1.5), programs.from_json(programs.as_json(1.5))) is not None
