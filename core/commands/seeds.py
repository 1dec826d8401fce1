"""`python -m core seeds`: run the commands of docs/seeds.md, and report missing texts in their output."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
    """A row of docs/seeds.md: items, question, page, command arguments, and expected texts.

    The command must exit with 0, or with the code of a text such as `exit 1`. For a row without a command, `asks` has
    the reason.
    """

    items: tuple[str, ...]
    asks: str
    page: str
    arguments: tuple[str, ...]
    prints: tuple[str, ...]

    @property
    def wanted(self) -> tuple[str, ...]:
        """The texts that the output must have, with the exit code; empty for a row without a command."""
        if not self.arguments:
            return ()
        return self.prints if any(map(EXIT.fullmatch, self.prints)) else (*self.prints, "exit 0")

    def matches(self, wanted: Sequence[str]) -> bool:
        """Return True if the row has one of these items or documents, or if `wanted` is empty."""
        names = {name for item in self.items for name in (item, DIGITS.sub("", item))}
        return not wanted or not names.isdisjoint(wanted)


def seed_rows(text: str) -> tuple[SeedRow, ...]:
    """Return the rows of the document's table."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n") if line.startswith("| ")
    ]
    return tuple(_row(*row) for row in cells if len(row) == 5 and row[0] != "items")


def _row(items: str, asks: str, page: str, command: str, prints: str) -> SeedRow:
    arguments = next(iter(CODE.findall(command)), "")
    return SeedRow(tuple(items.split(", ")), asks, page, tuple(shlex.split(arguments)), tuple(CODE.findall(prints)))


def add_seeds_command(command: argparse.ArgumentParser) -> None:
    """Add the options of `seeds`."""
    command.add_argument("items", nargs="*", metavar="ITEM", help="S0, S3.7, X2 …; all by default")
    command.set_defaults(function=_seeds)


def _seeds(arguments: argparse.Namespace) -> int:
    if not DOCUMENT.is_file():
        raise StoreError("docs/seeds.md is not here: the command needs a clone of the project")
    rows = [row for row in seed_rows(DOCUMENT.read_text(encoding="utf-8")) if row.matches(arguments.items)]
    missing = sum(_report(row, output) for row, output in _outputs(rows))
    print(f"{count(len(rows), 'row')}, {count(missing, 'missing text')}." if missing else _all(rows))
    return FAILED if missing else OK


def _all(rows: Sequence[SeedRow]) -> str:
    checked = [row for row in rows if row.arguments]
    items, left = (
        sum(len(row.items) for row in each) for each in (checked, [row for row in rows if not row.arguments])
    )
    words = f"{count(items, 'item')} in {count(len(checked), 'row')}: everything is as docs/seeds.md says."
    return f"{words} {count(left, 'item')} without a command: not checked." if left else words


def _outputs(rows: Sequence[SeedRow]) -> Iterator[tuple[SeedRow, str]]:
    """Run each command once, in a fresh store; yield each row with its command's output."""
    with tempfile.TemporaryDirectory(prefix="compileboard-seeds-") as home:
        outputs: dict[tuple[str, ...], str] = {(): ""}
        for row in rows:
            if row.arguments not in outputs:
                outputs[row.arguments] = _output(Path(home), row.arguments)
            yield row, outputs[row.arguments]


def _output(home: Path, arguments: tuple[str, ...]) -> str:
    """Run a command, and return its output and the output of the runs that it created.

    Empty if the command did not end in `LIMIT_S` seconds.
    """
    store, start = Store(home), time.monotonic()
    before = {run.id for run, _ in store.list()}
    newest = max(before, default="")
    command = [newest if word == RUN else word for word in arguments]
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
        return ""
    print(f" ({duration_s(time.monotonic() - start)}, exit code {process.returncode})")
    made = [run for run, _ in store.list() if run.id not in before]
    return "\n".join(
        [process.stdout, process.stderr, f"exit {process.returncode}", *(run.output_tail() for run in made)]
    )


def _report(row: SeedRow, output: str) -> int:
    """Print a row's items and the missing texts; return the number of missing texts."""
    lines = output.splitlines()
    missing = [text for text in row.wanted if text not in (lines if EXIT.fullmatch(text) else output)]
    print(f"  {', '.join(row.items)}: {row.asks}")
    for text in missing:
        print(f"    missing: {text}")
    return len(missing)
