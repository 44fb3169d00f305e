"""The page as a browser shows it: nothing is loaded, nothing complains, nothing sticks out. And colours one can read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from report import forged
from report.browser import Chromium, chromium, needs_chromium
from report.runs import undetermined
from rootproof.report.as_html import html

STYLE = Path(__file__).parents[2] / "src/rootproof/report/page/style.css"
WINDOWS = [(1000, "light"), (1000, "dark"), (390, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with chromium(tmp_path_factory.mktemp("profile")) as found:
        yield found


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), WINDOWS)
def test_an_undetermined_run_is_shown_in_peace(browser: Chromium, tmp_path: Path, width: int, scheme: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(html(undetermined(tmp_path)), "utf-8")
    shown = browser.show(page, f"undetermined-{width}-{scheme}", width, scheme)
    assert shown.requests == [page.as_uri()] and not shown.console and shown.overflow <= 0


@needs_chromium
@pytest.mark.parametrize("cause", ["code", "order", ""])
def test_hostile_text_asks_for_nothing_and_runs_nothing(browser: Chromium, tmp_path: Path, cause: str) -> None:
    page = tmp_path / "page.html"
    text = "\n".join(forged.HOSTILE).replace("\ud800", "") + "x" * 500
    page.write_text(html(forged.report(text, cause)), "utf-8")
    shown = browser.show(page, f"hostile-{cause or 'none'}", 390)
    assert shown.requests == [page.as_uri()] and not shown.console and shown.overflow <= 0


@needs_chromium
def test_the_browser_tells_of_a_page_that_does_such_things(browser: Chromium, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<script>console.log(1)</script><img src=http://a.invalid/><p style='width:9000px'>x</p>")
    shown = browser.show(page, "noticed")
    assert len(shown.requests) == 2 and shown.console and shown.overflow > 0


def test_every_text_can_be_read_on_its_ground() -> None:
    """Contrast of at least 4.5 to 1, light and dark (WCAG 2.2, success criterion 1.4.3)."""
    style = STYLE.read_text("utf-8")
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part)) for part in style.split("@media", 2)[:2])
    pairs = [("text", "ground"), ("text", "soft"), ("quiet", "ground"), ("quiet", "soft"), ("link", "ground")]
    pairs += [(name, f"{name}-soft") for name in ("good", "bad", "open", "own")]
    pairs += [("link", "soft"), ("text", "mark"), ("quiet", "mark"), ("link", "mark"), ("text", "own-soft")]
    pairs += [(kind, ground) for kind in "csnkfb" for ground in ("soft", "mark")]
    for colours in (light, dark):
        low = [(one, two) for one, two in pairs if contrast(colours[one], colours[two]) < 4.5]
        assert not low, low


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
