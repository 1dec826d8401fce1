"""Errors of Dynamo are advised by their line, and no backend is blamed for them."""

from dataclasses import replace
from typing import Any

import pytest

from core.analysis.findings import Finding, findings
from core.analysis.findings.dynamo_errors import raised_by_dynamo
from core.report import Bisection, Compilation, Difference, FxGraph, Payload, Place, Report, RunError, Setting, Source
from tests.support.reports.findings import QUIET, call, frame

INDUCTOR = {"compile": {"backend": "inductor", "fullgraph": True}}
UNCAPTURED = "UncapturedHigherOrderOpError"
HINTS = "Data-dependent branching\n  Hint: This graph break is fundamental.\n  Hint: Use `torch.cond` to express it.\n"


def failing(error_type: str, error: str, line: str, message: str = "", **fields: Any) -> tuple[Report, str]:
    """A compilation that failed at line 2 of the model's file."""
    lost: Compilation = frame("0/0", status="failed", error=error, error_type=error_type, error_place=Place("m.py", 2))
    return (
        replace(
            QUIET,
            setting=Setting(job=INDUCTOR),
            sources=(Source("m.py", Payload(0, 0)),),
            compilations=(replace(lost, **fields),),
            error=RunError("call 0: compiled", error_type, "", message or error, (), ""),
        ),
        f"def f(x):\n    {line}\n",
    )


def card(report: Report, source: str) -> Finding:
    (found,) = [finding for finding in findings(report, "", source) if finding.rule == "not compiled: failed"]
    return found


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("return budget > 0 and moving", "torch.logical_and(budget > 0, moving)"),
        ("return a or b and not c", "torch.logical_or(a, torch.logical_and(b, torch.logical_not(c)))"),
    ],
)
def test_logical_operators_in_a_function_of_while_loop_have_torchs_functions(line: str, code: str) -> None:
    message = f"Got graph break/error:\nHigher Order Operator: torch.while_loop\n{HINTS}"
    found = card(*failing(UNCAPTURED, HINTS, line, message))
    assert found.advice == (
        "Dynamo raised it while it traced `m.py:2`, before any backend: no other backend helps. Python's `and`, `or` "
        f"and `not` need a bool. Write `{code}`. `torch.while_loop` raises it without `torch.compile`, too: it always "
        "compiles its functions."
    )
    assert found.proposal is None


def test_a_guard_on_data_names_the_condition_to_check_and_the_option_to_drop() -> None:
    error = "Could not guard on data-dependent expression u0 > 0"
    found = card(*failing("UserError", error, "if rows.numel() > 0:\n        x = x + 1\n    return x"))
    assert "write `torch._check(rows.numel() > 0)` before it; otherwise" in found.advice
    assert found.proposal is not None
    assert dict(found.proposal.compile) == {"fullgraph": False}


def test_a_break_under_fullgraph_has_the_fix_of_its_line() -> None:
    error = (
        f"Data-dependent branching\n{HINTS}\n https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html"
    )
    found = card(*failing("Unsupported", error, "return x if x.sum() > 0 else -x"))
    assert "Choose with `torch.where`." in found.advice


def test_an_error_of_a_backend_is_still_narrowed_down_by_backend() -> None:
    graph = FxGraph("aot_forward_graph.forward", "aot_forward_graph", "forward", 0, Payload(0, 0), {}, {})
    report, source = failing("InductorError", "no kernel", "return x", graphs=(graph,))
    assert "Try `backend='aot_eager'`" in card(report, source).advice
    assert not raised_by_dynamo(report)
    assert raised_by_dynamo(failing("UserError", "no", "return x")[0])


def test_the_bisectors_answer_takes_the_place_of_the_next_backend() -> None:
    report = replace(QUIET, calls=call(Difference("output", False, actual="off")), setting=Setting(job=INDUCTOR))
    (found,) = findings(replace(report, bisection=Bisection(backend="aot_eager", trials=4, seconds=2.0)))
    assert (found.advice, found.proposal) == (
        "`aot_eager` is the first backend that fails or differs; no single part of it is the cause (torch's "
        "CompilerBisector, 4 trials in 2.00 s).",
        None,
    )
    (found,) = findings(replace(report, bisection=Bisection(problem="it took too long")))
    assert found.advice.startswith("Try `backend='aot_eager'`")
