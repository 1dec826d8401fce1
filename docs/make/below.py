"""Pages of docs/ whose lower part `make docs` writes."""

from __future__ import annotations

from pathlib import Path

MARK = "<!-- Below this line: `make docs`. -->\n"


def write_below(page: Path, text: str) -> None:
    """Replace the text below the mark."""
    head = page.read_text(encoding="utf-8").partition(MARK)[0]
    page.write_text(f"{head}{MARK}\n{text}", encoding="utf-8")


def below(page: Path) -> str:
    """Return the text below the mark."""
    return page.read_text(encoding="utf-8").partition(MARK)[2]
