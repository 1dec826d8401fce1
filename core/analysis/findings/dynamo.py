"""Findings of what Dynamo did: what it did not compile, where it broke off, what it compiled again, what it checks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from core.analysis.dynamo.breaks import resumes
from core.analysis.dynamo.failures import GIVES_UP, FailureKind, failure_counts, failures
from core.analysis.dynamo.recompiles import lineage
from core.analysis.findings.finding import Finding, Known, Proposal
from core.analysis.work import frame_of
from core.report import GraphBreak, Place, Recompile
from core.words import count, duration_s, number, percent

# torch's default, for a log that does not say; how many are left where it is worth a word.
RECOMPILE_LIMIT, FEW_LEFT = 8, 2
COSTLY_GUARDS = 0.05
WHOLE = (
    "Dynamo cannot trace this. Without `fullgraph=True` it compiles what is before and after, and runs this eagerly."
)
# As Dynamo names an argument of a wrapper that takes `**kwargs`.
KEYWORD = re.compile(r"^kwargs\['(\w+)'\]$")
UNKNOWN_CAUSE = "The page tells which guard failed at which call."
TO_DO: dict[FailureKind, str] = {
    "failed": "torch's whole error stands below; `torch.compile(model, backend='aot_eager')` tells whether Inductor or "
    "what comes before it is to blame.",
    "over the limit": "Mend what fails its guards each time; `torch._dynamo.config.recompile_limit` only moves the "
    "limit.",
    "given up": "Take what Dynamo cannot trace out of this frame, or mark it with `torch.compiler.disable`.",
}


@dataclass(frozen=True, slots=True)
class Cause:
    """What a failed guard tells of the model's use, and what would spare the compilation."""

    pattern: re.Pattern[str]
    what: str
    advice: str
    dynamic: bool = False


CAUSES = (
    Cause(
        re.compile(r"tensor '(?P<name>.+?)' size mismatch at index (?P<index>\d+)\. expected \d+, actual \d+"),
        "dimension {index} of `{name}` has another size",
        "`torch._dynamo.mark_dynamic({name}, {index})` before the first call, or `dynamic=True`, makes one code for "
        "all sizes.",
        dynamic=True,
    ),
    Cause(
        re.compile(r"tensor '(?P<name>.+?)' (?:requires_grad|dispatch key set) mismatch"),
        "`{name}` is with a gradient here and without there",
        "With and without gradients, and in inference mode, are codes of their own: where both are meant, two "
        "compilations are what it takes.",
    ),
    Cause(
        re.compile(r"GLOBAL_STATE changed: (?P<name>\w+)"),
        "torch's `{name}` is another",
        "Call it in one state throughout: `torch.no_grad()`, autocast, the default dtype and deterministic algorithms "
        "each make code of their own.",
    ),
    Cause(
        re.compile(r"tensor '(?P<name>.+?)' (?:rank|dtype|stride|device) mismatch"),
        "`{name}` is another kind of tensor",
        "Call with one dtype, rank and device; where both are meant, two compilations are what it takes.",
    ),
    Cause(
        re.compile(r"(?:-?\d+ (?:<=|<) )?(?P<name>[\w.\[\]'\"]+)\.size\(\)\[(?P<index>\d+)\].*(?:<=|>=|<|>|==|!=)"),
        "dimension {index} of `{name}` is on the other side of a bound",
        "Something compares this size, which makes a code for either side of it: the guard's line on the page says "
        "where.",
    ),
    Cause(
        re.compile(r"len\((?P<name>.+?)\) == \d+"),
        "`{name}` has another length",
        "A list of another length is another graph: pass one tensor, or always as many.",
    ),
    Cause(
        re.compile(r"(?P<name>G\[.+?\]) == "),
        "the global `{name}` has another value",
        "A global is read when it is compiled: pass it as an argument, as a tensor.",
    ),
    Cause(
        re.compile(r"(?P<name>[\w.\[\]'\"]+) == -?[\d.]+(?:e-?\d+)?$"),
        "the number `{name}` has another value",
        "A Python number is part of the code: pass `torch.tensor({name})`, whose value is data.",
    ),
    Cause(
        re.compile(r"(?P<name>[\w.\[\]'\"]+) == "),
        "`{name}` has another value",
        "Set it once before the first call: an attribute that changes makes new code each time.",
    ),
)


def not_compiled(known: Known) -> Iterator[Finding]:
    """Compilations that failed, frames over the recompile limit, frames that were given up."""
    found = failures(known.report)
    nothing = not any(compilation.status == "ok" for compilation in known.report.compilations)
    for kind, words in failure_counts(found).items():
        first = next(failure for failure in found if failure.kind == kind)
        at = f" at `{first.place.short}`" if first.place.file else ""
        whole = kind == "failed" and known.options.get("fullgraph") and first.reason.startswith(tuple(GIVES_UP))
        yield Finding(
            rule=f"not compiled: {kind}",
            title=f"{words}.",
            reason=f"`[{first.compilation}]` {first.frame}{at}: {first.reason.rstrip('.')}; {first.consequence}.",
            advice=WHOLE if whole else _own_backend(known, first.compilation) or TO_DO[kind],
            page="recompiles" if kind == "over the limit" else "overview",
            compilation=first.compilation,
            # Of a frame that was given up the graph break tells what it costs, unless it was all that there is.
            weight="wrong" if kind != "given up" or nothing else "cost",
            proposal=Proposal("torch.compile(model)", compile={"fullgraph": False}) if whole else None,
        )


def _own_backend(known: Known, compile_id: str) -> str:
    """Which line to mend, where the backend that was chosen raised it; empty where another than that failed."""
    compilation = known.report.compilation(compile_id)
    raised = [made for made in compilation.invocations if made.place] if compilation else []
    if not raised or raised[-1].place is None:
        return ""
    return f"It is the backend's own: mend `{Place(*raised[-1].place).short}`."


def graph_breaks(known: Known) -> Iterator[Finding]:
    """Each place where Dynamo broke off, with the functions that go on after it and what they took to compile."""
    for found in known.report.graph_breaks:
        names = resumes(found)
        resumed_by = [compilation for compilation in known.report.compilations if compilation.frame.name in names]
        resumed_s = sum(known.seconds.get(compilation.id, 0.0) for compilation in resumed_by)
        at = f" at `{found.place.short}`" if found.place.file else ""
        made = [compilation for compilation in resumed_by if compilation.kernels]
        calls = sum(len(kernel.calls) for compilation in made for kernel in compilation.kernels)
        graphs = f", {count(len(made), 'graph')} with {count(calls, 'kernel call')}" if made else ""
        cost = f"{graphs}, {duration_s(resumed_s)} of compile time" if resumed_s else graphs
        yield Finding(
            rule="graph breaks",
            title=f"A graph break{at}: {count(len(resumed_by), 'function')} to go on after it{cost}.",
            reason=f"{found.reason.rstrip('.')}" + (f": `{found.code}`." if found.code else "."),
            advice=next(iter(_hints(found)), found.explanation or UNKNOWN_CAUSE),
            page="graph_breaks",
            compilation=found.compilations[-1] if found.compilations else "",
            once_s=resumed_s,
        )


def _hints(found: GraphBreak) -> list[str]:
    """Torch's hints, those last that only ask for a report to its makers."""
    return sorted(found.hints, key=lambda hint: "file an issue" in hint)


def recompiles(known: Known) -> Iterator[Finding]:
    """What made a frame be compiled again, each cause with the compilations and the time that it cost."""
    for frames in lineage(known.report):
        again = {found.id for found in frames[1:] if found.status != "failed"}
        for told, items in _by_cause(known.report.recompiles, again).items():
            last = items[-1]
            cause, values = _cause(last.reason)
            cost_s = sum(known.seconds.get(item.compilation, 0.0) for item in items)
            took = f", which took {duration_s(cost_s)}" if cost_s else ""
            yield Finding(
                rule="recompiles",
                title=f"`{known.names[frames[0].id]}` was compiled {count(len(items), 'more time')}{took}: {told}.",
                reason=f"A guard failed: `{last.reason}`.",
                advice=cause.advice.format(**values) if cause else UNKNOWN_CAUSE,
                page="recompiles",
                compilation=last.compilation,
                once_s=cost_s,
                proposal=_dynamic(known) if cause is not None and cause.dynamic else None,
            )


def _by_cause(recompiles: Sequence[Recompile], again: Collection[str]) -> dict[str, list[Recompile]]:
    """What failed in the newest code, in words → the recompiles that it made."""
    first: dict[str, Recompile] = {}
    for item in recompiles:
        if item.compilation in again:
            first.setdefault(item.compilation, item)
    found: dict[str, list[Recompile]] = {}
    for item in first.values():
        cause, values = _cause(item.reason)
        told = cause.what.format(**values) if cause else f"`{item.reason}`"
        found.setdefault(told, []).append(item)
    return found


def _cause(reason: str) -> tuple[Cause | None, dict[str, str]]:
    """What a reason tells, and of what; a keyword argument is called by its own name."""
    for cause in CAUSES:
        match = cause.pattern.match(reason)
        if match is not None:
            return cause, {key: KEYWORD.sub(r"\1", value) for key, value in match.groupdict().items()}
    return None, {}


def _dynamic(known: Known) -> Proposal | None:
    asked = known.options.get("dynamic") is True
    return None if asked else Proposal("torch.compile(model, dynamic=True)", compile={"dynamic": True})


def near_the_limit(known: Known) -> Iterator[Finding]:
    """A frame with few compilations left before torch stops compiling it."""
    counters = known.report.counters
    limit = counters.recompile_limit if counters and counters.recompile_limit is not None else RECOMPILE_LIMIT
    for frames in lineage(known.report):
        made = sum(found.status == "ok" for found in frames)
        over = any(found.status == "failed" for found in frames)
        if made >= limit - FEW_LEFT and not over:
            yield Finding(
                rule="near the recompile limit",
                title=f"`{known.names[frames[0].id]}` has {number(made)} of the {number(limit)} compilations "
                "that torch allows a frame.",
                reason="Beyond `torch._dynamo.config.recompile_limit` the frame runs eagerly wherever no code fits.",
                advice="Mend what fails its guards each time, which the page names.",
                page="recompiles",
                compilation=frames[-1].id,
                weight="wrong",
            )


def guards(known: Known) -> Iterator[Finding]:
    """Guards that take a part of every call that is worth a thought."""
    newest = {frame_of(found): found for found in known.report.compilations if found.guard_warm_us is not None}
    checked_s = sum((found.guard_warm_us or 0.0) / 1e6 for found in newest.values())
    waited = known.waited
    if waited is None or checked_s < COSTLY_GUARDS * waited.compiled_s:
        return
    dearest = max(newest.values(), key=lambda found: found.guard_warm_us or 0.0)
    yield Finding(
        rule="guards",
        title=f"Guards take {duration_s(checked_s)} of every call, {percent(checked_s / waited.compiled_s)} of it.",
        reason=f"`[{dearest.id}]` checks {count(dearest.guard_leaves or len(dearest.guards), 'guard')} before its code "
        "may be used.",
        advice="What cannot change in your use need not be checked: "
        "`torch.compile(model, options={'guard_filter_fn': torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe})` "
        "leaves out the guards of torch's own modules.",
        page="guards",
        compilation=dearest.id,
        each_s=checked_s,
    )
