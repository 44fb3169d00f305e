"""The identity provider: checks the password and hands out codes that work once."""

from __future__ import annotations

import secrets
from urllib.parse import urlencode

from shop.users import Users
from shop.web import Request, Response, page, redirect

AUTHORIZE = "/identity/authorize"
CALLBACK = "/auth/callback"


class Provider:
    """Turns a right password into a code, and a code into a name."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._codes: dict[str, str] = {}

    def authorize_url(self, state: str) -> str:
        return f"{AUTHORIZE}?{urlencode({'state': state})}"

    def ask(self, request: Request) -> Response:
        """The form for name and password; it posts to its own address, so the state travels along."""
        return page("Sign in", "Name and password, please.")

    def authorize(self, request: Request) -> Response:
        """Check name and password; send the browser back to the shop with a fresh code."""
        name = request.form.get("name", "")
        if not self._users.check(name, request.form.get("password", "")):
            return page("Sign in", "That name and password do not match.", status=401)
        code = secrets.token_urlsafe(16)
        self._codes[code] = name
        return redirect(f"{CALLBACK}?{urlencode({'code': code, 'state': request.query.get('state', '')})}")

    def redeem(self, code: str) -> str | None:
        """The name a code stands for, once; None for a code that is unknown or used up."""
        return self._codes.pop(code, None)
