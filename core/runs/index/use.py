"""Usage of a store by visitors, as the index sums it: runs and kernel tool results, live or stored, and their bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import astuple

from core.runs.index.entry import IndexedRun
from core.runs.rates import RateEntry
from core.runs.sizes import Usage

TABLES = (
    "CREATE TABLE IF NOT EXISTS tools (run, author, live, size_bytes, started_s, took_s)",
    "CREATE INDEX IF NOT EXISTS of_run ON tools (run)",
    "CREATE INDEX IF NOT EXISTS of_requester ON tools (author)",
    "CREATE INDEX IF NOT EXISTS of_author ON runs (author, live, size_bytes)",
)
RUNS = "SELECT count(*), total(live), total(size_bytes) FROM runs"
TOOLS = "SELECT count(*), total(live), total(size_bytes) FROM tools"
# Results that others requested are in the bytes of a run, and count for who requested them.
TOOLS_OF_RUNS = "SELECT total(tools.size_bytes) FROM runs JOIN tools ON tools.run = runs.id WHERE runs.author = ?"
STARTED = (
    "SELECT created_s, started_s, started_s + took_s, live FROM runs WHERE author = ? AND executed "
    "AND (live OR created_s > ? OR started_s + took_s > ?)"
)
EXECUTED_TOOLS = (
    "SELECT started_s, started_s, started_s + took_s, live FROM tools WHERE author = ? AND started_s > 0 "
    "AND (live OR started_s + took_s > ?)"
)
UNCOUNTED = "SELECT id, author FROM runs WHERE size_bytes IS NULL"


def write_tools(connection: sqlite3.Connection, entries: Sequence[IndexedRun], gone: Iterable[tuple[str]]) -> None:
    """Replace the tool results of some runs, in the caller's transaction."""
    connection.executemany("DELETE FROM tools WHERE run = ?", [*((entry.id,) for entry in entries), *gone])
    rows = [(entry.id, *astuple(use)) for entry in entries for use in entry.tools]
    connection.executemany("INSERT INTO tools VALUES (?, ?, ?, ?, ?, ?)", rows)


def executions_of(connection: sqlite3.Connection, by: str, since_s: float) -> list[RateEntry]:
    """Return the runs that a visitor started and the kernel tools that executed since a time.

    An end that is not known, of a run whose owner is lost, counts as its start.
    """
    runs = connection.execute(STARTED, (by, since_s, since_s)).fetchall()
    tools = connection.execute(EXECUTED_TOOLS, (by, since_s)).fetchall()
    return [
        RateEntry(by, created_s, started_s, None if live else ended_s or started_s, is_run)
        for rows, is_run in ((runs, True), (tools, False))
        for created_s, started_s, ended_s, live in rows
    ]


def usage_of(connection: sqlite3.Connection, by: str) -> Usage:
    """Return the usage of the indexed runs; directories with too many files to be counted are left out."""
    _, queue, store_bytes = connection.execute(RUNS).fetchone()
    _, tool_queue, _ = connection.execute(TOOLS).fetchone()
    everyone = Usage(queue=int(queue), store_bytes=int(store_bytes), tool_queue=int(tool_queue))
    if not by:
        return everyone
    runs, live, size = connection.execute(f"{RUNS} WHERE author = ?", (by,)).fetchone()
    answers, live_tools, tools_size = connection.execute(f"{TOOLS} WHERE author = ?", (by,)).fetchone()
    (within,) = connection.execute(TOOLS_OF_RUNS, (by,)).fetchone()
    return Usage(
        int(live),
        runs,
        int(size - within + tools_size),
        everyone.queue,
        everyone.store_bytes,
        int(live_tools),
        answers,
        everyone.tool_queue,
    )
