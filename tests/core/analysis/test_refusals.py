"""Why two scheduler nodes stayed two: from what they are, else by torch's reasons, and never both ways."""

import pytest

from core.analysis.work import RefusalReasons, refusal_reasons, refused_pair
from core.report import FusionRound, Schedule, SchedulerNode

LOOPS, EXTERN, NOP = "SchedulerNode", "ExternKernelSchedulerNode", "NopKernelSchedulerNode"


def node(name: str, reads: str, kind: str = LOOPS, ir: str = "Pointwise", **fields: str) -> SchedulerNode:
    touched = tuple((buffer, 100) for buffer in reads.split())
    device, kernel = fields.get("device", "cpu"), fields.get("kernel", "")
    return SchedulerNode(name, kind, (name,), (ir,), touched, (), (), None, device, kernel)


def schedule(*nodes: SchedulerNode, rejected: tuple[tuple[str, str, str], ...] = ()) -> Schedule:
    return Schedule(0, "inference", nodes, nodes, (FusionRound((), rejected),), (), {})


@pytest.mark.parametrize(
    ("other", "because"),
    [
        (
            node("op1", "a", EXTERN),
            "op1 is an extern kernel: nothing can be fused into a library call.",
        ),
        (
            node("op1", "a", EXTERN, "MultiOutput"),
            "op1 only unpacks the results of a library call; it is not a kernel.",
        ),
        (node("op1", "a", NOP), "op1 runs nothing: it only names memory that other nodes write."),
        (node("op1", "a", device="cuda:0"), "They run on different devices, cpu and cuda:0."),
        (
            node("op1", "a", kernel="k"),
            "Both are already in one kernel: one function with their loops in sequence.",
        ),
        (
            node("op1", "a", ir="CppTemplateBuffer"),
            "op1 is a template: only pointwise ops on its inputs or its result can be fused into it.",
        ),
        (node("op1", "b"), "The scheduler tries only pairs that share a buffer; these two share none."),
        (node("op1", "a"), ""),
    ],
)
def test_the_answer_follows_from_what_the_two_are(other: SchedulerNode, because: str) -> None:
    one = node("op0", "a", kernel="k")
    for pair in ((one, other), (other, one)):
        assert refusal_reasons(schedule(one, other), *pair).because == because


def test_torchs_own_reason_is_given_with_its_first_round_and_the_bytes_that_both_touch() -> None:
    one, other = node("op0", "a b"), node("op1", "b c")
    refusal = (("op1", "op0", "too far apart"), ("op0", "op1", "too far apart"), ("op0", "op1", "no shared data"))
    assert refusal_reasons(schedule(one, other, rejected=refusal), one, other) == RefusalReasons(
        because="", recorded=((1, "too far apart"), (1, "no shared data")), shared={"b": 100}
    )


def test_the_first_question_is_about_the_pair_that_torch_refused_and_that_shares_most() -> None:
    nodes = node("op0", "a"), node("op1", "a b c", EXTERN), node("op2", "b c d"), node("op3", "b c"), node("op4", "d")
    refusals = (("op1", "op2", "extern"), ("op2", "op4", "numel mismatch"), ("op2", "op3", "numel mismatch"))
    assert refused_pair(schedule(*nodes, rejected=refusals)) == ("op2", "op3")
    assert refused_pair(schedule(*nodes, rejected=refusals[:1])) is None


def test_a_pair_that_could_save_bytes_comes_before_one_that_shares_more_without_an_equal_access() -> None:
    nodes = node("op0", "a b c"), node("op1", "a b c"), node("op2", "c d")
    refusals = (("op0", "op1", "no shared data"), ("op1", "op2", "numel mismatch"))
    assert refused_pair(schedule(*nodes, rejected=refusals)) == ("op1", "op2")
    assert refused_pair(schedule(*nodes, rejected=refusals[:1])) == ("op0", "op1")
