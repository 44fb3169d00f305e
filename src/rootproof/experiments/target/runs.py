"""What a child of a search runs: tests in their order, each told as it ends; and a fresh process for one change."""

from __future__ import annotations

import time
from typing import Any

from .channel import Channel
from .lines import Files
from .session import Plugin


class One:
    """Runs the tests of one change in this fresh process."""

    def __init__(self, request: dict[str, Any], out: Channel) -> None:
        self.request = request
        self.out = out

    def before(self, plugin: Plugin) -> None:
        plugin.brief = True

    def run(self, plugin: Plugin) -> None:
        tests = [test for test in self.request["tests"] if test in plugin.items]
        run_all(plugin, tests, self.out.descriptor)


def run_all(plugin: Plugin, tests: list[str], write: int, keep_going: bool = False) -> None:
    """The target first, alone; then the neighbours if it passed, up to the first that does not."""
    channel = Channel(write)
    items = [plugin.items[test] for test in tests if test in plugin.items]
    for index, item in enumerate(items):
        before = time.process_time()
        following = items[index + 1] if 0 < index < len(items) - 1 else None
        outcome = plugin.run(item, following)
        channel.send(dict(outcome.record(), cpu=time.process_time() - before))
        if outcome.status != "passed" and not keep_going:
            return


def own_capture(plugin: Plugin) -> None:
    """Children that run side by side must not share the file that pytest captures output in."""
    item = next(iter(plugin.items.values()))
    capture = item.config.pluginmanager.getplugin("capturemanager")
    if capture is not None:
        capture.stop_global_capturing()
        capture.start_global_capturing()


def settle(plugin: Plugin) -> None:
    """Make the folder for temporary files once, here, so that children do not each make and clean one."""
    item = next(iter(plugin.items.values()))
    factory = getattr(item.config, "_tmp_path_factory", None)
    if factory is not None:
        try:
            factory.getbasetemp()
        except (OSError, RuntimeError, ValueError):
            pass


def one(request: dict[str, Any], place: str, files: Files, out: Channel) -> One:
    return One(request, out)
