"""``rootproof check CONTRACT``: validate a contract and say the agreement in plain words."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from rootproof.apps.cli import options as flags


def check(
    contract: Annotated[Optional[Path], typer.Argument(help="The contract, a TOML file.")] = None,  # noqa: UP045
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of contracts instead.")] = False,
    as_json: flags.Json = False,
) -> None:
    """Validate a contract and print what was agreed, in plain words. Nothing is run."""
    from rootproof import agreement, assemble
    from rootproof.apps.cli.ending import warn
    from rootproof.contract import Contract
    from rootproof.errors import UsageError

    if schema:
        sys.stdout.write(json.dumps(Contract.model_json_schema(), indent=2) + "\n")
        return
    if contract is None:
        raise UsageError("no contract is named", "rootproof check contract.toml")
    loaded = assemble.load_contract(contract)
    warn(loaded)
    if as_json:
        document = {"valid": True, "digest": loaded.contract.digest, "contract": loaded.contract.document}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
        return
    sys.stdout.write("".join(line + "\n" for line in agreement.lines(loaded.contract)))
