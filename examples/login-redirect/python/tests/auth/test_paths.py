"""Which paths count as pages of the shop."""

from __future__ import annotations

import pytest

from shop.auth.paths import local_path


@pytest.mark.parametrize(
    "path", ["/", "/settings", "/basket?item=cup", "/a/b#part"], ids=["home", "page", "query", "part"]
)
def test_pages_of_the_shop_are_kept(path):
    assert local_path(path) == path


ELSEWHERE = {
    "nothing": None,
    "empty": "",
    "no-slash": "settings",
    "two-slashes": "//evil.example",
    "backslash": "/\\evil",
    "tab": "/\t/evil",
    "http": "http://evil",
    "sign-in": "/auth/login",
}


@pytest.mark.parametrize("path", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_everything_else_becomes_home(path):
    assert local_path(path) == "/"
