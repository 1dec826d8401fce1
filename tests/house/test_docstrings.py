"""Docstrings begin with an imperative or a noun phrase, never with a relative clause, in a short first line."""

import ast

import pytest

from tests.support.documents import blocks
from tests.support.imports import tree_of
from tests.support.places import ROOT

TOPS = ("pages", "dashboard.py", "benchmarks", "docs/make", "core")
OPENERS = frozenset(
    {
        "What",
        "Whether",
        "Where",
        "Which",
        "Why",
        "How",
        "When",
        "Who",
        "Whose",
        "One",
        "Those",
        "Of",
        "As",
        "Once",
        "That",
        "For",
        "From",
        "By",
        "In",
        "At",
        "With",
        "Also",
    }
)
MOST_LETTERS = 100
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@pytest.mark.parametrize("top", TOPS)
def test_no_docstring_begins_with_a_riddle(top: str) -> None:
    assert [place for place, first in _first_lines(top) if first.split()[0].rstrip(",;:") in OPENERS] == []


@pytest.mark.parametrize("top", TOPS)
def test_a_docstring_begins_with_a_short_line(top: str) -> None:
    assert [place for place, first in _first_lines(top) if len(first) > MOST_LETTERS] == []


def test_examples_in_documents_begin_their_docstrings_so_too() -> None:
    lines = [
        (f"{path.name}: {text}", text.splitlines()[0])
        for path in sorted((ROOT / "docs").glob("*.md"))
        for block in blocks(path.relative_to(ROOT).as_posix(), "python")
        for node in ast.walk(ast.parse(block))
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node))
    ]
    assert [place for place, first in lines if first.split()[0] in OPENERS or len(first) > MOST_LETTERS] == []


def _first_lines(top: str) -> list[tuple[str, str]]:
    """Return the place and the first line of each docstring below a file or directory."""
    path = ROOT / top
    names = [file.relative_to(ROOT).as_posix() for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    lines = [
        (f"{name}:{getattr(node, 'lineno', 1)}", text.splitlines()[0])
        for name in names
        for node in ast.walk(tree_of(name))
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node))
    ]
    assert lines
    return lines
