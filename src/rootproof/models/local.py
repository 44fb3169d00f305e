"""A model file (GGUF) in this process. Its replies have the form of a message; everything in them is judged as ever."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rootproof.errors import MissingExtra, ModelError, ModelUnavailable
from rootproof.models import prompt, smaller
from rootproof.models.grammar import grammar
from rootproof.models.interface import Reply, View
from rootproof.text import one_line, quoted

MAGIC = b"GGUF"
_REMEDY = "--model local:FILE, with a model file in the GGUF format"


@dataclass(frozen=True)
class Settings:
    """How the file is run."""

    threads: int = 1
    """More are slower on a machine that does other work beside."""
    context: int = 8192
    """Tokens of prompt and reply together. A longer view is made smaller."""
    max_tokens: int = 600
    temperature: float = 0.2
    seed: int = 1


class Local:
    """One loaded model file."""

    notice = ""
    needs_token_limit = False

    def __init__(self, path: Path, settings: Settings | None = None) -> None:
        """Load the file; this takes seconds for a large one.

        Raises:
            MissingExtra: the engine is not installed.
            ModelError: the file is missing, or is no model this engine can load.
        """
        self._settings = settings or Settings()
        self._level = 0
        self.name = f"local:{path.name}"
        self.prompt = prompt.digest()
        _check(path)
        self._engine = _load(path, self._settings)

    def propose(self, view: View) -> Reply:
        """One message.

        Raises:
            ModelUnavailable: the engine failed, or even the smallest view is too long for the context.
        """
        while True:
            said = self._ask(view)
            error = said.get("error")
            if error is None:
                return _reply(said)
            if error.get("type") == "exceed_context_size_error" and self._level < smaller.LEVELS:
                self._level += 1
                continue
            raise ModelUnavailable(f"{self.name}: {one_line(str(error.get('message')), 200)}")

    def _ask(self, view: View) -> dict[str, Any]:
        shown = smaller.smaller(view, self._level)
        settings = self._settings
        request = {
            "messages": [{"role": "system", "content": prompt.text()}, {"role": "user", "content": shown.text}],
            "grammar": grammar(json.loads(view.text)),
            "max_tokens": settings.max_tokens,
            "temperature": settings.temperature,
            "seed": settings.seed + json.loads(view.text).get("step", 0),
        }
        try:
            said: dict[str, Any] = self._engine.handle_chat_completions(request)
        except RuntimeError as error:
            raise ModelUnavailable(f"{self.name}: {one_line(str(error), 200)}") from error
        return said


def _reply(said: dict[str, Any]) -> Reply:
    choice = said["choices"][0]
    text = str(choice["message"].get("content") or "")
    finish = "length" if choice.get("finish_reason") == "length" else "stop"
    usage = said.get("usage", {})
    return Reply(text, finish if text.strip() else "empty", int(usage.get("total_tokens", 0)))


def _check(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ModelError(f"{quoted(str(path))} cannot be read: {error.strerror or error}", _REMEDY) from None
    if magic != MAGIC:
        raise ModelError(f"{quoted(str(path))} is no GGUF file", _REMEDY)


def _load(path: Path, settings: Settings) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise MissingExtra("a model file in this process", "local") from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = settings.context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = settings.threads
    parameters.cpuparams_batch.n_threads = settings.threads
    parameters.verbosity = -1
    parameters.warmup = False
    # The engine opens a port on this machine that we do not use; nobody else can either without this key.
    parameters.api_keys = [secrets.token_hex(32)]
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise ModelError(f"{quoted(str(path))} cannot be loaded: {one_line(str(error), 200)}", _REMEDY) from error
