"""A browser small enough to read: it keeps cookies and follows redirects."""

from __future__ import annotations

import io
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit

import pytest

from shop.app import Shop, create_app

MAX_REDIRECTS = 8


class Browser:
    """Visits one shop through its WSGI entry. `path`, `status` and `text` are those of the last page."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._cookies: dict[str, str] = {}
        self.url = "/"
        self.status = 0
        self.text = ""
        self.visited: list[str] = []

    @property
    def path(self) -> str:
        return urlsplit(self.url).path

    def get(self, url: str) -> None:
        self._open("GET", url, {})

    def post(self, url: str, **form: str) -> None:
        self._open("POST", url, form)

    def sign_in(self, name: str = "mina", password: str = "green-tea-42") -> None:
        """Fill in the form of the page we are on."""
        assert self.path == "/identity/authorize", f"no sign-in form on {self.path}"
        self.post(self.url, name=name, password=password)

    def _open(self, method: str, url: str, form: dict[str, str]) -> None:
        self.visited = []
        location = self._request(method, url, form)
        while location is not None:
            assert len(self.visited) <= MAX_REDIRECTS, f"redirects go round: {self.visited}"
            location = self._request("GET", location, {})

    def _request(self, method: str, url: str, form: dict[str, str]) -> str | None:
        parts = urlsplit(url)
        assert not parts.netloc, f"left the shop for {url}"
        body = urlencode(form).encode()
        answered: list[tuple[str, list[tuple[str, str]]]] = []
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_COOKIE": "; ".join(f"{name}={value}" for name, value in self._cookies.items()),
            "wsgi.input": io.BytesIO(body),
        }
        chunks = self._shop(environ, lambda status, headers: answered.append((status, headers)))
        [(status, headers)] = answered
        self.url, self.status, self.text = url, int(status.split()[0]), b"".join(chunks).decode()
        self.visited.append(parts.path)
        for name, value in headers:
            if name == "Set-Cookie":
                self._cookies.update({key: morsel.value for key, morsel in SimpleCookie(value).items()})
        return dict(headers).get("Location")


@pytest.fixture
def shop() -> Shop:
    return create_app(rounds=1)


@pytest.fixture
def browser(shop: Shop) -> Browser:
    return Browser(shop)
