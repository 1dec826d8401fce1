"""Findings about Dynamo: failed compilations, graph breaks, recompiles."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.analysis.dynamo.costs import break_costs, cost_words
from core.analysis.dynamo.failures import Failure, FailureKind, failure_counts, failures, is_of_dynamo
from core.analysis.dynamo.recompiles import lineages_by_function
from core.analysis.findings.answers import answered, cure, known_error, next_rung
from core.analysis.findings.break_advice import (
    break_advice,
    cure_of_break,
    fix_proposal,
    fixes_of_break,
    known_cure,
    owner_in_torch,
    raised_words,
    setting_hint,
    size_words,
    users_line,
    users_name,
)
from core.analysis.findings.errors import dynamo_error_words, phase_words
from core.analysis.findings.finding import Finding, Rule, RunFacts, book, case
from core.analysis.findings.number_advice import (
    attribute_words,
    class_words,
    differs_by_instance,
    hyperparameter_words,
    length_words,
    member_words,
    number_words,
    value_words,
)
from core.analysis.repairs.source import Proposal
from core.analysis.work import frame_of
from core.base.words import count, duration_s, number
from core.report import NO_REASON, Compilation, GraphBreak, Place, Recompile, frame_id, is_library

# Most compilations left before the recompile limit for a finding.
FEW_LEFT = 2
UNKNOWN_CAUSE = "The page Recompiles shows which guard failed at which call."
OWN_CODE = "There is nothing to change: the code is torch's own."
# A decorator of `torch.compile` gets the object of `staticmethod` instead of its function.
STATIC_INSIDE = re.compile(r"^\s*@torch\.compile\b[^\n]*\n\s*@staticmethod\b", re.MULTILINE)
MODEL_COMPILED = "The model inside is compiled by itself."
FRAME_SKIPPED = (
    "Move the code that Dynamo cannot trace out of this function, before or after its call. In a loop, even a call to "
    "a function marked `torch.compiler.disable` makes Dynamo skip the whole frame."
)
# Error at the recompile limit with `fullgraph=True`.
LIMIT_ERROR = "FailOnRecompileLimitHit"
HIGHER_LIMIT = "Raise `torch._dynamo.config.recompile_limit` only if few more values follow: each needs a compilation."

# Pattern of torch's error → the missing part of the toolchain, and how to install it; no backend is at fault.
TOOLCHAIN = (
    (
        re.compile(r"Python\.h\b.*(?:No such file|not found)|(?:No such file|not found).*Python\.h\b", re.DOTALL),
        "The C compiler did not find Python's headers. Install them for this Python: `apt-get install python3-dev`.",
    ),
    (
        re.compile(r"cannot find -lcuda\b|libcuda\.so[^\n]*(?:cannot|not found|No such file)"),
        "The linker did not find libcuda, the library of NVIDIA's driver: install the driver, or add its directory to "
        "`LIBRARY_PATH`.",
    ),
    (
        re.compile(r"(?:cuda_utils|__triton_launcher|driver|main)\.c\b.*returned non-zero exit status", re.DOTALL),
        "The C compiler failed on Triton's launcher, most often because Python's headers (`python3-dev`) or libcuda "
        "are missing. The command in torch's error, run in a shell, prints which.",
    ),
    (
        re.compile(r"Failed to find C compiler|No working C\+\+ compiler found|InvalidCxxCompiler"),
        "There is no C compiler: install one (`apt-get install g++`), or name it in `CC` and `CXX`.",
    ),
)


Advice = Callable[[RunFacts, Recompile, str], tuple[str, Proposal | None]]
# Name in `causes.toml` → the function that makes the advice.
BY: dict[str, Advice] = {
    "size": size_words,
    "class": class_words,
    "member": member_words,
    "length": length_words,
    "hyperparameter": hyperparameter_words,
    "attribute": attribute_words,
    "value": value_words,
    "number": number_words,
}
# Advice that tells instances of a class apart.
OF_INSTANCES = ("attribute", "value")


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause of failed guards: the pattern of torch's reason, the cause in words, and the advice.

    `by` is the name of a function in `BY`; `advice` is for what it does not decide. `code` is a pattern of the user's
    line, and `reference` a public report.
    """

    pattern: re.Pattern[str]
    words: str
    advice: str = ""
    by: str = ""
    code: str = ""
    reference: str = ""


@lru_cache(maxsize=1)
def causes() -> tuple[Cause, ...]:
    """Return the causes of failed guards in the book of causes."""
    return tuple(Cause(**{**row, "pattern": re.compile(row["pattern"])}) for row in book()["guard"])


def not_compiled(facts: RunFacts) -> Iterator[Finding]:
    """Yield findings for failed compilations, frames over the recompile limit, and skipped frames."""
    all_failures = failures(facts.report)
    nothing = not any(compilation.status == "ok" for compilation in facts.report.compilations)
    for kind, words in failure_counts(all_failures).items():
        of_kind = [failure for failure in all_failures if failure.kind == kind]
        others = [failure for failure in of_kind if not _is_own_failure(facts, failure)]
        if (not others and not nothing) or (kind == "failed" and len(of_kind) == 1 and known_error(facts)):
            # The finding of these breaks, or of the error, says it.
            continue
        first = next(iter(others or of_kind))
        at = f" at `{first.place.short}`" if first.place.file else ""
        advice, proposal = _failure_advice(facts, kind, first)
        yield Finding(
            rule=f"not compiled: {kind}",
            title=f"{words}.",
            reason=f"`[{first.compilation}]` {first.frame}{at}: {first.reason.rstrip('.')}; {first.consequence}."
            + _why_skipped(facts, first.compilation),
            advice=advice,
            page="recompiles" if kind == "over the limit" else "overview",
            compilation=first.compilation,
            # The finding of the graph break has the cost of a skipped frame, unless nothing else was compiled.
            weight="wrong" if kind != "given up" or nothing else "cost",
            proposal=proposal,
        )


def _why_skipped(facts: RunFacts, compile_id: str) -> str:
    """Return why a graph break left a whole frame to eager, as a further sentence; empty if unknown."""
    compilation = facts.report.compilation(compile_id)
    error = compilation.error if compilation is not None else ""
    return next((f" {row['reason']}" for row in book()["skip"] if row["pattern"] in error), "")


def _is_own_failure(facts: RunFacts, failure: Failure) -> bool:
    """Return True if torch's own code is why a frame runs eagerly."""
    broken = _breaks_of(facts, failure.compilation)
    return failure.kind == "given up" and bool(broken) and all(_is_own(facts, graph_break) for graph_break in broken)


def _failure_advice(facts: RunFacts, kind: FailureKind, first: Failure) -> tuple[str, Proposal | None]:
    compilation = facts.report.compilation(first.compilation)
    if compilation is not None and compilation.error_type == LIMIT_ERROR:
        return _limit_advice(facts, first.compilation)
    if kind == "failed" and compilation is not None and is_of_dynamo(compilation):
        return dynamo_error_words(facts, compilation, first)
    if kind == "given up":
        return _skipped_advice(facts, first)
    if kind == "over the limit":
        return _limit_advice(facts, first.compilation)
    if advice := _toolchain_advice(facts, first.compilation):
        return advice, None
    backend_error = _backend_error(facts, first.compilation)
    if backend_error:
        return backend_error, None
    answer = answered(facts)
    if answer:
        return answer, cure(facts)
    words, other = phase_words(compilation, first) if compilation is not None else ("", None)
    if words:
        return words, other
    if compilation is not None and "did not return callable" in compilation.error:
        return case("no callable"), None
    advice, proposal = next_rung(facts)
    return f"torch's full error is below. {advice}", proposal


def _skipped_advice(facts: RunFacts, first: Failure) -> tuple[str, Proposal | None]:
    """Return the advice for a skipped frame: the first fix of its breaks, in words and as a job."""
    if _is_own_failure(facts, first):
        return _own_advice(facts, _breaks_of(facts, first.compilation)), None
    for graph_break in _breaks_of(facts, first.compilation):
        if words := cure_of_break(facts, graph_break):
            return words, fix_proposal(facts, graph_break)
    hints = (setting_hint(facts, graph_break) for graph_break in _breaks_of(facts, first.compilation))
    return next(filter(None, hints), FRAME_SKIPPED), None


def _toolchain_advice(facts: RunFacts, compile_id: str) -> str:
    """Return the missing part of the C toolchain that torch's error names; empty without one."""
    compilation = facts.report.compilation(compile_id)
    error = compilation.error if compilation is not None else ""
    return next((advice for pattern, advice in TOOLCHAIN if pattern.search(error)), "")


def _limit_advice(facts: RunFacts, compile_id: str) -> tuple[str, Proposal | None]:
    """Return the best advice against a frame's recompiles, in words and as a job.

    The words also say what a higher limit does.
    """
    cause, group = _limit_cause(facts, compile_id)
    if not cause:
        return f"{UNKNOWN_CAUSE} {HIGHER_LIMIT}", None
    advice, proposal = _advice(facts, group[-1])
    return f"Most often {cause}. {advice} {HIGHER_LIMIT}", proposal


def _limit_cause(facts: RunFacts, compile_id: str) -> tuple[str, list[Recompile]]:
    """Return the most frequent cause of a frame's recompiles; empty without a recompile."""
    first = facts.report.compilation(compile_id)
    members = [member for member in facts.report.compilations if first and frame_of(member) == frame_of(first)]
    causes = _by_cause(facts, {member.id for member in members})
    return max(causes.items(), key=lambda entry: len(entry[1]), default=("", []))


def _breaks_of(facts: RunFacts, compile_id: str) -> list[GraphBreak]:
    return [graph_break for graph_break in facts.report.graph_breaks if compile_id in graph_break.compilations]


def _backend_error(facts: RunFacts, compile_id: str) -> str:
    """Return the line to fix if the selected backend raised the error; empty if something else failed."""
    compilation = facts.report.compilation(compile_id)
    raised = [invocation for invocation in compilation.invocations if invocation.place] if compilation else []
    if not raised or raised[-1].place is None:
        return ""
    return f"The backend raised it: fix `{Place(*raised[-1].place).short}`."


def _is_own(facts: RunFacts, graph_break: GraphBreak) -> bool:
    """Return True if a break is in torch's own code, and no setting removes it."""
    removable = fixes_of_break(facts, graph_break) or setting_hint(facts, graph_break) or known_cure(graph_break, True)
    is_error = facts.report.error is not None and bool(raised_words(facts, graph_break))
    return bool(owner_in_torch(graph_break)) and not removable and not is_error


def _at(graph_break: GraphBreak) -> str:
    """Return the place of a break in words; of a break in a library with the user's line that calls it."""
    place, line = graph_break.place, users_line(graph_break)
    if not place.file:
        return ""
    return f" at `{line.short}`, in `{place.short}`" if line and is_library(place.file) else f" at `{place.short}`"


def _own_advice(facts: RunFacts, own: Sequence[GraphBreak]) -> str:
    """Return the advice for graph breaks in torch's own code."""
    if STATIC_INSIDE.search(facts.source):
        return case("static inside")
    if any(compilation.status == "ok" for compilation in facts.report.compilations):
        return f"{OWN_CODE} {MODEL_COMPILED}"
    return case("sharded whole") if "FSDP" in map(owner_in_torch, own) else OWN_CODE


def _own_finding(facts: RunFacts, own: Sequence[GraphBreak]) -> Finding:
    owners = ", ".join(dict.fromkeys(map(owner_in_torch, own)))
    return Finding(
        rule="graph breaks",
        title=f"{count(len(own), 'graph break')} in the code of {owners} itself.",
        reason=f"{own[0].reason.rstrip('.')} at `{own[0].place.short}`.",
        advice=_own_advice(facts, own),
        page="graph_breaks",
        compilation=own[0].compilations[-1] if own[0].compilations else "",
        weight="note",
    )


def graph_breaks(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for each graph break, with the cost that ends if the break is removed."""
    own = [graph_break for graph_break in facts.report.graph_breaks if _is_own(facts, graph_break)]
    if own:
        yield _own_finding(facts, own)
    costs = {id(cost.graph_break): cost for cost in break_costs(facts.report)}
    for graph_break in (graph_break for graph_break in facts.report.graph_breaks if graph_break not in own):
        at = _at(graph_break)
        cost = cost_words([costs[id(graph_break)]])
        yield Finding(
            rule="graph breaks",
            title=f"Graph break{at}: {cost}." if cost else f"Graph break{at}.",
            reason=f"{graph_break.reason.rstrip('.')}" + (f": `{graph_break.code}`." if graph_break.code else "."),
            advice=break_advice(facts, graph_break),
            page="graph_breaks",
            compilation=graph_break.compilations[-1] if graph_break.compilations else "",
            once_s=costs[id(graph_break)].dynamo_s,
            proposal=fix_proposal(facts, graph_break),
        )


@dataclass(frozen=True, slots=True)
class CauseMember:
    """A function that recompiled for a cause: its name, the number of its frames, and the recompiles."""

    name: str
    frames: int
    recompiles: list[Recompile]


def recompiles(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for each cause of recompiles, with their number and compile time.

    Functions have findings of their own, unless the cause is one attribute. A cause that a finding about the recompile
    limit names has no second finding.
    """
    by_key: dict[tuple[str, ...], list[CauseMember]] = {}
    at_the_limit = _causes_at_the_limit(facts)
    for lineages in lineages_by_function(facts.report):
        compiled = {compilation.id for lineage in lineages for compilation in lineage if compilation.status != "failed"}
        for cause, group in _by_cause(facts, compiled).items():
            name = facts.names[lineages[0][0].id]
            key = (cause,) if _is_of_attribute(facts, group[-1]) else (cause, name)
            if not at_the_limit.issuperset((frame_id(recompile.compilation), cause) for recompile in group):
                by_key.setdefault(key, []).append(CauseMember(name, len(lineages), group))
    for (cause, *_), members in by_key.items():
        yield _recompile_finding(facts, cause, members)


def _causes_at_the_limit(facts: RunFacts) -> set[tuple[str, str]]:
    """Return the frames and causes that findings about the recompile limit name."""
    over = [failure.compilation for failure in failures(facts.report) if failure.kind == "over the limit"][:1]
    near = [frames[0][-1].id for frames in _near_the_limit(facts)]
    return {(frame_id(compile_id), _limit_cause(facts, compile_id)[0]) for compile_id in (*over, *near)}


def _is_of_attribute(facts: RunFacts, reason: Recompile) -> bool:
    cause, _ = _cause(facts, reason)
    return cause is not None and cause.by == "attribute"


def _recompile_finding(facts: RunFacts, cause: str, members: Sequence[CauseMember]) -> Finding:
    first, group = members[0], [recompile for member in members for recompile in member.recompiles]
    last = group[-1]
    advice, proposal = _advice(facts, last)
    cost_s = sum(facts.seconds.get(recompile.compilation, 0.0) for recompile in group)
    took = f" ({duration_s(cost_s)})" if cost_s else ""
    others = f" and {count(len(members) - 1, 'other function')}" if len(members) > 1 else ""
    within = f" in {number(first.frames)} of its frames" if first.frames > 1 and not others else ""
    return Finding(
        rule="recompiles",
        title=f"`{first.name}`{others} recompiled {count(len(group), 'time')}{within}{took}: {cause}.",
        reason=_guard_words(last),
        advice=advice,
        page="recompiles",
        compilation=last.compilation,
        item=last.compilation,
        once_s=cost_s,
        proposal=proposal,
    )


def _guard_words(recompile: Recompile) -> str:
    return f"A guard failed: `{recompile.reason}`." if recompile.reason != NO_REASON else "A guard failed."


def _by_cause(facts: RunFacts, compiled: Collection[str]) -> dict[str, list[Recompile]]:
    """Return cause in words → recompiles; each recompile counts for the failed guard of the newest code."""
    first: dict[str, Recompile] = {}
    for recompile in facts.report.recompiles:
        if recompile.compilation in compiled:
            first.setdefault(recompile.compilation, recompile)
    by_cause: dict[str, list[Recompile]] = {}
    for recompile in first.values():
        cause, values = _cause(facts, recompile)
        words = _cause_words(facts, cause, values) if cause else f"`{recompile.reason}`"
        by_cause.setdefault(words, []).append(recompile)
    return by_cause


def _cause_words(facts: RunFacts, cause: Cause, values: Mapping[str, str]) -> str:
    if cause.by in OF_INSTANCES and differs_by_instance(facts, values["name"]):
        return f"`{values['name']}` differs between instances"
    return cause.words.format(**values)


def _cause(facts: RunFacts, reason: Recompile) -> tuple[Cause | None, dict[str, str]]:
    """Return the cause of a recompile with the values for its words; None and empty without a match."""
    for cause in causes():
        match = cause.pattern.match(reason.reason)
        if match is not None and re.search(cause.code, reason.code):
            values = match.groupdict()
            return cause, {**values, "name": users_name(facts, reason, values.get("name") or values.get("empty") or "")}
    return None, {}


def _advice(facts: RunFacts, reason: Recompile) -> tuple[str, Proposal | None]:
    cause, values = _cause(facts, reason)
    if cause is None:
        return UNKNOWN_CAUSE, None
    words, proposal = BY[cause.by](facts, reason, values["name"]) if cause.by else ("", None)
    return words or cause.advice.format(**values), proposal


def near_the_limit(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for a frame close to the recompile limit; nothing if the limit is unknown."""
    limit = facts.report.counters.recompile_limit if facts.report.counters else None
    for near in _near_the_limit(facts) if limit is not None else ():
        frames = near[0]
        advice, proposal = _limit_advice(facts, frames[-1].id)
        within = f" in {number(len(near))} of its frames" if len(near) > 1 else ""
        yield Finding(
            rule="near the recompile limit",
            title=f"`{facts.names[frames[0].id]}` has {number(_compiled(frames))} of the {number(limit)} compilations "
            f"that torch allows a frame{within}.",
            reason="Beyond `torch._dynamo.config.recompile_limit`, calls that fit no compiled code run eagerly.",
            advice=advice,
            page="recompiles",
            compilation=frames[-1].id,
            weight="wrong",
            proposal=proposal,
        )


def _near_the_limit(facts: RunFacts) -> list[list[Sequence[Compilation]]]:
    """Return the frames of each function that are close to the recompile limit, the closest first."""
    limit = facts.report.counters.recompile_limit if facts.report.counters else None
    functions = lineages_by_function(facts.report) if limit is not None else ()
    near = [[frames for frames in lineages if _is_near(frames, limit)] for lineages in functions]
    return [sorted(frames, key=_compiled, reverse=True) for frames in near if frames]


def _is_near(frames: Sequence[Compilation], limit: int | None) -> bool:
    return limit is not None and limit - FEW_LEFT <= _compiled(frames) <= limit and not _is_over(frames)


def _compiled(frames: Sequence[Compilation]) -> int:
    return sum(compilation.status == "ok" for compilation in frames)


def _is_over(frames: Sequence[Compilation]) -> bool:
    return any(compilation.status == "failed" for compilation in frames)


RULES: tuple[Rule, ...] = (not_compiled, near_the_limit, graph_breaks, recompiles)
