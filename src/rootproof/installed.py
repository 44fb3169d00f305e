"""What this installation has: its tools and checks, and contracts read against them. Part of ``assemble``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rootproof import contract_file, evidence
from rootproof.contract import Contract as Document
from rootproof.contract_file import Loaded
from rootproof.tools.interface import Tool, ToolSpec


def catalog() -> dict[str, ToolSpec]:
    """The tools of this installation, by name."""
    from rootproof.tools import (
        history,
        list_files,
        probe,
        read_file,
        run_test,
        search_changes,
        search_code,
        trace_test,
        try_change,
        try_condition,
    )

    specs = (run_test, search_code, read_file, list_files, trace_test, search_changes)
    more = (probe, history, try_change, try_condition)
    return {tool.SPEC.name: tool.SPEC for tool in (*specs, *more)}


def checks() -> dict[str, evidence.Check]:
    """The named pure checks of the investigations."""
    from rootproof.investigations.root_cause.checks import CHECKS

    return dict(CHECKS)


def known(tools: Iterable[Tool]) -> dict[str, ToolSpec]:
    """The tools of this installation with those that a program brings along."""
    return {**catalog(), **{tool.spec.name: tool.spec for tool in tools}}


def load_contract(path: Path, tools: Iterable[Tool] = ()) -> Loaded:
    """Read a contract file against this installation; ``tools`` are those that the caller brings along.

    Raises:
        ContractError: with every fault.
    """
    return contract_file.load(path, known(tools), frozenset(checks()))


def load_document(document: Mapping[str, Any], base: Path, origin: str, tools: Iterable[Tool] = ()) -> Loaded:
    """A contract given as plain data, in the form of the TOML file; ``base`` is what its root is relative to.

    Raises:
        ContractError: with every fault.
    """
    return contract_file.load_document(document, base.absolute(), origin, known(tools), frozenset(checks()))


class Contract(Document):
    """The contract as users of the library load it: checked against the tools installed here."""

    @classmethod
    def load(cls, path: str | os.PathLike[str], tools: Iterable[Tool] = ()) -> Loaded:
        """Read a contract file; ``tools`` are those that the caller brings along.

        Raises:
            ContractError: with every fault.
        """
        return load_contract(Path(path), tools)

    @classmethod
    def of(cls, document: Mapping[str, Any], base: str | os.PathLike[str] = ".", tools: Iterable[Tool] = ()) -> Loaded:
        """A contract written in Python, as plain data in the form of the TOML file.

        Raises:
            ContractError: with every fault.
        """
        return load_document(document, Path(base), "contract", tools)
