"""The entry to signing in: note where the visitor was going, then send them to the identity provider."""

from __future__ import annotations

import secrets

from shop.auth.paths import local_path
from shop.auth.provider import Provider
from shop.sessions import Session
from shop.web import Request, Response, redirect


def start(request: Request, session: Session, provider: Provider) -> Response:
    """Begin signing in. Somebody who is signed in already goes straight to the page."""
    validated_path = local_path(request.query.get("page"))
    if session.user is not None:
        return redirect(validated_path)
    session["return_to"] = validated_path
    session["login_state"] = secrets.token_urlsafe(16)
    return redirect(provider.authorize_url(session["login_state"]))
