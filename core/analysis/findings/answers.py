"""Findings of what a compiled call returned, and of what torch could not use."""

from __future__ import annotations

from collections.abc import Iterator

from core.analysis.findings.finding import Finding, Known, Proposal
from core.analysis.results import difference_words, results_words
from core.words import count

RANDOM = "random"


def differs(known: Known) -> Iterator[Finding]:
    """Compiled that returned or did something else than eager."""
    found = known.compared
    if found is None or found.outcome != "differs":
        return
    yield Finding(
        rule="results differ",
        title=f"Compiled differs from eager in {count(len(found.differing), 'thing')}.",
        reason=f"{results_words(found)}.",
        advice="`backend='aot_eager'` tells whether Inductor or what comes before it is to blame.",
        page="speedup",
        weight="wrong",
        proposal=Proposal(
            "torch.compile(model, backend='aot_eager')", compile={"backend": "aot_eager", "mode": None, "options": None}
        ),
    )


def random_numbers(known: Known) -> Iterator[Finding]:
    """A model that draws random numbers, which compiled draws otherwise than eager does."""
    found = known.compared
    if found is None or found.outcome != "not comparable":
        return
    drawn = [item for item in found.untold if RANDOM in item.reason]
    asked = known.options.get("options") or {}
    if not drawn or asked.get("fallback_random"):
        return
    yield Finding(
        rule="random numbers",
        title=f"{count(len(drawn), 'result')} cannot be compared with eager.",
        reason=f"{difference_words(drawn[0])}.",
        advice="`fallback_random` makes compiled draw as eager does, for a comparison; it is slower.",
        page="speedup",
        proposal=Proposal(
            "torch.compile(model, options={'fallback_random': True})",
            compile={"options": {**asked, "fallback_random": True}, "mode": None},
        ),
    )


def cuda_graphs(known: Known) -> Iterator[Finding]:
    """CUDA graphs that were asked for and not used."""
    counters = known.report.counters
    skips = counters.inductor.get("cudagraph_skips", 0) if counters else 0
    if skips:
        yield Finding(
            rule="CUDA graphs skipped",
            title=f"{count(skips, 'graph')} did not become CUDA graphs.",
            reason="torch counts them in `cudagraph_skips`.",
            advice="`TORCH_LOGS=cudagraphs` has torch's reason for each: inputs that change, work on the CPU, dynamic "
            "shapes.",
            page="overview",
        )
