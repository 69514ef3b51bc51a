from __future__ import annotations

import pytest

from tests import language_page
from tests.capture.test_refusals import REFUSED


def test_the_page_is_what_the_tests_say():
    assert language_page.PAGE.read_text() == language_page.page(), "run: python -m tests.language_page"


def test_every_refusal_is_on_the_page():
    page = language_page.PAGE.read_text()
    for _, problem, hint, _ in REFUSED:
        assert problem in page
        assert hint in page


def test_a_construct_without_a_test_is_an_error():
    with pytest.raises(AssertionError, match="no test compares a program with `goto`"):
        language_page.rows({"`goto`": lambda node: False}, {"loops": []})
