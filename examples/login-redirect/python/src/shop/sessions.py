"""Sessions: what the shop remembers about one visitor between two requests."""

from __future__ import annotations

import secrets
from typing import Any

COOKIE = "shop_session"


class Session(dict[str, Any]):
    """Values kept for one visitor, under an id that nobody can guess."""

    def __init__(self, session_id: str = "") -> None:
        super().__init__()
        self.id = session_id

    @property
    def user(self) -> str | None:
        """The name of the signed-in user, or None for a guest."""
        return self.get("user")


class SessionStore:
    """All open sessions, in memory."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def open(self, session_id: str | None) -> Session:
        """The visitor's session; an unknown id is never adopted, it gets a fresh session instead."""
        known = self._sessions.get(session_id or "")
        if known is not None:
            return known
        session = Session(secrets.token_urlsafe(24))
        self._sessions[session.id] = session
        return session

    def close(self, session: Session) -> None:
        """Forget a session and everything in it."""
        self._sessions.pop(session.id, None)
        session.clear()

    def __len__(self) -> int:
        return len(self._sessions)
