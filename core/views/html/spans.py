"""Spans of the views' Markdown, and pieces of code: text that a template turns into HTML, and a scrubber can change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from core.views.markdown import WORD_JOINER

Kind = Literal["", "code", "strong", "em", "item"]
# An escaped character, inline code, and the marks of bold and italic text: all that core/views writes.
INLINE = re.compile(
    r"\\(?P<escaped>[^A-Za-z0-9\s])|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)|(?P<strong>\*\*)|(?P<em>\*)"
)


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A run of text in one style; an `item` is an empty span before each item of a list."""

    text: str
    kind: Kind = ""


Prose = tuple[TextSpan, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of code; `language` is a name of Pygments, `first` the first line's number, `notes` are texts by line."""

    text: str
    language: str = "python"
    first: int = 1
    notes: tuple[tuple[int, str], ...] = ()


def spans(markdown: str) -> Prose:
    """Return the spans of a view's Markdown; lines that begin with `- ` are items of a list."""
    found: list[TextSpan] = []
    for line in markdown.split("\n"):
        if line.startswith("- "):
            found.append(TextSpan("", "item"))
        found += _line(line.removeprefix("- "))
    return tuple(found)


def _line(line: str) -> list[TextSpan]:
    line = line.replace(WORD_JOINER, "")
    found: list[TextSpan] = []
    style: Kind = ""
    text, end = "", 0
    for match in INLINE.finditer(line):
        text += line[end : match.start()] + (match["escaped"] or "")
        end = match.end()
        if match["escaped"]:
            continue
        found.append(TextSpan(text, style))
        text = ""
        if match["code"]:
            found.append(TextSpan(match["code"].strip() if len(match["ticks"]) > 1 else match["code"], "code"))
        else:
            style = _toggled(style, "strong" if match["strong"] else "em")
    found.append(TextSpan(text + line[end:], style))
    return [span for span in found if span.text]


def _toggled(style: Kind, mark: Kind) -> Kind:
    return "" if style == mark else mark
