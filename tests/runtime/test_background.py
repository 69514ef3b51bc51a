"""The thread that compiles in the background."""

from __future__ import annotations

import logging
import os
import threading

import pytest

from gjit.runtime.background import Worker


@pytest.fixture
def worker():
    worker = Worker()
    yield worker
    worker.end()


def test_jobs_run_in_order_on_one_daemon_thread(worker):
    ran = []
    for number in range(5):
        worker.submit(number, lambda number=number: ran.append((number, threading.current_thread())))
    assert worker.wait(10)
    assert [number for number, _ in ran] == [0, 1, 2, 3, 4]
    (thread,) = {thread for _, thread in ran}
    assert thread.daemon
    assert thread is not threading.current_thread()


def test_a_job_that_is_pending_is_not_taken_again(worker):
    start, ran = threading.Event(), []
    worker.submit("first", lambda: start.wait(10))
    for _ in range(3):
        worker.submit("second", lambda: ran.append(1))
    start.set()
    assert worker.wait(10)
    assert ran == [1]


def test_a_job_that_fails_is_logged_and_the_next_one_runs(worker, caplog):
    done = threading.Event()
    with caplog.at_level(logging.WARNING, "gjit"):
        worker.submit("bad", lambda: 1 / 0)
        worker.submit("good", done.set)
        assert done.wait(10)
    assert "ZeroDivisionError" in caplog.text


def test_what_is_left_is_given_up_at_the_end():
    worker, start, ran = Worker(), threading.Event(), []
    worker.submit("first", lambda: start.wait(10))
    worker.submit("second", lambda: ran.append(1))
    threading.Timer(0.05, start.set).start()
    worker.end()
    worker.submit("third", lambda: ran.append(1))
    assert ran == []


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="needs priorities of threads")
def test_the_thread_has_a_low_priority(worker):
    found = []
    worker.submit("a", lambda: found.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id())))
    assert worker.wait(10)
    assert found[0] > os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_after_a_fork_what_was_pending_runs_with_the_next_job(worker):
    start, ran = threading.Event(), []
    worker.submit("lost", lambda: (start.wait(10), ran.append("lost")))
    worker.restart()  # as in a child: no thread, the same jobs
    worker.submit("next", lambda: ran.append("next"))
    start.set()
    assert worker.wait(10)
    assert ran.count("next") == 1
    assert "lost" in ran
