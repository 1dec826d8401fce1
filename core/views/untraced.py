"""Lines of the user's file that ran eagerly because Dynamo skipped their frame."""

from __future__ import annotations

import ast

from core.analysis.dynamo.failures import resumed
from core.base.syntax import NOT_READ, module
from core.base.words import number
from core.report import Frame

MORE_BREAKS = "more breaks may follow"


def untraced_words(text: str, frame: Frame) -> str:
    """Return "Lines 40–44 ran eagerly: more breaks may follow."

    `text` is the file of the skipped frame, empty if it was not recorded. A resume function begins after its line.
    """
    name, after = resumed(frame.name)
    function = _function(text, name, frame.line)
    if function is None:
        begin = "The rest of this function" if after is not None else "This function"
        return f"{begin} ran eagerly: {MORE_BREAKS}."
    last = function.end_lineno or frame.line
    first = function.body[0].lineno if after is None else min(after + 1, last)
    lines = f"Lines {number(first)}–{number(last)}" if first < last else f"Line {number(first)}"
    return f"{lines} ran eagerly: {MORE_BREAKS}."


def _function(text: str, name: str, line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the innermost function of this name around a line; None if the text has none."""
    try:
        tree = module(text)
    except NOT_READ:
        return None
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name == name
        and min([node.lineno, *(each.lineno for each in node.decorator_list)]) <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=None)
