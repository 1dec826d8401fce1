"""Numbers become words in `core/base/words.py` alone: one number has one form, wherever it is read."""

import ast
import re
from collections.abc import Iterator

from tests.support.imports import FILES as OURS
from tests.support.imports import nodes_of, offending

# Format specifications of numbers that are no words, by file.
SPECS = {
    "core/job/magics.py": "a part of a notebook's script, which imports nothing of ours",
    "core/graph/layout/ladder.py": "the language of dot",
    "core/runs/processes/handles.py": "a handle, which only the engine reads",
    "pages/components/code/view.py": "a code point, as Unicode names it",
    "pages/gate/middleware.py": "addresses, as Linux lists its sockets",
}
# Texts in which a bare length stands, or that hang on there being one.
LENGTHS = {
    "core/code/diff.py": "the head of a hunk, as diff writes it",
    "core/runs/tools/tasks.py": "a tuple of one, as Python writes it",
}
# What the browser writes, since Streamlit or Plotly leaves no other way.
BROWSER = {
    ("pages/session/tables.py", "%.3g %%"): "the label of a bar in a cell",
    ("pages/parts/dynamo/tables.py", "numbers"): "the labels of bars in cells",
    ("pages/parts/run/own_backend.py", "'%g' if field.step else None"): "a field in which a number is typed",
}
NUMERIC = re.compile(r",|[%defgnxX]$")
HOVERED = re.compile(r"%\{\w+(\[\d+\])?:")
FILES = [name for name in OURS if name not in ("core/base/words.py", "dashboard.py") and "/samples/" not in name]


def specs(name: str) -> Iterator[str]:
    """The format specifications of numbers in f-strings."""
    for node in nodes_of(name):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            literal = "".join(str(part.value) for part in node.format_spec.values if isinstance(part, ast.Constant))
            if NUMERIC.search(literal):
                yield ast.unparse(node)


def lengths(name: str) -> Iterator[str]:
    """Lengths and sums that stand bare in a text, and texts that are chosen by whether there is one."""
    for node in nodes_of(name):
        if isinstance(node, ast.FormattedValue) and re.match(r"(len|sum|round)\(", ast.unparse(node.value)):
            yield ast.unparse(node)
        if isinstance(node, ast.IfExp) and is_text(node.body) and is_text(node.orelse) and asks_for_one(node.test):
            yield ast.unparse(node)


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def asks_for_one(test: ast.AST) -> bool:
    is_one = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.NotEq)
    return is_one and [ast.unparse(right) for right in test.comparators] == ["1"]  # type: ignore[attr-defined]


def browser_formats(name: str) -> Iterator[str]:
    """What is handed to Streamlit and Plotly to write numbers by."""
    for node in nodes_of(name):
        if isinstance(node, ast.keyword) and node.arg in ("format", "tickformat", "hoverformat"):
            yield str(node.value.value) if isinstance(node.value, ast.Constant) else ast.unparse(node.value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and HOVERED.search(node.value):
            yield node.value


def test_no_number_is_formatted_beside_the_words() -> None:
    found = offending(FILES, lambda name: list(specs(name)))
    assert {name: texts for name, texts in found.items() if name not in SPECS} == {}
    assert set(found) == set(SPECS)


def test_no_count_is_written_beside_the_words() -> None:
    found = offending(FILES, lambda name: list(lengths(name)))
    assert {name: texts for name, texts in found.items() if name not in LENGTHS} == {}
    assert set(found) == set(LENGTHS)


def test_the_browser_formats_no_number_that_we_can_write() -> None:
    there = {(name, found) for name in FILES for found in browser_formats(name)}
    assert {one for one in there if one[0].startswith("pages/")} == set(BROWSER)
