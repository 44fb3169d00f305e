"""Assembly of models: from what ``--model`` names to something that proposes. Part of ``assemble``.

Each kind is imported only when it is named, so that a run without a language model needs none of their packages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rootproof.contract import Contract
from rootproof.errors import ModelError
from rootproof.models import choose

if TYPE_CHECKING:
    from rootproof.models.choose import Choice
    from rootproof.models.interface import Model


def open_model(named: str | Model, record: Path | None = None, suggest: bool = False) -> Model:
    """The model a user named, with the wrappers the user asked for.

    Args:
        record: file that the model's traffic is appended to.
        suggest: list concrete admissible requests in the view; marked in the ledger by the model's name.

    Raises:
        ModelError: it is not known, or cannot be used here.
    """
    model = _named(choose.parse(named)) if isinstance(named, str) else named
    if suggest:
        from rootproof.models.suggesting import Suggesting

        model = Suggesting(model)
    if record is not None:
        from rootproof.models.cassette import Recorder

        model = Recorder(model, record)
    return model


def chosen(contract: Contract, named: str | Model, record: Path | None = None, suggest: bool = False) -> Model:
    """The model of a run. A workflow lays down every step itself: nobody is asked, whatever was named.

    Raises:
        ModelError: it is not known, or cannot be used here.
    """
    if contract.mode == "workflow":
        from rootproof.models.nobody import Nobody

        return Nobody()
    return open_model(named, record, suggest)


def kind(named: str) -> str:
    """What kind of model a name means.

    Raises:
        ModelError: none is called so.
    """
    return choose.parse(named).kind


def notice(model: Model) -> str:
    """What leaves the machine when this model is asked; empty where nothing does."""
    return str(getattr(model, "notice", ""))


def prompt(model: Model) -> str:
    """Digest of the prompt files a model is given; empty where it is given none."""
    return str(getattr(model, "prompt", ""))


def check_limit(model: Model, contract: Contract) -> None:
    """Tokens of unknown price need a limit.

    Raises:
        ModelError: there is none.
    """
    if getattr(model, "needs_token_limit", False) and contract.budget.model_tokens is None:
        raise ModelError(
            f"what {model.name} costs is not known here, and the contract does not limit its tokens",
            "add model_tokens under [budget], for example model_tokens = 200000",
        )


def _named(choice: Choice) -> Model:
    return _MAKERS.get(choice.kind, _provider)(choice)


def _scripted(choice: Choice) -> Model:
    from rootproof.models import scripted

    return scripted.from_file(Path(choice.argument))


def _command(choice: Choice) -> Model:
    from rootproof.models import command

    return command.from_line(choice.argument)


def _cassette(choice: Choice) -> Model:
    from rootproof.models.cassette import Cassette

    return Cassette(Path(choice.argument))


def _local(choice: Choice) -> Model:
    from rootproof.models.local import Local

    return Local(Path(choice.argument))


def _human(choice: Choice) -> Model:
    from rootproof.models.human import Human

    return Human()


def _detective(choice: Choice) -> Model:
    from rootproof.models.detective.policy import Detective

    return Detective()


def _provider(choice: Choice) -> Model:
    from rootproof.models import provider

    return provider.named(choice)


_MAKERS: Mapping[str, Callable[[Choice], Model]] = {
    "scripted": _scripted,
    "command": _command,
    "cassette": _cassette,
    "local": _local,
    "human": _human,
    "detective": _detective,
}
