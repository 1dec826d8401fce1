"""python -m docs.make.promises: write docs/security-promises.md from the tests that keep a promise.

Such a test has the mark `promise` with a section, and the first line of its docstring is the promise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs.make.below import write_below

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "security-promises.md"
# The title of each section, and to whom it promises something against what.
SECTIONS = {
    "code": ("Code runs only where it is allowed", "To the owner and to who opens a log, against visitors and logs"),
    "users": ("Other users of the machine", "To the owner, on a shared machine"),
    "web": ("Requests", "To everybody, against foreign pages, hosts, proxies and connections"),
    "messages": ("Messages and text fields", "To the owner and all visitors, against what a visitor sends"),
    "people": ("People and their runs", "To people and visitors, against each other and strangers"),
    "limits": ("Limits of a public server", "To the owner and all visitors, against a visitor who takes too much"),
    "runs": ("Processes of a run", "To the owner, against runs that fail or resist"),
    "sandbox": ("Sandbox", "To the owner and to people, against other people's code"),
    "logs": ("Logs, profiles and uploads", "To who opens a file, against who made it"),
    "text": ("Text of logs and runs", "To who reads it, against who wrote it"),
    "programs": ("Programs of the accelerator", "To who runs a program, against who made it"),
    "files": ("Damaged files and full disks", "To everybody, against crashes and what a run leaves behind"),
    "archive": ("Archives and retention", "To people, against who made or changed an archive, and the server"),
    "cluster": ("Several machines", "To the owner, against a worker that was taken over and who reaches its port"),
    "supply": ("Installation and container", "To who installs it, against packages and images that change"),
}


class Promise(NamedTuple):
    """A promise with its section and the test that keeps it."""

    section: str
    text: str
    test: str


def promises() -> list[Promise]:
    """Return the promises of all tests, by file and line."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [promise for path in files for promise in _promises_of(path)]


def tables() -> str:
    """Return the tables of all promises, one per section."""
    kept = promises()
    return "\n".join(
        f"## {title}\n\n{parties}.\n\n{_table([each for each in kept if each.section == section])}"
        for section, (title, parties) in SECTIONS.items()
    )


def _promises_of(path: Path) -> Iterator[Promise]:
    text = path.read_text(encoding="utf-8")
    if "mark.promise(" in text:
        name = path.relative_to(ROOT).as_posix()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                first = (ast.get_docstring(node) or "").partition("\n")[0]
                yield from (Promise(section, first, f"{name}::{node.name}") for section in _sections(node))


def _sections(node: ast.FunctionDef) -> Iterator[str]:
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.promise":
            yield from (ast.literal_eval(section) for section in mark.args)


def _table(rows: list[Promise]) -> str:
    return "".join(["| promise | test |\n|---|---|\n", *(f"| {row.text} | `{row.test}` |\n" for row in rows)])


if __name__ == "__main__":
    write_below(PAGE, tables())
