"""Code that was not compiled: failed compilations, skipped frames, and frames over the recompile limit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.dynamo.breaks import resumes
from core.base.words import agree, count
from core.report import Compilation, Place, Report

FailureKind = Literal["failed", "over the limit", "given up"]
# What Dynamo raises to give a frame up, by torch's name of the class; everything else is an error.
GIVES_UP = frozenset({"Unsupported", "RecompileLimitExceeded", "CacheLimitExceeded"})
LIMIT = re.compile(r"\b((?:accumulated_)?(?:recompile|cache_size)_limit)\b")
LIMIT_VALUE = re.compile(r"(?:set to |limit \()(\d{1,9})")
# What is counted of each kind, and what became of one and of several.
WORDS: dict[FailureKind, tuple[str, str, str]] = {
    "failed": ("compilation", "failed", "failed"),
    "over the limit": ("frame", "is over the recompile limit", "are over the recompile limit"),
    "given up": ("frame", "runs eagerly", "run eagerly"),
}
MAX_REASON_CHARS = 200


@dataclass(frozen=True, slots=True)
class Failure:
    """A compilation without compiled code: kind of failure, torch's reason in one line, and the user's line.

    The file of `place` is empty if torch does not name it.
    """

    compilation: str
    frame: str
    kind: FailureKind
    reason: str
    place: Place

    @property
    def consequence(self) -> str:
        """Consequence of the failure for the calls, in words."""
        if self.kind == "failed":
            return "nothing was compiled for it"
        if self.kind == "given up":
            return "this frame runs eagerly"
        return "from then on this frame runs eagerly wherever none of its code fits"


def failures(report: Report) -> tuple[Failure, ...]:
    """Return all failures of a report, the most severe kind first."""
    broken = {item for found in report.graph_breaks for item in found.compilations}
    failed = [compilation for compilation in report.compilations if compilation.status == "failed"]
    found = [_failure(compilation, compilation.id in broken) for compilation in failed]
    found += _left_to_eager(report)
    return tuple(sorted(found, key=lambda failure: list(WORDS).index(failure.kind)))


def _failure(compilation: Compilation, broken: bool) -> Failure:
    """Return the failure of a compilation; with `fullgraph`, torch raises an error and logs no graph break."""
    limit = LIMIT.search(compilation.error)
    gave_up = compilation.error_type in GIVES_UP and bool(broken or limit)
    kind: FailureKind = "failed" if not gave_up else "over the limit" if limit else "given up"
    first = _first_line(compilation.error)
    reason = f"{compilation.error_type}: {first}" if kind == "failed" else first
    if limit and kind == "over the limit":
        value = LIMIT_VALUE.search(compilation.error)
        reason = f"torch._dynamo hit config.{limit.group(1)}" + (f" ({value.group(1)})" if value else "")
    where = compilation.error_place or compilation.frame
    place = Place(where.file, where.line)
    return Failure(compilation.id, compilation.frame.name, kind, reason[:MAX_REASON_CHARS], place)


def _left_to_eager(report: Report) -> list[Failure]:
    """Return the calls that a frame without ops leaves to eager.

    The graph break is in an inlined function that Dynamo does not compile separately, such as the `forward` of
    `nn.Sequential`, and there is no resume function.
    """
    compiled = {(item.frame.file, item.frame.name) for item in report.compilations}
    empty = {item.id: item for item in report.compilations if item.status == "empty"}
    names = {item.frame.name for item in report.compilations}
    return [
        Failure(item, found.stack[-1].name, "given up", _first_line(found.reason)[:MAX_REASON_CHARS], found.place)
        for found in report.graph_breaks
        for item in found.compilations
        if item in empty
        and found.stack
        and (found.stack[-1].file, found.stack[-1].name) not in compiled
        and not names.intersection(resumes(found))
    ]


def _first_line(text: str) -> str:
    """Return the first line with text, joined with the next line if it ends in a colon."""
    found = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        found = f"{found} {line}".strip()
        if not found.endswith(":"):
            break
    return found


def failure_counts(found: Sequence[Failure]) -> dict[FailureKind, str]:
    """Return the number of failures per kind in words; skipped frames count once per frame."""
    counts: dict[FailureKind, str] = {}
    for kind, (noun, one, many) in WORDS.items():
        members = {
            failure.compilation if kind == "failed" else failure.compilation.rpartition("/")[0]
            for failure in found
            if failure.kind == kind
        }
        if members:
            counts[kind] = f"{count(len(members), noun)} {agree(len(members), one, many)}"
    return counts


def failure_sentence(found: Sequence[Failure]) -> str:
    """Return the counts, and the first error with its reason and line; empty without failures."""
    counts = failure_counts(found)
    if "failed" in counts:
        first = found[0]
        counts["failed"] += f" ({first.reason.rstrip('.')}{f', at {first.place.short}' if first.place.file else ''})"
    return ", ".join(counts.values())
