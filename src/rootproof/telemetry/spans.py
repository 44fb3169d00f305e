"""Spans and metrics through OpenTelemetry's interface, by the semantic conventions for generative AI.

A run is ``invoke_agent``; below it a span for each step; below that ``chat`` for the model call and ``execute_tool``
for the tool call. The conventions are still in development: names stand in one table here. SDK and exporter are the
user's; without them the interface does nothing.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from opentelemetry import metrics, trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from rootproof.event import (
    Began,
    Blocked,
    Checked,
    Event,
    FinalJudged,
    Interrupted,
    InvalidObservation,
    Known,
    Observed,
    ParseError,
    Rejected,
    Replied,
    Resumed,
    Started,
)
from rootproof.models.choose import PROVIDERS
from rootproof.state import State

NAME = "rootproof"
OPERATION, PROVIDER, MODEL = "gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"
AGENT, CONVERSATION = "gen_ai.agent.name", "gen_ai.conversation.id"
TOOL, TOOL_TYPE, ERROR = "gen_ai.tool.name", "gen_ai.tool.type", "error.type"
FAILED = ("failed", "interrupted")
"""Ends of a run that are shown as errors. Undetermined, blocked and the like are honest ends."""

_NANO = 1_000_000_000


class Instruments:
    """The metrics."""

    def __init__(self) -> None:
        meter = metrics.get_meter(NAME)
        self.model = meter.create_histogram("gen_ai.client.operation.duration", "s", "Time of a model call.")
        self.tool = meter.create_histogram("gen_ai.execute_tool.duration", "s", "Time of a tool call.")
        self.runs = meter.create_counter("rootproof.runs", "{run}", "Runs that ended, by status.")
        self.steps = meter.create_counter("rootproof.steps", "{step}", "Steps, by what came of them.")
        self.tokens = meter.create_counter("rootproof.model.tokens", "{token}", "Tokens of model calls, in and out.")


@cache
def instruments() -> Instruments:
    """Made once a process."""
    return Instruments()


class Spans:
    """Follows the events of one run."""

    def __init__(self, run: str) -> None:
        self.run = run
        self._tracer = trace.get_tracer(NAME)
        self._instruments = instruments()
        self._model: dict[str, Any] = {}
        self._open: dict[str, Span] = {}
        """``run``, ``step`` and ``tool``, each while it is open."""
        self._tool_began = 0

    def __call__(self, state: State, event: Event) -> None:
        match event:
            case Began():
                self._begin(event.model, {"rootproof.contract.digest": event.contract_digest})
            case Resumed():
                self._begin(event.model, {"rootproof.resumed": True})
            case Replied():
                self._replied(state, event)
            case Started():
                self._started(event)
            case Observed() | Rejected() | Interrupted():
                self._tool_ended(event)
        result = _result(event)
        if result:
            self._step_ended(result)
        if state.stopped:
            self._ended(state)

    def _begin(self, model: str, more: Mapping[str, Any]) -> None:
        kind, _, name = model.partition(":")
        self._model = {PROVIDER: kind, **({MODEL: name.partition("@")[0]} if kind in PROVIDERS and name else {})}
        attributes = {OPERATION: "invoke_agent", AGENT: NAME, CONVERSATION: self.run, **self._model, **more}
        self._open["run"] = self._tracer.start_span(f"invoke_agent {NAME}", attributes=attributes)

    def _replied(self, state: State, event: Replied) -> None:
        now, seconds = time.time_ns(), event.usage.seconds
        start = now - int(seconds * _NANO)
        self._open["step"] = self._child("run", f"step {state.step}", {"rootproof.step": state.step}, start)
        attributes = {OPERATION: "chat", CONVERSATION: self.run, **self._model}
        if event.usage.model_tokens:
            attributes["rootproof.model.tokens"] = event.usage.model_tokens
            self._instruments.tokens.add(event.usage.model_tokens, self._model)
        name = f"chat {self._model[MODEL]}" if MODEL in self._model else "chat"
        self._child("step", name, attributes, start, SpanKind.CLIENT).end(now)
        self._instruments.model.record(seconds, {OPERATION: "chat", **self._model})

    def _started(self, event: Started) -> None:
        self._tool_began = time.time_ns()
        attributes = {OPERATION: "execute_tool", TOOL: event.tool, TOOL_TYPE: "function", CONVERSATION: self.run}
        self._open["tool"] = self._child("step", f"execute_tool {event.tool}", attributes, self._tool_began)

    def _tool_ended(self, event: Observed | Rejected | Interrupted) -> None:
        span = self._open.pop("tool", None)
        if span is None:
            return
        problem = event.cut if isinstance(event, Observed) else "declined" if isinstance(event, Rejected) else "lost"
        labels: dict[str, Any] = {OPERATION: "execute_tool"}
        if isinstance(event, Observed):
            labels[TOOL] = event.tool
        if problem:
            labels[ERROR] = problem
            _failed(span, problem)
        span.end()
        self._instruments.tool.record((time.time_ns() - self._tool_began) / _NANO, labels)

    def _step_ended(self, result: str) -> None:
        span = self._open.pop("step", None)
        if span is not None:
            span.set_attribute("rootproof.step.result", result)
            span.end()
        self._instruments.steps.add(1, {"rootproof.step.result": result})

    def _ended(self, state: State) -> None:
        span = self._open.get("run")
        if span is not None:
            span.set_attribute("rootproof.status", state.status)
            span.set_attribute("rootproof.steps", state.step)
            if state.status in FAILED:
                _failed(span, state.status)
        self._instruments.runs.add(1, {"rootproof.status": state.status})
        self.close()

    def close(self, error: str = "") -> None:
        for name in ("tool", "step", "run"):
            span = self._open.pop(name, None)
            if span is not None:
                if error:
                    _failed(span, error)
                span.end()

    def _child(
        self, of: str, name: str, attributes: Mapping[str, Any], start: int, kind: SpanKind = SpanKind.INTERNAL
    ) -> Span:
        parent = self._open.get(of) or self._open.get("run")
        context = trace.set_span_in_context(parent) if parent is not None else None
        return self._tracer.start_span(name, context, kind, dict(attributes), start_time=start)


def _failed(span: Span, why: str) -> None:
    span.set_attribute(ERROR, why)
    span.set_status(Status(StatusCode.ERROR))


def _result(event: Event) -> str:
    """What an event that ends a step made of it; empty for the others. Never a model's words."""
    match event:
        case Checked():
            return "failed" if event.failed else "fact" if event.facts else "no_fact"
        case FinalJudged():
            return "final_accepted" if event.accepted else "final_rejected"
        case ParseError() | Rejected() | Known() | InvalidObservation() | Blocked():
            return event.type
    return ""
