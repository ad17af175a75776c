"""Threads that nobody waits for at the end, so that what hangs in one can't keep a program from ending."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import Any


class Leaving(ThreadPoolExecutor):
    """A thread for each work. A name that can't be resolved or a disk that is gone may hold one up for minutes."""

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Begin a work."""
        future: Future[Any] = Future()
        Thread(target=_do, args=(future, work, given, named), daemon=True, name="keepmind-doctor").start()
        return future


def _do(future: Future[Any], work: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work(*given, **named))
    except BaseException as error:  # whatever it is, it belongs to who waits
        future.set_exception(error)
