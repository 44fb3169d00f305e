"""``try_change``: one proposed change, in throw-away copies only, under the whole protocol of confirmation.

The tool reports what was run and what follows from it. Whether that makes a fact is judged elsewhere, from the stored
record of the runs, by the same pure functions.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rootproof.canonical import Json, digest
from rootproof.contract import file_of
from rootproof.errors import NotRunnable
from rootproof.experiments.baseline import Baseline, measure
from rootproof.experiments.change import Edit, decoded, split_lines
from rootproof.experiments.cold import Cold, Meter
from rootproof.experiments.conclusion import ANSWERS, Verdict
from rootproof.experiments.confirm import confirm
from rootproof.experiments.findings import fields_of
from rootproof.experiments.progress import Tell, silent
from rootproof.experiments.record import Confirmation, to_data
from rootproof.experiments.trace import Trace
from rootproof.experiments.verdict import judge
from rootproof.runners.interface import Runner
from rootproof.sandbox.interface import Sandbox
from rootproof.scope import Scope
from rootproof.tools.interface import Declined, Field, Observation, Record, Request, Result, Spend, ToolSpec
from rootproof.tools.settings import ONE_RUN, TARGET
from rootproof.tools.site import site_of

RECORD = "confirmation.json"
MAX_EDITS = 24

SPEC = ToolSpec(
    name="try_change",
    version="1",
    doc=(
        "Try a change of source text in throw-away copies: does it make the failing test pass for a good reason? "
        "Verdict: supported (with grade), refuted, masked (with the rule broken) or inconclusive (with the reason)."
    ),
    fields=(
        Field(
            "edits",
            "list",
            "lines start to end of path are replaced by text; end = start - 1 inserts before start; empty text deletes",
            least=1,
            most=MAX_EDITS,
            items={"path": "path", "start": "integer", "end": "integer", "text": "text"},
        ),
        Field("target", "name", "the failing test it should explain", required=False, of="tests", most=1000),
        Field("why", "text", "what the change is meant to show; never evidence", required=False, least=0, most=500),
    ),
    settings=(TARGET, *ONE_RUN),
    results=(
        Result("target", "text", "the failing test", required=True),
        Result("verdict", "text", "what follows from the runs", required=True, choices=ANSWERS),
        Result("grade", "text", "A or B where it is supported, else empty", required=True, choices=("A", "B", "")),
        Result("rule", "text", "stable name of the rule that decided", required=True),
        Result("reason", "text", "why, in one line", required=True),
        Result("kind", "text", "kind of conclusion", required=True),
        Result("subject", "text", "digest of target, signature, tree, reduced change and spans", required=True),
        Result("signature", "text", "the target's failure, without what varies by itself"),
        Result("change", "list", "the reduced change: path, start, end, text"),
        Result("diff", "text", "the reduced change as a unified diff"),
        Result("spans", "list", "path, first and last line and function of each place of the subject"),
        Result(
            "place", "text", "the functions of the subject, or the statements outside functions; empty if not supported"
        ),
        Result("open_in", "list", "places of a change that may be a cause too: its judgement did not come to an end"),
        Result("width", "text", "narrow, wide or too_wide"),
        Result("executed", "flag", "whether the edited places run in the unchanged target; null: not checked"),
        Result("pairs", "object", "interleaved cold pairs: needed, failed unchanged, passed changed"),
        Result("neighbours", "object", "kept, broken, dropped"),
        Result("controls", "object", "outcome of each control"),
        Result("unmade", "list", "checks that could not be made here"),
        Result("runs", "integer", "test processes of this confirmation, those of the baseline included"),
        Result("tries", "integer", "interventions this request counts for", required=True),
        Result("containment", "text", "level the runs were at", required=True),
    ),
    reaches=("files", "processes"),
    echoes=("target",),
    repeatable=True,
    checks=True,
    records=(
        Record("supported_in", "place", about=("subject",), unless=""),
        Record("supported_grade", "grade", about=("subject",), unless=""),
        Record("change_verdicts", "verdict", "append", about=("subject", "rule")),
    ),
    test_runs=1,
)


@dataclass
class TryChange:
    """Confirms changes of one root through one runner and one sandbox. The repository itself is only read."""

    scope: Scope
    runner: Runner
    sandbox: Sandbox
    settings: Mapping[str, Json]
    interpreter: Path | None = None
    spec: ToolSpec = SPEC
    tell: Tell = silent
    lent: Callable[[str, str], Trace | None] = lambda target, tree: None
    """A trace of the target that another tool has already made on this tree."""
    _bases: dict[tuple[str, str], Baseline] = field(default_factory=dict)
    """Reproductions and traces by target and tree digest: made once a run."""

    def run(self, request: Request) -> Observation | Declined:
        target = str(request.input.get("target") or self.settings.get("target") or "")
        if not target:
            return Declined("no target is named", "name the failing test that the change should explain")
        edits = self._edits(request)
        if isinstance(edits, Declined):
            return edits
        try:
            site = site_of(self.scope, (self.runner, self.sandbox, self.interpreter), self.settings, target)
        except NotRunnable as error:
            return Declined(f"{error}", error.remedy)
        began = time.monotonic()
        meter = Meter(request.seconds, request.cpu_seconds, request.test_runs)
        record, sources = self._confirm(Cold(site, meter, self.tell), target, edits, request.prior_tries + 1)
        spent = Spend(time.monotonic() - began, meter.spent_cpu, meter.runs)
        return observation(record, sources, judge(record, sources), spent)

    def _confirm(
        self, cold: Cold, target: str, edits: tuple[Edit, ...], tries: int
    ) -> tuple[Confirmation, dict[str, bytes]]:
        tree = digest(self.scope.manifest())
        base = self._bases.get((target, tree))
        if base is None:
            covered = file_of(target).endswith(".py")
            alike = cold.site.project.package_root == cold.site.root  # else the other traces from another folder
            lent = self.lent(target, tree) if covered and alike else None
            base = measure(cold, target, tree, covered=covered, lent=lent)
            self._bases[target, tree] = base
        return confirm(cold.site, cold, base, edits, tries)

    def _edits(self, request: Request) -> tuple[Edit, ...] | Declined:
        """The requested edits against the files as they are now."""
        asked = request.input["edits"]
        assert isinstance(asked, list)
        made: list[Edit] = []
        for number, item in enumerate(asked):
            assert isinstance(item, dict)
            place = request.paths.get(f"edits[{number}].path")
            path, text = str(item["path"]), str(item["text"])
            start, end = item["start"], item["end"]
            assert type(start) is int and type(end) is int
            try:
                data = self.scope.read(place) if place is not None else b""
            except OSError:
                return Declined(f"edits[{number}]: {path} cannot be read", "name a file that exists")
            lines = split_lines(decoded(data))
            if not (1 <= start <= len(lines) + 1 and start - 1 <= end <= len(lines)):
                return Declined(
                    f"edits[{number}]: {path} has {len(lines)} lines; {start} to {end} is not among them",
                    "lines are numbered from 1; end = start - 1 inserts before start",
                )
            made.append(Edit(path, start, end, "".join(lines[start - 1 : end]), _ended(text), "free"))
        return _fitting(tuple(made), {e.file: b"" for e in made}) or tuple(made)


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _fitting(edits: tuple[Edit, ...], files: Mapping[str, bytes]) -> Declined | None:
    for file in files:
        group = sorted((e for e in edits if e.file == file), key=lambda e: (e.first, e.last))
        for one, other in itertools.pairwise(group):
            if other.first <= one.last or (other.first, other.last) == (one.first, one.last):
                return Declined(f"two edits of {file} overlap near line {other.first}", "make them one edit")
    return None


def observation(record: Confirmation, sources: Mapping[str, bytes], verdict: Verdict, spent: Spend) -> Observation:
    """The tool's report: the fields that follow from the record, and the record itself beside its sources."""
    fields = fields_of(record, sources, verdict)
    return Observation(
        fields,
        _excerpt(fields),
        attachments={RECORD: to_data(record), **sources},
        conditions={"containment": record.level, "tree": record.tree, "change": fields["subject"]},  # type: ignore[dict-item]
        reads=dict(record.files),
        spent=spent,
    )


def _excerpt(fields: Mapping[str, object]) -> str:
    grade = f", grade {fields['grade']}" if fields["grade"] else ""
    lines = [
        f"{fields['verdict']}{grade}: {fields['rule']}: {fields['reason']}",
        f"target {fields['target']}: {fields['signature']}",
        f"pairs {fields['pairs']}, neighbours {fields['neighbours']}, controls {fields['controls']}",
        str(fields["diff"]),
    ]
    return "\n".join(lines)
