import threading
import time

import numpy as np
import pytest

import gjit


def square(x):
    return x * x


def fan_out(x, n):
    futures = [gjit.fork(square, x + i) for i in range(n)]
    return [gjit.wait(future) for future in futures]


def tree(depth):
    if depth == 0:
        return 1
    left = gjit.fork(tree, depth - 1)
    right = gjit.fork(tree, depth - 1)
    return gjit.wait(left) + gjit.wait(right)


def fails():
    return gjit.wait(gjit.fork(lambda: 1 // 0))


def test_scripted_and_plain_give_the_same():
    compiled = gjit.script(fan_out)
    x = np.arange(4.0)
    for plain, scripted in zip(fan_out(x, 5), compiled(x, 5), strict=True):
        assert np.array_equal(plain, scripted)
    assert compiled.statistics.host_calls == 0


def test_calls_that_wait_for_calls_do_not_deadlock():
    assert gjit.script(tree)(6) == 64
    assert tree(6) == 64


def test_the_exception_of_the_call_is_raised():
    for function in (fails, gjit.script(fails)):
        with pytest.raises(ZeroDivisionError, match="division"):
            function()


def test_it_runs_at_the_same_time():
    ready = threading.Event()
    future = gjit.fork(ready.wait, 10)
    assert not future.done()
    assert repr(future) == "<gjit future, running>"
    ready.set()
    assert gjit.wait(future)
    assert future.done()


def test_the_context_is_the_callers():
    with np.errstate(divide="raise"):
        future = gjit.fork(lambda: np.ones(2) / np.zeros(2))
        with pytest.raises(FloatingPointError):
            gjit.wait(future)


def test_idle_threads_are_used_again():
    names, before = set(), {thread.ident for thread in threading.enumerate()}

    def name():
        names.add(threading.current_thread().ident)

    for _ in range(60):
        gjit.wait(gjit.fork(name))
        time.sleep(0.001)
        if len(names - before) > 20:
            time.sleep(0.1)  # a machine under load may start many before one is idle
    assert len(names - before) < 60


def test_wait_takes_a_future():
    with pytest.raises(TypeError, match="not int"):
        gjit.wait(3)
