"""Parsers of Dynamo's records: frames, graph breaks, guards, recompilations, bytecode, metrics.

Guards are parsed as torch prints them: a compilation's tree, and a guard's text with the user's line and a hint.

`construct_manager_string` in torch/_dynamo/guards.py prints a line for each manager and one for each *part* of a leaf:

    +- RootGuardManager
    | +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(…), type=…, tag_safe=(…)
    | | +- TENSOR_MATCH: check_tensor(L['x'], …)  # y = x.sin()  # m.py:7 in forward
    | | +- DIMENSION_DYNAMIC_MARKING_GUARD: hasattr(L['x'], '_dynamo_dynamic_indices') == False   (one of five parts)
    | | +- KeyValueManager pair at index=0
    | | | +- KeyManager: GuardManager: source=list(dict.keys(L['d']))[0], type=…
    +- LAMBDA_GUARD: 2 <= L['x'].size()[0]   (the root's epilogue)
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.base.decoder import decoded, whole
from core.base.errors import DecodeError
from core.report import (
    NO_REASON,
    Bytecode,
    Counters,
    Frame,
    GraphBreak,
    Guard,
    GuardCosts,
    Place,
    Recompile,
)
from core.report.records.compilation import BytecodeRecord, GuardsRecord
from core.trace.parsers.draft import MAX_ITEMS, ReportDraft, without_worker
from core.trace.parsers.events import add_seconds
from core.trace.reader import TraceRecord

EXPECTED = re.compile(r"expected (.+?),? (?:but got|actual|got) (.+?)$")
COMPARED = re.compile(r"^(\S.*?) (==|is|<=|>=|<|>) (\S.*?)$")
REASON = re.compile(r"^\[?(!?[\d/]+)\]?: (.*)$", re.DOTALL)
CALL_STEP = re.compile(r"call (\d{1,6}): (?:compiled$|generating for )")
# The form of torch 2.6: "Graph break in user code at FILE:LINE", then the reason in a line of its own.
PLAIN_REASON = re.compile(r"^Reason: ?(.*)", re.MULTILINE | re.DOTALL)
UNSUPPORTED = "Unsupported: "
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
    "recompile_user_contexts",
    SKIP_REASON,
)
# A metric since torch 2.6, the first version that logs each graph break.
OF_TORCH_2_6 = "start_time_us"
TREE_LINE = re.compile(r"^((?:\| )*)\+- (\w+)(?:: (.*))?$")
SOURCE = re.compile(r"source=(.*?), (?:accessed_by|type)=")
LOCATION = re.compile(r"^(\S+):(\d{1,9}) in (\S+)$")
TRACEBACK_FRAME = re.compile(r'^ *File "(.*)", line (\d{1,9}), in (.*)$')
LATENCY = re.compile(r"^Guard latency = ([0-9.]+) us", re.MULTILINE)
HINT = " (HINT: "
# Where torch 2.15 splits a hint into two, in the middle of a sentence.
SPLIT_HINT = re.compile(r"(?<![.!?:)\]\s])(?:[^\S\n]+\n  Hint: |\n  Hint: (?=[a-z(]))")
# A manager has at most one leaf of these kinds, so adjacent lines are its parts.
OF_PARTS = frozenset({"DIMENSION_DYNAMIC_MARKING_GUARD", "SYMBOLIC_SHAPE_GUARD"})
MAX_LINES = 500_000  #: limit: lines of a guard tree
# File of the function through which torch compiles a frame.
ENTRY = "/torch/_dynamo/convert_frame.py"
STRICT_EXPORT = "strict export"


def dynamo_start(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the stack of the compiled frame, innermost last."""
    compilation = draft.compilation(record)
    stack = draft.frames(record.body.get("stack"))
    compilation.call = _call(draft)
    if stack and stack[-1].file.endswith(ENTRY):
        # torch 2.4 logs its own frame in place of the compiled one, which only the metrics name.
        compilation.stack = stack[:-1]
        return
    compilation.stack = stack
    if stack:
        compilation.frame = stack[-1]


def _call(draft: ReportDraft) -> int | None:
    """Return the index of the call in which torch compiles; None if the run does not record it."""
    step = CALL_STEP.match(draft.steps[-1]) if draft.steps else None
    return int(step.group(1)) if step else None


def graph_break(draft: ReportDraft, record: TraceRecord) -> None:
    """Add a graph break.

    A break with the same line and reason is added once, with every compilation that hit the break.
    """
    compilation = draft.compilation(record)
    parsed = parse_graph_break(draft.text(record))
    key = (parsed.place, parsed.reason)
    earlier = draft.graph_breaks.get(key, parsed)
    draft.graph_breaks[key] = replace(earlier, compilations=(*earlier.compilations, compilation.id))


def parse_graph_break(text: str) -> GraphBreak:
    """Parse the text of a `dynamo_graph_break_reason` artifact."""
    message, _, traceback = text.partition("User code traceback:")
    stack = without_worker(traceback_frames(traceback.partition("\nTraceback (most recent call last)")[0]))
    where = stack[-1] if stack else Frame("", 0, "")
    explanation = _field(message, "Explanation")
    registry = re.search(r"gb(\d{4})\.html", message)
    return GraphBreak(
        reason=_reason(message),
        explanation=explanation[0] if explanation else "",
        hints=tuple(_field(SPLIT_HINT.sub(" ", message), "Hint")),
        context=next(iter(_field(message, "Developer debug context")), ""),
        registry_id=f"GB{registry.group(1)}" if registry else "",
        place=Place(where.file, where.line),
        code=where.text,
        stack=stack,
        compilations=(),
    )


def _reason(message: str) -> str:
    """Return the line above the explanation, otherwise the text after `Reason:` or the first line."""
    body = message.partition("Graph Break Reason:")[2] or message
    head, separator, _ = body.partition("\n  Explanation:")
    plain_reason = None if separator else PLAIN_REASON.search(head)
    text = plain_reason[1].removeprefix(UNSUPPORTED) if plain_reason else head
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        return ""
    return lines[-1] if separator else lines[0]


def _field(message: str, name: str) -> list[str]:
    """Return the values of `  Name: …`; a value may continue on lines without a field name."""
    pattern = (
        rf"^  {name}: (.*?)(?=^  (?:Explanation|Hint|Developer debug context): |^ ?For more details|^User code|\Z)"
    )
    return [" ".join(value.split()) for value in re.findall(pattern, message, re.MULTILINE | re.DOTALL)]


def guards(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the guard tree of a compilation, flattened to its leaves."""
    compilation = draft.compilation(record)
    text = draft.text(record)
    compilation.guard_text = draft.payload(record)
    compilation.guards = parse_guards(text)[:MAX_ITEMS]
    compilation.guard_latency_us = latency_us(text)


def recorded_guards(draft: ReportDraft, record: TraceRecord, content: GuardsRecord) -> None:
    """Group the lines of the guard tree by leaf, and add the time of the checks."""
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
    """Add the reasons why the earlier compilations could not be reused, one for each compilation."""
    call = _call(draft)
    draft.compilation(record).call = call
    compilation = draft.compilation(record).id
    for failed, text in parse_recompile_reasons(draft.text(record)):
        guard = parse_guard(text)
        expected, actual = _values(guard.text)
        before = draft.unique_id(failed)
        draft.keep(
            record,
            Recompile(
                compilation,
                before,
                guard.text or NO_REASON,
                expected,
                actual,
                guard.code,
                guard.location,
                call,
                guard.hint,
            ),
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
    """Add the traceback of the error that ended a compilation."""
    draft.compilation(record).error_text = draft.payload(record)


def compilation_metrics(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the metrics of a finished compilation that the report uses; the others stay in the log."""
    compilation = draft.compilation(record)
    body: dict[str, Any] = record.body
    compilation.finished = True
    if not record.compile_id:
        _finish_export(draft)
    compilation.metrics = {name: body[name] for name in METRICS if body.get(name) is not None}
    compilation.restart_reasons = tuple(str(reason) for reason in body.get("restart_reasons") or ())
    draft.writes_breaks |= OF_TORCH_2_6 in body
    add_seconds(compilation, record)
    _recompile_limit(draft, body.get("dynamo_config"))
    if not compilation.frame.name and body.get("co_name"):
        compilation.frame = Frame(
            str(body.get("co_filename", "")), whole(body.get("co_firstlineno") or 0), str(body["co_name"])
        )
        compilation.stack = (*compilation.stack, compilation.frame)


def _finish_export(draft: ReportDraft) -> None:
    """Finish the newest frame with the metrics of a strict export, which torch logs later."""
    newest = next((one for one in reversed(draft.compilations.values()) if "/" in one.id), None)
    if newest is not None and not newest.finished:
        newest.finished = True
        newest.frame = newest.frame if newest.frame.name else Frame("", 0, STRICT_EXPORT)


def _recompile_limit(draft: ReportDraft, config: Any) -> None:
    """Add Dynamo's recompile limit from torch's logged settings; our own runs record it."""
    limit = LIMIT.search(config) if isinstance(config, str) else None
    counters = draft.values.last(Counters) or Counters({}, {})
    if limit and counters.recompile_limit is None:
        draft.values.add(replace(counters, recompile_limit=int(limit.group(1))))


def backward_metrics(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the reason why a finished backward did not become a CUDA graph."""
    reason = record.body.get(SKIP_REASON)
    if reason:
        draft.compilation(record).metrics.setdefault(SKIP_REASON, reason)


def recorded_bytecode(draft: ReportDraft, record: TraceRecord, content: BytecodeRecord) -> None:
    """Add the position of a frame's bytecode, which stays in the log."""
    compilation = draft.compilation(record)
    bytecode = compilation.bytecode or Bytecode()
    compilation.bytecode = replace(
        bytecode, record=draft.payload(record), qualname=content.qualname, resumes=dict(content.resumes)
    )


def original_bytecode(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the position of torch's listing of a resume function before the rewrite."""
    compilation = draft.compilation(record)
    compilation.bytecode = replace(compilation.bytecode or Bytecode(), original=draft.payload(record))


def modified_bytecode(draft: ReportDraft, record: TraceRecord) -> None:
    """Add the position of torch's listing of a resume function after the rewrite."""
    compilation = draft.compilation(record)
    compilation.bytecode = replace(compilation.bytecode or Bytecode(), modified=draft.payload(record))


@dataclass(frozen=True, slots=True)
class GuardText:
    """A guard's text: its condition, the user's line of code that needs the condition, and torch's hint."""

    text: str
    code: str = ""
    location: Place | None = None
    hint: str = ""


def parse_guard(text: str) -> GuardText:
    """Split `expression  # the user's code  # file.py:7 in forward (HINT: …)` into its parts.

    If a stack follows, its innermost frame gives the place, with the full path.
    """
    text, _, trace = text.partition("\nUser stack trace:")
    text, hint = _without_hints(text.strip())
    parts = re.split(r"\s+# ", text)
    location, _, remark = parts[-1].partition(" (") if len(parts) > 1 else ("", "", "")
    match = LOCATION.match(location)
    if match is None:
        return GuardText(text, hint=hint)
    place = Place(match[1], int(match[2]), match[3])
    for frame in traceback_frames(trace)[-1:]:
        place = Place(frame.file, frame.line, frame.name)
    hint = "; ".join(filter(None, (remark.removesuffix(")"), hint)))
    return GuardText(parts[0].strip(), " # ".join(parts[1:-1]), place, hint)


def _without_hints(text: str) -> tuple[str, str]:
    hints: list[str] = []
    while text.endswith(")") and HINT in text:
        text, _, hint = text.rpartition(HINT)
        hints.insert(0, hint.removesuffix(")"))
    return text, "; ".join(hints)


def traceback_frames(text: str) -> tuple[Frame, ...]:
    """Return the frames of a traceback as Python prints it."""
    frames: list[Frame] = []
    for line in text.split("\n"):
        match = TRACEBACK_FRAME.match(line)
        if match:
            frames.append(Frame(match.group(1), int(match.group(2)), match.group(3)))
        elif frames and line.strip() and not frames[-1].text and not set(line.strip()) <= set("^~ "):
            frames[-1] = replace(frames[-1], text=line.strip())
    return tuple(frames)


def parse_guards(text: str) -> tuple[Guard, ...]:
    """Return the leaves of a `dynamo_cpp_guards_str`.

    Adjacent parts of one manager are joined into a leaf if their kind is in `OF_PARTS`.
    """
    groups: list[list[Guard]] = []
    manager = 0
    for opened, part in _parts(text):
        if groups and opened == manager and part.kind == groups[-1][0].kind and part.kind in OF_PARTS:
            groups[-1].append(part)
        else:
            groups.append([part])
        manager = opened
    return tuple(_merge(group) for group in groups)


def grouped_guards(text: str, parts: Sequence[int]) -> tuple[Guard, ...] | None:
    """Return the leaves from the number of parts of each leaf; None if the text has another total."""
    lines = [part for _, part in _parts(text)]
    if sum(parts) != len(lines) or min(parts, default=1) < 1:
        return None
    remaining = iter(lines)
    return tuple(_merge([next(remaining) for _ in range(count)]) for count in parts)


def _parts(text: str) -> Iterator[tuple[int, Guard]]:
    """Yield each printed part of a leaf, with the number of managers before it in the text."""
    sources: dict[int, str] = {}
    managers = 0
    for number, line in enumerate(text.split("\n")):
        match = TREE_LINE.match(line.rstrip())
        if not match or number >= MAX_LINES:
            continue
        depth, kind, rest = len(match.group(1)) // 2, match.group(2), match.group(3) or ""
        if kind.endswith("Manager"):
            managers += 1
            source = SOURCE.search(rest)
            sources[depth] = source.group(1) if source else ""
            continue
        guard = parse_guard(rest)
        yield (
            managers,
            Guard(kind, sources.get(depth - 1, ""), guard.text, depth, guard.code, guard.location, guard.hint),
        )


def _merge(parts: Sequence[Guard]) -> Guard:
    if len(parts) == 1:
        return parts[0]
    return replace(parts[0], expression="\n".join(part.expression for part in parts))


def latency_us(text: str) -> float | None:
    """Return the µs of the one check that torch runs after creating the guards; None if not printed."""
    match = LATENCY.search(text)
    return float(match.group(1)) if match else None
