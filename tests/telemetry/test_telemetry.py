"""Spans, metrics and log lines of a run: there when configured, with nothing of its content, and never in its way."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk import trace as sdk
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gate.reference import DOCUMENT, FINAL, LOGIN, Store, action, policy
from rootproof import assemble
from rootproof.errors import UsageError
from rootproof.telemetry import listening

CONTENT = [
    "return_to",
    "next_path",
    "/settings",
    LOGIN,
    "session",
    "hunter2",
    "Let me look",
    "login-redirect",
    "deploy",
]


@pytest.fixture(scope="module")
def sinks() -> tuple[InMemorySpanExporter, InMemoryMetricReader]:
    """The process has one provider of each kind, as a user's program has."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
    return exporter, reader


@pytest.fixture
def spans(sinks: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    monkeypatch.setenv(listening.TELEMETRY, "otel")
    sinks[0].clear()
    yield sinks[0]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def empty_of_content(text: str) -> None:
    for each in CONTENT:
        assert each not in text, each


def test_a_run_its_steps_and_calls_are_spans_of_the_conventions(store: Store, spans: InMemorySpanExporter) -> None:
    run = store.play(policy)
    found = spans.get_finished_spans()
    by_id = {span.context.span_id: span for span in found}
    names = [span.name for span in found]
    assert names.count("invoke_agent rootproof") == 1 and names.count("chat") == 7
    assert names.count("execute_tool run_test") == 2 and names.count("execute_tool read_file") == 2
    root = next(span for span in found if span.name == "invoke_agent rootproof")
    assert dict(root.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "rootproof",
        "gen_ai.conversation.id": run.outcome.run,
        "gen_ai.provider.name": "scripted",
        "rootproof.contract.digest": run.outcome.contract_digest,
        "rootproof.status": "success",
        "rootproof.steps": 7,
    }
    for span in found:
        kind = span.name.split()[0]
        above = by_id[span.parent.span_id].name.split()[0] if span.parent else ""
        assert above == {"invoke_agent": "", "step": "invoke_agent", "chat": "step", "execute_tool": "step"}[kind]
        assert span.start_time <= span.end_time and span.context.trace_id == root.context.trace_id
    results = [s.attributes["rootproof.step.result"] for s in found if s.name.startswith("step ")]
    assert results == ["parse_error", "fact", "fact", "fact", "fact", "fact", "final_accepted"]
    empty_of_content(" ".join(span.to_json() for span in found))


def test_metrics_count_runs_steps_and_durations(store: Store, spans: InMemorySpanExporter, sinks: Any) -> None:
    store.play(policy)
    data = json.loads(sinks[1].get_metrics_data().to_json())
    found = {
        metric["name"]: metric["data"]["data_points"]
        for scope in data["resource_metrics"][0]["scope_metrics"]
        for metric in scope["metrics"]
    }
    statuses = {point["attributes"]["rootproof.status"] for point in found["rootproof.runs"]}
    assert "success" in statuses and sum(point["value"] for point in found["rootproof.steps"]) >= 7
    assert found["gen_ai.client.operation.duration"][0]["count"] >= 7
    assert {p["attributes"]["gen_ai.tool.name"] for p in found["gen_ai.execute_tool.duration"]} >= {"run_test"}
    empty_of_content(json.dumps(data))


@pytest.mark.parametrize(
    ("say", "status", "result"),
    [
        ([action("deploy", secret="hunter2")], "blocked", "blocked"),
        ([action("read_file", path=".env")], "blocked", "blocked"),
        (["prose with hunter2", "more"], "failed", "parse_error"),
        ([FINAL] * 8, "max_steps", "final_rejected"),
    ],
)
def test_other_ends_are_told_without_what_was_said(
    store: Store, spans: InMemorySpanExporter, say: Any, status: str, result: str
) -> None:
    assert store.play(say).status == status
    found = spans.get_finished_spans()
    root = next(span for span in found if span.name == "invoke_agent rootproof")
    assert root.attributes["rootproof.status"] == status
    assert root.status.is_ok != (status == "failed")
    assert found[-2].attributes["rootproof.step.result"] == result
    empty_of_content(" ".join(span.to_json() for span in found))


def test_what_ends_a_run_from_outside_ends_its_spans_with_the_errors_code(
    store: Store, spans: InMemorySpanExporter
) -> None:
    from rootproof.errors import StoreFull
    from rootproof.models.scripted import Scripted

    def full(state: Any, event: Any) -> None:
        if event.type == "started":
            raise StoreFull("no space")

    from gate.reference import simulated

    options = assemble.Options(store=store.path, model=Scripted(policy), tools=simulated(), listeners=(full,))
    with pytest.raises(StoreFull):
        assemble.run(store.load(DOCUMENT), options)
    last = {span.name.split()[0]: span for span in spans.get_finished_spans()}
    for name in ("execute_tool", "step", "invoke_agent"):
        assert last[name].attributes["error.type"] == "store_full"


def test_an_exporter_that_fails_changes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("gone")

    monkeypatch.setenv(listening.LOG, "json")
    monkeypatch.setattr(sys, "stderr", Broken())
    assert store.play(policy).status == "success"


def test_log_lines_have_names_and_numbers_only(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(listening.LOG, "json")
    run = store.play(policy)
    store.play([action("deploy", secret="hunter2")])
    said = capsys.readouterr().err
    lines = [json.loads(line) for line in said.splitlines()]
    first = [line for line in lines if line["run"] == run.outcome.run]
    assert [line["event"] for line in first] == [*(one.event.type for one in run.stored), "end"]
    assert first[-1]["status"] == "success" and {"time", "seq", "step"} <= set(first[0])
    empty_of_content(said)


def test_it_is_off_unless_configured_and_a_wrong_word_is_named(
    store: Store, sinks: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(listening.TELEMETRY, raising=False)
    monkeypatch.delenv(listening.LOG, raising=False)
    sinks[0].clear()
    store.play(policy)
    assert sinks[0].get_finished_spans() == () and capsys.readouterr().err == ""
    monkeypatch.setenv(listening.TELEMETRY, "everything")
    with pytest.raises(UsageError, match="ROOTPROOF_TELEMETRY is otel or off"):
        store.play(policy)


def test_without_it_nothing_of_opentelemetry_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom gate.reference import Store\nfrom pathlib import Path\n"
        f"Store(Path({str(tmp_path)!r})).play()\nassert 'opentelemetry' not in sys.modules\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    environment.pop(listening.TELEMETRY, None)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
