"""What a provider said, as a raw reply or as a failure. Knows the shapes of the library's messages and errors."""

from __future__ import annotations

import os
from dataclasses import dataclass

from pydantic_ai import exceptions, messages

from rootproof import recording
from rootproof.models.interface import Reply
from rootproof.text import one_line

REPLY_TOOL = "reply"
"""Name of the tool through which a model replies where that is the provider's way of structured output."""


class Unfit(Exception):
    """An answer that is no answer of this interface: not JSON, or too large. Raised inside the HTTP client."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Failure:
    """Why a call gave no reply."""

    code: str
    reason: str
    again: bool = False
    """Whether trying again can help."""
    after: float | None = None
    """Seconds the server asked to wait."""
    remedy: str = ""


_AGAIN: tuple[tuple[type[Exception], str, str], ...] = (
    (exceptions.ModelRateLimitError, "rate_limited", "the server limits how often it is asked"),
    (exceptions.ModelOverloadedError, "overloaded", "the server is overloaded"),
    (exceptions.ModelUnavailableError, "unavailable", "the server is not available"),
    (exceptions.ModelServerError, "server_error", "the server failed"),
    (exceptions.ModelTimeoutError, "timeout", "the server did not answer in time"),
    (exceptions.ModelRequestTimeout, "timeout", "the server did not answer in time"),
    (exceptions.ModelConnectionError, "connection", "the connection failed"),
)
_NEVER: tuple[tuple[type[Exception], str, str, str], ...] = (
    (exceptions.ModelQuotaExceededError, "quota", "the account's quota is used up", "top up the account"),
    (exceptions.ModelContextWindowExceededError, "context_overflow", "the view is too long for the model", ""),
    (exceptions.ModelAuthenticationError, "authentication", "the key is not accepted", "check the key's variable"),
    (exceptions.ModelNotFoundError, "not_found", "there is no such model there", "check name and base URL"),
    (exceptions.ModelRequestRejectedError, "rejected", "the server rejects the request", ""),
)


def failure(error: Exception) -> Failure:
    """An error of the library as a failure with a name. Keys are masked; at most 200 characters are quoted."""
    unfit = _unfit(error)
    if unfit is not None:
        remedy = (
            "the base URL looks wrong: it must lead to the API itself" if unfit.code == "wrong_content_type" else ""
        )
        return Failure(unfit.code, str(unfit), remedy=remedy)
    after = getattr(error, "retry_after", None)
    for kind, code, words, remedy in _NEVER:
        if isinstance(error, kind):
            return Failure(code, f"{words}: {_said(error)}", remedy=remedy)
    for kind, code, words in _AGAIN:
        if isinstance(error, kind):
            return Failure(code, f"{words}: {_said(error)}", again=True, after=after)
    status = getattr(error, "status_code", 0)
    if isinstance(error, exceptions.ModelHTTPError) and (status >= 500 or status in (408, 409, 425)):
        return Failure("server_error", f"the server failed: {_said(error)}", again=True, after=after)
    if isinstance(error, exceptions.ModelHTTPError):
        return Failure("rejected", f"the server rejects the request: {_said(error)}")
    return Failure("unreadable", f"the answer cannot be read: {_said(error)}", again=True)


def _unfit(error: BaseException | None) -> Unfit | None:
    for _ in range(8):
        if error is None or isinstance(error, Unfit):
            return error
        error = error.__cause__ or error.__context__
    return None


def _said(error: BaseException) -> str:
    masked = recording.mask(f"{type(error).__name__}: {error}", recording.known_secrets(os.environ))
    return one_line(str(masked), 200)


def reply(response: messages.ModelResponse, sent: int) -> Reply:
    """One response as a raw reply. Reasoning is never looked at for a message.

    Args:
        sent: characters that were sent, to estimate tokens where the server does not count them.
    """
    texts = [part.content for part in response.parts if isinstance(part, messages.TextPart)]
    calls = [part for part in response.parts if isinstance(part, messages.ToolCallPart)]
    thoughts = [part for part in response.parts if isinstance(part, messages.ThinkingPart) and part.content]
    said = "".join(texts)
    finish = _finish(response)
    if finish == "stop" and len(calls) > 1:
        finish = "multiple"
    if len(calls) == 1:
        arguments = calls[0].args
        said = arguments if isinstance(arguments, str) else calls[0].args_as_json_str()
    if finish == "stop" and not said.strip():
        finish = "reasoning_only" if thoughts else "empty"
    counted = response.usage.input_tokens + response.usage.output_tokens
    tokens = counted or (sent + sum(map(len, texts)) + 2) // 3
    return Reply(said, finish, tokens, _cost(response), response.provider_response_id or "")


def _finish(response: messages.ModelResponse) -> str:
    details = response.provider_details or {}
    if details.get("refusal") or details.get("finish_reason") == "refusal":
        return "refusal"
    names = {"length": "length", "content_filter": "blocked", "error": "incomplete"}
    return names.get(response.finish_reason or "stop", "stop")


def _cost(response: messages.ModelResponse) -> float:
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return 0.0
