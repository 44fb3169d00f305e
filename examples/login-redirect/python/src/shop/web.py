"""Requests and responses: the little of HTTP that the shop needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl

MAX_FORM_BYTES = 16_384


@dataclass(frozen=True)
class Request:
    """One request, with its query, form and cookies already taken apart."""

    method: str
    path: str
    query_string: str = ""
    form: Mapping[str, str] = field(default_factory=dict)
    cookies: Mapping[str, str] = field(default_factory=dict)

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(self.query_string, keep_blank_values=True))

    @property
    def target(self) -> str:
        """The path with its query, as the visitor asked for it."""
        return f"{self.path}?{self.query_string}" if self.query_string else self.path

    @classmethod
    def from_environ(cls, environ: Mapping[str, Any]) -> Request:
        """Build a request from a WSGI environment; a form beyond the size limit is cut off."""
        form: dict[str, str] = {}
        if environ["REQUEST_METHOD"] == "POST":
            length = min(int(environ.get("CONTENT_LENGTH") or 0), MAX_FORM_BYTES)
            body = environ["wsgi.input"].read(length).decode("utf-8", errors="replace")
            form = dict(parse_qsl(body, keep_blank_values=True))
        return cls(
            method=environ["REQUEST_METHOD"],
            path=environ.get("PATH_INFO") or "/",
            query_string=environ.get("QUERY_STRING", ""),
            form=form,
            cookies=_read_cookies(environ.get("HTTP_COOKIE", "")),
        )


@dataclass
class Response:
    """What goes back: a status, a body, and headers."""

    status: int = 200
    body: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)

    @property
    def status_line(self) -> str:
        return f"{self.status} {HTTPStatus(self.status).phrase}"

    @property
    def location(self) -> str | None:
        """Where a redirect leads, or None."""
        return next((value for name, value in self.headers if name == "Location"), None)

    def set_cookie(self, name: str, value: str) -> None:
        self.headers.append(("Set-Cookie", f"{name}={value}; Path=/; HttpOnly; SameSite=Lax"))


def redirect(location: str) -> Response:
    """Send the browser elsewhere, always with GET."""
    return Response(status=303, headers=[("Location", location)])


def page(title: str, *lines: str, status: int = 200) -> Response:
    """A page with a heading and one paragraph a line. Lines are expected to be escaped already."""
    paragraphs = "\n".join(f"<p>{line}</p>" for line in lines)
    return Response(status=status, body=f"<!doctype html>\n<title>{title}</title>\n<h1>{title}</h1>\n{paragraphs}\n")


def _read_cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}
