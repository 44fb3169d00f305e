"""A ticket tracker in one SQLite file, and the tool that opens tickets in it.

The tool changes something outside the run, so it declares what rootproof asks of such a tool: by which fields two
requests are the same effect (the idempotency key), who must approve, and what undoes it. It can also tell, by the key
alone, whether a ticket was opened: that is how a run goes on whose process died in between.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from rootproof.tools.interface import (
    Compensated,
    Declined,
    Field,
    Observation,
    Request,
    Result,
    Side,
    Standing,
    ToolSpec,
)

SPEC = ToolSpec(
    name="open_ticket",
    version="1",
    doc="Open a ticket in the tracker.",
    fields=(
        Field("title", "text", "one line that says what is wrong", most=120),
        Field("body", "text", "what was found, and where", required=False, default="", least=0, most=4000),
    ),
    results=(
        Result("title", "text", "the title as it was asked for", required=True),
        Result("number", "integer", "number of the ticket"),
        Result("state", "text", "how it stands", required=True, choices=("open", "closed")),
    ),
    effect="side_effect",
    reaches=("write",),
    echoes=("title",),
    side=Side(idempotency_key="title", approval="person", compensation="the ticket is closed again"),
)


class Tracker:
    """Tickets by the key they were opened under: one key, one ticket, however often it is opened."""

    def __init__(self, file: Path) -> None:
        self.file = file
        with self._connected() as tickets:
            tickets.execute(
                "CREATE TABLE IF NOT EXISTS tickets (number INTEGER PRIMARY KEY, key TEXT UNIQUE, title TEXT, "
                "body TEXT, state TEXT, changes INTEGER DEFAULT 0)"
            )
            tickets.execute("CREATE TABLE IF NOT EXISTS never (key TEXT PRIMARY KEY)")

    def open(self, key: str, title: str, body: str) -> None:
        with self._connected() as tickets:
            tickets.execute(
                "INSERT OR IGNORE INTO tickets (key, title, body, state) SELECT ?, ?, ?, 'open' "
                "WHERE NOT EXISTS (SELECT 1 FROM never WHERE key = ?)",
                (key, title, body, key),
            )

    def close(self, key: str) -> bool:
        """Whether there was an open one to close. None can be opened under this key any more, however late."""
        with self._connected() as tickets:
            tickets.execute("INSERT OR IGNORE INTO never VALUES (?)", (key,))
            statement = "UPDATE tickets SET state = 'closed', changes = changes + 1 WHERE key = ? AND state = 'open'"
            return tickets.execute(statement, (key,)).rowcount == 1

    def find(self, key: str) -> tuple[int, str, str] | None:
        """Number, title and state."""
        with self._connected() as tickets:
            found = tickets.execute("SELECT number, title, state FROM tickets WHERE key = ?", (key,)).fetchone()
        return (found[0], found[1], found[2]) if found else None

    def all(self) -> list[tuple[str, str, int]]:
        """Title, state and number of changes of every ticket."""
        with self._connected() as tickets:
            return tickets.execute("SELECT title, state, changes FROM tickets ORDER BY number").fetchall()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.file)
        try:
            with connection:
                yield connection
        finally:
            connection.close()


class OpenTicket:
    """The tool."""

    spec = SPEC

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker

    def run(self, request: Request) -> Observation | Declined:
        title = str(request.input["title"])
        if "\n" in title:
            return Declined("the title has more than one line", "put the rest into body")
        self.tracker.open(request.key, title, str(request.input["body"]))
        return self._seen(request.key) or Declined("it was undone before it was opened")

    def lookup(self, key: str) -> Standing:
        found = self.tracker.find(key)
        if found is None:
            return Standing("absent", reason="the tracker has no ticket under this key")
        if found[2] == "closed":
            return Standing("undone", reason=f"ticket {found[0]} is closed")
        return Standing("done", self._seen(key), f"ticket {found[0]} is open")

    def compensate(self, key: str) -> Compensated:
        found = self.tracker.find(key)
        closed = self.tracker.close(key)
        return Compensated(True, f"ticket {found[0]} closed" if found and closed else "there was none to close")

    def _seen(self, key: str) -> Observation | None:
        found = self.tracker.find(key)
        if found is None:
            return None
        number, title, state = found
        return Observation({"title": title, "number": number, "state": state}, f"ticket {number} is {state}")
