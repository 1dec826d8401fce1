"""Rules for calls that only report something: prints, warnings, logging; each takes the call's line."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from core.analysis.repairs.repair import CodeFix
from core.analysis.repairs.source import Edit, UserCode, dotted, shares
from core.report import GraphBreak

LOGS = ("print", "warnings.warn")
LEVELS = ("debug", "info", "warning", "error", "exception", "critical", "log")
LOGGERS = ("logging", "log", "logger", "_logger", "LOG", "LOGGER", "_log")
# Dynamo's classes of values that it can keep until the graph has run, or turn into constant text.
ORDERED = ("TensorVariable", "ConstantVariable", "StringFormatVariable")
TEXTS = ("SizeVariable", "SymNodeVariable", "TorchVariable", "NNModuleVariable", "DeviceVariable")
FIXED = ("shape", "dtype", "device", "layout")
LATER = "The printed values leave the graph as outputs, and the call runs after the graph, in the same order."
ARGUMENTS = re.compile(r"^builtin \w+ \[(.*)\]")
CLASS = re.compile(r"\.(\w+)'>")


def reorder(code: UserCode, line: str) -> CodeFix | None:
    """Run a print or a warning after the graph."""
    call = _log_call(code, int(line))
    if call is None or any(map(_is_fixed, call.args)):
        return None
    return CodeFix(f"Let Dynamo call `{dotted(call.func)}` after the graph.", LATER, tuple(_setting(code, call)))


def print_op(code: UserCode, line: str, texts: str) -> CodeFix | None:
    """Turn the prints of a line into ops of the graph; `texts` lists arguments of the first one to turn into text."""
    calls = sorted((call for call in code.on_line(int(line), ast.Call) if dotted(call.func) == "print"), key=code.start)
    torch, more = code.with_torch()
    edits = []
    for number, call in enumerate(calls):
        places = [int(place) for place in texts.split("_") if place.isdecimal() and number == 0]
        text = _print_arguments(code, call, places)
        if not text:
            return None
        edits.append(Edit(code.start(call), code.end(call), f"{torch}._higher_order_ops.print({text})"))
    why = "The graph then holds the print as an op of its own, wherever the call is, and prints in the same order."
    doubt = "The op is one of torch's internal names."
    return CodeFix("Print by torch's own op.", why, (*edits, *more), doubt=doubt) if edits else None


def _print_arguments(code: UserCode, call: ast.Call, texts: Sequence[int]) -> str:
    """Return the arguments of torch's print: a template and values; empty if it can't print the same as Python."""
    if not call.args or call.keywords or not isinstance(code.parents[call], ast.Expr):
        return ""
    parts = [_field(code, value, place in texts) for place, value in enumerate(call.args)]
    template = " ".join(part[0] for part in parts if part)
    values = "".join(f", {value}" for part in parts if part for value in part[1])
    return "" if None in parts else f"{_literal(template)}{values}"


Field = tuple[str, list[str]]


def _field(code: UserCode, value: ast.expr, as_text: bool) -> Field | None:
    """Return a print argument as a part of a `str.format` template, with its values."""
    if isinstance(value, ast.Constant):
        return _escaped(str(value.value)), []
    if isinstance(value, ast.JoinedStr):
        pieces = [_piece(code, piece) for piece in value.values]
        fields = [piece for piece in pieces if piece is not None]
        joined = (
            "".join(template for template, _ in fields),
            [expression for _, expressions in fields for expression in expressions],
        )
        return joined if len(fields) == len(pieces) else None
    if isinstance(value, ast.Starred):
        return None
    return "{!s}", [_value(code, value, as_text)]


def _piece(code: UserCode, piece: ast.expr) -> Field | None:
    if isinstance(piece, ast.Constant):
        return _escaped(str(piece.value)), []
    if not isinstance(piece, ast.FormattedValue):
        return None
    spec = piece.format_spec.values if isinstance(piece.format_spec, ast.JoinedStr) else []
    if not all(isinstance(part, ast.Constant) for part in spec):
        return None
    letters = "".join(str(part.value) for part in spec if isinstance(part, ast.Constant))
    how = f"!{chr(piece.conversion)}" if piece.conversion > 0 else ""
    return f"{{{how}{f':{letters}' if letters else ''}}}", [_value(code, piece.value, False)]


def _value(code: UserCode, value: ast.expr, as_text: bool) -> str:
    # Python 3.11 reports wrong columns within an f-string.
    text = ast.unparse(value)
    return f"str({text})" if as_text or _is_fixed(value) else text


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _literal(text: str) -> str:
    """Return a text as a literal, in double quotes if that needs no escapes."""
    written = repr(text)
    return f'"{written[1:-1]}"' if written[0] == "'" and '"' not in written else written


def eager_only(code: UserCode, line: str) -> CodeFix | None:
    """Skip a reporting statement in compiled code."""
    statement = code.statement(int(line))
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call) or shares(code, statement):
        return None
    name = _log_name(statement.value)
    if not name:
        return None
    torch, more = code.with_torch()
    indent = code.indent(statement)
    step = "\t" if "\t" in indent else "    "
    rows = range(statement.lineno + 1, (statement.end_lineno or 0) + 1)
    rest = [Edit(at, at, step) for row in rows if not code.in_text(row) for at in [code.line_start(row)]]
    start = code.start(statement)
    guard = Edit(start, start, f"if not {torch}.compiler.is_compiling():\n{indent}{step}")
    return CodeFix(
        f"Call `{name}` in eager mode alone.",
        "The compiled code has no such call, so that nothing has to leave the graph for it.",
        (guard, *rest, *more),
        doubt="Compiled, it reports nothing.",
    )


def rules_for_log(graph_break: GraphBreak, code: UserCode, line: int) -> list[str]:
    """Return the repair ids for a reporting call, selected by the arguments that torch names."""
    call = _log_call(code, line)
    classes = _classes(graph_break)
    if call is None:
        return [f"eager_only:{line}"]
    if len(classes) != len(call.args):
        classes = ["" if not _is_display(value) else "ListVariable" for value in call.args]
    texts = [place for place, name in enumerate(classes) if name in TEXTS]
    unordered = [place for place, name in enumerate(classes) if name and name not in (*ORDERED, *TEXTS)]
    ids = [] if any(not _is_fixed(call.args[place]) for place in unordered) else [
        f"print_op:{line}:{'_'.join(map(str, texts)) or 'x'}",
        # Torch loses the output of a print in an inlined function.
        *([f"reorder:{line}"] if len(graph_break.stack) < 2 and not texts else []),
    ]  # fmt: skip
    return [*ids, f"eager_only:{line}"]


def _is_display(value: ast.expr) -> bool:
    return isinstance(value, (ast.List, ast.Tuple, ast.Dict, ast.Set))


def _classes(graph_break: GraphBreak) -> list[str]:
    """Return Dynamo's classes of the arguments, if torch logs them."""
    match = ARGUMENTS.match(graph_break.context)
    return CLASS.findall(match.group(1)) if match else []


def _is_fixed(value: ast.expr) -> bool:
    """Return True if an argument is a shape, dtype or device, which Dynamo can only turn into text."""
    if isinstance(value, ast.Attribute):
        return value.attr in FIXED
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "size"


def _log_call(code: UserCode, line: int) -> ast.Call | None:
    # Dynamo compares the function object, so that a bound method never matches.
    return next((call for call in code.on_line(line, ast.Call) if dotted(call.func) in LOGS), None)


def _setting(code: UserCode, call: ast.Call) -> list[Edit]:
    return code.setting(f"{{torch}}._dynamo.config.reorderable_logging_functions.add({dotted(call.func)})")


def _log_name(call: ast.Call) -> str:
    """Return the name of a called function that only reports something; otherwise empty."""
    name = dotted(call.func)
    module, _, level = name.rpartition(".")
    is_log = level in LEVELS and module.rpartition(".")[2] in LOGGERS
    return name if name in LOGS or is_log else ""
