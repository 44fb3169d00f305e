"""Which telemetry the user configured, and keeping its troubles away from the run.

``ROOTPROOF_TELEMETRY=otel`` gives spans and metrics through OpenTelemetry, ``ROOTPROOF_LOG=json`` one line of JSON an
event on stderr. Nothing else turns them on: no contract, no repository, no model.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Protocol

from rootproof.errors import MissingExtra, UsageError
from rootproof.event import Event
from rootproof.ledger.watched import Listener
from rootproof.state import State

TELEMETRY, LOG = "ROOTPROOF_TELEMETRY", "ROOTPROOF_LOG"


class Watcher(Protocol):
    """One kind of telemetry, for one run."""

    def __call__(self, state: State, event: Event) -> None: ...

    def close(self, error: str = "") -> None:
        """The run ends here, for now; ``error`` is the code of what ended it from outside."""
        ...


@contextlib.contextmanager
def watching(run: str) -> Iterator[tuple[Listener, ...]]:
    """The listeners that the user configured, for one run or one part of it.

    Raises:
        UsageError: the configuration names something that is not there.
        MissingExtra: OpenTelemetry's interface is not installed.
    """
    watchers = [Guarded(watcher) for watcher in _configured(run)]
    error = ""
    try:
        yield tuple(watchers)
    except BaseException as raised:
        error = str(getattr(raised, "code", type(raised).__name__))
        raise
    finally:
        for watcher in watchers:
            watcher.close(error)


def _configured(run: str) -> list[Watcher]:
    telemetry, log = os.environ.get(TELEMETRY, ""), os.environ.get(LOG, "")
    found: list[Watcher] = []
    if telemetry not in ("", "off", "otel"):
        raise UsageError(f"{TELEMETRY} is otel or off", "unset it, or see docs/fleet.md")
    if log not in ("", "off", "json"):
        raise UsageError(f"{LOG} is json or off", "unset it, or see docs/fleet.md")
    if telemetry == "otel":
        try:
            from rootproof.telemetry.spans import Spans
        except ImportError:
            raise MissingExtra("telemetry", "otel") from None
        found.append(Spans(run))
    if log == "json":
        from rootproof.telemetry.lines import Lines

        found.append(Lines(run, sys.stderr))
    return found


class Guarded:
    """A watcher whose failure is its own: it is then no longer asked."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher: Watcher | None = watcher

    def __call__(self, state: State, event: Event) -> None:
        if self._watcher is None:
            return
        try:
            self._watcher(state, event)
        except Exception:  # an exporter, a processor or a closed stream may raise anything
            self._watcher = None

    def close(self, error: str) -> None:
        if self._watcher is not None:
            with contextlib.suppress(Exception):
                self._watcher.close(error)
