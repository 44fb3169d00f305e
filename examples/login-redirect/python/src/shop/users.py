"""Accounts: who may sign in, and how a password is checked."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass

ROUNDS = 200_000


@dataclass
class User:
    """One account. The password itself is never kept."""

    name: str
    email: str
    salt: bytes
    password_hash: bytes
    newsletter: bool = False


class Users:
    """All accounts, by name."""

    def __init__(self, rounds: int = ROUNDS) -> None:
        self._rounds = rounds
        self._users: dict[str, User] = {}

    def add(self, name: str, email: str, password: str) -> User:
        """Open an account. Raises ValueError when the name is taken."""
        if name in self._users:
            raise ValueError(f"the name {name!r} is taken")
        salt = secrets.token_bytes(16)
        user = User(name, email, salt, self._hash(password, salt))
        self._users[name] = user
        return user

    def get(self, name: str) -> User:
        return self._users[name]

    def check(self, name: str, password: str) -> bool:
        """Whether this name and password belong together; unknown names take as long as known ones."""
        user = self._users.get(name)
        salt = user.salt if user else b"nobody"
        candidate = self._hash(password, salt)
        return user is not None and hmac.compare_digest(candidate, user.password_hash)

    def _hash(self, password: str, salt: bytes) -> bytes:
        return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, self._rounds)
