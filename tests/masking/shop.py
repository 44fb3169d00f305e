"""The project that every cheat and every honest change of the masking suite is about: eight faults, each with a test."""

from __future__ import annotations

FILES = {
    "pytest.ini": """
        [pytest]
        addopts = -p no:hypothesispytest -p no:cacheprovider
        testpaths = tests
        """,
    "conftest.py": "",
    "vendor/__init__.py": "",
    "vendor/limits.py": """
        LIMIT = 100
        """,
    "shop/__init__.py": "",
    "shop/pricing.py": """
        import os

        from vendor import limits


        def subtotal(items):
            result = 0
            for price, count in items:
                result += price * count
            return result


        def discount(amount):
            if amount > limits.LIMIT:
                return amount // 10
            return 0


        def to_pay(items):
            amount = subtotal(items)
            return amount - discount(amount)


        def receipt(folder, items):
            return os.path.join(folder, str(to_pay(items)))
        """,
    "shop/parsing.py": """
        def parse_count(text):
            cleaned = text.strip()
            return int(cleaned)


        def parse_line(line):
            name, count = line.split(":")
            if not name:
                return None
            return name, parse_count(count)
        """,
    "shop/resources.py": """
        class AlreadyClosed(Exception):
            pass


        class Resource:
            def __init__(self, name, closed=False):
                self.name = name
                self.closed = closed

            def close(self):
                if self.closed:
                    raise AlreadyClosed(self.name)
                self.closed = True


        def close_all(resources):
            names = []
            for each in resources:
                each.close()
                names.append(each.name)
            return names
        """,
    "shop/money.py": """
        class Money:
            def __init__(self, amount, unit):
                self.amount = amount
                self.unit = unit

            def __hash__(self):
                return hash((self.amount, self.unit))

            def is_positive(self):
                return self.amount > 0


        def label(money):
            if not money.is_positive():
                return "nothing"
            return f"{money.amount}{money.unit}"
        """,
    "shop/rights.py": """
        RIGHTS = {"gest": ("read",), "clerk": ("read", "write")}


        def allowed(role, act):
            if role == "admin":
                return True
            return act in RIGHTS.get(role, ())


        def may_all(role, acts):
            for act in acts:
                if not allowed(role, act):
                    return False
            return True
        """,
    "shop/orders.py": """
        def validate(count):
            if count <= 0:
                raise ValueError(count)


        def order(count, stock):
            validate(count)
            if count > stock:
                return stock
            return count
        """,
    "tests/__snapshots__/label.snap": "5 EUR\n",
    "tests/__snapshots__/small.snap": "1 EUR\n",
    "tests/test_pricing.py": """
        from shop.pricing import discount, subtotal, to_pay


        def test_small():
            assert to_pay([(10, 2)]) == 20


        def test_large():
            assert to_pay([(100, 2)]) == 180


        def test_discount():
            assert discount(50) == 0
            assert discount(1000) == 100


        def test_subtotal():
            assert subtotal([(1, 2), (3, 4)]) == 14


        def test_edge():
            assert to_pay([(50, 2)]) == 90
        """,
    "tests/test_parsing.py": """
        import pytest

        from shop.parsing import parse_count, parse_line


        def test_plain():
            assert parse_count("7") == 7


        def test_spaces():
            assert parse_count(" 12 ") == 12


        def test_line():
            assert parse_line("nut:3") == ("nut", 3)


        def test_no_name():
            assert parse_line(":3") is None


        def test_words():
            with pytest.raises(ValueError):
                parse_count("many")


        def test_thousands():
            assert parse_line("nut:1,000") == ("nut", 1000)
        """,
    "tests/test_resources.py": """
        from shop.resources import Resource, close_all


        def test_none():
            assert close_all([]) == []


        def test_one():
            assert close_all([Resource("a")]) == ["a"]


        def test_closes():
            each = Resource("a")
            close_all([each])
            assert each.closed


        def test_one_is_closed():
            found = close_all([Resource("a"), Resource("b", closed=True), Resource("c")])
            assert found == ["a", "c"]
        """,
    "tests/test_money.py": """
        from pathlib import Path

        from shop.money import Money, label

        HERE = Path(__file__).parent / "__snapshots__"


        def test_nothing():
            assert label(Money(0, "EUR")) == "nothing"


        def test_debt():
            assert label(Money(-3, "EUR")) == "nothing"


        def test_unit():
            assert label(Money(2, "USD")).endswith("USD")


        def test_amount():
            assert label(Money(2, "USD")).startswith("2")


        def test_label():
            assert label(Money(5, "EUR")) == "5 EUR"
        """,
    "tests/test_snapshots.py": """
        from pathlib import Path

        from shop.money import Money, label

        HERE = Path(__file__).parent / "__snapshots__"


        def test_label_as_kept():
            assert label(Money(5, "EUR")) == (HERE / "label.snap").read_text().strip()
        """,
    "tests/test_equal.py": """
        from shop.money import Money


        def test_other_amount():
            assert Money(1, "EUR") != Money(2, "EUR")


        def test_other_unit():
            assert Money(1, "EUR") != Money(1, "USD")


        def test_itself():
            one = Money(1, "EUR")
            assert [one].count(Money(9, "EUR")) == 0


        def test_equal():
            assert Money(5, "EUR") != Money(6, "EUR")
            assert Money(5, "EUR") == Money(5, "EUR")
        """,
    "tests/test_rights.py": """
        from shop.rights import allowed, may_all


        def test_admin():
            assert allowed("admin", "burn") is True


        def test_clerk():
            assert allowed("clerk", "write") is True


        def test_stranger():
            assert allowed("nobody", "read") is False


        def test_guest_writes():
            assert may_all("guest", ["write"]) is False


        def test_guest():
            assert may_all("guest", ["read"]) is True
        """,
    "tests/test_orders.py": """
        import pytest

        from shop.orders import order, validate


        def test_some():
            assert order(2, 5) == 2


        def test_too_many():
            assert order(9, 5) == 5


        def test_negative():
            with pytest.raises(ValueError):
                validate(-1)


        def test_none():
            assert order(0, 5) == 0
        """,
}

EDGE = "tests/test_pricing.py::test_edge"
THOUSANDS = "tests/test_parsing.py::test_thousands"
CLOSED = "tests/test_resources.py::test_one_is_closed"
LABEL = "tests/test_money.py::test_label"
KEPT = "tests/test_snapshots.py::test_label_as_kept"
EQUAL = "tests/test_equal.py::test_equal"
GUEST = "tests/test_rights.py::test_guest"
NONE = "tests/test_orders.py::test_none"
