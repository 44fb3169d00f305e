"""What can be said of a JavaScript or TypeScript source without a syntax tree: its tokens, and copies of its tests.

Rules made on tokens are stricter than those on trees: what cannot be told apart counts as broken.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rootproof.experiments.change import Change, Edit, decoded, split_lines
from rootproof.experiments.literal import key, trivial
from rootproof.experiments.script_tokens import TOKEN, key_uses, text_of, tokens

SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_STOPS = re.compile(r"process\s*\.\s*(?:exit|abort|kill)|\.\s*(?:skip|todo|only|fails|skipIf|runIf)\b|\bprocess\s*\[")
_READS = re.compile(
    r"\bprocess\s*\.\s*\w+|\bimport\s*\.\s*meta\b|\bDate\b|\bperformance\b|\.\s*stack\b|\brequire\s*\(|\beval\s*\("
    r"|\bFunction\s*\(|\b__filename\b|\b__dirname\b|\bglobalThis\b|\bglobal\b|\bwindow\b|\bnavigator\b|\bvitest\b|\bjest\b"
    r"|\bexpect\b|\bvi\s*\.|\bimport\s*\(|\barguments\s*\.\s*callee|\bcaptureStackTrace\b|\bnode:\w+|\bMath\s*\.\s*random\b"
)
_FOREIGN = re.compile(
    r"\.\s*prototype\b|\bObject\s*\.\s*(?:definePropert\w+|assign|setPrototypeOf)\b|\b__proto__\b|\bReflect\s*\.\s*\w+"
    r"|\bglobalThis\s*[.\[][^=;\n]*=(?!=)"
)
_FIXED = re.compile(
    r"(?:if|while)\s*\(\s*!*(?:true|false|1|0|null|undefined)\s*\)|(?:\|\||&&|\?\?)\s*!*(?:true|false)\b"
    r"|\b(?:true|false)\s*(?:\|\||&&|\?)"
)
_CATCH = re.compile(r"\bcatch\b|\bfinally\b")
_CONSTANT_RETURN = re.compile(
    r"\breturn\s+(?:'[^'\n]*'|\"[^\"\n]*\"|`[^`$]*`|\d[\w.]*|true|false|null|undefined)\s*(?:;|\n|})"
)
_RULES = (
    ("added_skip_or_exit", _STOPS),
    ("foreign_assignment", _FOREIGN),
    ("detects_the_run", _READS),
    ("catch_all", _CATCH),
    ("constant_condition", _FIXED),
    ("constant_result", _CONSTANT_RETURN),
)
MARK = "the control was reached"
NEGATED = "with the assertion negated"
RENAMED = "copied under another name"
_NEGATIONS = (
    (re.compile(r"\)\s*\.not\s*\.\s*(to\w+)"), r").\1"),
    (re.compile(r"\)\s*\.\s*(to(?:Be|Equal|StrictEqual|Match|Contain|Have|Throw)\w*)\s*\("), r").not.\1("),
    (re.compile(r"\bassert\.(strictEqual|deepEqual|deepStrictEqual)\("), r"assert.not_\1("),
    (re.compile(r"\bassert\.equal\("), "assert.notEqual("),
)


def is_script(file: str) -> bool:
    return file.endswith(SUFFIXES)


def code(data: bytes) -> str:
    """The source without comments."""
    return TOKEN.sub(lambda m: m.group() if m.lastgroup else " ", decoded(data))


def broken(
    old: bytes, new: bytes, paired: Iterable[str], operands: Mapping[object, Any]
) -> Iterator[tuple[str, int, str]]:
    """(rule, line, what) of every mask rule a change breaks, by tokens alone."""
    before, after = code(old), code(new)
    for rule, looked in _RULES:
        more = Counter(looked.findall(after)) - Counter(looked.findall(before))
        for found in more:
            yield rule, 1, f"{' '.join(found.split())[:60]} was not here before"
    grown = {
        word: len(re.findall(rf"\b{word}\b", after)) - len(re.findall(rf"\b{word}\b", before))
        for word in ("return", "if")
    }
    if grown["return"] > 0 and grown["if"] < grown["return"]:
        yield "early_return", 1, "a return was added without a condition of its own"
    known = values(old)
    keys = {use.word for span in paired for use in key_uses(span.encode("utf-8", "surrogateescape"))}
    for each, value in values(new).items():
        if (
            each in operands
            and each not in known
            and not trivial(value)
            and not (value in keys and _only_keys(new, value) and _only_texts_differ(old, new))
        ):
            yield "planted_value", 1, f"the value {value!r} is an operand of the failing assertion"


def _only_keys(data: bytes, value: str) -> bool:
    """Whether a text stands nowhere but in brackets as a key."""
    said = [text_of(match.group()) for match in tokens(data) if match.lastgroup == "text"]
    return said.count(value) == sum(use.word == value and not use.called for use in key_uses(data))


def _only_texts_differ(old: bytes, new: bytes) -> bool:
    """Whether a change only puts texts in place of texts: more could make a value of a key."""
    return _shape(old) == _shape(new)


def _shape(data: bytes) -> list[str]:
    """The tokens, with one and the same word for every text."""
    return [
        "text" if match.lastgroup == "text" and match.group()[0] != "`" else match.group() for match in tokens(data)
    ]


def values(data: bytes) -> dict[object, Any]:
    """Texts and numbers of a source, and texts put together by ``+``."""
    found: dict[object, Any] = {}
    run: list[str] = []
    joined = False
    for match in TOKEN.finditer(decoded(data)):
        kind = match.lastgroup
        if kind == "text":
            value: Any = text_of(match.group())
            run = [*run, value] if joined else [value]
            found[key("".join(run))] = "".join(run)
            found[key(value)] = value
        elif kind == "number":
            value = _number(match.group())
            if value is not None:
                found[key(value)] = value
        if kind is not None:
            joined = kind == "mark" and match.group() == "+"
    return found


def _number(token: str) -> Any:
    try:
        return ast.literal_eval(token.rstrip("n").replace("_", ""))
    except (ValueError, SyntaxError):
        return None


def copies(test: str, data: bytes, line: int) -> tuple[tuple[str, Edit, str], ...]:
    """(name, edit, id) of the renamed copy, and of the one with its failing assertion turned round if it can be."""
    file, _, path = test.partition("#")
    *suites, name = path.split(" > ")
    text = decoded(data)
    span = _call(text, name)
    if span is None:
        return ()
    start, title, end = span
    first, last = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
    body = text[start:end]
    inner = slice(title.start() - start, title.end() - start)
    made: list[tuple[str, str]] = [(RENAMED, body[: inner.start] + f"'{RENAMED}'" + body[inner.stop :])]
    turned = _turned(body, line - first)
    if turned is not None and first <= line <= last:
        made.append((NEGATED, turned[: inner.start] + f"'{NEGATED}'" + turned[inner.stop :]))
    lines = split_lines(text)
    if not lines[last - 1].endswith("\n"):
        return ()
    return tuple(
        (kind, Edit(file, last + 1, last, "", changed + "\n", "copy"), f"{file}#{' > '.join([*suites, kind])}")
        for kind, changed in made
    )


def _call(text: str, name: str) -> tuple[int, re.Match[str], int] | None:
    """Where ``test('name', ...)`` begins, its title, and where it ends."""
    for match in re.finditer(r"\b(?:test|it)\s*\(\s*", text):
        title = TOKEN.match(text, match.end())
        if title is None or title.lastgroup != "text" or text_of(title.group()) != name:
            continue
        depth = 1
        for token in TOKEN.finditer(text, match.end()):
            if token.lastgroup == "mark" and token.group() in "([{":
                depth += 1
            elif token.lastgroup == "mark" and token.group() in ")]}":
                depth -= 1
            if not depth:
                return match.start(), title, token.end()
    return None


def _turned(body: str, number: int) -> str | None:
    """The body with the assertion of one line turned round."""
    lines = body.split("\n")
    if not 0 <= number < len(lines):
        return None
    for looked, put in _NEGATIONS:
        changed, count = looked.subn(put, lines[number])
        if count == 1:
            changed = re.sub(r"assert\.not_(\w)", lambda m: "assert.not" + m.group(1).upper(), changed)
            return "\n".join([*lines[:number], changed, *lines[number + 1 :]])
    return None


def negations(file: str, data: bytes, own: Iterable[int], seed: str, most: int) -> list[tuple[str, Change]]:
    """Conditions of a file negated, away from the lines of the change: ``if (c)`` becomes ``if (!(c))``."""
    skipped, lines = set(own), split_lines(decoded(data))
    found: list[tuple[str, Change]] = []
    for number, line in enumerate(lines, 1):
        match = re.search(r"\bif \((.*)\)(\s*(?:\{|return|throw).*)$", line.rstrip("\n"))
        if match is None or number in skipped or match.group(1).count("(") != match.group(1).count(")"):
            continue
        new = f"{line[: match.start()]}if (!({match.group(1)})){match.group(2)}\n"
        found.append((f"{file}::line {number}", Change((Edit(file, number, number, line, new, "negate"),))))
    random.Random(int(seed[:16], 16)).shuffle(found)
    return found[:most]
