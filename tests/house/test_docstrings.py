"""Docstrings begin with an imperative or a noun phrase, never with a relative clause."""

import ast

import pytest

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
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@pytest.mark.parametrize("top", TOPS)
def test_no_docstring_begins_with_a_riddle(top: str) -> None:
    path = ROOT / top
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert files
    assert [found for file in files for found in _riddles(file.relative_to(ROOT).as_posix())] == []


def _riddles(name: str) -> list[str]:
    """Return the place and the first line of each docstring of a file that begins with an opener."""
    texts = (
        (getattr(node, "lineno", 1), ast.get_docstring(node) or "")
        for node in ast.walk(tree_of(name))
        if isinstance(node, DOCUMENTED)
    )
    return [
        f"{name}:{line}: {text.splitlines()[0]}"
        for line, text in texts
        if text and text.split()[0].rstrip(",;:") in OPENERS
    ]
