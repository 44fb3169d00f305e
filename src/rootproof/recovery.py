"""Side effects after a crash, and their undoing: nothing is repeated blindly.

What a process that died had done is asked of the tool, by the idempotency key. Where the tool cannot tell, a person
decides. When a run ends otherwise than in success, compensations are carried out, the latest effect first.
"""

from __future__ import annotations

from rootproof import approval, policy
from rootproof.case import Case
from rootproof.effect import Begun, Undone, UndoStarted, Waiting
from rootproof.event import Blocked, Interrupted, Started
from rootproof.ledger.interface import Entry, Ledger
from rootproof.recording import record
from rootproof.state import State
from rootproof.text import one_line
from rootproof.tools.interface import SideEffectTool, Standing


def look_up(case: Case, state: State, started: Started) -> Entry:
    """What became of a side effect whose end nobody saw: its observation, once more under the same key, or waiting."""
    standing = _standing(case, started.tool, started.key)
    if standing.state == "done" and standing.observation is not None:
        return record(started, standing.observation, (), case.secrets)
    given = state.effects.given or (state.effects.under if standing.state == "absent" else None)
    if given is None or given.request != started.request:
        why = one_line(standing.reason, 200) or f"it is {standing.state}"
        return Entry(Waiting(reason=f"nobody can tell whether {started.tool} was carried out ({why})"))
    verdict = approval.again(case, started)
    if isinstance(verdict, policy.Denied):
        return Entry(Blocked(tool=started.tool[:80], code=verdict.code, reason=verdict.reason))
    expired = approval.ran_out(state.effects, given)
    if expired:
        return Entry(expired)
    absent = standing.state == "absent"
    known = "was not carried out" if absent else f"may begin again, says {given.by}"
    reason = f"{started.tool} was begun and {known}; it runs once more"
    return Entry(Interrupted(reason=reason, resumable=False, absent=absent))


def undo(case: Case, ledger: Ledger, state: State) -> Entry:
    """One turn of undoing: announce the latest effect's compensation, or carry out the one announced."""
    effects = state.effects
    if effects.undoing is None:
        effect = effects.next_undo
        assert effect is not None
        return Entry(UndoStarted(tool=effect.tool, key=effect.key, compensation=_words(case, effect)))
    begun = effects.undoing
    if effects.undoing_epoch != ledger.epoch:
        standing = _standing(case, begun.tool, begun.key)
        if standing.state in ("undone", "unknown"):
            settled = "undone" if standing.state == "undone" else "failed"
            return Entry(_undone(begun, settled, standing.reason or f"found {standing.state} by its key"))
    return Entry(_compensate(case, begun))


def _compensate(case: Case, begun: UndoStarted) -> Undone:
    tool = case.tools.get(begun.tool)
    if not isinstance(tool, SideEffectTool):
        return _undone(begun, "failed", f"there is no tool {begun.tool} that could undo it")
    try:
        result = tool.compensate(begun.key)
    except Exception as error:  # whatever a tool of the user's own raises, the other effects are still undone
        return _undone(begun, "failed", f"{type(error).__name__}: {error}")
    return _undone(begun, "undone" if result.done else "failed", result.reason)


def _standing(case: Case, name: str, key: str) -> Standing:
    tool = case.tools.get(name)
    if not isinstance(tool, SideEffectTool):
        return Standing("unknown", reason=f"there is no tool {name} that could tell")
    try:
        return tool.lookup(key)
    except Exception as error:  # a tool that cannot answer does not know
        return Standing("unknown", reason=f"{type(error).__name__}: {error}")


def _undone(begun: UndoStarted, status: str, reason: str) -> Undone:
    return Undone.model_validate(
        {"tool": begun.tool, "key": begun.key, "status": status, "reason": one_line(reason, 300)}
    )


def _words(case: Case, effect: Begun) -> str:
    tool = case.tools.get(effect.tool)
    return tool.spec.side.compensation if tool else ""
