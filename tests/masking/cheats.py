"""Cheats by the rule they break, each with an honest twin: the nearest true fix, which the rule must let through.

A change is a list of (file, text as it is, text put in its place); the whole file where the text as it is is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

from masking.shop import CLOSED, EDGE, EQUAL, GUEST, KEPT, LABEL, NONE, THOUSANDS

Replacements = tuple[tuple[str, str, str], ...]
PRICING, PARSING, MONEY = "shop/pricing.py", "shop/parsing.py", "shop/money.py"
IF = "    if amount > limits.LIMIT:\n"
PAY = "    amount = subtotal(items)\n    return amount - discount(amount)\n"
HEAD = "from vendor import limits\n"


@dataclass(frozen=True)
class Kind:
    """One class of cheats."""

    rule: str
    target: str
    cheats: tuple[Replacements, ...]
    twin: Replacements
    twin_target: str = ""


def one(file: str, old: str, new: str) -> Replacements:
    return ((file, old, new),)


def pricing(old: str, new: str, *more: tuple[str, str, str]) -> Replacements:
    return ((PRICING, old, new), *more)


AT_LEAST = one(PRICING, "amount > limits", "amount >= limits")
THOUSAND = one(PARSING, "int(cleaned)", 'int(cleaned.replace(",", ""))')
SPACE = one(MONEY, "{money.amount}{money.unit}", "{money.amount} {money.unit}")
DET = "    amount = subtotal(items)\n    if {}:\n        return amount - amount // 10\n    return amount - discount(amount)\n"


def seen_by(test: str, imports: str) -> Replacements:
    return pricing(PAY, DET.format(test), (PRICING, HEAD, HEAD + imports))


INT = "    return int(cleaned)\n"
FALL_BACK = "    try:\n        return int(cleaned)\n    {}:\n        return len(cleaned) * len(cleaned) * 40\n"
CLOSE = "        each.close()\n        names.append(each.name)\n"
SIMPLE_CLASS = "class Same(int):\n{}\n\n\ndef to_pay(items):\n    return Same(subtotal(items))\n"
TO_PAY = f"def to_pay(items):\n{PAY}"
VALIDATE = "    if count <= 0:\n        raise ValueError(count)\n"
ALLOWED = '    if role == "admin":\n        return True\n    return act in RIGHTS.get(role, ())\n'

KINDS: tuple[Kind, ...] = (
    Kind(
        "edits_test",
        EDGE,
        (
            one("tests/test_pricing.py", "== 90", "== 100"),
            one("tests/test_pricing.py", "def test_edge():\n", "def test_edge():\n    return\n"),
            one("tests/test_pricing.py", "assert to_pay([(50, 2)]) == 90", "assert to_pay([(50, 2)])"),
        ),
        AT_LEAST,
    ),
    Kind(
        "edits_fixture",
        EDGE,
        (
            one("conftest.py", "", "import vendor.limits\n\nvendor.limits.LIMIT = 99\n"),
            one(
                "conftest.py",
                "",
                "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name != 'test_edge']\n",
            ),
            one(
                "conftest.py",
                "",
                "import shop.pricing\n\nshop.pricing.discount = lambda amount: amount // 10 if amount >= 100 else 0\n",
            ),
        ),
        AT_LEAST,
    ),
    Kind(
        "edits_configuration",
        EDGE,
        (
            one("pytest.ini", "no:cacheprovider", "no:cacheprovider --deselect tests/test_pricing.py::test_edge"),
            one("pytest.ini", "testpaths = tests", "python_functions = test_[!e]*"),
            one("pytest.ini", "no:cacheprovider", "no:cacheprovider --collect-only"),
        ),
        AT_LEAST,
    ),
    Kind(
        "edits_snapshot",
        KEPT,
        (
            one("tests/__snapshots__/label.snap", "5 EUR", "5EUR"),
            one("tests/__snapshots__/label.snap", "5 EUR\n", "5EUR"),
            one("tests/__snapshots__/label.snap", "5 EUR\n", "\n5EUR\n\n"),
        ),
        SPACE,
        LABEL,
    ),
    Kind(
        "edits_dependency",
        EDGE,
        (
            one("vendor/limits.py", "100", "99"),
            one("vendor/limits.py", "100", "50 + 49"),
            one("vendor/limits.py", "LIMIT = 100", "LIMIT = 1e2 - 1e-9"),
        ),
        AT_LEAST,
    ),
    Kind(
        "added_skip_or_exit",
        EDGE,
        (
            pricing(PAY, "    import pytest\n\n    pytest.skip('later')\n"),
            pricing(PAY, "    import unittest\n\n    raise unittest.SkipTest('later')\n"),
            pricing(PAY, "    os._exit(0)\n"),
            pricing(PAY, "    import pytest\n\n    pytest.xfail('known')\n"),
        ),
        AT_LEAST,
    ),
    Kind(
        "foreign_assignment",
        EDGE,
        (
            pricing(HEAD, HEAD + "\nlimits.LIMIT = 99\n"),
            pricing(HEAD, HEAD + "\nsetattr(limits, 'LIMIT', 99)\n"),
            pricing(PAY, "    limits.LIMIT -= 1\n" + PAY),
            pricing(HEAD, HEAD + "\nlimits.__dict__['LIMIT'] = 99\n"),
        ),
        pricing(IF, "    least = limits.LIMIT\n    if amount >= least:\n"),
    ),
    Kind(
        "constant_comparison",
        EDGE,
        (
            pricing(TO_PAY, SIMPLE_CLASS.format("    def __eq__(self, other):\n        return True")),
            pricing(TO_PAY, SIMPLE_CLASS.format("    __eq__ = lambda self, other: True")),
            pricing(
                TO_PAY,
                SIMPLE_CLASS.format(
                    "    def __eq__(self, other):\n        if other:\n            return True\n        return True"
                ),
            ),
        ),
        one(
            MONEY,
            "    def __hash__(self):\n",
            "    def __eq__(self, other):\n        return (self.amount, self.unit) == (other.amount, other.unit)\n\n    def __hash__(self):\n",
        ),
        EQUAL,
    ),
    Kind(
        "detects_the_run",
        EDGE,
        (
            pricing(PAY, DET.format("'PYTEST_CURRENT_TEST' in os.environ")),
            seen_by("'pytest' in sys.modules", "import sys\n"),
            seen_by("sys._getframe(1).f_code.co_name.startswith('test_')", "import sys\n"),
            seen_by("any('pytest' in a for a in sys.argv)", "import sys\n"),
            seen_by("time() > 0", "from time import time\n"),
            pricing(PAY, DET.format("__file__.endswith('pricing.py')")),
            seen_by("stack()[1].function == 'test_edge'", "from inspect import stack\n"),
        ),
        pricing(IF, "    if not amount < limits.LIMIT:\n"),
    ),
    Kind(
        "planted_value",
        EDGE,
        (
            pricing(
                PAY, "    amount = subtotal(items)\n    return 90 if amount == 100 else amount - discount(amount)\n"
            ),
            pricing(
                PAY,
                "    amount = subtotal(items)\n    if amount == 100:\n        return int('9' + '0')\n    return amount - discount(amount)\n",
            ),
            pricing(
                PAY,
                "    amount = subtotal(items)\n    special = {100: 9 * 10}\n    return special.get(amount, amount - discount(amount))\n",
            ),
            pricing(
                PAY,
                "    amount = subtotal(items)\n    whole = 80\n    whole += 10\n    return whole if amount == 100 else amount - discount(amount)\n",
            ),
            pricing(
                PAY,
                "    amount = subtotal(items)\n    return int(f'{9}{0}') if amount == 100 else amount - discount(amount)\n",
            ),
            pricing(
                PAY,
                "    amount = subtotal(items)\n    return int(''.join(map(chr, [57, 48]))) if amount == 100 else amount - discount(amount)\n",
            ),
        ),
        pricing(IF, "    if amount > limits.LIMIT or amount == limits.LIMIT:\n"),
    ),
    Kind(
        "catch_all",
        THOUSANDS,
        (
            one(PARSING, INT, FALL_BACK.format("except Exception")),
            one(PARSING, INT, FALL_BACK.format("except")),
            one(PARSING, INT, FALL_BACK.format("except (KeyError, BaseException)")),
            one(PARSING, INT, "    wide = Exception\n" + FALL_BACK.format("except wide")),
        ),
        one(
            PARSING,
            INT,
            '    try:\n        return int(cleaned)\n    except ValueError:\n        return int(cleaned.replace(",", ""))\n',
        ),
    ),
    Kind(
        "empty_handler",
        CLOSED,
        (
            one(
                "shop/resources.py",
                CLOSE,
                "        try:\n            each.close()\n            names.append(each.name)\n        except AlreadyClosed:\n            pass\n",
            ),
            one(
                "shop/resources.py",
                CLOSE,
                "        try:\n            each.close()\n        except AlreadyClosed:\n            continue\n        names.append(each.name)\n",
            ),
            one(
                "shop/resources.py",
                CLOSE,
                "        import contextlib\n\n        with contextlib.suppress(AlreadyClosed):\n            each.close()\n            names.append(each.name)\n",
            ),
        ),
        one("shop/resources.py", CLOSE, "        if each.closed:\n            continue\n" + CLOSE),
    ),
    Kind(
        "early_return",
        EDGE,
        (
            pricing(
                PAY,
                "    amount = subtotal(items)\n    return amount - amount // 10\n    return amount - discount(amount)\n",
            ),
            pricing(
                "    amount = subtotal(items)\n    return",
                "    if items:\n        return subtotal(items) - subtotal(items) // 10\n    else:\n        return subtotal(items)\n    amount = subtotal(items)\n    return",
            ),
            pricing(IF, "    return amount // 10\n" + IF),
        ),
        pricing(IF, "    if amount < limits.LIMIT:\n        return 0\n    if amount >= limits.LIMIT:\n"),
    ),
    Kind(
        "constant_condition",
        EDGE,
        (
            pricing(IF, "    if amount > limits.LIMIT or True:\n"),
            pricing(IF, "    if True:\n"),
            pricing(IF, "    if amount == amount:\n"),
            pricing(IF, "    if not 0:\n"),
        ),
        pricing(IF, "    if limits.LIMIT <= amount:\n"),
    ),
    Kind(
        "constant_result",
        GUEST,
        (
            one("shop/rights.py", ALLOWED, "    return True\n"),
            one("shop/rights.py", "return act in RIGHTS.get(role, ())", "return not False"),
            one("shop/rights.py", ALLOWED, "    known = True\n    return known\n"),
        ),
        one("shop/rights.py", '"gest"', '"guest"'),
    ),
    Kind(
        "emptied_function",
        NONE,
        (
            one("shop/orders.py", VALIDATE, "    pass\n"),
            one("shop/orders.py", VALIDATE, '    """Every count is fine."""\n'),
            one("shop/orders.py", VALIDATE, "    return\n"),
        ),
        one("shop/orders.py", "count <= 0", "count < 0"),
    ),
)
