"""The private result channel: one JSON object a line, written whole or not at all."""

from __future__ import annotations

import json
import os
from typing import Any

CHANNEL_VARIABLE = "ROOTPROOF_CHANNEL_FD"


class Channel:
    """Writes records to one descriptor. A channel whose other end is gone drops them."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def send(self, record: dict[str, Any]) -> None:
        data = json.dumps(record, separators=(",", ":"), default=str).encode("ascii") + b"\n"
        try:
            while data:
                data = data[os.write(self.descriptor, data) :]
        except OSError:
            pass


def inherited() -> Channel:
    """The channel this process was started with. It is kept off the programs that tests start."""
    descriptor = int(os.environ.pop(CHANNEL_VARIABLE))
    os.set_inheritable(descriptor, False)
    return Channel(descriptor)
