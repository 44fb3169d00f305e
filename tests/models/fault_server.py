"""A real HTTP server on this machine that speaks the OpenAI and the Anthropic wire format, and fails on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Behaviour = Literal["", "silence", "cut", "close", "flood", "drip"]


@dataclass(frozen=True)
class Answer:
    """One scripted HTTP answer."""

    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    does: Behaviour = ""


def openai(content: str | None, finish: str = "stop", tokens: int = 30, **message: Any) -> Answer:
    """A chat completion."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
        "usage": {"prompt_tokens": tokens - 10, "completion_tokens": 10, "total_tokens": tokens},
    }
    return Answer(body=json.dumps(body))


def anthropic(*content: dict[str, Any], stop: str = "end_turn") -> Answer:
    """A message."""
    body = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 20, "output_tokens": 10},
    }
    return Answer(body=json.dumps(body))


def anthropic_call(message: dict[str, Any], name: str = "reply") -> dict[str, Any]:
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": message}


def error(status: int, code: str, **headers: str) -> Answer:
    body = {"type": "error", "error": {"type": code, "code": code, "message": f"the server says {code}"}}
    return Answer(status, json.dumps(body), {name.replace("_", "-"): value for name, value in headers.items()})


class Server:
    """The running server: what it was asked, and what it will answer."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.done = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                outer.asked.append(json.loads(self.rfile.read(length)))
                outer.keys.append(self.headers.get("authorization") or self.headers.get("x-api-key") or "")
                answer = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                outer.send(self, answer)

            def log_message(self, *arguments: Any) -> None:
                return

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def will(self, *answers: Answer) -> None:
        """What to answer, in order; the last one again and again."""
        self.answers = list(answers)
        self.asked.clear()

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.close_connection = True
        if answer.does == "close":
            return
        if answer.does == "silence":
            self.done.wait(20)
            return
        body = answer.body.encode()
        handler.send_response(answer.status)
        headers = {"Content-Type": "application/json", **answer.headers}
        if answer.does in ("flood", "drip"):
            headers["Connection"] = "close"
        else:
            headers["Content-Length"] = str(len(body) + (100 if answer.does == "cut" else 0))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        self._write(handler, body, answer.does)

    def _write(self, handler: BaseHTTPRequestHandler, body: bytes, does: Behaviour) -> None:
        try:
            if does == "drip":
                while not self.done.wait(0.05):
                    handler.wfile.write(b" ")
            elif does == "flood":
                for _ in range(400):
                    handler.wfile.write(b" " * 65536)
            else:
                handler.wfile.write(body)
        except OSError:
            return

    def stop(self) -> None:
        self.done.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def serving() -> Iterator[Server]:
    server = Server()
    try:
        yield server
    finally:
        server.stop()
