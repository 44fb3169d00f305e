from __future__ import annotations

import pytest

from rootproof.errors import ModelError
from rootproof.models.choose import KINDS, Choice, parse


@pytest.mark.parametrize(
    ("spec", "choice"),
    [
        ("human", Choice("human")),
        ("detective", Choice("detective")),
        ("scripted:a b.py", Choice("scripted", "a b.py")),
        ("command:prog --key=a:b 'c d'", Choice("command", "prog --key=a:b 'c d'")),
        ("anthropic:some-model", Choice("anthropic", "some-model")),
        ("openrouter:maker/model:free", Choice("openrouter", "maker/model:free")),
        ("ollama:qwen3:8b", Choice("ollama", "qwen3:8b")),
        ("ollama:qwen3:8b@http://127.0.0.1:9/v1", Choice("ollama", "qwen3:8b", "http://127.0.0.1:9/v1")),
        ("openai-compatible:a@b@https://h.example/v1", Choice("openai-compatible", "a@b", "https://h.example/v1")),
    ],
)
def test_a_name_is_a_kind_and_an_argument(spec: str, choice: Choice) -> None:
    assert parse(spec) == choice


@pytest.mark.parametrize(
    "spec",
    [
        "", ":", "scripted", "scripted:", "command:  ", "human:me", "gpt", "openai-compatible:m", "openai-compatible:m@",
        "openai-compatible:m@ftp://h", "openai-compatible:@http://h", "openai-compatible:m@http://", "ollama:m@http://h:x/",
    ],
)  # fmt: skip
def test_what_is_no_model_is_an_error_with_a_remedy(spec: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse(spec)
    assert caught.value.exit_status == 2 and caught.value.remedy


def test_the_nearest_kind_is_named() -> None:
    with pytest.raises(ModelError) as caught:
        parse("antropic:x")
    assert "'anthropic'" in caught.value.remedy and all(kind in caught.value.remedy for kind in KINDS)


def test_a_key_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ModelError) as caught:
        parse("openai-compatible:m@https://user:canary@h/v1")
    assert "canary" not in str(caught.value) + caught.value.remedy
