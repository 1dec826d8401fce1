"""Recorded texts without repetition: each run of lines is in one file, and other files have a mark for it.

A mark, `⋯ 12 lines of FILE`, stands for 12 lines that FILE has one after another. A text is equal to a recorded one if
its lines are, and if FILE has each run of lines for which there is a mark. So an equal change of both changes one file.

There is also what a text has beyond another, and JSON in as few lines as fit.
"""

import difflib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.support.places import ROOT, TRACES

# Mark of equal lines, and before the number of lines that the base has instead of the next.
EQUAL, WITHOUT = "⋯", "−"
# A single equal line between two differences is written out.
LEAST_EQUAL = 2
WIDTH = 160
RULE = re.compile(r"\s*\| ---( \||$)")
MARKS = re.compile(r"[\\\\`*|]|^\s*(#+|[->]|\d+\.)\s|:$")


OUTPUTS = ROOT / "tests" / "outputs"
# Fewest lines that have a mark instead: in a text, and in one that other texts are compared with.
LEAST_SHARED, LEAST_OF_WHOLE = 6, 8
SHARED = re.compile(r"⋯ (\d+) lines of (\S+)")
# A page of a scenario begins so; no other line does.
HEADING = re.compile(r"^# (\S+\.py\b.*)$", re.MULTILINE)


@cache
def files() -> dict[str, Path]:
    """Name → recorded file, in the order in which they share their lines: screens, outputs, pages of tests."""
    screens = {path.parent.name: path for path in sorted(TRACES.glob("*/screens.md"))}
    outputs = {path.stem: path for path in sorted(OUTPUTS.glob("*.txt"))}
    pages = {f"{path.parent.name}/{path.stem}": path for path in sorted(OUTPUTS.glob("pages/*/*.md"))}
    return {**screens, **outputs, **pages}


def share(first: Set[tuple[str, str]]) -> None:
    """Write each recorded file again, with marks for lines that a page or a file before it has.

    Pages of `first`, each a scenario and a heading, are before all others, and have marks for each other's lines alone.
    """
    files.cache_clear()
    _lines_of.cache_clear()
    parts = {name: [*_parts(path.read_text(encoding="utf-8"))] for name, path in files().items()}
    pages = [(name, heading) for name, each in parts.items() for heading, _ in each]
    shared = Shared()
    marked = {}
    for page in sorted(pages, key=lambda page: page not in first):
        least = LEAST_OF_WHOLE if page in first else LEAST_SHARED
        marked[page] = [*shared.marked(page[0], dict(parts[page[0]])[page[1]], least)]
    for name, path in files().items():
        text = _joined((heading, marked[name, heading]) for heading, _ in parts[name])
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")


def _parts(text: str) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the lines of each page of a scenario after its heading, or those of a whole file after an empty heading."""
    head, *pages = HEADING.split(text)
    if head:
        yield "", head.splitlines()
    for heading, page in zip(pages[::2], pages[1::2], strict=True):
        yield heading, page.strip("\n").splitlines()


def _joined(parts: Iterable[tuple[str, Sequence[str]]]) -> str:
    """Return the text that has these parts."""
    texts = ("\n".join([*([f"# {heading}\n"] if heading else []), *lines]) for heading, lines in parts)
    return "\n\n".join(texts) + "\n"


class Shared:
    """The lines of texts, in which later texts look for their own."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, list[str]]] = []
        self.places: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)

    def marked(self, name: str, lines: Sequence[str], least: int) -> Iterator[str]:
        """Yield the lines of a text of a file, with a mark for each run of lines that it or a text before it has."""
        self.texts.append((name, []))
        start = 0
        while start < len(lines):
            places = self.places.get(tuple(lines[start : start + LEAST_SHARED]), ())
            runs = ((_run(lines, start, self.texts[text][1], place), self.texts[text][0]) for text, place in places)
            length, file = max(runs, key=lambda run: run[0], default=(1, ""))
            length = length if length >= least else 1
            line = f"⋯ {length} lines of {file}" if length > 1 else lines[start]
            self._add(line)
            yield line
            start += length

    def _add(self, line: str) -> None:
        lines = self.texts[-1][1]
        lines.append(line)
        last = lines[-LEAST_SHARED:]
        if len(last) == LEAST_SHARED and not any(map(SHARED.fullmatch, last)):
            self.places[tuple(last)].append((len(self.texts) - 1, len(lines) - LEAST_SHARED))


def _run(lines: Sequence[str], start: int, others: Sequence[str], place: int) -> int:
    """The number of equal lines from two places on; a mark ends them."""
    pairs = zip(lines[start:], others[place:], strict=False)
    most = min(len(lines) - start, len(others) - place)
    return next((at for at, (line, other) in enumerate(pairs) if line != other or SHARED.fullmatch(line)), most)


def differences(recorded: str, text: str) -> list[str]:
    """The lines in which a text differs from a recorded one; empty if it does not differ."""
    before, now = recorded.splitlines(), text.splitlines()
    if _stands_for(before, now):
        return []
    return [*difflib.unified_diff(_unmarked(before, now), now, "recorded", "now", lineterm="", n=2)]


def _unmarked(recorded: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Recorded lines with those of a text in place of each mark that could stand for them."""
    done: list[str] = []
    at = 0
    for line in recorded:
        mark = SHARED.fullmatch(line)
        count = int(mark[1]) if mark else 0
        starts = range(at, len(lines) - count + 1) if mark else ()
        start = next((each for each in starts if mark and _has(mark[2], lines[each : each + count])), None)
        done += [line] if start is None else lines[start : start + count]
        at = at if start is None else start + count
    return done


def _stands_for(recorded: Sequence[str], lines: Sequence[str]) -> bool:
    at = 0
    for line in recorded:
        mark = SHARED.fullmatch(line)
        count = int(mark[1]) if mark else 1
        run = lines[at : at + count]
        if len(run) < count or (not _has(mark[2], run) if mark else run != [line]):
            return False
        at += count
    return at == len(lines)


def _has(name: str, run: Sequence[str]) -> bool:
    lines, places = _lines_of(name)
    return any(lines[at : at + len(run)] == run for at in places.get(run[0], ()))


@cache
def _lines_of(name: str) -> tuple[list[str], dict[str, list[int]]]:
    """The lines of a recorded file, and the places of each line."""
    lines = files()[name].read_text(encoding="utf-8").splitlines()
    places: defaultdict[str, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        places[line].append(at)
    return lines, dict(places)


def beyond(text: str, base: str) -> str:
    """What a text has beyond a base: its other lines, marks of equal lines, and of lines that only the base has.

    An equal change of both leaves the result as it is. Empty lines don't count. The head of a table has numbers for
    the columns that a table of the base has.
    """
    before = _filled(base)
    heads = [_cells(line) for line, next_line in pairwise(before) if RULE.match(next_line)]
    return "\n".join(_beyond([*_in_columns_of(heads, _filled(text))], before))


def _in_columns_of(heads: Sequence[Sequence[str]], lines: Sequence[str]) -> Iterator[str]:
    """Yield lines with numbers in a table's head for the columns that one of `heads` has, if it has most of them.

    So a column that is renamed changes the base alone.
    """
    skips = False
    for line, next_line in pairwise([*lines, ""]):
        cells = _cells(line) if RULE.match(next_line) else []
        head = max(heads, key=lambda head: len(set(head) & set(cells)), default=())
        if cells and cells != head and 2 * len(set(head) & set(cells)) > len(cells):
            names = (str(head.index(cell) + 1) if cell in head else cell for cell in cells)
            yield f"columns | {' | '.join(names)} |"
            skips = True
        elif not skips:
            yield line
        else:
            skips = False


def _cells(row: str) -> list[str]:
    return row.strip().strip("|").strip().split(" | ")


def filled(text: str) -> str:
    """A text without its empty lines."""
    return "\n".join(_filled(text))


def unlike(text: str, known: Set[str]) -> str:
    """The lines of a text, without their indentation, that have a piece which is not known."""
    return "\n".join(line for line in map(str.strip, _filled(text)) if not pieces(line) <= known)


def pieces(line: str) -> set[str]:
    """The cells of a table's row, or the whole line, without marks of Markdown."""
    return {" ".join(MARKS.sub("", cell).split()) for cell in f" {line} ".split(" | ")} - {""}


def _filled(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _beyond(lines: Sequence[str], base: Sequence[str]) -> Iterator[str]:
    mark = ""
    for kind, start, end, first, last in SequenceMatcher(None, base, lines, autojunk=False).get_opcodes():
        if kind == "equal" and last - first >= LEAST_EQUAL:
            mark = EQUAL
            continue
        if kind != "equal" and end > start:
            mark = f"{mark} {WITHOUT}{end - start}".lstrip()
        yield from filter(None, [mark])
        yield from lines[first:last]
        mark = ""
    yield from filter(None, [mark])


def fitted(value: Any, indent: str = "") -> str:
    """JSON with each value on one line if it fits, and else with as many parts on a line as fit."""
    whole = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list) or len(indent) + len(whole) <= WIDTH:
        return whole
    inner = f"{indent} "
    if isinstance(value, list):
        return f"[\n{_packed([fitted(each, inner) for each in value], inner)}\n{indent}]"
    rows = [f"{json.dumps(name)}: {fitted(each, inner)}" for name, each in value.items()]
    return f"{{\n{_packed(rows, inner)}\n{indent}}}"


def _packed(parts: Sequence[str], indent: str) -> str:
    """Parts with commas between them, in as few lines as fit; a part of several lines has lines of its own."""
    lines = [""]
    for part in parts:
        together = f"{lines[-1]}, {part}" if lines[-1] else part
        if "\n" in together or len(indent) + len(together) > WIDTH:
            lines.append(part)
        else:
            lines[-1] = together
    return ",\n".join(f"{indent}{line}" for line in lines if line)
