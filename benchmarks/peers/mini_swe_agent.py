"""mini-swe-agent over the same steps: a scripted model, and an environment that answers with the same 2 KB.

Run by ``controller.py`` in an environment of its own: STEPS → one JSON line.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time

os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
os.environ["MSWEA_GLOBAL_CONFIG_DIR"] = tempfile.mkdtemp()

from minisweagent.agents.default import DefaultAgent


def characters(messages: list[dict]) -> int:
    return sum(len(str(message.get("content", ""))) for message in messages)


class Model:
    """Asks for one part after another; counts what it is sent."""

    def __init__(self) -> None:
        self.config = None
        self.cost, self.n_calls, self.sent = 0.0, 0, 0
        self.moments: list[float] = []

    def query(self, messages: list[dict], **_: object) -> dict:
        self.moments.append(time.process_time())
        self.sent += characters(messages)
        self.n_calls += 1
        action = {"command": f"look {self.n_calls}"}
        content = f"look at {self.n_calls}\n```mswea_bash_command\nlook {self.n_calls}\n```"
        extra = {"actions": [action], "cost": 0.0, "response": {}, "timestamp": 0}
        return {"role": "assistant", "content": content, "extra": extra}

    def format_message(self, **fields: object) -> dict:
        return dict(fields)

    def format_observation_messages(self, message: dict, outputs: list[dict], *_: object, **__: object) -> list[dict]:
        return [{"role": "user", "content": output["output"], "extra": {}} for output in outputs]

    def get_template_vars(self, **_: object) -> dict:
        return {}

    def serialize(self) -> dict:
        return {}


class Environment:
    config = None

    def execute(self, action: object, cwd: str = "", **_: object) -> dict:
        return {"output": "x" * 2048, "returncode": 0, "exception_info": ""}

    def get_template_vars(self, **_: object) -> dict:
        return {}

    def serialize(self) -> dict:
        return {}


def main() -> None:
    steps = int(sys.argv[1])
    model = Model()
    agent = DefaultAgent(
        model, Environment(), system_template="s", instance_template="{{task}}", step_limit=steps, cost_limit=0.0
    )
    start = time.process_time()
    agent.run("look at every part")
    end = time.process_time()
    print(json.dumps({"steps": model.n_calls, "cpu_s": end - start, "characters": model.sent, "store": None}))


if __name__ == "__main__":
    main()
