"""What one run of a test is reported as: result fields, a text to read, and the captures. Masked before it is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rootproof.evidence import POSSIBLY_CONTAINMENT
from rootproof.masking import Masks
from rootproof.runners.interface import Session, TestResult
from rootproof.sandbox.interface import Capture, Completed
from rootproof.signature import line
from rootproof.text import visible
from rootproof.tools.interface import Cut
from rootproof.tools.repeats import FAILED, Told
from rootproof.torn import mask_cut, mask_records, torn_bytes

OUTPUT_SHOWN = 3_000
MESSAGE = 4_000


@dataclass(frozen=True)
class Shot:
    """One run as far as it is about the test asked for."""

    completed: Completed
    """With its streams masked."""
    session: Session
    status: str
    results: Sequence[TestResult]
    problem: str = ""
    """Why the status is not the one the session gives."""
    masks: Masks = field(default_factory=Masks)
    """Counts what is masked in the streams and in the result."""

    @property
    def result(self) -> TestResult | None:
        """The one result that the failure's fields speak of."""
        return self.results[0] if len(self.results) == 1 else None

    def told(self) -> Told:
        """What is compared between runs."""
        failed = self.status in FAILED and self.result is not None
        failure = self.result.failure if self.result is not None else None
        signature = visible(self._said(line(failure, self.status))) if failed else ""
        several = tuple((result.id, result.status) for result in self.results) if len(self.results) > 1 else ()
        return Told(self.status, signature, several)

    def cut(self) -> Cut:
        completed = self.completed
        if completed.limit == "time":
            return "timeout"
        return completed.limit or ("crashed" if completed.signal is not None else "")

    def flags(self) -> list[str]:
        flags = list(self.session.flags)
        if self._blocked() and self.status not in ("passed", "xfailed", "skipped"):
            flags.append(POSSIBLY_CONTAINMENT)
        if self.completed.stdout.dropped or self.completed.stderr.dropped:
            flags.append("truncated")
        return flags

    @cached_property
    def fields(self) -> dict[str, object]:
        """The structured result."""
        session, completed = self.session, self.completed
        fields: dict[str, object] = {
            "exit_code": completed.exit_code,
            "signal": completed.signal,
            "limit": completed.limit or "",
            "status": self.status,
            "tests_run": len(session.results),
            "unreported": list(session.unreported[:20]),
            "last_started": session.last_started,
        }
        problem = self.problem or session.problem
        if problem:
            fields["problem"] = visible(self._counted(problem)[:MESSAGE])
        if session.mend:
            fields["mend"] = session.mend
        if len(session.results) > 1:
            fields["outcomes"] = {result.id: result.status for result in session.results[:100]}
        if self._blocked():
            fields["blocked"] = self._blocked()
        return {**fields, **self._failure()}

    def _failure(self) -> dict[str, object]:
        result = self.result
        if result is None:
            return {}
        fields: dict[str, object] = {"executed": result.executed}
        if result.subtests:
            fields["subtests"] = dict(list(result.subtests.items())[:20])
        failure = result.failure
        if failure is None:
            return fields
        message = self._counted(failure.message)[:MESSAGE]
        fields |= {"exception": failure.exception, "message": message, "phase": failure.phase}
        if failure.path:
            fields |= {"path": failure.path, "line": failure.line}
        for name, operand in (("expected", failure.expected), ("actual", failure.actual)):
            if operand is not None:
                value = operand.value
                fields[name] = self._counted(value)[:MESSAGE] if isinstance(value, str) else value
                fields["compared_by"] = operand.by
        return fields

    def _blocked(self) -> list[str]:
        results = self.results or self.session.results
        return [line for result in results for phase in result.phases for line in phase.blocked][:20]

    def _said(self, text: str) -> str:
        return mask_cut(text, Masks(self.masks.secrets))

    def _counted(self, text: str) -> str:
        return mask_cut(text, self.masks)

    def excerpt(self) -> str:
        """What is shown of it."""
        parts = []
        problem = self.problem or self.session.problem
        if problem:
            parts.append(self._said(problem)[:MESSAGE])
        failure = self.result.failure if self.result is not None else None
        if failure is not None:
            parts.append(
                self._said(failure.traceback) or f"{failure.exception}: {self._said(failure.message)[:MESSAGE]}"
            )
        for name, capture in (("stdout", self.completed.stdout), ("stderr", self.completed.stderr)):
            text = capture.text().strip()
            if text:
                shown = text if len(text) <= OUTPUT_SHOWN else f"[...] {text[-OUTPUT_SHOWN:]}"
                parts.append(f"--- {name} ---\n{shown}")
        return visible("\n".join(parts))

    def captures(self) -> dict[str, bytes]:
        """The kept streams."""
        completed = self.completed
        streams = {"stdout": completed.stdout, "stderr": completed.stderr, "channel": completed.channel}
        kept = {name: _kept(capture) for name, capture in streams.items() if capture.total}
        if "channel" in kept:  # whose texts were cut where they were written
            kept["channel"] = mask_records(kept["channel"], Masks(self.masks.secrets))
        return kept


def masked_output(completed: Completed, masks: Masks) -> Completed:
    """The same with its two streams masked; the records stay as they are until they are read."""
    return replace(completed, stdout=masked(completed.stdout, masks), stderr=masked(completed.stderr, masks))


def masked(capture: Capture, masks: Masks) -> Capture:
    """The same without secrets, also without what the dropping of the middle left of one."""
    head, tail = masks.data(capture.head), masks.data(capture.tail)
    if capture.dropped:
        head = torn_bytes(head, masks.secrets, at_end=True)
        tail = torn_bytes(tail, masks.secrets, at_end=False)
    return replace(capture, head=head, tail=tail, total=capture.dropped + len(head) + len(tail))


def _kept(capture: Capture) -> bytes:
    middle = f"\n[... {capture.dropped} bytes dropped ...]\n".encode() if capture.dropped else b""
    return capture.head + middle + capture.tail


def common(every: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The fields that all runs have alike."""
    first = every[0]
    return {name: value for name, value in first.items() if all(name in f and f[name] == value for f in every)}
