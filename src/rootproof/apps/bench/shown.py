"""The result of a benchmark as a table and as a plot (SVG, no library needed)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.sax.saxutils import escape

DEPTHS = (1, 3, 5, 10)
COLOURS = ("#0b6e4f", "#c8553d", "#3d5a80", "#8d6a9f")


def table(document: Mapping[str, Any]) -> str:
    """One row a contender: shares of all cases in per cent, then counts and costs."""
    rows = [["contender", "ran", "function @1/3/5/10 %", "statement @1/3/5/10 %", "accepted", "A", "right", "wrong"]]
    rows[0] += ["abstained", "CPU s"]
    for name, figures in {document["model"]: document["summary"], **document["peers"]}.items():
        shares = ["/".join(f"{100 * figures[f'{level}_at_{d}']:.0f}" for d in DEPTHS) for level in LEVELS]
        counts = [str(figures[k]) for k in ("accepted", "grade_a", "right", "wrong", "abstained")]
        rows.append([name, f"{figures['ran']}/{figures['cases']}", *shares, *counts, f"{figures['cpu_s_median']:.1f}"])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


LEVELS = ("function", "statement")


def plot(document: Mapping[str, Any]) -> str:
    """Share of cases found among the first k, with 95 % intervals; functions left, statements right."""
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="760" height="320" font-family="sans-serif" font-size="12">'
    ]
    contenders = {document["model"]: document["summary"], **document["peers"]}
    for column, level in enumerate(LEVELS):
        left = 50 + 360 * column
        parts.append(f'<text x="{left}" y="20" font-weight="bold">{level}: share of cases among the first k</text>')
        for share in (0, 25, 50, 75, 100):
            y = 260 - 2.2 * share
            parts.append(f'<line x1="{left}" x2="{left + 300}" y1="{y}" y2="{y}" stroke="#ddd"/>')
            parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{share}</text>')
        for number, figures in enumerate(contenders.values()):
            parts += _bars(figures, level, (left, number, len(contenders)))
    for number, name in enumerate(contenders):
        x = 50 + 180 * number
        parts.append(f'<rect x="{x}" y="295" width="12" height="12" fill="{COLOURS[number % len(COLOURS)]}"/>')
        parts.append(f'<text x="{x + 18}" y="306">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bars(figures: Mapping[str, Any], level: str, where: tuple[int, int, int]) -> list[str]:
    left, number, count = where
    width = 56 / count
    parts = []
    for place, depth in enumerate(DEPTHS):
        share, (low, high) = figures[f"{level}_at_{depth}"], figures[f"{level}_at_{depth}_interval"]
        x = left + 10 + 74 * place + number * width
        top, colour = 260 - 220 * share, COLOURS[number % len(COLOURS)]
        parts.append(
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{width - 2:.1f}" height="{220 * share:.1f}" fill="{colour}"/>'
        )
        middle = x + width / 2 - 1
        ends = f'y1="{260 - 220 * low:.1f}" y2="{260 - 220 * high:.1f}"'
        parts.append(f'<line x1="{middle:.1f}" x2="{middle:.1f}" {ends} stroke="#222"/>')
        if number == 0:
            parts.append(f'<text x="{left + 38 + 74 * place}" y="277" text-anchor="middle">@{depth}</text>')
    return parts
