"""What is generated is current, and the errors are as their page promises."""

from __future__ import annotations

import inspect
import re

from . import generated
from .house import ROOT


def test_generated_pages_are_current() -> None:
    stale = []
    for path, wanted in generated.pages():
        if not path.is_file() or path.read_text("utf-8") != wanted:
            stale.append(str(path.relative_to(ROOT)))
    assert not stale, f"not current, run `make docs`: {', '.join(stale)}"


def test_every_error_has_a_code_of_its_own_a_remedy_and_words() -> None:
    errors = [one for one in generated.errors() if one.__name__ != "RootproofError"]
    codes = [one.code for one in errors]  # type: ignore[attr-defined]
    assert len(set(codes)) == len(codes)
    for one in errors:
        assert re.fullmatch(r"[a-z_]+", one.code), one  # type: ignore[attr-defined]
        assert one.__doc__, one
        said = (
            one.remedy or "remedy" in inspect.signature(one).parameters or "super().__init__" in inspect.getsource(one)
        )  # type: ignore[attr-defined]
        assert said, f"{one.__name__} has no remedy"


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    from rootproof import errors

    drawn = re.findall(r"[├└]── (\w+)\s+(\w+)\s+(\d+)", errors.__doc__ or "")
    real = [(one.__name__, one.code, str(one.exit_status)) for one in generated.errors()]  # type: ignore[attr-defined]
    assert sorted(drawn) == sorted(real[1:])


def test_exit_statuses_are_those_that_the_page_of_statuses_knows() -> None:
    known = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 70, 130}
    assert {one.exit_status for one in generated.errors()} <= known  # type: ignore[attr-defined]
