"""Search for the faulty part of torch.compile: the next backend to try, one layer below the run's backend."""

from __future__ import annotations

import re

from core.analysis.findings.finding import Proposal, RunFacts

NAMED = re.compile(r"backend='([^']+)' raised")
# Backends that end after AOTAutograd.
AOT = ("aot_eager", "aot_eager_decomp_partition", "aot_eager_default_partitioner", "aot")
EAGER = Proposal(
    "torch.compile(model, backend='eager')",
    compile={"backend": "eager", "backend_code": "", "mode": None, "options": None},
)
AOT_EAGER = Proposal(
    "torch.compile(model, backend='aot_eager')",
    compile={"backend": "aot_eager", "backend_code": "", "mode": None, "options": None},
)


def backend_of(facts: RunFacts) -> str:
    """Return the backend of a run; empty if an imported log does not have it."""
    if facts.job:
        conditions = facts.job.get("conditions") or {}
        return str(conditions.get("force_backend") or facts.options.get("backend") or "inductor")
    compilations = facts.report.compilations
    named = (NAMED.search(compilation.error) for compilation in compilations)
    if any(compilation.kernels or compilation.schedules for compilation in compilations):
        return "inductor"
    return next((match[1] for match in named if match), "")


def next_rung(facts: RunFacts, output: str = "") -> tuple[str, Proposal | None]:
    """Return the next step that isolates the faulty part, in words and as a job.

    `output` is the first differing result.
    """
    backend = backend_of(facts)
    if backend in ("inductor", ""):
        advice = "`backend='aot_eager'` tells whether Inductor or what comes before it is to blame."
        return advice, AOT_EAGER if backend else None
    if backend == "eager":
        return (
            "No backend had a part in it: `eager` runs the graph as Dynamo traced it. Compare that graph with the "
            "model's lines.",
            None,
        )
    if backend in AOT:
        return "`backend='eager'` tells whether AOTAutograd or what comes before it is to blame.", EAGER
    evidence = f"execution 0, {output}" if output else "its error"
    return (
        f"Inductor had no part in it: look at what the backend `{backend}` gives ({evidence}). `backend='eager'` tells "
        "whether it or what comes before it is to blame.",
        EAGER,
    )
