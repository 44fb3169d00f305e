"""The contract: the document that fixes a run before it starts. Frozen data; what is wrong in one is found by
``contract_faults``, and ``contract_file`` reads one from disk.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field

from rootproof import canonical, pattern
from rootproof.fact import Noun, Scalar
from rootproof.plan import PlanTerms, WorkflowStep

SCHEMA = "rootproof/contract/1"

Effect = Literal["write", "deploy", "network", "credentials", "files", "processes"]

EXCLUDED: tuple[Effect, ...] = ("write", "deploy", "network", "credentials")
"""Effects that no tool may have unless the contract says otherwise."""

ALWAYS_DENIED = (
    ".env",
    ".env.*",
    "*.env",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".htpasswd",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    ".aws/**",
    ".ssh/**",
    ".gnupg/**",
    ".docker/config.json",
    ".kube/config",
    ".git/config",
    ".git/credentials",
    "credentials.json",
    "service-account*.json",
    "*token*.txt",
)
"""Secret files: never readable, whatever the contract says; matched case-folded against the path and its last part."""

UNASKED = (
    ".git",
    ".hg",
    ".svn",
    "node_modules",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
)
"""Folders that a glob does not reach into unless it names them."""

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]


class Scope(Noun):
    """What may be read and run. Anything else is out of bounds."""

    root: Annotated[str, Field(min_length=1)] = "."
    """Folder of the repository, relative to the contract's own folder."""
    read: tuple[Text, ...] = ()
    """Readable paths: exact, or globs (``*`` within a part, ``**`` over parts)."""
    tests: tuple[Text, ...] = ()
    """Allowed tests: exact ids, or files or globs of files, which allow every test in them."""
    never: tuple[Text, ...] = ()
    """Added to the built-in list of secrets; hidden from tests too."""
    tests_may_read: tuple[Text, ...] = ()
    """Secrets that the code under test may read, though no tool may."""
    excluded: tuple[Effect, ...] = EXCLUDED
    """Effects no tool here may have."""

    def denied(self, path: str) -> bool:
        """Whether a root-relative path is a secret, whatever else is allowed."""
        return pattern.denied(path, (*ALWAYS_DENIED, *self.never))

    def readable(self, path: str) -> bool:
        """Whether the contract lists a root-relative path as readable. Secrets are asked for apart."""
        skipped = [part for part in path.split("/") if part in UNASKED]
        return any(
            pattern.matches(glob, path) and all(part in glob.split("/") for part in skipped) for glob in self.read
        )

    def lists(self, name: str) -> tuple[str, ...]:
        """The named list of things a request may name."""
        return self.tests if name == "tests" else ()

    def allows(self, name: str, value: str) -> bool:
        """Whether a request may name ``value``: listed exactly, or inside a listed file or glob of files."""
        file = file_of(value)
        return any(
            value == entry or (file_of(entry) == entry and file and pattern.matches(entry, file))
            for entry in self.lists(name)
        )


def file_of(test: str) -> str:
    """The file part of a test id: what stands before the first ``::``, else before the first ``#``.

    After a ``#`` a name may hold ``::``, as after the file of a Python test it may hold ``#``.
    """
    python, other = test.split("::", 1)[0], test.split("#", 1)[0]
    return other if len(other) < len(python) and not python.endswith(".py") else python


class Budget(Noun):
    """Limits of the run. Reached, they end it; they never make it succeed."""

    max_steps: Count = 20
    max_consecutive_parse_errors: Count = 2
    max_consecutive_invalid_actions: Count = 3
    max_no_progress: Count | None = None
    seconds: Annotated[float, Field(gt=0)] = 300.0
    cpu_seconds: Annotated[float, Field(gt=0)] | None = None
    test_runs: Count | None = None
    model_tokens: Count | None = None


class Policy(Noun):
    """How strictly requests are judged."""

    on_invalid_input: Literal["reject", "block"] = "reject"
    containment: Literal["contained", "degraded"] = "contained"
    """The least level accepted; below it the run does not start."""
    approval_seconds: Annotated[float, Field(gt=0, le=31_536_000)] = 86_400.0
    """How long a request for approval, and an approval given, hold."""


class EvidenceItem(Noun):
    """What one kind of observation must show to become a fact."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
    means: Annotated[str, Field(max_length=500)] = ""
    tool: Text
    where: dict[str, Scalar] = {}
    """Input fields the request must have."""
    expect: dict[str, Scalar] = {}
    """Result fields: equal to a value, or with ``_min``, ``_max``, ``_not``, ``_contains`` after the field's name."""
    bind: dict[str, str] = {}
    """Fact → result field."""
    capture: Annotated[str, Field(max_length=2000)] = ""
    """A pattern with named groups, run over the whole file in linear time; each group is a fact."""
    check: str = ""
    """A named pure check of the investigation, applied besides ``expect``."""
    about: str = ""
    """Result field that names the subject the fact is about."""
    otherwise: Literal["go_on", "fail"] = "go_on"


class Completion(Noun):
    """What success needs."""

    all: tuple[Text, ...]


class Answer(Noun):
    """How the answer is worded. Literal words are the author's; values are facts."""

    template: Annotated[str, Field(max_length=4000)]


class Contract(Noun):
    """The whole agreement."""

    schema_: Annotated[Literal["rootproof/contract/1"], Field(alias="schema")]
    goal: Text
    mode: Literal["react", "workflow", "plan"] = "react"
    scope: Scope
    budget: Budget = Budget()
    policy: Policy = Policy()
    tools: dict[str, dict[str, Scalar]]
    """Tool → its settings."""
    evidence: tuple[EvidenceItem, ...] = ()
    workflow: tuple[WorkflowStep, ...] = ()
    """The fixed steps of mode ``workflow``, in order."""
    plan: PlanTerms = PlanTerms()
    completion: Completion
    answer: Answer | None = None

    @cached_property
    def digest(self) -> str:
        """The same for every writing of the same agreement."""
        return canonical.digest(self.document)

    @cached_property
    def document(self) -> dict[str, object]:
        """As plain data, the form that the ledger keeps."""
        return self.model_dump(mode="json", by_alias=True)


def read_document(document: object) -> Contract:
    """The contract from plain data, as the ledger keeps it.

    Raises:
        pydantic.ValidationError: it is none.
    """
    return Contract.model_validate_json(canonical.to_bytes(document))
