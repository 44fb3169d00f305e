from __future__ import annotations

import json
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from living import lives
from rootproof import protocol
from rootproof.errors import ModelError, ModelUnavailable
from rootproof.models import command, program
from rootproof.models.command import Command
from rootproof.models.interface import View

from .stage import Stage

VIEW = View('{"step": 1, "goal": "h\u00e9"}')


def python(code: str, seconds: float = 20.0) -> Command:
    return Command([sys.executable, "-c", code], seconds)


def alive(pids: list[int]) -> list[int]:
    return list(filter(lives, pids))


def test_it_gets_one_json_line_and_its_output_is_the_message() -> None:
    code = "import sys, json; v = json.loads(sys.stdin.readline()); assert not sys.stdin.read(); print(v['goal'])"
    assert python(code).propose(VIEW).text == "h\u00e9\n"


def test_a_whole_run_by_a_program(tmp_path: Path) -> None:
    code = (
        "import sys, json; v = json.load(sys.stdin); f = v['facts']\n"
        "t = 'run_test' if 'reproduced' not in f else 'read_file'\n"
        "i = {'test': v['tests'][0]} if t == 'run_test' else {'path': v['readable'][0]}\n"
        "print(json.dumps({'type': 'action', 'tool': t, 'input': i} if 'found' not in f else {'type': 'final'}))"
    )
    stage = Stage(tmp_path)
    assert stage.run(python(code)).status == "success"


def test_no_output_is_an_empty_reply() -> None:
    assert python("print()").propose(VIEW).finish == "empty"


def test_a_flood_ends_the_program_and_is_too_large_a_message() -> None:
    reply = python("while True: print('x' * 10000)").propose(VIEW)
    found = protocol.parse(reply.text, reply.finish)
    assert isinstance(found, protocol.Malformed) and found.code == "too_large"


def test_bytes_that_are_no_text_are_a_parse_error() -> None:
    code = r"import sys; sys.stdout.buffer.write(b'{\"type\": \"final\", \"note\": \"\xff\"}')"
    reply = python(code).propose(VIEW)
    assert isinstance(protocol.parse(reply.text, reply.finish), protocol.Malformed)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import sys; sys.exit('no\\x1b[2J key')", "exit status 1; it last said 'no\\\\x1b[2J key'"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
        ("import os; os._exit(3)", "exit status 3"),
    ],
)
def test_another_end_is_out_of_reach_and_says_why(code: str, says: str) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        python(code).propose(VIEW)
    assert says in str(caught.value) and "\x1b" not in str(caught.value)


def test_its_last_words_hide_known_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary-0123456789")
    with pytest.raises(ModelUnavailable) as caught:
        python("import os, sys; sys.exit('bad key ' + os.environ['SOME_API_KEY'])").propose(VIEW)
    assert "canary" not in str(caught.value) and "[masked]" in str(caught.value)


FAMILY = (
    "import os, subprocess, sys, time\n"
    "log = open(sys.argv[1], 'a')\n"
    "for new in (False, True):\n"
    "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=new)\n"
    "    print(child.pid, file=log, flush=True)\n"
    "print(os.getpid(), file=log, flush=True)\n"
)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc to see processes")
@pytest.mark.parametrize(("tail", "seconds"), [("time.sleep(600)", 1.5), ("print('{}')", 20.0)])
def test_nothing_it_started_outlives_the_call(tmp_path: Path, tail: str, seconds: float) -> None:
    model = Command([sys.executable, "-c", FAMILY + tail, str(tmp_path / "pids")], seconds)
    try:
        assert model.propose(VIEW).text == "{}\n"
    except ModelUnavailable as error:
        assert "within 1.5 s" in str(error)
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 3 and not alive(pids)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc to see processes")
def test_ctrl_c_ends_the_whole_tree(tmp_path: Path) -> None:
    model = Command([sys.executable, "-c", FAMILY + "time.sleep(600)", str(tmp_path / "pids")], 60)
    stop = threading.Event()

    def interrupt_once_started() -> None:
        while not stop.wait(0.05):
            if (tmp_path / "pids").exists() and len((tmp_path / "pids").read_text().split()) == 3:
                os.kill(os.getpid(), signal.SIGINT)
                return

    watcher = threading.Thread(target=interrupt_once_started)
    watcher.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.propose(VIEW)
    finally:
        stop.set()
        watcher.join()
    assert not alive([int(line) for line in (tmp_path / "pids").read_text().split()])


def test_a_program_that_does_not_read_its_input_is_no_problem() -> None:
    view = View(json.dumps({"text": "x" * 500_000}))
    assert python("print('{}')").propose(view).text == "{}\n"


def test_no_shell_reads_the_command_line(tmp_path: Path) -> None:
    model = command.from_line(
        f"{sys.executable} -c 'import sys; print(sys.argv[1:])' ';' 'touch {tmp_path}/owned' '$HOME'"
    )
    assert "$HOME" in model.propose(VIEW).text
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("line", ["", "  ", "'open", "/no/such/program", "no-such-program-anywhere x"])
def test_a_bad_command_line_is_an_error_with_a_remedy(line: str) -> None:
    with pytest.raises(ModelError) as caught:
        command.from_line(line)
    assert caught.value.remedy


def test_a_program_that_vanished_is_out_of_reach(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be started"):
        Command([str(tmp_path / "gone")]).propose(VIEW)


def test_exactly_one_way_of_ending_is_set() -> None:
    for argv, seconds in (([sys.executable, "-c", ""], 20.0), (["sleep", "600"], 0.2)):
        ended = program.run(argv, b"", seconds, 10)
        assert sum((ended.exit_code is not None, ended.signal is not None, bool(ended.limit))) == 1
