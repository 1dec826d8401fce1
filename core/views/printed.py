"""Blocks as text of a terminal, as JSON data, and as answers to agents within a budget of characters.

In an answer, text comes in a fence that is longer than any backticks in it, and data as JSON strings. Characters that
would change how a text is shown are written as escapes. What does not fit is counted.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from core.base import words as fmt
from core.base.decoder import decoded
from core.views import blocks
from core.views.markdown import CONTROL, fence_of, indented_line

# Rows of a table, lines of code, and characters of such a line, that a terminal shows.
MOST_ROWS, MOST_LINES, MOST_CHARS = 100, 60, 400
# Lengths to which long strings of an answer are cut until it fits, and characters for what is left out.
CUTS, ROOM_CHARS = (4_000, 1_000, 250, 60), 120


def as_text(page: Iterable[blocks.Block], indent: str = "") -> Iterator[str]:
    """Yield the lines of blocks for a terminal; a long table is cut, and says so."""
    for block in blocks.flat(page):
        for line in _lines(block):
            yield f"{indent}{line}".rstrip()


def _lines(block: blocks.Block) -> Iterator[str]:
    match block:
        case blocks.Title() | blocks.Text():
            yield from blocks.words(block.prose).split("\n")
        case blocks.Heading():
            yield from ("", block.text, "=" * len(block.text))
        case blocks.Table():
            yield from table_lines(block.texts(block.rows[:MOST_ROWS]))
            yield from _more(len(block.rows) - MOST_ROWS, "row")
        case blocks.TextTable():
            yield from table_lines(replace(block, rows=block.rows[:MOST_ROWS]))
            yield from _more(len(block.rows) - MOST_ROWS, "row")
        case blocks.Listing():
            lines = block.code.text.splitlines()
            yield f"{block.title}{block.detail and f' ({block.detail})'}:"
            yield from (f"  {CONTROL.sub('�', line[:MOST_CHARS])}" for line in lines[:MOST_LINES])
            yield from _more(len(lines) - MOST_LINES, "line")
        case blocks.Bars() | blocks.Intervals():
            yield block.label
            yield from (f"  {row.label}: {row.text}" for row in block.rows)
        case blocks.Curves():
            yield f"{block.label}: up to {block.top}, {block.across}"
        case blocks.Fold():
            yield blocks.words(block.title)
            yield from as_text(block.blocks, "  ")
        case blocks.Card():
            yield ""
            yield from as_text(block.blocks)
        case _:
            # A terminal shows neither drawings nor fields.
            return


def table_lines(table: blocks.TextTable) -> Iterator[str]:
    """Yield the lines of a whole table for a terminal; none for a table without rows."""
    from tabulate import tabulate

    cells = [[*map(indented_line, row)] for row in table.rows]
    places = ["right" if name in table.numeric else "left" for name in table.head]
    if cells:
        lines = tabulate(
            cells, table.head, "simple", disable_numparse=True, colalign=places, preserve_whitespace=True
        ).splitlines()
        yield from ("", *lines, "")


def _more(count: int, noun: str) -> Iterator[str]:
    if count > 0:
        yield f"… {fmt.count(count, noun)} more"


def as_data(page: Iterable[blocks.Block]) -> list[dict[str, Any]]:
    """Return blocks as JSON data; tables have all rows with their values, and drawings only their label."""
    return [data for block in blocks.flat(page) for data in _data(block)]


def _data(block: blocks.Block) -> Iterator[dict[str, Any]]:
    kind = type(block).__name__.lower()
    match block:
        case blocks.Title() | blocks.Text():
            yield {"kind": kind, "text": blocks.words(block.prose)}
        case blocks.Heading():
            yield {"kind": kind, "text": block.text}
        case blocks.Table():
            columns = block.shown
            rows = [[column.value(row) for column in columns] for row in block.rows]
            yield {"kind": kind, "name": block.name, "columns": [column.name for column in columns], "rows": rows}
        case blocks.TextTable():
            yield {"kind": "table", "name": "", "columns": [*block.head], "rows": [[*row] for row in block.rows]}
        case blocks.Listing():
            yield {"kind": kind, "title": block.title, "language": block.code.language, "text": block.code.text}
        case blocks.Bars() | blocks.Intervals():
            yield {"kind": kind, "label": block.label, "rows": [[row.label, row.text] for row in block.rows]}
        case blocks.Curves() | blocks.Drawing():
            yield {"kind": kind, "label": block.label}
        case blocks.Fold():
            yield {"kind": kind, "title": blocks.words(block.title), "blocks": as_data(block.blocks)}
        case blocks.Card():
            yield {"kind": kind, "name": block.name, "blocks": as_data(block.blocks)}
        case _:
            return


def lines_with(lines: Sequence[str], search: str) -> list[str]:
    """Return the lines that have a text, regardless of case; all lines for an empty text."""
    wanted = search.lower()
    return [line for line in lines if wanted in line.lower()]


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """An answer: facts, and a list under a name, as much of it from number `first` on as fits.

    With `is_text`, the list has lines of text. `again` is the argument with which the next ones are requested.
    `picture` is a PNG.
    """

    facts: Mapping[str, Any]
    name: str = ""
    parts: Sequence[Any] = ()
    first: int = 0
    again: str = "first"
    is_text: bool = False
    picture: bytes = b""

    def fitted(self, most_chars: int) -> tuple[str, dict[str, Any] | None]:
        """Return the text, and the same as data, of at most `most_chars` characters; no data for lines."""
        if self.is_text:
            return self._text(most_chars), None
        data = self._data(most_chars // 2)
        return _json(data), data

    def _data(self, most_chars: int) -> dict[str, Any]:
        facts: dict[str, Any] = visible(decoded(msgspec.json.encode(self.facts)))
        facts = _cut(facts, lambda cut: len(_json(cut)) <= most_chars - ROOM_CHARS)
        without: list[str] = []
        while len(_json(facts)) > most_chars - ROOM_CHARS and len(facts) > 1:
            without.append(facts.popitem()[0])
        if not self.name:
            return {**facts, **_note(", ".join(without))}
        room = most_chars - ROOM_CHARS - len(_json(facts))
        parts = visible(decoded(msgspec.json.encode([*self.parts[self.first :]])))
        if parts:
            parts[0] = _cut(parts[0], lambda cut: len(_json(cut)) < room)
        shown: list[Any] = []
        for part in parts:
            room -= len(_json(part)) + 1
            if room < 0:
                break
            shown.append(part)
        note = "; ".join(filter(None, (", ".join(without), self.left_out(len(shown)))))
        return {**facts, self.name: shown, **_note(note)}

    def left_out(self, shown: int) -> str:
        """Return in words which parts are not shown, and the argument that requests them; empty for none."""
        end, total = self.first + shown, len(self.parts)
        if not self.first and end >= total:
            return ""
        here = f"{self.name} {fmt.number(self.first + 1)}–{fmt.number(end)} of {fmt.number(total)}"
        return f"{here}; {self.again}={end} has more" if end < total else here

    def _text(self, most_chars: int) -> str:
        """Return a line with the facts, and lines in a fence."""
        lines = [visible(str(line)) for line in self.parts[self.first :]]
        head = ", ".join(f"{name} {value}" for name, value in visible(dict(self.facts)).items() if value)
        fence = fence_of("\n".join(lines))
        room = most_chars - len(head) - 2 * len(fence) - 2 * ROOM_CHARS
        shown: list[str] = []
        for line in lines:
            if len(line) >= room:
                shown += [f"{line[: max(0, room - 1)]}…"] if not shown else []
                break
            shown.append(line)
            room -= len(line) + 1
        note = self.left_out(len(shown))
        return "\n".join([f"{head}{note and f'; {note}'}. Quoted data:", f"{fence}text", *shown, fence])


def _note(words: str) -> dict[str, str]:
    return {"left_out": words} if words else {}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(value: Any, fits: Callable[[Any], bool]) -> Any:
    """Return a value whose long strings are cut until it fits; the shortest form if it never does."""
    for most in CUTS:
        if fits(value):
            return value
        value = _shortened(value, most)
    return value


def _shortened(value: Any, most: int) -> Any:
    if isinstance(value, str) and len(value) > most:
        return f"{value[:most]}… {fmt.count(len(value) - most, 'character')} left out"
    if isinstance(value, list):
        return [_shortened(each, most) for each in value]
    return {name: _shortened(each, most) for name, each in value.items()} if isinstance(value, dict) else value


def visible(value: Any) -> Any:
    """Return a text or JSON data with escapes for control, bidi and zero-width characters in every string."""
    if isinstance(value, str):
        return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), value)
    if isinstance(value, list | tuple):
        return [visible(each) for each in value]
    return {visible(name): visible(each) for name, each in value.items()} if isinstance(value, dict) else value
