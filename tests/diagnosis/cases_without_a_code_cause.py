"""Small projects whose red test no code under test is to blame for, made from a seed: names and numbers differ."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Files = dict[str, str]
WORDS = ("basket", "ticket", "parcel", "ledger", "rowing", "harbour", "lantern", "orchard")


@dataclass(frozen=True)
class Made:
    """One project with its red test."""

    files: Mapping[str, str]
    target: str
    kind: str
    """The kind of conclusion that is right; ``none``: an honest undetermined is."""


def _project(name: str, source: str, test: str) -> Files:
    plain = f"""
        from {name} import double


        def test_double():
            assert double(4) == 8


        def test_double_of_nothing():
            assert double(0) == 0
        """
    return {
        "pytest.ini": "[pytest]\n",
        f"{name}.py": f"def double(value):\n    return value + value\n\n\n{source}",
        "test_plain.py": plain,
        "test_case.py": test,
    }


def race(rng: random.Random) -> Made:
    name, number = rng.choice(WORDS), rng.randint(3, 9)
    source = """import os


def claim(owners):
    pipe = os.pipe()
    first = os.fork()
    if first == 0:
        os.write(pipe[1], b"a")
        os._exit(0)
    second = os.fork()
    if second == 0:
        os.write(pipe[1], b"b")
        os._exit(0)
    os.waitpid(first, 0)
    os.waitpid(second, 0)
    told = os.read(pipe[0], 2)
    owners.append(told.decode())
    return owners[0][0] if int.from_bytes(os.urandom(1), "big") % 2 else "b"
"""
    test = f"""
        from {name} import claim


        def test_who_comes_first():
            assert claim([]) == "a", "{number}"
        """
    return Made(_project(name, source, test), "test_case.py::test_who_comes_first", "flaky")


def chance(rng: random.Random) -> Made:
    name, share = rng.choice(WORDS), rng.choice([0.4, 0.5, 0.6])
    source = f"""import random


def lucky():
    return random.SystemRandom().random() > {share}
"""
    test = f"""
        from {name} import lucky


        def test_luck():
            assert lucky()
        """
    return Made(_project(name, source, test), "test_case.py::test_luck", "flaky")


def order(rng: random.Random) -> Made:
    name, count = rng.choice(WORDS), rng.randint(2, 5)
    source = "SEEN = []\n\n\ndef note(value):\n    SEEN.append(value)\n    return len(SEEN)\n"
    others = "".join(
        f"\n\n        def test_other_{n}():\n            assert {n} + 1 == {n + 1}\n" for n in range(count)
    )
    test = f"""
        from {name} import SEEN, note

        {others}

        def test_that_leaves_something():
            assert note({count}) > 0


        def test_nothing_seen_yet():
            assert SEEN == []
            assert note(1) == 1
        """
    return Made(_project(name, source, test), "test_case.py::test_nothing_seen_yet", "order")


def zone(rng: random.Random) -> Made:
    name, hours = rng.choice(WORDS), rng.choice([9, 9, 9])
    source = """import time


def hour_of(moment):
    return time.localtime(moment).tm_hour
"""
    test = f"""
        from {name} import hour_of


        def test_hour():
            assert hour_of({rng.randint(1, 300) * 86400}) == {hours}
        """
    return Made(_project(name, source, test), "test_case.py::test_hour", "environment")


def language(rng: random.Random) -> Made:
    name, word = rng.choice(WORDS), rng.choice(["guten Tag", "hallo", "moin"])
    source = f"""import os


def greeting():
    tongue = os.environ.get("LANG", "C").split("_")[0]
    return {{"de": "{word}", "en": "hello"}}.get(tongue, "?")
"""
    test = f"""
        from {name} import greeting


        def test_greeting():
            assert greeting() == "{word}"
        """
    return Made(_project(name, source, test), "test_case.py::test_greeting", "environment")


def seed(rng: random.Random) -> Made:
    name = rng.choice(WORDS)
    first, second = rng.sample(WORDS, 2)
    source = f"""def pick():
    return next(iter({{"{first}", "{second}"}}))
"""
    test = f"""
        from {name} import pick


        def test_pick():
            assert pick() == "{first}"
        """
    return Made(_project(name, source, test), "test_case.py::test_pick", "environment")


def variable(rng: random.Random) -> Made:
    name, key = rng.choice(WORDS), rng.choice(["SHOP_MODE", "API_LEVEL", "STAGE_NUMBER"])
    source = f"""import os


def mode():
    return os.environ["{key}"]
"""
    test = f"""
        from {name} import mode


        def test_mode():
            assert mode() == "1"
        """
    return Made(_project(name, source, test), "test_case.py::test_mode", "environment")


def service(rng: random.Random) -> Made:
    name, port = rng.choice(WORDS), rng.randint(20_000, 30_000)
    source = f"""import socket


def ask(text):
    with socket.create_connection(("127.0.0.1", {port}), timeout=5) as line:
        line.sendall(text.encode())
        return line.recv(100).decode()
"""
    test = f"""
        from {name} import ask


        def test_answer():
            assert ask("status") == "ready"
        """
    return Made(_project(name, source, test), "test_case.py::test_answer", "none")


def wrong_test(rng: random.Random) -> Made:
    name, number = rng.choice(WORDS), rng.randint(20, 90)
    source = f"def price(count):\n    return count * {number}\n"
    test = f"""
        from {name} import price


        def test_price_of_two():
            assert price(2) == {2 * number + 7}


        def test_price_of_one():
            assert price(1) == {number}


        def test_price_of_four():
            assert price(4) == {4 * number}


        def test_price_of_three():
            assert price(3) == {3 * number}
        """
    return Made(_project(name, source, test), "test_case.py::test_price_of_two", "none")


MAKERS: Mapping[str, Callable[[random.Random], Made]] = {
    "flaky: race": race,
    "flaky: chance": chance,
    "order": order,
    "environment: zone": zone,
    "environment: language": language,
    "environment: seed": seed,
    "environment: variable": variable,
    "needs a service": service,
    "wrong test": wrong_test,
}
