"""Recorded texts without repetition: what a text has beyond others, and JSON in as few lines as fit."""

import json
import re
from collections.abc import Iterator, Sequence, Set
from difflib import SequenceMatcher
from typing import Any

# Mark of equal lines, and before the number of lines that the base has instead of the next.
EQUAL, WITHOUT = "⋯", "−"
# A single equal line between two differences is written out.
LEAST_EQUAL = 2
WIDTH = 160
MARKS = re.compile(r"[\\\\`*|]|^\s*(#+|[->]|\d+\.)\s|:$")


def beyond(text: str, base: str) -> str:
    """What a text has beyond a base: its other lines, marks of equal lines, and of lines that only the base has.

    An equal change of both leaves the result as it is. Empty lines don't count.
    """
    return "\n".join(_beyond(_filled(text), _filled(base)))


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
