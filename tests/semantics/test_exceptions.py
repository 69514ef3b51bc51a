"""Exceptions. PYTEST_DONT_REWRITE: `assert` stands in programs under test."""

from __future__ import annotations

import numpy as np

from tests.semantics.support import call, check


def test_try_except_else_finally_in_every_combination():
    def read(items, index, log):
        try:
            value = items[index]
        except (KeyError, IndexError) as error:
            log.append(type(error).__name__)
            value = None
        else:
            log.append("else")
            value = value + 1
        finally:
            log.append("finally")
        return value, log

    check(read, call([1, 2], 1, []), call([1], 5, []), call({}, "a", []), call(np.ones(2), 7, []), call([None], 0, []))


def test_the_name_of_a_caught_exception_is_unbound_afterwards():
    def swallow(text):
        try:
            number = int(text)
        except ValueError as error:
            message = str(error)
            number = -1
        if text == "late":
            return error  # noqa: F821 - unbound here, which is what is tested
        return number, message

    check(swallow, call("x"), call("12"), call("late"))


def test_raise_with_cause_and_without():
    def refuse(kind):
        try:
            if kind == 0:
                raise KeyError("inner")
            if kind == 1:
                return "fine"
            raise TypeError("other", kind)
        except KeyError as error:
            raise ValueError("outer") from error
        except TypeError:
            if kind == 2:
                raise
            raise RuntimeError("hidden") from None

    check(refuse, *[call(kind) for kind in range(4)])


def test_return_in_finally_and_in_a_loop_with_finally():
    def leave(mode, log):
        for index in range(3):
            try:
                if mode == index:
                    return "returned"
                if mode == 10 + index:
                    continue
                if mode == 20 + index:
                    break
                log.append(index)
            finally:
                log.append("finally")
                if mode == 99:
                    return "overridden"
        return "end"

    check(leave, *[call(mode, []) for mode in (0, 2, 11, 21, 99, -1)])


def test_nested_try_blocks():
    def nested(values, index):
        steps = []
        try:
            try:
                steps.append(values[index] / values[0])
            except IndexError:
                steps.append("index")
                values["wrong"]
            finally:
                steps.append("inner")
        except (TypeError, IndexError) as error:
            steps.append(type(error).__name__)
        return steps

    check(nested, call([2, 4], 1), call([2, 4], 9), call(np.ones(2), 5), call([], 0))


def test_an_exception_keeps_class_arguments_and_text():
    class Refused(ValueError):
        def __init__(self, code, detail):
            super().__init__(code, detail)
            self.code = code

    def refuse(values):
        if values.ndim != 1:
            raise Refused(values.ndim, f"rank {values.ndim}")
        try:
            raise Refused(0, "caught")
        except Refused as error:
            return error.code, error.args, str(error)

    check(refuse, call(np.ones(2)), call(np.ones((2, 2))))


def test_assert_with_and_without_a_message():
    def transpose(matrix):
        assert matrix.size
        assert matrix.ndim == 2, f"rank {matrix.ndim} is not 2"
        return matrix.T

    check(transpose, call(np.ones((1, 2))), call(np.ones(3)), call(np.ones((0, 2))))


def test_raise_on_a_path_that_is_not_taken():
    def checked(values, limit=None):
        if limit is not None and limit < 0:
            raise ValueError("a limit below zero")
        return values if limit is None else np.minimum(values, limit)

    check(checked, call(np.arange(3)), call(np.arange(3), 1), call(np.arange(3), -1))


def test_exception_groups():
    def run(errors):
        log = []
        last = None
        try:
            try:
                if len(errors) == 1:
                    raise errors[0]
                if errors:
                    raise ExceptionGroup("several", errors)
                log.append("none")
            except* (ValueError, KeyError) as group:
                last = group
                log.append([type(group).__name__, [repr(error) for error in group.exceptions]])
            except* TypeError as group:
                log.append([len(group.exceptions), last is None])
                raise
            except* OSError:
                raise LookupError("instead") from None
            else:
                log.append("else")
            finally:
                log.append("finally")
        except BaseException as error:
            parts = getattr(error, "exceptions", ())
            return log, str(error), type(error).__name__, [type(part).__name__ for part in parts]
        return log

    check(
        run,
        call([]),
        call([ValueError("alone")]),
        call([ValueError(1), KeyError(2)]),
        call([ValueError(1), TypeError(2), OSError(3), ZeroDivisionError(4)]),
        call([ZeroDivisionError("alone")]),
        call([OSError(1), ExceptionGroup("inner", [TypeError(2), ValueError(3)])]),
    )
