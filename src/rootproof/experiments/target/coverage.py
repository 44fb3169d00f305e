"""The ``trace`` request: the targets told in full, then lines per test and phase over many tests.

Both happen in children of the process that collected, so that a crash or a hang of one costs the others nothing
and a target cannot disturb its neighbours.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from .channel import Channel
from .children import in_child
from .lines import Blocks, Files, collector
from .session import Plugin
from .story import Story


class Work:
    """Collect under a line collector, tell the targets, then run the others."""

    def __init__(self, request: dict[str, Any], files: Files, out: Channel) -> None:
        self.request = request
        self.files = files
        self.out = out
        self.blocks = Blocks(files, out.send)
        self.lines = collector(files)

    def before(self, plugin: Plugin) -> None:
        self.lines.start()

    def run(self, plugin: Plugin) -> None:
        self.lines.stop()
        self.out.send({"import": self.blocks.numbers(self.lines.take())})
        self.out.send({"tests": list(plugin.items)})
        for test in self.request["targets"]:
            if test in plugin.items:
                in_child(partial(self.bare, plugin, test), self.request["target_seconds"])
                in_child(partial(self.tell, plugin, test), self.request["target_seconds"])
            else:
                self.out.send({"missing": test})
        if self.request["tests"]:
            in_child(lambda: self.many(plugin), self.request["seconds"] + 5)

    def tell(self, plugin: Plugin, test: str) -> None:
        """One run told in full; tracing ends at half its time so that the rest of the run still fits."""
        story = Story(self.files, self.request["target_seconds"] / 2)

        def around(phase: str, begins: bool) -> None:
            if begins:
                story.phase = phase
                story.start()
            else:
                story.stop()

        plugin.around = around
        outcome = plugin.run(plugin.items[test])
        self.out.send({"story": test, "outcome": outcome.record(), **story.record()})

    def bare(self, plugin: Plugin, test: str) -> None:
        """One run without a tracer: its outcome and its cost."""
        before = time.process_time()
        outcome = plugin.run(plugin.items[test])
        self.out.send({"bare": test, "cpu": time.process_time() - before, "outcome": outcome.record()})

    def many(self, plugin: Plugin) -> None:
        """The requested tests in the order asked for, until their time is used up.

        Only a pass that came to its end says ``whole``: a test may end the process, or its time may be up.
        """
        until = time.monotonic() + self.request["seconds"]
        lines = collector(self.files)
        phases: dict[str, list[int]] = {}

        def around(phase: str, begins: bool) -> None:
            if begins:
                lines.take()
                lines.start()
            else:
                lines.stop()
                phases[phase] = self.blocks.numbers(lines.take())

        plugin.around = around
        chosen = nearest(plugin.items, self.request)
        for index, item in enumerate(chosen):
            if time.monotonic() > until:
                self.out.send({"cut": len(chosen) - index})
                return
            phases.clear()
            before = time.process_time()
            outcome = plugin.run(item, chosen[index + 1] if index + 1 < len(chosen) else None)
            cpu = round(time.process_time() - before, 4)
            self.out.send({"ran": item.nodeid, "status": outcome.status, "cpu": cpu, "lines": dict(phases)})
        self.out.send({"whole": len(chosen)})


def nearest(items: dict[str, Any], request: dict[str, Any]) -> list[Any]:
    """At most ``most`` of the requested tests: all the targets; those that are a target's with other parameters; then,
    in equal shares, those that come first by the order of the request's files and every n-th of what is left.
    They keep the order they were collected in."""
    place = {test: number for number, test in reversed(list(enumerate(request["tests"])))}
    chosen = [test for test in items if test in place or test.split("::")[0] in place]
    most = request["most"]
    if len(chosen) > most:
        own = [test for test in chosen if test in request["targets"]]
        bodies = {test.split("[")[0] for test in request["targets"]}
        close = [test for test in chosen if test.split("[")[0] in bodies and test not in own][: most // 4]
        taken = {*own, *close}
        rest = [test for test in chosen if test not in taken]
        rest.sort(key=lambda test: place[test] if test in place else place[test.split("::")[0]])
        first, rest = rest[: (most - len(taken)) // 2], rest[(most - len(taken)) // 2 :]
        taken.update(first)
        step = max(len(rest) / max(most - len(taken), 1), 1.0)
        taken.update(rest[int(index * step)] for index in range(int(len(rest) / step)))
        chosen = [test for test in chosen if test in taken][:most]
    return [items[test] for test in chosen]


def work(request: dict[str, Any], place: str, files: Files, out: Channel) -> Work:
    return Work(request, files, out)
