"""Where people land after signing in."""

from __future__ import annotations

import pytest

from shop.auth import callback, login
from shop.sessions import Session
from shop.web import Request


class WritesSeen(Session):
    """A session that keeps a list of what was written to it."""

    def __init__(self):
        super().__init__()
        self.writes = []

    def __setitem__(self, key, value):
        self.writes.append((key, value))
        super().__setitem__(key, value)


class PathsOffered(Session):
    """A session that has a path of its own, `/KEY`, under every key nobody set."""

    def __missing__(self, key):
        return f"/{key}"

    def get(self, key, default=None):
        return self[key]

    def pop(self, key, default=None):
        return super().pop(key, self[key])


def key_written_by_entry(shop, path):
    """The session key under which the sign-in entry keeps the path that was asked for."""
    session = WritesSeen()
    login.start(Request("GET", "/auth/login", f"page={path}"), session, shop.provider)
    [key] = [key for key, value in session.writes if value == path]
    return key


def key_read_by_callback(shop):
    """The session key whose value the callback sends people to."""
    session = PathsOffered()
    session["login_state"] = "state-1"
    form = {"name": "mina", "password": "green-tea-42"}
    granted = shop.provider.authorize(Request("POST", "/identity/authorize", "state=state-1", form))
    back = Request("GET", "/auth/callback", granted.location.partition("?")[2])
    return callback.finish(back, session, shop.provider).location.removeprefix("/")


def test_returns_to_requested_page(browser):
    browser.get("/settings")
    browser.sign_in()
    landed = browser.path
    assert landed == "/settings"


def test_session_key_contract(shop):
    producer_key = key_written_by_entry(shop, "/settings")
    consumer_key = key_read_by_callback(shop)
    assert consumer_key == producer_key


def test_lands_on_home_when_no_page_was_asked_for(browser):
    browser.get("/auth/login")
    browser.sign_in()
    assert browser.visited == ["/identity/authorize", "/auth/callback", "/"]
    assert "Welcome back, mina." in browser.text


UNSAFE = {
    "two-slashes": "//evil.example",
    "https": "https://evil.example/",
    "backslash": "/\\evil.example",
    "no-slash": "evil.example",
}


@pytest.mark.parametrize("unsafe", UNSAFE.values(), ids=UNSAFE.keys())
def test_never_leaves_the_shop(browser, unsafe):
    browser.get(f"/auth/login?page={unsafe}")
    browser.sign_in()
    assert browser.path == "/"
    assert "Welcome back, mina." in browser.text


def test_signed_in_already_goes_straight_to_the_page(browser):
    browser.get("/auth/login")
    browser.sign_in()
    browser.get("/auth/login?page=/profile")
    assert browser.visited == ["/auth/login", "/profile"]


def test_a_page_asked_for_earlier_is_not_kept_for_the_next_sign_in(browser):
    browser.get("/settings")
    browser.get("/auth/login")
    browser.sign_in()
    assert browser.path == "/"


def test_the_sign_in_page_is_no_page_to_return_to(browser):
    browser.get("/auth/login?page=/auth/login")
    browser.sign_in()
    assert browser.path == "/"
