"""Findings of what a compiled call returned, and of what torch could not use."""

from __future__ import annotations

from collections.abc import Iterator

from core.analysis.findings.finding import Finding, Known, Proposal
from core.analysis.results import difference_words, results_words
from core.words import agree, count

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


def other_strides(known: Known) -> Iterator[Finding]:
    """Results whose elements lie otherwise in memory than eager's."""
    found = known.compared
    if found is None or found.outcome != "other strides":
        return
    many = len(found.restrided)
    yield Finding(
        rule="other strides",
        title=f"{count(many, 'result')} {agree(many, 'has', 'have')} eager's values and other strides.",
        reason=f"{results_words(found)}.",
        advice="What calls `.view()` on it later, or hands its memory on, may need `.contiguous()` first.",
        page="speedup",
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
    """CUDA graphs that were asked for and not used, with torch's reasons."""
    counters = known.report.counters
    counted = counters.dynamo.get("inductor", {}).get("cudagraph_skips", 0) if counters else 0
    told = {found.id: _first_line(found.cudagraph_skip) for found in known.report.compilations if found.cudagraph_skip}
    skips = max(counted, len(told))
    if not skips:
        return
    reason = next(iter(told.values()), "")
    yield Finding(
        rule="CUDA graphs skipped",
        title=f"{count(skips, 'graph')} did not become {agree(skips, 'a CUDA graph', 'CUDA graphs')}.",
        reason=f"torch's reason: {reason}." if reason else "The log does not hold torch's reason.",
        advice=next((advice for mark, advice in SKIPPED.items() if mark in reason), SKIPPED_OTHERWISE),
        page="overview",
        compilation=next(iter(told), ""),
    )


def _first_line(reason: str) -> str:
    return reason.strip().partition("\n")[0].rstrip(". ")


# What torch's reason has in it → what to do.
SKIPPED = {
    "cpu device": "Everything that a CUDA graph holds runs on the device: move inputs, buffers and constants there.",
    "multiple devices": "A CUDA graph is of one device: compile the parts on each by themselves.",
    "mutated inputs": "An input that is written in place cannot be replayed: return the new value, or keep it in a "
    "buffer of the module.",
    "symbolic shapes": "Each size needs a graph of its own: call with few sizes and `dynamic=False`.",
    "incompatible op": "This op waits for the device or draws on the CPU: take it out of the compiled function.",
    "override_cudagraphs": "The model's own annotation switches them off.",
}
SKIPPED_OTHERWISE = "`TORCH_LOGS=cudagraphs` tells more of it in the worker's output."
