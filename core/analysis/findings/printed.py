"""Findings about library output: slow paths and deprecations."""

from __future__ import annotations

from collections.abc import Iterator

from core.analysis.findings.finding import Finding, RunFacts
from core.analysis.printed import PrintedLine, printed_lines
from core.base.words import count

MOST = 3
ADVICE = {
    "slow": "Do what the line asks for, such as installing the package that it names, and run again: what runs now is "
    "not the path that the library is built for.",
    "slow on cpu": "Do what the line asks for if its fast path runs on a CPU. Kernels of most such packages run on "
    "CUDA alone: then the line is about another device, and nothing is slower here.",
    "deprecated": "It works today: change it before you move to another version of the library.",
}


def printed(facts: RunFacts) -> Iterator[Finding]:
    """Yield findings for the first lines in which a library reports a slow path or a deprecation."""
    lines = printed_lines(facts.output)
    for kind in ("slow", "deprecated"):
        advice = "slow on cpu" if kind == "slow" and facts.on_cpu else kind
        yield from (_finding(line, advice) for line in [line for line in lines if line.kind == kind][:MOST])


def _finding(line: PrintedLine, advice: str) -> Finding:
    text = line.text if line.text.count("`") % 2 == 0 else line.text.replace("`", "'")
    by = f"`{line.place}` printed it" if line.place else "It stands in the output of the run"
    return Finding(
        rule="printed",
        title=f"{'The library' if line.place else 'The run'} printed: {text}",
        reason=f"{by}, {count(line.count, 'time')}.",
        advice=ADVICE[advice],
        page="overview",
        weight="cost" if advice == "slow" else "note",
    )
