"""A small investigation that needs no test run: two files are read, two values captured, the answer is made of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTRACT = """schema = "rootproof/contract/1"
goal = "Find out which key is written and which is read."

[scope]
read = ["writer.txt", "reader.txt"]

[budget]
max_steps = 8

[tools.read_file]

[[evidence]]
id = "writer"
tool = "read_file"
where = { path = "writer.txt" }
capture = 'writes (?P<written>[a-z_0-9]+)'

[[evidence]]
id = "reader"
tool = "read_file"
where = { path = "reader.txt" }
capture = 'reads (?P<read>[a-z_0-9]+)'

[completion]
all = ["writer", "reader", "written != read"]

[answer]
template = "{{ written }} is written, {{ read }} is read."
"""
MODEL = """import time

def propose(view):
    time.sleep(SECONDS)
    seen = " ".join(str(entry) for entry in view["facts"]["files_read"])
    for path in ("writer.txt", "reader.txt"):
        if path not in seen:
            return {"type": "action", "tool": "read_file", "input": {"path": path}}
    return {"type": "final"}
"""


@dataclass(frozen=True)
class Ground:
    """A folder with a model, repositories and a jobs file."""

    folder: Path

    @property
    def model(self) -> str:
        return f"scripted:{self.folder / 'model.py'}"

    @property
    def jobs(self) -> Path:
        return self.folder / "jobs.jsonl"

    @property
    def store(self) -> Path:
        return self.folder / "store" / "runs.sqlite3"

    def repository(self, name: str, written: str = "return_to", read: str = "next_path") -> Path:
        place = self.folder / name
        place.mkdir(exist_ok=True)
        (place / "contract.toml").write_text(CONTRACT)
        (place / "writer.txt").write_text(f"the entry writes {written}\n")
        (place / "reader.txt").write_text(f"the callback reads {read}\n")
        return place

    def give(self, jobs: Sequence[dict[str, Any]]) -> Path:
        self.jobs.write_text("".join(json.dumps(job) + "\n" for job in jobs))
        return self.jobs


def ground(folder: Path, count: int, repositories: int = 4, seconds: float = 0.0) -> Ground:
    """So many jobs over a few repositories, each of which has an answer of its own; each message takes so long."""
    folder.mkdir(exist_ok=True)
    made = Ground(folder)
    (folder / "model.py").write_text(MODEL.replace("SECONDS", str(seconds)))
    for number in range(repositories):
        made.repository(f"repo{number}", f"return_{number}")
    made.give([{"contract": f"repo{n % repositories}/contract.toml", "id": f"job-{n}"} for n in range(count)])
    return made


def program(*words: object, **settings: Any) -> subprocess.Popen[str]:
    """``python -m rootproof`` in a process of its own."""
    command = [sys.executable, "-m", "rootproof", *map(str, words)]
    kept = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **settings}
    return subprocess.Popen(command, **kept)
