"""Whatever a repository, a test or a model says: in a report it can do nothing, in Markdown or as a page."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from report import forged
from rootproof.report.as_html import html
from rootproof.report.as_markdown import markdown
from rootproof.report.inert import code, fenced

TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "main", "section", "footer", "nav", "span", "h1",
    "h2", "h3", "p", "code", "pre", "dl", "dt", "dd", "div", "ul", "ol", "li", "table", "caption", "thead", "tbody",
    "tr", "th", "td", "details", "summary", "svg", "rect", "em", "strong", "b", "br",
}  # fmt: skip
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "href", "id", "aria-label", "aria-hidden", "tabindex",
    "scope", "data-is", "open", "viewbox", "preserveaspectratio", "x", "width", "height", "rx",
}  # fmt: skip
EMPTY = {"meta", "br", "rect"}
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
SERVICE = re.compile(r"##(\[|vso\[|teamcity\[)", re.I)
CAUSES = ("code", "order", "")


class Read(HTMLParser):
    """A page as a browser reads it: which tags stand there, whether they close, where its links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in EMPTY
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page_is_inert(page: str) -> Read:
    read = Read(page)
    assert set(read.tags) <= TAGS and read.attributes <= ATTRIBUTES
    assert read.tags["style"] == 1 and "style" not in read.attributes
    assert all(link.startswith("#") and link[1:] in read.ids for link in read.links), "every link leads to its evidence"
    assert len(set(read.ids)) == len(read.ids)
    assert not UNSEEN.search(page)
    return read


def flat(tokens: list[Token]) -> list[Token]:
    return [each for token in tokens for each in (token, *flat(token.children or []))]


def markdown_is_inert(page: str) -> list[Token]:
    tokens = flat(MarkdownIt("gfm-like", {"linkify": False}).parse(page))
    kinds = {token.type for token in tokens}
    assert not kinds & {"html_block", "html_inline", "image", "blockquote_open", "table_open", "code_block", "hr"}
    links = [str(token.attrGet("href")) for token in tokens if token.type == "link_open"]
    assert all(re.fullmatch(r"#step-\d+", link) for link in links)
    assert not UNSEEN.search(page) and not SERVICE.search(page)
    assert not any(line.strip().startswith("::") for line in page.splitlines())
    return tokens


def texts(tokens: list[Token]) -> str:
    return "".join(token.content for token in tokens if token.type == "text")


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("text", forged.HOSTILE)
def test_hostile_text_does_nothing(text: str, cause: str) -> None:
    report = forged.report(text, cause, "success" if cause else "undetermined")
    page_is_inert(html(report))
    page = markdown(report)
    said = texts(markdown_is_inert(page))
    plain = texts(markdown_is_inert(markdown(forged.report("plain", cause, report["derived"]["status"]))))
    words = re.findall(r"[A-Za-z]{4,}", said)
    assert set(words) <= set(re.findall(r"[A-Za-z]{4,}", plain)) | {"empty"}, "what is no code is ours"


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<", ">", "`", "```", "\n", "::", "##[", "\x1b", "\u202e", "&", '"', "a", " ", "|", "]("])
    )
)
def test_any_mixture_does_nothing(parts: list[str]) -> None:
    report = forged.report("".join(parts))
    page_is_inert(html(report))
    markdown_is_inert(markdown(report))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_stays_in_its_code_span_and_in_its_fence(text: str) -> None:
    line = f"before {code(text)} after"
    tokens = flat(MarkdownIt().parse(line))
    assert texts(tokens).startswith("before ") and texts(tokens).endswith(" after")
    block = "\n".join(("before", "", *fenced(text, "diff"), "", "after"))
    kinds = [token.type for token in MarkdownIt().parse(block) if token.nesting >= 0 and token.level == 0]
    assert kinds == ["paragraph_open", "fence", "paragraph_open"]


def test_plain_text_is_shown_as_it_is() -> None:
    assert code("a::b ## [x] #[y] c") == "`a::b ## [x] #[y] c`"
    assert fenced("x = a::b\n# [list]") == ["```", "x = a::b", "# [list]", "```"]


def test_a_page_without_a_mark_of_its_own_is_noticed() -> None:
    """The reader above sees what it is meant to see."""
    with pytest.raises(AssertionError):
        page_is_inert(html(forged.report("x")).replace("</main>", "<script>1</script></main>"))
    with pytest.raises(AssertionError):
        markdown_is_inert("a <b>x</b>\n")
    with pytest.raises(AssertionError):
        markdown_is_inert("[a](javascript:x)\n\n  ::error::x\n")


def test_words_of_the_proposer_are_labelled_wherever_they_stand() -> None:
    report = forged.report("plain", "")
    for row in report["derived"]["timeline"]:
        row["model_says_unverified"] = "surely it is line 9"
    page = html(report)
    said = [part.split("</div>")[0] for part in page.split('<div class="own">')[1:]]
    assert page.count("surely it is line 9") == len(said) > 0
    assert all("unverified" in part and "surely it is line 9" in part for part in said)
    lines = [line for line in markdown(report).splitlines() if "surely it is line 9" in line]
    assert lines and all(line.startswith("- the proposer's own words, unverified: `") for line in lines)
