from __future__ import annotations

import numpy as np

from tests.semantics.support import call, check


class Recorder:
    def __init__(self, swallow=None):
        self.events = []
        self.swallow = swallow

    def __enter__(self):
        self.events.append("enter")
        return self

    def __exit__(self, kind, error, trace):
        self.events.append("exit" if kind is None else kind.__name__)
        return self.swallow is not None and kind is not None and issubclass(kind, self.swallow)


def test_a_context_manager_enters_exits_and_suppresses():
    def guarded(recorder, table, key):
        with recorder as entered:
            entered.events.append(table[key])
            return "left early"
        return "went on"

    check(
        guarded,
        call(Recorder(), {"k": 1}, "k"),
        call(Recorder(LookupError), {}, "k"),
        call(Recorder(), {}, "k"),
        call(Recorder(ValueError), [1], "k"),
    )


def test_several_managers_in_one_with():
    def guarded(outer, inner, divisor):
        value = "unset"
        with outer as one, inner as two:
            value = 12 // divisor
            one.events.append(value)
        two.events.append("after")
        return value, outer.events, inner.events

    check(
        guarded,
        call(Recorder(), Recorder(), 4),
        call(Recorder(ZeroDivisionError), Recorder(), 0),
        call(Recorder(), Recorder(ZeroDivisionError), 0),
        call(Recorder(), Recorder(), 0),
    )


def test_break_continue_and_return_out_of_with():
    def walk(start, recorder):
        total = both = 0
        for step in range(30):
            with np.errstate(all="ignore"):
                doubled = step * 2
                if (start + step) % 5 == 0:
                    continue
                with recorder:
                    if (start + step) % 3 == 0:
                        continue
                    square = step * step
                if (start + step) % 29 == 28:
                    break
                total += square - doubled
            both += square + doubled
        else:
            both = -both
        return total, both, len(recorder.events)

    check(walk, *[call(start, Recorder()) for start in range(4)])


def test_errstate_covers_its_block_only():
    def divide(values):
        with np.errstate(divide="ignore", invalid="ignore"):
            quiet = 1 / values
        return quiet, 2 / values

    check(divide, call(np.array([0.0, 2.0])), call(np.array([1.0])), call(np.array([0, 1], "f4")))


def test_print_options_cover_their_block_only(capsys):
    def show(values):
        with np.printoptions(precision=2):
            short = str(values)
        print(values)
        return short

    check(show, call(np.array([1 / 3])), call(np.array([1.0, 2.5])))
