"""Texts of an exported program and its package, which the log contains unchanged."""

from __future__ import annotations

from typing import get_args

from core.report import PackagePart, PackageText
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft

MOST_NAME_CHARS = 400


def package_text(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep a text whose part, title and language are beside the artifact's name; raises ValueError for
    an unknown part.
    """
    body = record.body if isinstance(record.body, dict) else {}
    title, language = body.get("title"), body.get("language")
    part: PackagePart | None = next((part for part in get_args(PackagePart) if part == body.get("part")), None)
    if part is None or not isinstance(title, str) or not isinstance(language, str):
        raise ValueError("a text of a package has a part, a title and a language")
    draft.keep(record, PackageText(part, title[:MOST_NAME_CHARS], language[:MOST_NAME_CHARS], draft.payload(record)))
