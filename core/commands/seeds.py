"""`python -m core seeds`: run the commands of docs/seeds.md, and report missing texts in their output.

`make seeds` also opens the page of each row.
"""

import argparse
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.base.errors import StoreError
from core.base.machine import PROJECT_DIR, own_process, python_path
from core.base.words import count, duration_s
from core.commands.output import FAILED, OK
from core.runs.store import Store

DOCUMENT = PROJECT_DIR / "docs" / "seeds.md"
CODE = re.compile(r"`([^`]+)`")
# The number of an item in its document.
DIGITS = re.compile(r"\.?\d+$")
EXIT = re.compile(r"exit \d+")
RUN = "RUN"
LIMIT_S = 900.0


@dataclass(frozen=True, slots=True)
class SeedRow:
    """A row of docs/seeds.md: items, question, page, arguments of commands, and expected texts.

    `prints` are texts of the commands' output, and `shows` of the page: `make seeds` opens it with the commands' newest
    run. Each command must exit with 0, or with the code of a text such as `exit 1`.
    """

    items: tuple[str, ...]
    asks: str
    page: str
    commands: tuple[tuple[str, ...], ...]
    prints: tuple[str, ...]
    shows: tuple[str, ...] = ()

    def missing(self, output: str) -> list[str]:
        """Return the texts and exit codes that are not in the commands' output."""
        codes = list(filter(EXIT.fullmatch, self.prints)) or ["exit 0"] * bool(self.commands)
        found = set(filter(EXIT.fullmatch, output.splitlines()))
        texts = [text for text in self.prints if text not in codes and text not in output]
        return texts + [code for code in codes if found != {code}]

    def matches(self, wanted: Sequence[str]) -> bool:
        """Return True if the row has one of these items or documents, or if `wanted` is empty."""
        names = {name for item in self.items for name in (item, DIGITS.sub("", item))}
        return not wanted or not names.isdisjoint(wanted)


def seed_rows(text: str) -> tuple[SeedRow, ...]:
    """Return the rows of the document's table."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line.startswith("| ")
    ]
    return tuple(_row(*row) for row in cells if len(row) == 6 and row[0] != "items")


def _row(items: str, asks: str, page: str, commands: str, prints: str, shows: str) -> SeedRow:
    arguments = (tuple(shlex.split(command)) for command in CODE.findall(commands))
    texts = (tuple(CODE.findall(cell)) for cell in (prints, shows))
    return SeedRow(tuple(items.split(", ")), asks, page, tuple(arguments), *texts)


def add_seeds_command(command: argparse.ArgumentParser) -> None:
    command.add_argument("items", nargs="*", metavar="ITEM", help="S0, S3.7, X2 …; all by default")


def seeds_command(arguments: argparse.Namespace) -> int:
    if not DOCUMENT.is_file():
        raise StoreError("docs/seeds.md is not here: the command needs a clone of the project")
    rows = [row for row in seed_rows(DOCUMENT.read_text(encoding="utf-8")) if row.matches(arguments.items)]
    if not rows:
        raise StoreError(f"docs/seeds.md has no item of {', '.join(arguments.items)}")
    with tempfile.TemporaryDirectory(prefix="compileboard-seeds-") as home:
        seeds = Seeds(Path(home))
        missing = sum(_report(row, seeds.output(row)) for row in rows)
    print(f"{count(len(rows), 'row')}, {count(missing, 'missing text')}." if missing else _all(rows))
    return FAILED if missing else OK


def _all(rows: Sequence[SeedRow]) -> str:
    checked = [row for row in rows if row.commands]
    items, left = (sum(len(row.items) for row in each) for each in (checked, [row for row in rows if not row.commands]))
    words = f"{count(items, 'item')} in {count(len(checked), 'row')}: everything is as docs/seeds.md says."
    return f"{words} {count(left, 'item')} without a command: `make seeds` checks their pages." if left else words


@dataclass(frozen=True, slots=True)
class Seeds:
    """Outputs of the commands, each executed once, with the runs in a store of their own."""

    home: Path
    done: dict[tuple[str, ...], tuple[str, str]] = field(default_factory=dict)

    def output(self, row: SeedRow) -> str:
        """Return the output of a row's commands and of their runs, with the exit codes."""
        return "\n".join(self._of(row)[0])

    def run(self, row: SeedRow) -> str:
        """Return the id of the newest run that a row's commands created; empty if there is none."""
        return self._of(row)[1]

    def _of(self, row: SeedRow) -> tuple[list[str], str]:
        outputs, newest = [], ""
        for words in row.commands:
            command = tuple(newest if word == RUN else word for word in words)
            if command not in self.done:
                self.done[command] = _executed(self.home, command)
            output, made = self.done[command]
            outputs.append(output)
            newest = made or newest
        return outputs, newest


def _executed(home: Path, command: tuple[str, ...]) -> tuple[str, str]:
    """Execute a command; return its output, or `timeout`'s exit code, and the newest run that it created."""
    store, start = Store(home), time.monotonic()
    before = {run.id for run, _ in store.list()}
    print(f"python -m core {shlex.join(command)}", end="", flush=True)
    try:
        process = subprocess.run(
            own_process("core", *command),
            cwd=PROJECT_DIR,
            env={**os.environ, "PYTHONPATH": python_path(), "COMPILEBOARD_HOME": str(home)},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f" did not end in {duration_s(LIMIT_S)}")
        return "exit 124", ""
    print(f" ({duration_s(time.monotonic() - start)}, exit code {process.returncode})")
    made = [run for run, _ in store.list() if run.id not in before]
    printed = [process.stdout, process.stderr, f"exit {process.returncode}", *(run.output_tail() for run in made)]
    return "\n".join(printed), max((run.id for run in made), default="")


def _report(row: SeedRow, output: str) -> int:
    """Print a row's items and the missing texts; return the number of missing texts."""
    missing = row.missing(output)
    print(f"  {', '.join(row.items)}: {row.asks}")
    for text in missing:
        print(f"    missing: {text}")
    return len(missing)
