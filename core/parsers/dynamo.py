"""What Dynamo logs: frames, graph breaks, guards, recompiles, symbols, metrics."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from core.parsers.draft import MAX_ITEMS, ReportDraft
from core.report import Frame, GraphBreak, Guard, Recompile, Symbol
from core.trace import TraceRecord

TREE_LINE = re.compile(r"^((?:\| )*)\+- ([A-Z_a-z]+)(?:: (.*))?$")
LOCATION = re.compile(r"^\S+:\d+ in \S+$")
LATENCY = re.compile(r"^Guard latency = ([0-9.]+) us", re.MULTILINE)
TRACEBACK_FRAME = re.compile(r'^ *File "(.*)", line (\d+), in (.*)$')
EXPECTED = re.compile(r"expected (.+?),? (?:but got|actual|got) (.+?)$")
COMPARED = re.compile(r"^(\S.*?) (==|is|<=|>=|<|>) (\S.*?)$")
REASON = re.compile(r"^\[?(!?[\d/]+)\]?: (.*)$", re.DOTALL)
CALL_STEP = re.compile(r"call (\d{1,6}): compiled$")
HUGE_METRICS = frozenset(
    {"dynamo_config", "inductor_config", "functorch_config", "graph_node_shapes", "restart_reasons"}
)


def dynamo_start(draft: ReportDraft, record: TraceRecord) -> None:
    """The frame that is compiled, innermost last."""
    compilation = draft.compilation(record)
    compilation.stack = draft.frames(record.body.get("stack"))
    if compilation.stack:
        compilation.frame = compilation.stack[-1]


def graph_break(draft: ReportDraft, record: TraceRecord) -> None:
    """One graph break; the same one at the same line is kept once, with every compilation that met it."""
    compilation = draft.compilation(record)
    found = parse_graph_break(draft.text(record))
    key = (found.file, found.line, found.reason)
    known = draft.graph_breaks.get(key, found)
    draft.graph_breaks[key] = replace(known, compilations=(*known.compilations, compilation.id))


def parse_graph_break(text: str) -> GraphBreak:
    """Read the text of a `dynamo_graph_break_reason` artifact."""
    message, _, traceback = text.partition("User code traceback:")
    stack = _traceback(traceback.partition("\nTraceback (most recent call last)")[0])
    where = stack[-1] if stack else Frame("", 0, "")
    explanation = _field(message, "Explanation")
    registry = re.search(r"gb(\d{4})\.html", message)
    return GraphBreak(
        reason=_reason(message),
        explanation=explanation[0] if explanation else "",
        hints=tuple(_field(message, "Hint")),
        context=next(iter(_field(message, "Developer debug context")), ""),
        registry_id=f"GB{registry.group(1)}" if registry else "",
        file=where.file,
        line=where.line,
        code=where.text,
        stack=stack,
        compilations=(),
    )


def _reason(message: str) -> str:
    """The line above the explanation; without one, the first line."""
    body = message.partition("Graph Break Reason:")[2] or message
    head, separator, _ = body.partition("\n  Explanation:")
    lines = [line.strip() for line in head.split("\n") if line.strip()]
    if not lines:
        return ""
    return lines[-1] if separator else lines[0]


def _field(message: str, name: str) -> list[str]:
    """Values of `  Name: …`, which may go on over lines that are not fields themselves."""
    pattern = (
        rf"^  {name}: (.*?)(?=^  (?:Explanation|Hint|Developer debug context): |^ ?For more details|^User code|\Z)"
    )
    return [" ".join(value.split()) for value in re.findall(pattern, message, re.MULTILINE | re.DOTALL)]


def _traceback(text: str) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    for line in text.split("\n"):
        match = TRACEBACK_FRAME.match(line)
        if match:
            frames.append(Frame(match.group(1), int(match.group(2)), match.group(3)))
        elif frames and line.strip() and not frames[-1].text and not set(line.strip()) <= set("^~ "):
            frames[-1] = replace(frames[-1], text=line.strip())
    return tuple(frames)


def guards(draft: ReportDraft, record: TraceRecord) -> None:
    """The guard tree of a compilation, flattened to its leaves."""
    compilation = draft.compilation(record)
    text = draft.text(record)
    compilation.guards = parse_guards(text)
    latency = LATENCY.search(text)
    compilation.guard_latency_us = float(latency.group(1)) if latency else None


def parse_guards(text: str) -> tuple[Guard, ...]:
    """Read a `dynamo_cpp_guards_str`: managers say whose guards follow, leaves are the guards."""
    found: list[Guard] = []
    sources: dict[int, str] = {}
    for line in text.split("\n"):
        match = TREE_LINE.match(line.rstrip())
        if not match or len(found) >= MAX_ITEMS:
            continue
        depth = len(match.group(1)) // 2
        kind, rest = match.group(2), match.group(3) or ""
        if kind.endswith("GuardManager") or kind.endswith("KeyValueManager"):
            source = re.search(r"source=(.*?), accessed_by=", rest)
            sources[depth] = source.group(1) if source else ""
            continue
        found.append(_guard(kind, rest, depth, sources.get(depth - 1, "")))
    return tuple(found)


def _guard(kind: str, rest: str, depth: int, source: str) -> Guard:
    expression, code, location = _commented(rest)
    return Guard(kind, source, expression, depth, code, location)


def _commented(text: str) -> tuple[str, str, str]:
    """`expression  # the user's code  # file.py:7 in forward (…)` in its three parts; a stack below it knows the whole path."""
    text, _, trace = text.partition("\nUser stack trace:")
    parts = re.split(r"\s+# ", text)
    location = parts[-1].partition(" (user code")[0] if len(parts) > 1 else ""
    if not LOCATION.match(location):
        return text.strip(), "", ""
    stack = _traceback(trace)
    if stack:
        location = f"{stack[-1].file}:{stack[-1].line} in {stack[-1].name}"
    return parts[0].strip(), " # ".join(parts[1:-1]), location


def recompile_reasons(draft: ReportDraft, record: TraceRecord) -> None:
    """Why the code that was there could not be used again: one reason for each earlier compilation."""
    step = CALL_STEP.match(draft.steps[-1]) if draft.steps else None
    call = int(step.group(1)) if step else None
    for failed, text in parse_recompile_reasons(draft.text(record)):
        reason, code, location = _commented(text)
        expected, actual = _values(reason)
        draft.recompiles.append(
            Recompile(draft.compilation(record).id, failed, reason, expected, actual, code, location, call)
        )


def parse_recompile_reasons(text: str) -> list[tuple[str, str]]:
    """(earlier compile id, reason) pairs from a text of lines or a JSON list."""
    try:
        decoded = json.loads(text)
    except ValueError:
        decoded = re.split(r"\n(?=\[?!?\d+/)", text)
    items = decoded if isinstance(decoded, list) else [decoded]
    pairs = []
    for item in items:
        match = REASON.match(str(item).strip())
        pairs.append((match.group(1), match.group(2).strip()) if match else ("", str(item).strip()))
    return pairs


def _values(reason: str) -> tuple[str, str]:
    line = reason.split("\n")[0]
    match = EXPECTED.search(line)
    if match:
        return match.group(1).rstrip("."), match.group(2).rstrip(".")
    match = COMPARED.match(line)
    return (f"{match.group(2)} {match.group(3)}", "") if match else ("", "")


def create_symbol(draft: ReportDraft, record: TraceRecord) -> None:
    """A dynamic size."""
    body = record.body
    stack = draft.frames(body.get("user_stack"))
    where = stack[0] if stack else Frame("", 0, "")
    draft.compilation(record).symbols.append(
        Symbol(
            name=str(body.get("symbol", "")),
            source=str(body.get("source", "")),
            value=str(body.get("val", "")),
            range=str(body.get("vr", "")),
            code=where.text,
            location=f"{where.file}:{where.line}" if stack else "",
        )
    )


def compilation_metrics(draft: ReportDraft, record: TraceRecord) -> None:
    """The metrics of a finished compilation; configurations and other huge fields stay in the log."""
    compilation = draft.compilation(record)
    body: dict[str, Any] = record.body
    compilation.metrics = {
        name: value for name, value in body.items() if name not in HUGE_METRICS and value is not None
    }
    compilation.restart_reasons = tuple(str(reason) for reason in body.get("restart_reasons") or ())
    if not compilation.frame.name and body.get("co_name"):
        compilation.frame = Frame(
            str(body.get("co_filename", "")), int(body.get("co_firstlineno") or 0), str(body["co_name"])
        )
