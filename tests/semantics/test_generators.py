import numpy as np
import pytest

import gjit
from tests.semantics.support import call, check


def countdown(n):
    while n > 0:
        yield n
        n -= 1


def chained(n):
    yield -1
    got = yield from countdown(n)
    yield got


def test_an_inner_generator():
    def program(x, n):
        def halves():
            y = x
            for _ in range(n):
                y = y * 0.5 + 1.0
                yield y

        return [half.sum() for half in halves()], sum(1 for _ in halves())

    check(program, call(np.arange(5.0), 3), call(np.zeros((0, 2)), 2), call(np.float32(3), 1))


def test_a_generator_of_the_module():
    def program(n):
        total = 0
        for i in countdown(n):
            if i == 2:
                continue
            total += i
        return total, list(chained(n)), max(countdown(n), default=None), dict(enumerate(countdown(n)))

    check(program, call(5), call(0))


def test_send_close_and_finally():
    def program(log):
        def worker():
            try:
                got = yield "ready"
                while True:
                    got = yield got * 2
            finally:
                log.append("closed")

        generator = worker()
        first = next(generator)
        results = [generator.send(i) for i in range(3)]
        generator.close()
        return first, results, log

    check(program, call([]))


def test_a_generator_given_as_a_value():
    def program(make, n):
        return sum(make(n)), list(zip(make(n), make(n + 1)))

    check(program, call(countdown, 4))


def test_the_scripted_function_itself_may_not_yield():
    with pytest.raises(gjit.UnsupportedError, match="`yield` cannot be scripted"):
        gjit.script(countdown)(3)


def test_a_yield_that_is_never_reached():
    def program(n):
        def nothing():
            return
            yield

        return list(nothing())

    with pytest.raises(gjit.UnsupportedError, match="never reached"):
        gjit.script(program)(3)
