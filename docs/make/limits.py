"""python -m docs.make.limits: rewrite the tables of docs/limits.md from comments in the code.

A constant with a bound's name (MAX, MOST, LONGEST, LARGEST) has a comment `#: meaning` at its end or above it. The
page lists those that a user meets, with `#: limit: meaning`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from core.base import words
from core.job import GIB
from docs.make.below import write_below

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "limits.md"
NAME = re.compile(r"(MAX|MOST|LONGEST|LARGEST)(_|$)")
MEANING = re.compile(r"#: (limit: )?(\S.*)$")
# The title of each section, and the beginnings of the paths of its files; the first that fits counts.
SECTIONS = {
    "Accounts, comments and archives": (
        *("core/runs/comments", "core/runs/sharing", "core/runs/remote", "core/runs/people", "core/runs/retention"),
        "pages/gate/people",
    ),
    "Servers and nodes": (
        *("core/runs/processes/servers", "core/runs/engine/cluster/", "core/runs/engine/transports/", "pages/gate/"),
        "core/runs/processes/reading",
    ),
    "Uploads and logs": (
        *("core/runs/store.py", "core/runs/inputs/", "core/runs/index/", "core/trace/", "pages/session/uploads"),
        *("core/runs/ranks", "core/analysis/ranks/", "core/worker/own_process", "core/views/run_files"),
    ),
    "Backends and packages": (
        *("core/accelerator/", "core/worker/backends/", "core/worker/aoti/", "pages/session/downloads"),
        *("core/views/aotinductor/", "pages/parts/accelerator/", "pages/parts/aotinductor/"),
    ),
    "Sweeps": ("core/sweep/", "core/views/sweep/"),
    "Jobs and text fields": ("core/job/", "core/runs/permission", "core/runs/limits", "pages/look/palette"),
    "Runs": ("core/worker/", "core/runs/"),
    "Pages, files and commands": ("",),
}


class Bound(NamedTuple):
    """A bound of the code; without a meaning if its constant has no such comment."""

    file: str
    name: str
    value: float
    meaning: str
    is_limit: bool


def bounds() -> list[Bound]:
    """Return the bounds of core and pages, by file and line; the files are not imported."""
    files = (path for top in ("core", "pages") for path in sorted((ROOT / top).rglob("*.py")))
    return [bound for path in files for bound in _bounds_of(path)]


def tables() -> str:
    """Return the tables of the limits, one per section."""
    rows: dict[str, list[str]] = {title: [] for title in SECTIONS}
    for bound in bounds():
        if bound.is_limit:
            rows[_section(bound.file)].append(_row(bound))
    head = "| what | at most | where |\n|---|---|---|\n"
    return "\n".join(f"## {title}\n\n{head}{''.join(lines)}" for title, lines in rows.items())


def _bounds_of(path: Path) -> Iterator[Bound]:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and NAME.match(node.targets[0].id):
            value = eval(compile(ast.Expression(node.value), path.name, "eval"), {"GIB": GIB})
            above = lines[node.lineno - 2] if node.lineno > 1 and lines[node.lineno - 2].startswith("#") else ""
            found = MEANING.search(lines[node.lineno - 1]) or MEANING.match(above)
            meaning = found.group(2) if found else ""
            file = path.relative_to(ROOT).as_posix()
            yield Bound(file, node.targets[0].id, value, meaning, found is not None and bool(found.group(1)))


def _section(file: str) -> str:
    return next(title for title, starts in SECTIONS.items() if file.startswith(starts))


def _row(bound: Bound) -> str:
    exact = words.exact(bound.value)
    unit = " bytes" if "_BYTES" in bound.name else " characters" if "_CHARS" in bound.name else ""
    return f"| {bound.meaning} | {exact}{unit} | `{bound.file}`, `{bound.name}` |\n"


if __name__ == "__main__":
    write_below(PAGE, tables())
