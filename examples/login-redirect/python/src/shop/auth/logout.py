"""Signing out."""

from __future__ import annotations

from shop.sessions import Session, SessionStore
from shop.web import Response, redirect


def leave(session: Session, sessions: SessionStore) -> Response:
    """Close the session and show the home page; a guest may do this too."""
    sessions.close(session)
    return redirect("/")
