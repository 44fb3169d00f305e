"""A job: one investigation somebody wants carried out. It is a run with an id given beforehand, and nothing more.

The contract travels with the job, as data, and was checked where the batch was given. A job may not name what is not
its own to decide: only models the user named can be asked for, never a program to start.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from rootproof import assemble, canonical, diagnosis, proposers
from rootproof.contract_file import Loaded
from rootproof.errors import ContractError, Fault, RootproofError, UsageError
from rootproof.strict_json import Fault as Unreadable
from rootproof.strict_json import position, read
from rootproof.text import quoted
from rootproof.tools.interface import Tool

MAX_FILE = 64 * 1024 * 1024
KEYS: Mapping[str, type] = {
    "id": str,
    "contract": str,
    "diagnose": str,
    "repository": str,
    "model": str,
    "priority": int,
}
ALWAYS = "detective"
"""The model every job may have: it starts nothing and sends nothing anywhere."""

By = Literal["user", "proposer"]


@dataclass(frozen=True)
class Job:
    """One investigation of a batch."""

    id: str
    """What its author calls it; else the number of its line."""
    document: Mapping[str, Any] = field(repr=False)
    """The contract."""
    base: str
    """Folder that the contract's root is relative to."""
    root: str
    """The repository, as the limits count it."""
    origin: str
    model: str
    priority: int = 0
    by: By = "proposer"
    """Who wrote the contract."""

    @property
    def provider(self) -> str:
        """The kind of its model, as the limits count it."""
        return self.model.partition(":")[0]

    def load(self, tools: Iterable[Tool] = ()) -> Loaded:
        """The contract, checked against the tools installed here and those that the worker brings along.

        Raises:
            ContractError: with every fault.
        """
        return assemble.load_document(self.document, Path(self.base), self.origin, tools)


@dataclass(frozen=True)
class Terms:
    """What the user who gives a batch decided on the command line."""

    models: tuple[str, ...]
    """Models that jobs may name; the first is that of jobs that name none."""
    by: By = "proposer"
    tools: tuple[Tool, ...] = ()
    """Those that the giver, and every worker, bring along."""


def read_jobs(path: Path, terms: Terms) -> tuple[Job, ...]:
    """Every job of a file of JSON lines, each with its contract loaded.

    Raises:
        ContractError: names every faulty line; nothing was run.
        UsageError: the file cannot be read, or has no job.
    """
    for model in terms.models:
        if proposers.kind(model) == "human":
            raise UsageError("no person can be asked by a batch", "name a model with --model")
    jobs: list[Job] = []
    faults: list[Fault] = []
    for number, line in enumerate(_lines(path), 1):
        place = f"{path}: line {number}"
        if not line.strip():
            continue
        try:
            jobs.append(_job(_object(line, place), path.absolute().parent, terms, (place, number)))
        except ContractError as error:
            faults += [
                f if f.place.startswith(place) else replace(f, place=f"{place}: {f.place}") for f in error.faults
            ]
        except RootproofError as error:
            faults.append(Fault(place, str(error), error.remedy or "mend the line"))
    faults += _twice(jobs, path)
    if faults:
        raise ContractError(faults)
    if not jobs:
        raise UsageError(f"{path} has no job", 'a job is a line such as {"contract": "contract.toml"}')
    return tuple(jobs)


def _at(place: str, fault: Fault) -> Fault:
    return fault if fault.place.startswith(place) else replace(fault, place=f"{place}: {fault.place}")


def as_json(job: Job) -> str:
    """The job as it is kept."""
    return canonical.to_bytes(vars(job)).decode()


def from_json(text: str) -> Job:
    """The job that was kept."""
    return Job(**json.loads(text))


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MAX_FILE:
            raise UsageError(f"{path} has more than {MAX_FILE >> 20} MiB", "give several batches")
        return path.read_bytes().decode("utf-8").split("\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "name a file of JSON lines") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start})", "name a file of JSON lines") from None


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        value = read(line)
    except Unreadable as fault:
        _, column = position(line, fault.offset)
        found = f"not JSON at column {column}: expected {fault.expected}"
        raise ContractError([Fault(place, found, "one JSON object a line")]) from None
    if not isinstance(value, dict):
        raise ContractError([Fault(place, "no JSON object", 'such as {"contract": "contract.toml"}')])
    faults = [
        Fault(place, f"no key is called {quoted(key, 40)}", f"the keys are {', '.join(KEYS)}")
        for key in value
        if key not in KEYS
    ]
    faults += [
        Fault(place, f"{key} is no {'text' if kind is str else 'whole number'}", "mend the value")
        for key, kind in KEYS.items()
        if key in value and (type(value[key]) is not kind or value[key] == "")
    ]
    if ("contract" in value) == ("diagnose" in value):
        faults.append(Fault(place, "a job has either contract or diagnose", "name one of the two"))
    if not faults and not -100 <= value.get("priority", 0) <= 100:  # type: ignore[operator]
        faults.append(Fault(place, "priority is outside -100 to 100", "higher is sooner; 0 if not given"))
    if faults:
        raise ContractError(faults)
    return value


def _job(said: dict[str, Any], folder: Path, terms: Terms, at: tuple[str, int]) -> Job:
    place, number = at
    model = said.get("model", terms.models[0])
    if model != ALWAYS and model not in terms.models:
        found = f"the model {quoted(model, 60)} is not one that was named on the command line"
        raise ContractError([Fault(place, found, "name it with --model as well, if jobs may ask it")])
    loaded, base, document = _contract(said, folder, place, terms.tools)
    return Job(
        id=said.get("id", str(number)),
        document=document,
        base=str(base),
        root=str(loaded.root),
        origin=loaded.origin,
        model=model,
        priority=said.get("priority", 0),
        by=terms.by,
    )


def _contract(
    said: dict[str, Any], folder: Path, place: str, tools: Iterable[Tool]
) -> tuple[Loaded, Path, dict[str, Any]]:
    repository = folder / said["repository"] if "repository" in said else None
    if "diagnose" in said:
        base = repository or folder
        if not base.is_dir():
            raise UsageError(f"there is no folder {base}", "name the repository, relative to the jobs file")
        document = diagnosis.document_for(diagnosis.Question(root=base), said["diagnose"])
        return assemble.load_document(document, base, f"{place}: diagnose"), base, document
    file = folder / said["contract"]
    base = repository or file.absolute().parent
    document = assemble.contract_document(file)
    loaded = assemble.load_document(document, base, f"{place}: {said['contract']}", tools)
    return loaded, base, document


def _twice(jobs: list[Job], path: Path) -> list[Fault]:
    seen: set[str] = set()
    faults = []
    for job in jobs:
        if job.id in seen:
            faults.append(Fault(str(path), f"two jobs are called {quoted(job.id, 60)}", "give each its own id"))
        seen.add(job.id)
    return faults
