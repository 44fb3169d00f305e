"""The way back from the identity provider: check that we asked, redeem the code, let the visitor in."""

from __future__ import annotations

import hmac

from shop.auth.provider import Provider
from shop.sessions import Session
from shop.web import Request, Response, page, redirect


def finish(request: Request, session: Session, provider: Provider) -> Response:
    """Complete signing in. A state we did not hand out, or a code that does not work, lets nobody in."""
    expected_state = session.pop("login_state", None)
    if expected_state is None or not hmac.compare_digest(expected_state, request.query.get("state", "")):
        return page("This sign-in has expired", "Please start again.", status=400)
    name = provider.redeem(request.query.get("code", ""))
    if name is None:
        return page("This sign-in did not work", "Please start again.", status=403)
    session["user"] = name
    landing = session.pop("next_path", "/")
    return redirect(landing)
