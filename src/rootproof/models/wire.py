"""One call over the network, through pydantic-ai. Limits the time and the size of an answer, and what it may be."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx2
from pydantic_ai import exceptions, messages, models, tools
from pydantic_ai.direct import model_request
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class
from pydantic_ai.settings import ModelSettings

from rootproof.models import answers
from rootproof.models.answers import Failure, Unfit
from rootproof.models.choose import Choice
from rootproof.models.interface import Reply, View
from rootproof.text import one_line

Form = Literal["schema", "tool", "text"]
"""How a structured reply is asked for: a JSON schema of the reply, a call of one tool, or words alone."""

FORMS: dict[str, Form] = {
    "openai": "schema",
    "azure": "schema",
    "ollama": "schema",
    "openai-compatible": "schema",
    "anthropic": "tool",
}
"""Kinds whose own means are used; the others are asked in words, which every one understands."""
PREFIXES = {"openai": "openai-chat", "qwen": "alibaba"}
"""Our kind → the library's name, where they differ."""
OWN_CLIENT = ("openai", "anthropic", "deepseek", "qwen", "openrouter", "azure", "ollama", "openai-compatible")
"""Kinds whose HTTP client is ours, so that type and size of an answer are checked before it is read."""
CACHING = ("anthropic", "bedrock")
"""Kinds that cache up to a mark; the others do so by themselves, or not at all."""
OLLAMA = "http://localhost:11434/v1"
KEY = "OPENAI_COMPATIBLE_API_KEY"
"""Where the key of an OpenAI-compatible server is looked for: never OpenAI's own key."""
MAX_ANSWER = 8 * 1024 * 1024


@dataclass(frozen=True)
class Times:
    """Limits of one try, in seconds."""

    connect: float = 10.0
    silence: float = 120.0
    """Between two pieces of the answer, and before its first byte."""
    total: float = 300.0


@dataclass(frozen=True)
class Call:
    """What is sent."""

    prompt: str
    view: View
    form: Form
    max_tokens: int


def once(choice: Choice, call: Call, times: Times) -> Reply | Failure:
    """One try.

    Raises:
        KeyboardInterrupt: the user interrupted; the request was given up.
    """
    return asyncio.run(_once(choice, call, times))


async def _once(choice: Choice, call: Call, times: Times) -> Reply | Failure:
    timeout = httpx2.Timeout(times.silence, connect=times.connect)
    hooks = {"response": [_check]}
    async with httpx2.AsyncClient(verify=_trust(), timeout=timeout, event_hooks=hooks) as client:
        model = build(choice, client)
        settings = ModelSettings(
            max_tokens=call.max_tokens, timeout=times.silence, request_timeout=times.total, max_retries=0
        )
        parameters = _parameters(call)
        request = messages.ModelRequest(parts=[_user(call.view, choice.kind in CACHING)], instructions=call.prompt)
        try:
            response = await model_request(
                model, [request], model_settings=settings, model_request_parameters=parameters
            )
        except exceptions.ContentFilterError:
            return Reply("", "blocked")
        except Exception as error:  # whatever a server makes a library raise is a failure with a name
            return answers.failure(error)
    return answers.reply(response, len(call.prompt) + len(call.view.text))


@cache
def _trust() -> ssl.SSLContext:
    """The certificates that are trusted: read once, which takes longer than a call itself."""
    return httpx2.create_ssl_context()


def try_build(choice: Choice) -> None:
    """Build the library's model and drop it again: raises as :func:`build` does."""

    async def tried() -> None:
        async with httpx2.AsyncClient(verify=_trust()) as client:
            build(choice, client)

    asyncio.run(tried())


def build(choice: Choice, client: httpx2.AsyncClient) -> models.Model:
    """The library's model.

    Raises:
        pydantic_ai.exceptions.UserError: a key or setting is missing.
        ImportError: the provider's own package is not installed.
    """
    if choice.kind == "openai-compatible":
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        key = os.environ.get(KEY) or "no-key"
        provider = OpenAICompatibleProvider(choice.kind, base_url=choice.url, api_key=key, http_client=client)
        return OpenAIChatModel(choice.argument, provider=provider)
    name = f"{PREFIXES.get(choice.kind, choice.kind)}:{choice.argument}"

    def make(prefix: str) -> Provider[Any]:
        if choice.kind not in OWN_CLIENT:
            return infer_provider(prefix)
        family: Any = infer_provider_class(prefix)
        if choice.kind == "ollama":
            return family(base_url=ollama_url(choice), http_client=client)  # type: ignore[no-any-return]
        return family(http_client=client)  # type: ignore[no-any-return]

    return models.infer_model(name, make)


def ollama_url(choice: Choice) -> str:
    """Where Ollama is: as named, as its own variable says, or its usual place on this machine."""
    return choice.url or os.environ.get("OLLAMA_BASE_URL") or OLLAMA


def is_here(url: str) -> bool:
    """Whether a base URL leads to this machine."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _user(view: View, marked: bool) -> messages.UserPromptPart:
    """The view as one text, or as fixed and moving part with a mark between them for providers that are told so."""
    if not (view.fixed and marked):
        return messages.UserPromptPart(view.text)
    content: list[messages.UserContent] = [view.text[: view.fixed], messages.CachePoint(), view.text[view.fixed :]]
    return messages.UserPromptPart(content)


def _parameters(call: Call) -> models.ModelRequestParameters:
    if call.form == "text":
        return models.ModelRequestParameters()
    schema = message_schema(call.view)
    if call.form == "schema":
        output = OutputObjectDefinition(json_schema=schema, name="message", strict=False)
        return models.ModelRequestParameters(output_mode="native", output_object=output)
    tool = tools.ToolDefinition(
        name=answers.REPLY_TOOL,
        description="Your one reply, in the form that the view's `how` names.",
        parameters_json_schema=schema,
        kind="output",
    )
    return models.ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)


def message_schema(view: View) -> dict[str, Any]:
    """The form of a message as a JSON schema. It helps a model; our own parser judges all the same."""
    seen = json.loads(view.text)
    names = sorted(seen.get("tools", {}))
    action: dict[str, Any] = {
        "tool": {"type": "string", "enum": names} if names else {"type": "string"},
        "input": {"type": "object", "additionalProperties": True},
    }
    note = {"note": {"type": "string"}}
    if seen.get("mode") == "plan":
        expects = {"expects": {"type": "array", "items": {"type": "string"}}}
        step = _closed_object({**action, **expects, **note}, ["tool", "input"])
        asks = {"type": {"type": "string", "enum": ["plan", "final"]}, "steps": {"type": "array", "items": step}}
    else:
        asks = {"type": {"type": "string", "enum": ["action", "final"]}, **action}
    return _closed_object({**asks, **note}, ["type"])


def _closed_object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


async def _check(response: httpx2.Response) -> None:
    """Refuse what is no JSON, and bound what is read.

    Raises:
        Unfit: the answer is of another type, or says that it is too large.
    """
    response.stream = _Bounded(response.stream)
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code >= 400 or kind == "application/json" or kind.endswith("+json"):
        return
    shown = await _beginning(response)
    raise Unfit("wrong_content_type", f"the server answered {kind or 'without a type'}, not JSON: {shown!r}")


async def _beginning(response: httpx2.Response) -> str:
    async for piece in response.aiter_bytes(80):
        return one_line(piece[:80].decode("utf-8", "backslashreplace"), 80)
    return ""


class _Bounded(httpx2.AsyncByteStream):
    """A stream that ends with an error instead of growing without end."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for piece in self._inner:
            total += len(piece)
            if total > MAX_ANSWER:
                raise Unfit("oversize", f"the server's answer has more than {MAX_ANSWER >> 20} MiB")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()
