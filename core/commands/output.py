"""Options and exit codes that the commands share; printed errors, and blocks as text or JSON."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from core.base import words as fmt
from core.base.errors import CompileboardError
from core.base.words import limit_s

# The views are imported where a page is printed: they take longer to load than the help takes.
if TYPE_CHECKING:
    from core.views.blocks import Block, TextTable

OK, FAILED, USAGE, MISSING, CANCELLED = 0, 1, 2, 3, 130
WRONG, SLOW, NO_NODE = 4, 5, 6
# Seconds to wait for a node; a worker that was disconnected needs up to 30 to connect again.
NODE_WAIT_S = 60.0


def add_json_option(command: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    command.add_argument("--json", action="store_true", help="JSON on standard output, and nothing else")


def add_engine_option(command: argparse.ArgumentParser) -> None:
    """Add `--engine`."""
    command.add_argument(
        "--engine",
        metavar="ADDRESS",
        help="where runs are executed: sandbox, ray://HOST:PORT or workers://HOST:PORT (COMPILEBOARD_ENGINE)",
    )


def add_node_options(command: argparse.ArgumentParser) -> None:
    """Add `--engine` and `--node-wait`."""
    add_engine_option(command)
    command.add_argument(
        "--node-wait",
        type=seconds,
        default=NODE_WAIT_S,
        metavar="S",
        help=f"exit with {NO_NODE} if no node can execute a run for S seconds ({limit_s(NODE_WAIT_S)})",
    )


def seconds(text: str) -> float:
    """Return a number of seconds; raises ArgumentTypeError."""
    try:
        number_s = float(text)
    except ValueError:
        number_s = math.nan
    if not number_s >= 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no number of seconds")
    return number_s


def write_file(path: str, data: bytes, mode: Literal["wb", "ab"] = "wb") -> None:
    """Write a file, or append to it with mode `ab`; raises CompileboardError."""
    try:
        with open(path, mode) as file:
            file.write(data)
    except OSError as error:
        raise CompileboardError(f"{path} cannot be written: {error.strerror}") from None


def print_markdown(line: str) -> None:
    """Print a line of Markdown as plain text."""
    print(line.replace("`", "").replace("\\", ""))


def print_start() -> None:
    """Print to standard error that torch starts, which takes seconds."""
    print("  starting torch", file=sys.stderr, flush=True)


def complain(message: str, code: int) -> int:
    """Print a message to standard error; returns the exit code."""
    print(message, file=sys.stderr)
    return code


def add_check_options(command: argparse.ArgumentParser, differing: str) -> None:
    """Add the options of a command whose exit code depends on results and speed."""
    command.add_argument("--check", action="store_true", help=f"exit with {WRONG} where {differing}")
    command.add_argument(
        "--least-speedup",
        type=float,
        metavar="X",
        help=f"exit with {SLOW} where it is certainly less than X times as fast, or was not measured",
    )


# Rows of a table, lines of code, and characters of such a line, that a terminal shows.
MOST_ROWS, MOST_LINES, MOST_CHARS = 100, 60, 400


def as_text(page: Iterable[Block], indent: str = "") -> Iterator[str]:
    """Yield the lines of blocks for a terminal; a long table is cut, and says so."""
    from core.views.blocks import flat

    for block in flat(page):
        for line in _lines(block):
            yield f"{indent}{line}".rstrip()


def _lines(block: Block) -> Iterator[str]:
    from core.views import blocks
    from core.views.markdown import CONTROL

    match block:
        case blocks.Title() | blocks.Text():
            yield from blocks.words(block.prose).split("\n")
        case blocks.Heading():
            yield from ("", block.text, "=" * len(block.text))
        case blocks.Table():
            yield from _table_lines(block.texts(block.rows[:MOST_ROWS]))
            yield from _more(len(block.rows) - MOST_ROWS, "row")
        case blocks.TextTable():
            yield from _table_lines(block)
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


def _table_lines(table: TextTable) -> Iterator[str]:
    from tabulate import tabulate

    from core.views.markdown import indented_line

    cells = [[*map(indented_line, row)] for row in table.rows[:MOST_ROWS]]
    places = ["right" if name in table.numeric else "left" for name in table.head]
    if cells:
        lines = tabulate(
            cells, table.head, "simple", disable_numparse=True, colalign=places, preserve_whitespace=True
        ).splitlines()
        yield from ("", *lines, "")


def _more(count: int, noun: str) -> Iterator[str]:
    if count > 0:
        yield f"… {fmt.count(count, noun)} more"


def as_data(page: Iterable[Block]) -> list[dict[str, Any]]:
    """Return blocks as JSON data; tables have all rows with their values, and drawings only their label."""
    from core.views.blocks import flat

    return [data for block in flat(page) for data in _data(block)]


def _data(block: Block) -> Iterator[dict[str, Any]]:
    from core.views import blocks

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
