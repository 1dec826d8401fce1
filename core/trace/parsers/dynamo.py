"""Parsers of Dynamo's records: frames, graph breaks, guards, recompiles, symbols, metrics."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from core.base.decoder import decoded, whole
from core.base.errors import DecodeError
from core.report import Bytecode, Counters, Frame, GraphBreak, GuardCosts, Place, Recompile
from core.report.records.frames import BytecodeRecord
from core.report.records.graphs import GuardsRecord
from core.trace import TraceRecord
from core.trace.parsers.draft import ReportDraft
from core.trace.parsers.guards import grouped_guards, latency_us, parse_guard, parse_guards, traceback_frames
from core.trace.parsers.values import MAX_ITEMS
from core.trace.parsers.worker_frames import without_worker

EXPECTED = re.compile(r"expected (.+?),? (?:but got|actual|got) (.+?)$")
COMPARED = re.compile(r"^(\S.*?) (==|is|<=|>=|<|>) (\S.*?)$")
REASON = re.compile(r"^\[?(!?[\d/]+)\]?: (.*)$", re.DOTALL)
CALL_STEP = re.compile(r"call (\d{1,6}): (?:compiled$|generating for )")
REQUIRES_GRAD = re.compile(r"requires_grad mismatch\. expected (requires_grad=)([01])$")
LIMIT = re.compile(r'"(?:recompile_limit|cache_size_limit)": ?(\d{1,9})\b')
SKIP_REASON = "cudagraph_skip_reason"
METRICS = (
    "fail_type",
    "fail_reason",
    "fail_user_frame_filename",
    "fail_user_frame_lineno",
    "graph_op_count",
    "triton_kernel_compile_times_us",
    SKIP_REASON,
)


def dynamo_start(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep the stack of the frame that is compiled, innermost last."""
    compilation = draft.compilation(record)
    compilation.stack = draft.frames(record.body.get("stack"))
    if compilation.stack:
        compilation.frame = compilation.stack[-1]
    compilation.call = _call(draft)


def _call(draft: ReportDraft) -> int | None:
    """Return the number of the call during which torch compiles, None if the run does not record it."""
    step = CALL_STEP.match(draft.steps[-1]) if draft.steps else None
    return int(step.group(1)) if step else None


def graph_break(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep a graph break; a repeated one at the same line is kept once, with every compilation that hit it."""
    compilation = draft.compilation(record)
    parsed = parse_graph_break(draft.text(record))
    key = (parsed.place, parsed.reason)
    earlier = draft.graph_breaks.get(key, parsed)
    draft.graph_breaks[key] = replace(earlier, compilations=(*earlier.compilations, compilation.id))


def parse_graph_break(text: str) -> GraphBreak:
    """Read the text of a `dynamo_graph_break_reason` artifact."""
    message, _, traceback = text.partition("User code traceback:")
    stack = without_worker(traceback_frames(traceback.partition("\nTraceback (most recent call last)")[0]))
    where = stack[-1] if stack else Frame("", 0, "")
    explanation = _field(message, "Explanation")
    registry = re.search(r"gb(\d{4})\.html", message)
    return GraphBreak(
        reason=_reason(message),
        explanation=explanation[0] if explanation else "",
        hints=tuple(_field(message, "Hint")),
        context=next(iter(_field(message, "Developer debug context")), ""),
        registry_id=f"GB{registry.group(1)}" if registry else "",
        place=Place(where.file, where.line),
        code=where.text,
        stack=stack,
        compilations=(),
    )


def _reason(message: str) -> str:
    """Return the line above the explanation; without one, the first line."""
    body = message.partition("Graph Break Reason:")[2] or message
    head, separator, _ = body.partition("\n  Explanation:")
    lines = [line.strip() for line in head.split("\n") if line.strip()]
    if not lines:
        return ""
    return lines[-1] if separator else lines[0]


def _field(message: str, name: str) -> list[str]:
    """Return the values of `  Name: …`, which may go on over lines that are not fields themselves."""
    pattern = (
        rf"^  {name}: (.*?)(?=^  (?:Explanation|Hint|Developer debug context): |^ ?For more details|^User code|\Z)"
    )
    return [" ".join(value.split()) for value in re.findall(pattern, message, re.MULTILINE | re.DOTALL)]


def guards(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep the guard tree of a compilation, flattened to its leaves."""
    compilation = draft.compilation(record)
    text = draft.text(record)
    compilation.guard_text = draft.payload(record)
    compilation.guards = parse_guards(text)[:MAX_ITEMS]
    compilation.guard_latency_us = latency_us(text)


def recorded_guards(draft: ReportDraft, record: TraceRecord, content: GuardsRecord) -> None:
    """Group the lines of the guard tree by leaf, and keep the time that the checks take."""
    compilation = draft.compilation(record)
    compilation.guard_warm_us = content.warm_us
    if content.copy_us is not None:
        compilation.guard_costs = GuardCosts(content.copy_us, content.families_us, content.filters)
    compilation.guard_leaves = len(content.parts)
    text = compilation.guard_text
    if text is None:
        return
    grouped = grouped_guards(draft.reader.text(text.offset, text.length), content.parts)
    if grouped is None:
        draft.problem("guards whose parts are not those of the printed tree", record.offset)
        return
    if len(content.checks_us) == len(grouped):
        grouped = tuple(replace(guard, check_us=us) for guard, us in zip(grouped, content.checks_us, strict=True))
    compilation.guards = grouped[:MAX_ITEMS]


def recompile_reasons(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep why the earlier compilations could not be used again: one reason for each of them."""
    call = _call(draft)
    draft.compilation(record).call = call
    compilation = draft.compilation(record).id
    for failed, text in parse_recompile_reasons(draft.text(record)):
        guard = parse_guard(text)
        expected, actual = _values(guard.text)
        draft.keep(
            record,
            Recompile(compilation, failed, guard.text, expected, actual, guard.code, guard.location, call, guard.hint),
        )


def parse_recompile_reasons(text: str) -> list[tuple[str, str]]:
    """Return (earlier compile id, reason) pairs from a text of lines or a JSON list."""
    try:
        data = decoded(text)
    except DecodeError:
        data = re.split(r"\n(?=\[?!?\d+/)", text)
    reasons = data if isinstance(data, list) else [data]
    pairs = []
    for reason in reasons:
        match = REASON.match(str(reason).strip())
        pairs.append((match.group(1), match.group(2).strip()) if match else ("", str(reason).strip()))
    return pairs


def _values(reason: str) -> tuple[str, str]:
    line = reason.split("\n")[0]
    match = EXPECTED.search(line)
    if match:
        return match.group(1).rstrip("."), match.group(2).rstrip(".")
    match = REQUIRES_GRAD.search(line)
    if match:
        return f"{match.group(1)}{match.group(2)}", f"{match.group(1)}{1 - int(match.group(2))}"
    match = COMPARED.match(line)
    return (f"{match.group(2)} {match.group(3)}", "") if match else ("", "")


def error_text(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep the traceback of the error that ended a compilation."""
    draft.compilation(record).error_text = draft.payload(record)


def compilation_metrics(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep the metrics of a finished compilation that are read; the others stay in the log."""
    compilation = draft.compilation(record)
    body: dict[str, Any] = record.body
    compilation.finished = True
    compilation.metrics = {name: body[name] for name in METRICS if body.get(name) is not None}
    compilation.restart_reasons = tuple(str(reason) for reason in body.get("restart_reasons") or ())
    _recompile_limit(draft, body.get("dynamo_config"))
    if not compilation.frame.name and body.get("co_name"):
        compilation.frame = Frame(
            str(body.get("co_filename", "")), whole(body.get("co_firstlineno") or 0), str(body["co_name"])
        )


def _recompile_limit(draft: ReportDraft, config: Any) -> None:
    """Keep Dynamo's recompile limit from the settings that torch logs; a run made by Compileboard records it itself."""
    limit = LIMIT.search(config) if isinstance(config, str) else None
    counters = draft.values.last(Counters) or Counters({}, {})
    if limit and counters.recompile_limit is None:
        draft.values.add(replace(counters, recompile_limit=int(limit.group(1))))


def backward_metrics(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep the reason why a finished backward did not become a CUDA graph."""
    reason = record.body.get(SKIP_REASON)
    if reason:
        draft.compilation(record).metrics.setdefault(SKIP_REASON, reason)


def recorded_bytecode(draft: ReportDraft, record: TraceRecord, content: BytecodeRecord) -> None:
    """Keep the place of a frame's bytecode, which stays in the log."""
    compilation = draft.compilation(record)
    bytecode = compilation.bytecode or Bytecode()
    compilation.bytecode = replace(
        bytecode, record=draft.payload(record), qualname=content.qualname, resumes=dict(content.resumes)
    )


def original_bytecode(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep the place of torch's listing of a resume function, before it was rewritten."""
    compilation = draft.compilation(record)
    compilation.bytecode = replace(compilation.bytecode or Bytecode(), original=draft.payload(record))


def modified_bytecode(draft: ReportDraft, record: TraceRecord) -> None:
    """Keep the place of the listing after the rewrite."""
    compilation = draft.compilation(record)
    compilation.bytecode = replace(compilation.bytecode or Bytecode(), modified=draft.payload(record))
