"""The application: which path leads where, and the WSGI entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from shop import pages
from shop.auth import callback, login, logout
from shop.auth.provider import Provider
from shop.sessions import COOKIE, Session, SessionStore
from shop.users import ROUNDS, Users
from shop.web import Request, Response, page

StartResponse = Callable[[str, list[tuple[str, str]]], Any]


@dataclass
class Shop:
    """Everything that lives as long as the application does."""

    users: Users
    provider: Provider
    sessions: SessionStore = field(default_factory=SessionStore)

    def routes(self) -> dict[tuple[str, str], Callable[[Request, Session], Response]]:
        provider = self.provider
        return {
            ("GET", "/"): lambda request, session: pages.home(request, session, self),
            ("GET", "/basket"): lambda request, session: pages.show_basket(request, session, self),
            ("POST", "/basket"): lambda request, session: pages.add_to_basket(request, session, self),
            ("GET", "/profile"): lambda request, session: pages.profile(request, session, self),
            ("GET", "/settings"): lambda request, session: pages.settings(request, session, self),
            ("POST", "/settings"): lambda request, session: pages.change_settings(request, session, self),
            ("GET", "/auth/login"): lambda request, session: login.start(request, session, provider),
            ("GET", "/auth/callback"): lambda request, session: callback.finish(request, session, provider),
            ("POST", "/auth/logout"): lambda request, session: logout.leave(session, self.sessions),
            ("GET", "/identity/authorize"): lambda request, session: provider.ask(request),
            ("POST", "/identity/authorize"): lambda request, session: provider.authorize(request),
        }

    def respond(self, request: Request) -> Response:
        """Answer one request in the visitor's session."""
        session = self.sessions.open(request.cookies.get(COOKIE))
        handle = self.routes().get((request.method, request.path))
        response = handle(request, session) if handle else page("Not found", status=404)
        if session.id != request.cookies.get(COOKIE):
            response.set_cookie(COOKIE, session.id)
        return response

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        response = self.respond(Request.from_environ(environ))
        headers = [("Content-Type", "text/html; charset=utf-8"), *response.headers]
        start_response(response.status_line, headers)
        return [response.body.encode()]


def create_app(rounds: int = ROUNDS) -> Shop:
    """A shop with one account to try; `rounds` is the cost of a password check."""
    users = Users(rounds)
    users.add("mina", "mina@shop.example", "green-tea-42")
    return Shop(users, Provider(users))
