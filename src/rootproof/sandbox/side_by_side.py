"""Several sandboxed commands at once, with one interrupt for all of them.

Python delivers an interrupt to the main thread alone. So the main thread waits here, and what interrupts it is passed
on through a pipe that the wait of every started command also looks at: each kills its own tree before this ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from rootproof.sandbox.interrupt import held_back

T = TypeVar("T")
_CALLED_OFF: ContextVar[int | None] = ContextVar("called_off", default=None)


class CalledOff(KeyboardInterrupt):
    """The one who started this beside others was interrupted."""


def called_off() -> int | None:
    """A descriptor that becomes readable when the commands of this thread shall end; None: nobody will say so."""
    return _CALLED_OFF.get()


def side_by_side(tasks: Sequence[Callable[[], T]], most: int) -> list[T]:
    """Results in the order of the tasks, at most ``most`` of them running at once.

    The first fault of a task, or an interrupt of the caller, ends the others and is raised when they are over.
    """
    if most <= 1 or len(tasks) <= 1:
        return [task() for task in tasks]
    with _pipe() as (read, write):

        def run(task: Callable[[], T]) -> T:
            _CALLED_OFF.set(read)
            return task()

        with held_back():
            pool = ThreadPoolExecutor(min(most, len(tasks)))
            started = [pool.submit(run, task) for task in tasks]
        try:
            return [future.result() for future in started]
        except BaseException:
            os.close(write.pop())
            raise
        finally:
            with held_back():
                pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _pipe() -> Iterator[tuple[int, list[int]]]:
    """A pipe whose write end may be closed before the end."""
    read, write = os.pipe()
    held = [write]
    try:
        yield read, held
    finally:
        for descriptor in (read, *held):
            os.close(descriptor)
