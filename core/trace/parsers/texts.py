"""Parsers of texts and tables that stay in the log: of packages, backends, debug files, and torch's own log."""

from __future__ import annotations

from typing import Any, get_args

from core.base.decoder import counted
from core.report import LogText, PackagePart, PackageText, ToldTable, ToldText
from core.report.model import DEBUG_FILES
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft

MOST_NAME_CHARS = 400
MOST_LOG_NAMES = 10_000
MOST_TOLD_ROWS = 2_000
MOST_TOLD_COLUMNS = 24
MOST_CELL_CHARS = 400


def package_text(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a text with the part, title and language from its record; raises ValueError for an unknown part."""
    body = record.body if isinstance(record.body, dict) else {}
    title, language = body.get("title"), body.get("language")
    part: PackagePart | None = next((part for part in get_args(PackagePart) if part == body.get("part")), None)
    if part is None or not isinstance(title, str) or not isinstance(language, str):
        raise ValueError("a text of a package has a part, a title and a language")
    draft.keep(record, PackageText(part, title[:MOST_NAME_CHARS], language[:MOST_NAME_CHARS], draft.payload(record)))


def debug_file(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a file of torch's debug directory with the name from its record; raises ValueError for an unknown name."""
    name = record.body.get("file") if isinstance(record.body, dict) else None
    if name not in DEBUG_FILES:
        raise ValueError("a debug file has one of torch's names")
    draft.keep_debug_file(record, name)


def torch_logs(draft: ReportDraft, record: TraceRecord) -> None:
    """Add messages of torch's log with their counts by name; raises ValueError without counts."""
    messages = record.body.get("messages") if isinstance(record.body, dict) else None
    if not isinstance(messages, dict) or len(messages) > MOST_LOG_NAMES:
        raise ValueError("messages of torch's log are counted by name")
    counts = {str(name)[:MOST_NAME_CHARS]: counted(number) or 0 for name, number in messages.items()}
    draft.keep(record, LogText(record.compile_id, counts, draft.payload(record)))


def graph_runnable(draft: ReportDraft, record: TraceRecord) -> None:
    """Add torch's script for a graph, with which the records of a graph begin."""
    draft.keep_debug_file(record, "fx_graph_runnable.py")


def backend_table(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a table with `title`, `columns` and `rows`; raises ValueError.

    A table logged after compiling also names its `compilation`.
    """
    data = draft.reader.json(record)
    if not isinstance(data, dict) or not all(isinstance(data.get(name), list) for name in ("columns", "rows")):
        raise ValueError("a table has columns and rows")
    columns = tuple(str(name)[:MOST_CELL_CHARS] for name in data["columns"][:MOST_TOLD_COLUMNS])
    rows = [row for row in data["rows"] if isinstance(row, list) and len(row) == len(data["columns"])]
    if len(rows) != len(data["rows"]):
        raise ValueError("a row has as many cells as there are columns")
    cells = tuple(tuple(map(_cell, row[:MOST_TOLD_COLUMNS])) for row in rows[:MOST_TOLD_ROWS])
    compilation = record.compile_id or _title(data.get("compilation"))
    draft.keep(record, ToldTable(compilation, _title(data.get("title")), columns, cells, len(rows) - len(cells)))


def backend_text(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a text with the `title` and `language` from its record."""
    body = record.body if isinstance(record.body, dict) else {}
    title, language = _title(body.get("title")), _title(body.get("language"))
    draft.keep(record, ToldText(record.compile_id, title, language, draft.payload(record)))


def _title(value: Any) -> str:
    return value[:MOST_CELL_CHARS] if isinstance(value, str) else ""


def _cell(value: Any) -> str | int | float | None:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value)[:MOST_CELL_CHARS]
