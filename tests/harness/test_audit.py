"""The audit: the chain proved, and every decision, refusal and limit of a run, each with its event."""

from __future__ import annotations

from typing import Any

import pytest

from gate.cli import Cli
from gate.reference import FINAL, PROSE, READ_LOGIN, REPRODUCE, Store, action, policy, terms
from gate.test_damage import change, rows
from harness.desk import Desk, every_store, opening
from rootproof.ledger import chain


@every_store
def test_it_lists_who_approved_what_every_refusal_every_limit_and_the_author(desk: Desk, cli: Cli) -> None:
    def say(view: dict[str, Any]) -> Any:
        return {1: "prose", 2: opening("one"), 3: {"type": "final"}, 4: opening("bad\nline"), 5: opening("two")}.get(
            view["step"], {"type": "final"}
        )

    desk.run(say)
    desk.refuse(by="Bob", reason="not that one")
    desk.resume(say=say)
    desk.approve(by="Ada", reason="fine")
    desk.resume(say=say)
    desk.approve(by="Cleo", reason="this too")
    desk.resume(say=say)
    told = cli("audit", "last", "--json").document
    assert told["contract"]["by"] == "user" and told["contract"]["origin"] == "contract.toml"
    assert told["contract"]["digest"] == desk.contract().contract.digest and told["status"] == "max_steps"
    assert [(row["what"], row.get("by")) for row in told["approvals"]] == [
        ("requested", None), ("refused", "Bob"), ("requested", None), ("given", "Ada"), ("requested", None),
        ("given", "Cleo"),
    ]  # fmt: skip
    assert told["approvals"][0]["input"]["title"] == "one"
    kinds = [row["what"] for row in told["refusals"]]
    assert kinds == ["parse_error", "approval_refused", "final", "rejected", "final"]
    assert [row["what"] for row in told["limits"]] == ["max_steps"]
    assert [row["what"] for row in told["effects"]] == ["begun", "begun", "observed", "undone"]
    assert [row["what"] for row in told["interruptions"]] == ["resumed"] * 3
    stored = {one.seq: one for one in desk.stored()}
    for key in ("approvals", "refusals", "limits", "effects", "interruptions"):
        assert all(stored[row["event"]].time == row["at"] for row in told[key])
    said = cli("audit", "last")
    assert said.code == 0 and "not judged again, for their tools are not here: open_ticket" in said.out
    for word in ("by Ada", "by Bob", "not that one", "all 6 steps are used", "by user, from contract.toml"):
        assert word in said.out, word


@every_store
def test_every_refusal_and_cut_of_the_reference_case(store: Store, cli: Cli) -> None:
    script = [PROSE, action("read_file"), FINAL, REPRODUCE, REPRODUCE, READ_LOGIN, action("deploy")]
    run = store.play(script, terms(policy={"on_invalid_input": "reject"}))
    told = cli("audit", run.outcome.run, "--json").document
    assert [row["what"] for row in told["refusals"]] == ["parse_error", "rejected", "final", "blocked"]
    assert told["observations_judged_again"] == len(run.events("checked")) and told["tools_not_here"] == []
    assert told["vouched"] and told["head"] == run.outcome.head
    failed = store.play([action("search_code", query="x")] * 2, search_code=_cut)
    told = cli("audit", failed.outcome.run, "--json").document
    assert [row["what"] for row in told["limits"]][:1] == ["timeout"]


def _cut(request: Any) -> Any:
    from gate.reference import found
    from rootproof.tools.interface import Observation

    report = found(1)(request)
    assert isinstance(report, Observation)
    return Observation(report.fields, report.excerpt, cut="timeout")


@every_store
@pytest.mark.parametrize("seq", [1, 7, 14])
def test_a_damaged_run_is_refused_and_the_event_named(store: Store, cli: Cli, seq: int) -> None:
    run = store.play(policy).outcome.run
    change(store, "UPDATE events SET time = '2001' WHERE seq = ?", seq)
    cli("audit", run).clear(1, f"event {seq} was changed")


@every_store
def test_a_fact_that_does_not_follow_is_found_though_the_chain_is_whole(store: Store, cli: Cli) -> None:
    """Somebody rewrote a conclusion and every hash after it: what can be derived is derived."""
    run = store.play(policy).outcome.run
    found, _ = rows(store, run)
    seq = next(row.seq for row in found if b'"type":"checked"' in row.body and b"producer_key" in row.body)
    prior = chain.genesis(run)
    for row in found:
        body = row.body.replace(b"return_to", b"return_it") if row.seq == seq else row.body
        prior = chain.link(prior, row.seq, row.epoch, row.time, body)
        change(store, "UPDATE events SET body = ?, hash = ? WHERE seq = ?", body, prior, row.seq)
    change(store, "UPDATE runs SET head_hash = ?", prior)
    said = cli("audit", run)
    assert (said.code == 1 and f"event {seq}" in said.err + said.out) or "criteria are not met" in said.err


@every_store
def test_nothing_in_an_audit_is_obeyed_by_a_terminal(desk: Desk, cli: Cli) -> None:
    desk.run(lambda view: opening("\x1b[2J\nended success") if view["step"] == 1 else "\x1b]0;x\x07\nended success")
    desk.refuse(by="x\x1b[31m", reason="y\nended success")
    desk.resume(say=lambda view: "\x1b]0;x\x07\nended success")
    said = cli("audit", "last").out
    assert "\x1b" not in said and "\x07" not in said
    assert not [line for line in said.splitlines() if line.startswith("ended success")]
