"""Finding about attention: a call that torch decomposed into matrix products and a softmax."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.analysis.findings.finding import Finding, RunFacts
from core.analysis.work import frame_of
from core.base.words import count, percent
from core.report import Compilation

CALL, PRODUCT = "scaled_dot_product_", ".bmm."
SOFTMAX = ("softmax", ".exp.")
ADVICE = {
    "cuda": "One eager call within `torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION)` "
    "raises, and warns why that kernel takes no such inputs. Flash attention takes float16 and bfloat16 alone, the "
    "memory-efficient one as many heads of keys as of queries.",
    "cpu": "One eager call within `torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION)` "
    "raises, and warns why that kernel takes no such inputs.",
}


def decomposed(facts: RunFacts) -> Iterator[Finding]:
    """Yield a finding for attention calls that AOTAutograd decomposed into matrix products and a softmax."""
    newest = {frame_of(compilation): compilation for compilation in facts.report.compilations if compilation.graphs}
    for compilation in newest.values():
        calls = _decomposed_calls(compilation)
        device = str(facts.job.get("device", "cpu")).partition(":")[0]
        if not calls or device not in ADVICE:
            continue
        rows = [row for row in facts.rows if "bmm" in row.name]
        total_s = sum(row.total_s or 0.0 for row in facts.rows)
        share = sum(row.total_s or 0.0 for row in rows) / total_s if total_s else 0.0
        products = f", whose products alone take {percent(share)} of the kernels' time" if share else ""
        yield Finding(
            rule="attention decomposed",
            title=f"{count(calls, 'call')} of scaled_dot_product_attention became bmm, softmax and bmm{products}.",
            reason="torch chose the definition of attention and none of its fused kernels. The log does "
            "not hold which of their conditions these inputs fail.",
            advice=ADVICE[device],
            page="kernels",
            compilation=compilation.id,
            each_s=sum(row.total_s or 0.0 for row in rows),
            weight="cost" if share else "note",
        )


def _decomposed_calls(compilation: Compilation) -> int:
    """Return how many attention calls of Dynamo's graph AOTAutograd decomposed."""
    early = next((graph.targets for graph in compilation.graphs if graph.stage == "dynamo_output_graph"), {})
    late = next((graph.targets for graph in compilation.graphs if graph.stage in AOT), {})
    is_decomposed = any(PRODUCT in name for name in late) and any(word in name for name in late for word in SOFTMAX)
    return max(0, _calls(early) - _calls(late)) if is_decomposed else 0


AOT = ("aot_inference_graph", "aot_joint_graph", "aot_forward_graph")


def _calls(targets: Mapping[str, int]) -> int:
    return sum(number for name, number in targets.items() if CALL in name and "backward" not in name)
