"""Locks that a forked child finds open.

A thread that compiles while another one forks does not exist in the child, and would hold its lock there for ever. What
the locks protect is always replaced in one store, so the child finds it whole.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class HasLock(Protocol):
    """An object that takes turns through one lock, which nothing else holds."""

    lock: threading.RLock


_owners: weakref.WeakSet[HasLock] = weakref.WeakSet()


def add_lock(owner: HasLock) -> None:
    """Give `owner` a lock, and another one after a fork."""
    owner.lock = threading.RLock()
    _owners.add(owner)


def _renew() -> None:
    for owner in list(_owners):
        owner.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
