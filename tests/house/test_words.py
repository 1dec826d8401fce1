"""Numbers become words in `core/words.py` alone: one number has one form, wherever it is read."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.support.places import ROOT

# Format specifications of numbers that are no words, by file.
SPECS = {
    "core/layout/dot.py": "the language of dot",
    "pages/components/code/view.py": "a code point, as Unicode names it",
    "pages/gate/peer.py": "addresses, as Linux lists its sockets",
}
# Texts in which a bare length stands, or that hang on there being one.
LENGTHS = {
    "core/code/diff.py": "the head of a hunk, as diff writes it",
    "core/tools/ask.py": "a tuple of one, as Python writes it",
}
# What the browser writes, since Streamlit or Plotly leaves no other way.
BROWSER = {
    ("pages/parts/dynamo/guards.py", "percent"): "the label of a bar in a cell",
    ("pages/parts/dynamo/compilations.py", "numbers"): "the labels of bars in cells",
    ("pages/parts/run/options.py", "%g"): "a field in which a number is typed",
}
NUMERIC = re.compile(r",|[%defgnxX]$")
HOVERED = re.compile(r"%\{\w+(\[\d+\])?:")
FILES = [
    path.relative_to(ROOT).as_posix()
    for top in ("core", "pages")
    for path in sorted((ROOT / top).rglob("*.py"))
    if path.relative_to(ROOT).as_posix() != "core/words.py" and "samples" not in path.parts
]
TREES = {name: ast.parse((ROOT / name).read_text(encoding="utf-8")) for name in FILES}


def specs(tree: ast.AST) -> Iterator[str]:
    """The format specifications of numbers in f-strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            literal = "".join(str(part.value) for part in node.format_spec.values if isinstance(part, ast.Constant))
            if NUMERIC.search(literal):
                yield ast.unparse(node)


def lengths(tree: ast.AST) -> Iterator[str]:
    """Lengths and sums that stand bare in a text, and texts that are chosen by whether there is one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue) and re.match(r"(len|sum|round)\(", ast.unparse(node.value)):
            yield ast.unparse(node)
        if isinstance(node, ast.IfExp) and is_text(node.body) and is_text(node.orelse) and asks_for_one(node.test):
            yield ast.unparse(node)


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def asks_for_one(test: ast.AST) -> bool:
    is_one = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.NotEq)
    return is_one and [ast.unparse(right) for right in test.comparators] == ["1"]  # type: ignore[attr-defined]


def browser_formats(tree: ast.AST) -> Iterator[str]:
    """What is handed to Streamlit and Plotly to write numbers by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in ("format", "tickformat", "hoverformat"):
            yield str(node.value.value) if isinstance(node.value, ast.Constant) else ast.unparse(node.value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and HOVERED.search(node.value):
            yield node.value


@pytest.mark.parametrize("name", [name for name in FILES if name not in SPECS])
def test_no_number_is_formatted_beside_the_words(name: str) -> None:
    assert list(specs(TREES[name])) == []


@pytest.mark.parametrize("name", [name for name in FILES if name not in LENGTHS])
def test_no_count_is_written_beside_the_words(name: str) -> None:
    assert list(lengths(TREES[name])) == []


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("pages/")])
def test_the_browser_formats_no_number_that_we_can_write(name: str) -> None:
    assert [found for found in browser_formats(TREES[name]) if (name, found) not in BROWSER] == []


def test_every_exception_is_one() -> None:
    assert {name for name in SPECS if list(specs(TREES[name]))} == set(SPECS)
    assert {name for name in LENGTHS if list(lengths(TREES[name]))} == set(LENGTHS)
    assert {(name, found) for name in TREES for found in browser_formats(TREES[name])} >= set(BROWSER)
