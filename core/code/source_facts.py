"""Lines of a user's file that affect torch.compile, detected without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.base.syntax import NOT_READ, module
from core.report import Frame, RemarkKind, SourceRemark

# Functions of torch and of libraries that return another value under torch.compile.
ASKS = frozenset({"is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling"})
LOGS = "TORCH_LOGS"
WORTH_READING = re.compile(r"is_\w*compiling|TORCH_LOGS")
MOST_REMARKS = 20
LONGEST_LINE = 200


def source_remarks(path: str, text: str) -> tuple[SourceRemark, ...]:
    """Return the first such lines of a file; empty if it is not Python."""
    if not WORTH_READING.search(text):
        return ()
    try:
        tree = module(text)
    except NOT_READ:
        return ()
    lines = text.split("\n")
    places = sorted({(line, kind) for line, kind in _lines(tree)})
    return tuple(
        SourceRemark(kind, Frame(path, line, text=lines[line - 1].strip()[:LONGEST_LINE]))
        for line, kind in places[:MOST_REMARKS]
    )


def _lines(tree: ast.Module) -> Iterator[tuple[int, RemarkKind]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in ASKS:
            yield node.lineno, "asks whether it is compiled"
        elif isinstance(node, (ast.Assign, ast.Call)) and _sets_logs(node):
            yield node.lineno, "sets TORCH_LOGS"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _sets_logs(node: ast.Assign | ast.Call) -> bool:
    """Return True for `os.environ["TORCH_LOGS"] = …`, and the same by `setdefault`, `update` or `putenv`."""
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Subscript) and _is_logs(target.slice) for target in node.targets)
    if _name(node.func) == "update":
        keys = [
            key for argument in node.args if isinstance(argument, ast.Dict) for key in argument.keys if key is not None
        ]
        return any(map(_is_logs, keys)) or any(keyword.arg == LOGS for keyword in node.keywords)
    return _name(node.func) in ("setdefault", "putenv") and bool(node.args) and _is_logs(node.args[0])


def _is_logs(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == LOGS
