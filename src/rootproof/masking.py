"""What a secret looks like: masked in every text and every stored byte of an observation, and counted by kind. Pure.

Known are values of the environment that by their names are secrets, private key blocks, and, where the extra
``secrets`` is installed, the token formats of detect-secrets. Only formats that nothing else has are taken from it:
its entropy and keyword detectors would mask the very values that an investigation is about. Its expressions are run
by RE2, in linear time, whatever text they meet; nothing is ever verified over a network.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import re2

from rootproof.canonical import Json
from rootproof.text import whole

MASK = "[masked]"
ENVIRONMENT = "environment"
LEAST = 16
"""A shorter match is no secret of these formats: it is part of one, or a name."""
REMEMBERED = 50
"""Most secrets of one observation that are looked for again where they stand without their surroundings."""

_FORMATS = (
    "aws", "azure_storage_key", "discord", "github_token", "gitlab_token", "jwt", "mailchimp", "npm", "openai",
    "pypi_token", "sendgrid", "slack", "square_oauth", "stripe", "telegram_token", "twilio",
)  # fmt: skip
_KEY = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_KEY_END = r"-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
_BLOCK = rf"{_KEY}(?:[A-Za-z0-9+/=\s\\:,.\-\"']*?{_KEY_END}|[A-Za-z0-9+/=\s\\\"']{{40,}})"


@dataclass(frozen=True)
class Format:
    """One way a secret is written."""

    kind: str
    expression: Any
    valid: Callable[[str], bool] | None = None


@dataclass(frozen=True)
class Scanner:
    """The formats that are known here."""

    name: str
    """What event 1 says of it."""
    formats: tuple[Format, ...]
    any: Any
    """One expression for all, so that a text without secrets is read once."""


@lru_cache(maxsize=1)
def scanner() -> Scanner:
    """The scanner of this installation; loaded when the first observation is recorded."""
    found = [Format("private_key", _compiled(_BLOCK))]
    expressions = [_BLOCK]
    name = "private keys only"
    for kind, text, valid in _installed():
        found.append(Format(kind, _compiled(text), valid))
        expressions.append(text)
        name = "detect-secrets"
    return Scanner(name, tuple(found), _compiled("|".join(f"(?:{text})" for text in expressions)))


def _installed() -> Iterator[tuple[str, str, Callable[[str], bool] | None]]:
    """(kind, expression, further check) of every format taken from detect-secrets; none where it is not installed."""
    for module in _FORMATS:
        try:
            names = vars(importlib.import_module(f"detect_secrets.plugins.{module}"))
        except ImportError:
            return
        for one in (one for one in names.values() if isinstance(one, type) and one.__module__.endswith(module)):
            for expression in getattr(one, "denylist", ()):
                yield module, _linear(expression), getattr(one, "is_formally_valid", None)


def _linear(expression: Any) -> str:
    """The expression as RE2 has it: without looking ahead, which here only says where a token must end."""
    text = str(expression.pattern).replace(r"(?!\w)", "").replace("{50,1024}", "{50,}")
    flags = "".join(name for name, bit in (("i", 2), ("s", 16)) if expression.flags & bit)
    return f"(?{flags}:{text})" if flags else text


def _compiled(text: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 32 << 20
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(text.encode(), options)


@dataclass
class Masks:
    """The masks of one observation, counted as they are made."""

    secrets: Sequence[str] = ()
    """Known values, longest first."""
    counts: Counter[str] = field(default_factory=Counter)
    _found: dict[bytes, str] = field(default_factory=dict)
    _clean: bool = False
    """True: all was looked at before, and nothing in it is a token."""

    def learn(self, values: Sequence[object]) -> None:
        """Look for secrets in all of an observation before any of it is masked: one that is known from one place is
        masked in the others too, also where nothing around it says what it is."""
        texts = [data for value in values for data in _texts(value)]
        texts += [data.replace(b"\x00", b"") for data in texts if b"\x00" in data]  # UTF-16: every second byte is one
        self._clean = scanner().any.search(b"\n".join(texts)) is None
        for data in () if self._clean else texts:
            self._scan(data)

    def _scan(self, data: bytes) -> None:
        for form, start, end in _matches(data):
            if len(self._found) >= REMEMBERED:
                return
            self._found.setdefault(data[start:end], form.kind)

    def value(self, value: Json) -> Json:
        """The same value with every secret replaced by a mark that says so."""
        if isinstance(value, str):
            return whole(self._text(value))
        if isinstance(value, Mapping):
            return {whole(self._text(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self.value(item) for item in value]
        return value

    def data(self, data: bytes) -> bytes:
        """The same for bytes, in the encodings in which they may hold a secret; lines stay the lines they are."""
        for secret in self.secrets:
            data = self._replaced(data, secret.encode("utf-8", "surrogateescape"), ENVIRONMENT, "utf-8")
            for wide in ("utf-16-le", "utf-16-be"):
                data = self._replaced(data, secret.encode(wide, "surrogatepass"), ENVIRONMENT, wide)
        for token, kind in self._found.items():
            for wide in ("utf-16-le", "utf-16-be") if b"\x00" in data else ():
                data = self._replaced(data, token.decode("latin-1").encode(wide), kind, wide)
        return self._formats(data)

    def _text(self, text: str) -> str:
        for secret in self.secrets:
            times = text.count(secret)
            if times:
                self.counts[ENVIRONMENT] += times
                text = text.replace(secret, mark(secret))
        if self._clean:
            return text
        data = text.encode("utf-8", "surrogatepass")
        masked = self._formats(data)
        return text if masked is data else masked.decode("utf-8", "backslashreplace")

    def _formats(self, data: bytes) -> bytes:
        """Every token masked in one pass, however many there are; the same object where there is none."""
        if self._clean:
            return data
        spans = sorted((start, end, form.kind) for form, start, end in _matches(data))
        parts: list[bytes] = []
        at = 0
        for start, end, kind in spans:
            if end > at:  # one that lies in another is masked with it
                self.counts[kind] += start >= at
                parts += [data[at:start], mark(data[max(start, at) : end].decode("latin-1")).encode()]
                at = end
        if spans:
            data = b"".join([*parts, data[at:]])
        for secret, kind in self._found.items():
            data = self._replaced(data, secret, kind, "utf-8")
        return data

    def _replaced(self, data: bytes, secret: bytes, kind: str, encoding: str) -> bytes:
        times = data.count(secret)
        if not times:
            return data
        self.counts[kind] += times
        return data.replace(secret, mark(secret.decode(encoding, "replace")).encode(encoding))

    @property
    def flags(self) -> tuple[str, ...]:
        """``masked:KIND:TIMES``, as the observation states it."""
        return tuple(f"masked:{kind}:{times}" for kind, times in sorted(self.counts.items()))


def _matches(data: bytes) -> Iterator[tuple[Format, int, int]]:
    """Format, first and last byte of every secret, in any order; they may overlap."""
    if scanner().any.search(data) is None:
        return
    for form in scanner().formats:
        for match in form.expression.finditer(data):
            groups = range(1, len(match.groups()) + 1)
            inner = [match.span(number) for number in groups if len(match.group(number) or b"") >= LEAST]
            start, end = inner[0] if inner else match.span()
            if end - start >= LEAST and (form.valid is None or form.valid(data[start:end].decode("latin-1"))):
                yield form, start, end


def _texts(value: object) -> Iterator[bytes]:
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _texts(item)


def mark(secret: str) -> str:
    """What stands in a secret's place: as many lines as it had."""
    return MASK + "\n" * secret.count("\n")
