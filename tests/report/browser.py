"""A headless Chromium that says what a page did: which requests it made, what its console told, how wide it became.

Spoken to over a pipe in its own protocol, with nothing but the standard library.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
SHOTS = Path(__file__).parents[2] / "build" / "report-pages"
"""Screenshots of the last run, for a person to look at; ignored by git."""
PATIENCE = 120.0
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
)  # fmt: skip


@dataclass
class Shown:
    """What one page did."""

    requests: list[str] = field(default_factory=list)
    """Every address asked for, the page itself included."""
    console: list[str] = field(default_factory=list)
    """Every message of the console, and every error."""
    overflow: int = 0
    """Pixels by which the page is wider than its window."""


class Chromium:
    """One running browser."""

    def __init__(self, to: int, answers: int) -> None:
        self._to, self._answers, self._number, self._buffer = to, answers, 0, b""
        self.session = ""
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **given: Any) -> dict[str, Any]:
        """Ask for something and wait for the answer; what happened meanwhile is kept in ``events``."""
        self._number += 1
        said = {"id": self._number, "method": method, "params": given}
        if self.session:
            said["sessionId"] = self.session
        os.write(self._to, json.dumps(said).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self._number:
                assert "error" not in message, (method, message["error"])
                return dict(message["result"])
            self.events.append(message)

    def wait_for(self, method: str) -> None:
        """Wait until an event has happened."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(end - time.monotonic(), 0))
            assert ready, "chromium does not answer"
            part = os.read(self._answers, 1 << 20)
            assert part, "chromium has ended"
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(text))

    def show(self, page: Path, shot: str, width: int = 1000, scheme: str = "light") -> Shown:
        """Open a page in a window of one width, dark or light, and keep a picture of all of it."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{part}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri())
        self.wait_for("Page.loadEventFired")
        wide = self.call(
            "Runtime.evaluate", expression="document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        self._keep(shot)
        shown = Shown(overflow=int(wide["result"]["value"]))
        for event in self.events:
            _noted(shown, event)
        self.call("Target.closeTarget", targetId=target)
        self.session = ""
        return shown

    def _keep(self, shot: str) -> None:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12_000), "scale": 1}
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        SHOTS.mkdir(parents=True, exist_ok=True)
        (SHOTS / f"{shot}.png").write_bytes(base64.b64decode(picture))


def _noted(shown: Shown, event: dict[str, Any]) -> None:
    method, said = event.get("method"), event.get("params", {})
    if method == "Network.requestWillBeSent":
        shown.requests.append(said["request"]["url"])
    elif method == "Log.entryAdded":
        shown.console.append(f"{said['entry']['level']}: {said['entry']['text']}")
    elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Page.javascriptDialogOpening"):
        shown.console.append(json.dumps(said)[:400])


@contextmanager
def chromium(folder: Path) -> Iterator[Chromium]:
    """A browser with a profile of its own in a folder, ended afterwards."""
    (reads, to), (answers, writes) = os.pipe(), os.pipe()
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20) for descriptor in (reads, writes)]
    start = ["bash", "-c", f'exec "$@" 3<&{high[0]} 4>&{high[1]}', "bash", CHROMIUM, *FLAGS]
    process = subprocess.Popen(
        [*start, f"--user-data-dir={folder}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=high
    )
    for descriptor in (reads, writes, *high):
        os.close(descriptor)
    browser = Chromium(to, answers)
    try:
        yield browser
        browser.session = ""
        browser.call("Browser.close")
        process.wait(30)
    finally:
        process.kill()
        process.wait()
        os.close(to)
        os.close(answers)
