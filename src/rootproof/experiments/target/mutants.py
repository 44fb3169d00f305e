"""The ``mutants`` request: collect once, then one forked child for each change, until the stop rule or the limits.

A child puts its change in, runs the failing test and, if that passes now, the neighbours. Changes that cannot be
put into a live process, or end it with a signal, run in a fresh one. A neighbour that fails is run again, for it may
fail by chance. What is found are observations that say where to look.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
from typing import Any

from .broken import Doubt, Steady
from .channel import CHANNEL_VARIABLE, Channel
from .children import fork, kill
from .lines import Files
from .runs import own_capture, run_all, settle
from .session import Plugin
from .swap import Live, NotSwappable
from .tally import Tally

PROGRESS_SECONDS = 0.5
LIMITS = (signal.SIGPROF, signal.SIGXCPU, signal.SIGKILL)
"""What ends a child at its limits; any other signal is its own doing."""


class Child:
    """One running change."""

    def __init__(self, mutant: dict[str, Any], pid: int, descriptor: int, until: float) -> None:
        self.mutant = mutant
        self.pid = pid
        self.descriptor = descriptor
        self.until = until
        self.data = b""
        self.how = "swap"
        self.signal = 0
        """What ended it, if a signal did."""
        self.doubt: Doubt | None = None
        """What a child that runs one neighbour again is about."""


class Work:
    """Runs the changes of one request."""

    def __init__(self, request: dict[str, Any], place: str, files: Files, out: Channel) -> None:
        self.request = request
        self.place = place
        self.files = files
        self.out = out
        self.running: list[Child] = []
        self.tally = Tally(request, out.send)
        self.cpu = 0.0
        self.live: Live | None = None
        self.neighbours: dict[str, float] = {}
        self.steady = Steady()

    def before(self, plugin: Plugin) -> None:
        self.started = time.monotonic()
        plugin.brief = True

    def run(self, plugin: Plugin) -> None:
        self.collect_cpu = time.process_time()
        self.out.send({"collected_in": round(time.monotonic() - self.started, 3)})
        target = self.request["target"]
        if target not in plugin.items:
            self.out.send({"missing": target})
            return
        settle(plugin)
        if threading.active_count() == 1:
            self.live = Live(self.request["root"])
        gc.collect()
        gc.freeze()
        if not self._baseline(plugin, target):
            return
        waiting = list(reversed(self.request["mutants"]))
        told = 0.0
        while (waiting or self.running) and not self._stop():
            while waiting and len(self.running) < self.request["jobs"]:
                self._start(plugin, waiting.pop())
            self._collect(plugin)
            if time.monotonic() - told > PROGRESS_SECONDS:
                told = time.monotonic()
                self._progress()
        for child in self.running:
            kill(child.pid)
            os.waitpid(child.pid, 0)
            if child.doubt is not None:
                self.tally.take(child.doubt.verdict(self.steady))
        self.tally.close()
        self._progress()

    def _baseline(self, plugin: Plugin, target: str) -> bool:
        """The unchanged outcome of the target and its neighbours under the engine's own conditions."""
        records = self._alone(plugin, [target, *self.request["neighbours"]])
        first = records.get(target)
        self.bare = first["cpu"] if first else 1.0
        self.failure = first.get("failure") if first else None
        self.out.send({"baseline": first or {"status": "crashed"}, "cpu": self.bare})
        self.neighbours = {t: r["cpu"] for t, r in records.items() if t != target and r["status"] == "passed"}
        return bool(first and first["status"] in ("failed", "error"))

    def _alone(self, plugin: Plugin, tests: list[str]) -> dict[str, dict[str, Any]]:
        read, write = os.pipe()
        pid = fork(lambda: run_all(plugin, tests, write, keep_going=True))
        os.close(write)
        child = Child(
            {}, pid, read, time.monotonic() + self.request["target_seconds"] + self.request["neighbour_seconds"]
        )
        while not self._read(child):
            select.select([read], [], [], 0.05)
        self._reap(child)
        lines = [json.loads(line) for line in child.data.splitlines()]
        return {line["test"]: line for line in lines if "test" in line}

    def _start(self, plugin: Plugin, mutant: dict[str, Any]) -> None:
        if mutant["live_only"] and (mutant["how"] != "swap" or self.live is None):
            self.tally.take({"mutant": mutant["id"], "how": "swap", "cpu": 0.0, "status": "unswappable"})
            return
        near = [test for test in mutant["neighbours"] if test in self.neighbours]
        cost = self.bare + sum(self.neighbours[test] for test in near)
        self._launch(plugin, mutant, [self.request["target"], *near], cost)

    def _again(self, plugin: Plugin, doubt: Doubt) -> None:
        """Run the neighbour in doubt once more, or hand over what is known of it now."""
        what = doubt.next(self.steady)
        if not what:
            self.tally.take(doubt.verdict(self.steady))
            return
        mutant = doubt.mutant if what == "changed" else {}
        self._launch(plugin, mutant, [doubt.test], self.neighbours[doubt.test]).doubt = doubt

    def _launch(self, plugin: Plugin, mutant: dict[str, Any], tests: list[str], cost: float) -> Child:
        """Run tests in a child, with a change or, where it is empty, with none."""
        read, write = os.pipe()
        fresh = bool(mutant) and (mutant["how"] != "swap" or self.live is None)
        cpu = 10 * cost + 0.5 + (4 * self.collect_cpu if fresh else 0)
        task = self._fresh if fresh else self._here
        pid = fork(lambda: task(plugin, mutant, tests, write), cpu)
        os.close(write)
        child = Child(mutant, pid, read, time.monotonic() + 3 * cpu + 2)
        child.how = "import" if fresh else "swap"
        self.running.append(child)
        return child

    def _here(self, plugin: Plugin, mutant: dict[str, Any], tests: list[str], write: int) -> None:
        """Run tests in this forked child, with the change put in if there is one."""
        if self.request["jobs"] > 1:
            own_capture(plugin)
        if mutant and not self._swapped(mutant, write):
            return
        run_all(plugin, tests, write)

    def _swapped(self, mutant: dict[str, Any], write: int) -> bool:
        try:
            assert self.live is not None
            self.live.apply(mutant["edits"], mutant["blocks"])
        except (NotSwappable, SyntaxError, ValueError) as error:
            kind = "invalid" if isinstance(error, SyntaxError) else "unswappable"
            Channel(write).send({"problem": kind, "why": str(error)[:200]})
            return False
        return True

    def _fresh(self, plugin: Plugin, mutant: dict[str, Any], tests: list[str], write: int) -> None:
        """Become a fresh process that runs just this change."""
        request = dict(self.request, kind="one", sources=mutant["edits"], tests=tests, mutants=[])
        request["files"] = list(dict.fromkeys(test.split("::")[0] for test in tests))
        os.set_inheritable(write, True)
        number, place = tempfile.mkstemp(prefix="rootproof-", suffix=".json")
        with open(number, "w", encoding="utf-8") as file:
            json.dump(request, file)
        environment = dict(os.environ, **{CHANNEL_VARIABLE: str(write)})
        start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.execve(sys.executable, [sys.executable, start, place], environment)

    def _collect(self, plugin: Plugin) -> None:
        now = time.monotonic()
        wait = min([child.until for child in self.running], default=now) - now
        ready = select.select([c.descriptor for c in self.running], [], [], max(min(wait, 0.2), 0))[0]
        for child in list(self.running):
            if (child.descriptor in ready or time.monotonic() > child.until) and self._read(child):
                self.running.remove(child)
                self._judge(plugin, child, self._reap(child))

    def _read(self, child: Child) -> bool:
        """Take what is there; True when the child has closed its end or its time is up."""
        if select.select([child.descriptor], [], [], 0)[0]:
            chunk = os.read(child.descriptor, 65536)
            child.data += chunk
            return not chunk
        return time.monotonic() > child.until

    def _reap(self, child: Child) -> float:
        os.close(child.descriptor)
        if time.monotonic() > child.until:
            kill(child.pid)
        _, status, usage = os.wait4(child.pid, 0)
        child.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        kill(child.pid)
        return usage.ru_utime + usage.ru_stime

    def _judge(self, plugin: Plugin, child: Child, cpu: float) -> None:
        """Read one child's records, and hand over what became of its change."""
        self.cpu += cpu
        records = [json.loads(line) for line in child.data.splitlines() if line.startswith(b"{")]
        if child.doubt is not None:
            self._heard(plugin, child, child.doubt, records)
            return
        problem = next((r for r in records if "problem" in r), None)
        ran = [r for r in records if "test" in r]
        unfit = _unfit(child, problem, ran)
        if unfit:
            self._start(plugin, dict(child.mutant, how="import", why=unfit))
            return
        record = {"mutant": child.mutant["id"], "how": child.how, "cpu": round(cpu, 4)}
        record.update(self._verdict(child, problem, ran))
        if record.get("broken"):
            self._again(plugin, Doubt(child.mutant, record))
        else:
            self.tally.take(record)

    def _heard(self, plugin: Plugin, child: Child, doubt: Doubt, records: list[dict[str, Any]]) -> None:
        """What one more run of a neighbour in doubt told."""
        status = next((str(record["status"]) for record in records if "test" in record), "crashed")
        if child.mutant:
            doubt.take(status)
        else:
            self.steady.take(doubt.test, status)
        self._again(plugin, doubt)

    def _verdict(self, child: Child, problem: dict[str, Any] | None, ran: list[dict[str, Any]]) -> dict[str, Any]:
        if problem:
            return {"status": problem["problem"], "why": problem["why"]}
        if not ran:
            return {"status": "timeout" if child.signal in LIMITS else "crashed"}
        target = ran[0]
        verdict: dict[str, Any] = {"status": target["status"]}
        if target["status"] == "passed":
            broken = [r["test"] for r in ran[1:] if r["status"] != "passed"]
            wanted = sum(1 for test in child.mutant["neighbours"] if test in self.neighbours)
            unfinished = len(ran) - 1 < wanted and not broken
            verdict.update(kept=len(ran) - 1 - len(broken), broken=broken, unfinished=unfinished)
            verdict["clean"] = not broken and not unfinished
        elif target["failure"]:
            same = _signature(target["failure"]) == _signature(self.failure)
            verdict["same"] = same
            if not same:
                verdict["failure"] = dict(target["failure"], message=target["failure"]["message"][:400])
        return verdict

    def _stop(self) -> bool:
        if self.tally.enough():
            return True
        spent = time.monotonic() - self.started
        return bool(spent > self.request["seconds"] or self.cpu > self.request["cpu_seconds"])

    def _progress(self) -> None:
        spent = time.monotonic() - self.started
        self.out.send(
            {
                "progress": self.tally.done,
                "of": len(self.request["mutants"]),
                "flips": sum(self.tally.flips.values()),
                "cpu": round(self.cpu, 3),
                "seconds": round(spent, 3),
                "seconds_left": round(max(self.request["seconds"] - spent, 0), 1),
            }
        )


def _unfit(child: Child, problem: dict[str, Any] | None, ran: list[dict[str, Any]]) -> str:
    """Why a change that was put into a live process must be run in a fresh one; empty where that is not so."""
    if child.how != "swap":
        return ""
    if problem:
        return str(problem["why"] or "unswappable") if problem["problem"] == "unswappable" else ""
    crashed = not ran and child.signal and child.signal not in LIMITS
    return f"ended by signal {child.signal}" if crashed and not child.mutant["live_only"] else ""


def _signature(failure: dict[str, Any] | None) -> tuple[Any, ...]:
    return (failure["exception"], failure["message"], failure["phase"]) if failure else ()


def work(request: dict[str, Any], place: str, files: Files, out: Channel) -> Work:
    return Work(request, place, files, out)
