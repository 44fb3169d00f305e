"""A language model behind a network interface: hosted, or served on a machine of the user's.

Used only when the user names it. What leaves the machine is the view and the prompt; ``notice`` says so, and the
command line shows it. Keys come from the provider's own environment variable and appear in no name, error or event.
"""

from __future__ import annotations

import logging
import os
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rootproof import recording
from rootproof.errors import MissingExtra, ModelError, ModelUnavailable
from rootproof.models import prompt, smaller
from rootproof.models.choose import PROVIDERS, Choice
from rootproof.models.interface import Reply, View
from rootproof.models.patience import Patience
from rootproof.text import one_line

if TYPE_CHECKING:
    from rootproof.models.answers import Failure

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Habits:
    """How a provider is called."""

    patience: Patience = field(default_factory=Patience)
    connect: float = 10.0
    silence: float = 120.0
    total: float = 300.0
    max_tokens: int = 8192
    """Of one reply, with reasoning."""
    sleep: Callable[[float], None] = time.sleep


class Provider:
    """One model of one provider."""

    def __init__(self, choice: Choice, habits: Habits | None = None) -> None:
        """Check name and key; nothing is sent.

        Raises:
            MissingExtra: the library, or the provider's own package, is not installed.
            ModelError: a key or setting is missing.
        """
        try:
            from rootproof.models import wire
        except ImportError as error:
            if sys.version_info < (3, 11):
                raise ModelError("models behind a network interface need Python 3.11 or later") from error
            raise MissingExtra("a model behind a network interface", "models") from error
        self._choice = choice
        self._habits = habits or Habits()
        self._chance = random.Random()
        self._level = 0
        self._form = wire.FORMS.get(choice.kind, "text")
        self.name = f"{choice.kind}:{choice.argument}"
        self.prompt = prompt.digest()
        """Digest of the prompt files, for the ledger."""
        self._build()

    @property
    def _here(self) -> bool:
        """Whether the server is on this machine."""
        from rootproof.models import wire

        url = wire.ollama_url(self._choice) if self._choice.kind == "ollama" else self._choice.url
        return bool(url) and wire.is_here(url)

    @property
    def notice(self) -> str:
        """What leaves the machine, for the person who starts a run; empty where nothing does."""
        if self._here:
            return ""
        where = f"the server {_host(self._choice.url)}" if self._choice.url else self._choice.kind
        return (
            f"{self.name}: every step sends {where} the view: the contract's goal, criteria and names of files and "
            "tests, what was established, and excerpts of files read and of test output. Known secrets are masked."
        )

    @property
    def needs_token_limit(self) -> bool:
        """Whether a run must set ``budget.model_tokens``: the model costs something, and its price is not known."""
        return not self._here and not _priced(self._choice)

    def propose(self, view: View) -> Reply:
        """One message. Tries again where that can help, and with a smaller view where the view is too long.

        Raises:
            ModelUnavailable: out of reach after its retries.
        """
        tried, waited = 0, 0.0
        while True:
            answer = self._once(view)
            if isinstance(answer, Reply):
                return answer
            if self._adapt(answer, view):
                continue
            tried += 1
            wait = self._habits.patience.wait(tried, answer.after, waited, self._chance) if answer.again else None
            if wait is None:
                raise self._out_of_reach(answer, tried, waited)
            _LOG.warning("%s: %s; try %d in %.1f s", self.name, answer.reason, tried + 1, wait)
            self._habits.sleep(wait)
            waited += wait

    def _once(self, view: View) -> Reply | Failure:
        from rootproof.models import wire

        call = wire.Call(prompt.text(), smaller.smaller(view, self._level), self._form, self._habits.max_tokens)
        times = wire.Times(self._habits.connect, self._habits.silence, self._habits.total)
        return wire.once(self._choice, call, times)

    def _adapt(self, failure: Failure, view: View) -> bool:
        """Change what is sent, where the failure says that this is what is wrong. Kept for the rest of the run."""
        if failure.code == "context_overflow":
            return self._shrink(view)
        if failure.code == "rejected" and self._form != "text":
            self._form = "text"
            return True
        return False

    def _shrink(self, view: View) -> bool:
        sent = len(smaller.smaller(view, self._level).text)
        while self._level < smaller.LEVELS:
            self._level += 1
            if len(smaller.smaller(view, self._level).text) < sent:
                return True
        return False

    def _out_of_reach(self, failure: Failure, tried: int, waited: float) -> ModelUnavailable:
        tries = f"{tried} {'try' if tried == 1 else 'tries'}"
        waits = f" and {waited:.0f} s of waiting" if waited else ""
        words = f"{self.name} [{failure.code}] after {tries}{waits}: {failure.reason}"
        resume = ModelUnavailable.remedy
        return ModelUnavailable(words, f"{failure.remedy}; then {resume}" if failure.remedy else resume)

    def _build(self) -> None:
        """Try to build the library's model, so that a missing key or package is said before the run."""
        from rootproof.models import wire

        try:
            wire.try_build(self._choice)
        except ImportError as error:
            raise MissingExtra(f"the model {self.name}", "all-models") from error
        except Exception as error:  # the library's own checks of keys and settings
            masked = recording.mask(str(error), recording.known_secrets(os.environ))
            remedy = "set the provider's own environment variables; keys are never flags"
            raise ModelError(f"{self.name} cannot be used: {one_line(str(masked), 300)}", remedy) from None


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).hostname or "you named"


def _priced(choice: Choice) -> bool:
    """Whether the price of the model is known here."""
    import genai_prices

    try:
        genai_prices.calc_price(genai_prices.Usage(input_tokens=1, output_tokens=1), choice.argument)
    except (LookupError, ValueError):
        return False
    return choice.kind not in ("ollama", "openai-compatible")


def named(choice: Choice, habits: Habits | None = None) -> Provider:
    """The model a user named.

    Raises:
        MissingExtra, ModelError: it cannot be used here.
    """
    if choice.kind not in PROVIDERS:
        raise ModelError(f"{choice.kind} is no provider")
    return Provider(choice, habits)
