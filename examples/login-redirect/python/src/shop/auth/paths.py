"""Which paths a visitor may be sent to after signing in."""

from __future__ import annotations

from urllib.parse import urlsplit

HOME = "/"


def local_path(asked: str | None) -> str:
    """The path if it lies within the shop, else the home page.

    Anything a browser could take for another host is refused: a scheme, two slashes at the start, backslashes, and
    control characters (browsers drop some of them). So are the sign-in pages themselves, which would send people round
    in a circle.
    """
    if not asked or not asked.startswith("/") or asked.startswith("//"):
        return HOME
    if "\\" in asked or any(ord(character) < 32 for character in asked):
        return HOME
    parts = urlsplit(asked)
    if parts.scheme or parts.netloc or parts.path.startswith(("/auth/", "/identity/")):
        return HOME
    return asked
