"""The tree of a frame that was compiled more than once: why, from what to what, and which call used which code."""

from dataclasses import replace
from functools import cache

import pytest

from core.analysis.dynamo.recompiles import CallUse, call_uses, failed_guard, lineage, lineages
from core.report import Call, Compilation, Guard, Recompile, Report, Setting
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import compiling, frame


@cache
def recorded(name: str) -> Report:
    return recorded_report(TRACES / name / "trace.log")


def test_compilations_are_grouped_by_the_frame_that_was_compiled_again() -> None:
    report = recorded("recompile_zoo")
    again = {item.compilation for item in report.recompiles}
    found = lineage(report)
    assert {compilation.id for compilations in found for compilation in compilations[1:]} == again
    assert all(len({compilation.id.partition("/")[0] for compilation in compilations}) == 1 for compilations in found)


def test_a_run_without_a_recompile_has_no_lineage() -> None:
    assert lineage(recorded("training_step")) == ()


def test_each_edge_shows_the_guard_the_values_and_the_call() -> None:
    (found,) = lineages(recorded("recompile_zoo"))
    edges = [node.edge for node in found.nodes if node.edge]
    assert [(edge.reason.failed, edge.old, edge.new, edge.value_origin, edge.call) for edge in edges] == [
        ("0/0", "8", "12", "reason", 1),
        ("0/1", "2", "3", "symbol", 2),
        ("0/2", "0.5", "0.75", "symbol", 3),
        ("0/3", "Float", "Double", "reason", 4),
        ("0/4", "requires_grad=0", "requires_grad=1", "reason", 5),
        ("0/5", "1", "2", "guard", 6),
        ("0/6", "'sin'", "'cos'", "guard", 7),
        ("0/7", "1", "", "", 8),
    ]
    assert [edge.guard and (edge.guard.kind, edge.guard.source) for edge in edges] == [
        ("TENSOR_MATCH", "L['x']"),
        ("EQUALS_MATCH", "L['power']"),
        ("EQUALS_MATCH", "L['scale']"),
        ("TENSOR_MATCH", "L['x']"),
        ("TENSOR_MATCH", "L['x']"),
        ("LENGTH_CHECK", "L['extras']"),
        ("EQUALS_MATCH", "L['self'].mode"),
        ("EQUALS_MATCH", "G['GLOBAL_OFFSET']"),
    ]
    assert [len(edge.older) for edge in edges] == [0, 1, 2, 3, 4, 5, 6, 7]


def test_a_condition_on_a_size_has_no_old_value_and_shows_the_size_that_came() -> None:
    (found,) = lineages(recorded("symbols"))
    edge = found.nodes[1].edge
    assert edge is not None
    assert (edge.reason.reason, edge.old, edge.new, edge.value_origin) == ("4 <= x.size()[0]", "", "2", "symbol")
    assert edge.guard is not None
    assert edge.guard.kind == "LAMBDA_GUARD"


def reason(made: str, failed: str, text: str = "n == 1") -> Recompile:
    return Recompile(made, failed, text)


def test_a_compilation_is_below_the_code_that_was_used_last_and_costs_what_it_took() -> None:
    names = ("0/0", "0/1", "0/2", "0/3")
    reasons = (reason("0/1", "0/0"), reason("0/2", "0/0"), reason("0/2", "0/1"), reason("0/3", "0/1"))
    phases = compiling(**{"0/0": 1.0, "0/1": 0.5, "0/2": 0.25})
    report = Report(Setting(), tuple(frame(name) for name in names), recompiles=reasons, phases=phases)
    (found,) = lineages(report)
    assert [(node.compilation.id, node.depth, node.seconds) for node in found.nodes] == [
        ("0/0", 0, 1.0),
        ("0/1", 1, 0.5),
        ("0/3", 2, None),
        ("0/2", 1, 0.25),
    ]
    assert found.recompile_s == 0.75


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("tensor 'self._parameters['w']' stride mismatch at index 0. expected 4, actual 8", "TENSOR_MATCH"),
        ("self.k == 2", "EQUALS_MATCH"),
        ("2 <= x.size()[0]", "LAMBDA_GUARD"),
        ("tensor 'y' dtype mismatch. expected Float, actual Double", None),
        ("something that no guard says", None),
    ],
)
def test_a_reason_is_matched_to_the_guard_that_it_is_about(text: str, kind: str | None) -> None:
    guards = (
        Guard("TYPE_MATCH", "L['self']._parameters['w']", "___check_type_id(…)", 3),
        Guard("TENSOR_MATCH", "L['self']._parameters['w']", "check_tensor(…)", 3),
        Guard("EQUALS_MATCH", "L['self'].k", "L['self'].k == 2", 3),
        Guard("LAMBDA_GUARD", "", "L['x'].stride()[0] == 1\n2 <= L['x'].size()[0]", 0),
    )
    found = failed_guard(reason("0/1", "0/0", text), guards)
    assert (found.kind if found else None) == kind


def called(index: int, entered: int | None, *newest: str) -> Call:
    return Call(index, "f32[4]", 1.0, 1.0, (), entered=entered, newest=newest)


def made(name: str, call: int | None, of: str = "model", status: str = "ok") -> Compilation:
    found = frame(name, of, status, call=call)
    return replace(found, frame=replace(found.frame, name=of))


RESUME = "torch_dynamo_resume_in_model_at_4"


@pytest.mark.parametrize(
    ("compilations", "calls", "expected"),
    [
        # The code that comes first has changed: it was used.
        (
            (made("0/0", 0), made("0/1", 1)),
            (called(0, 0, "0/0"), called(1, 0, "0/1"), called(2, 1, "0/0"), called(3, 1, "0/0")),
            {"0/0": ("compiled", "", "used", "used"), "0/1": ("", "compiled", "", "")},
        ),
        # No code was good, and none was made: the frame ran eagerly.
        (
            (made("0/0", 0), made("0/1", 1, status="failed")),
            (called(0, 0, "0/0"), called(1, 0, "0/0"), called(2, 0, "0/0")),
            {"0/0": ("compiled", "", ""), "0/1": ("", "failed", "")},
        ),
        # A function that goes on after a break was entered, so what it goes on after was; the third frame was not.
        (
            (made("0/0", 0), made("1/0", 0, RESUME), made("1/1", 1, RESUME), made("2/0", 1, "other")),
            (called(0, 0, "0/0", "1/0"), called(1, 1, "0/0", "1/1", "2/0"), called(2, 2, "0/0", "1/0", "2/0")),
            {
                "0/0": ("compiled", "used", "used"),
                "1/0": ("compiled", "", "used"),
                "1/1": ("", "compiled", ""),
                "2/0": ("", "compiled", ""),
            },
        ),
        # One of two frames was entered, and nothing tells which.
        (
            (made("0/0", 0), made("1/0", 0, "other")),
            (called(0, 0, "0/0", "1/0"), called(1, 1, "0/0", "1/0"), called(2, 2, "0/0", "1/0")),
            {"0/0": ("compiled", "unknown", "used"), "1/0": ("compiled", "unknown", "used")},
        ),
        # An older log does not tell.
        (
            (made("0/0", 0),),
            (called(0, None), called(1, None)),
            {"0/0": ("compiled", "unknown")},
        ),
        # Nor of code that failed to compile, or was compiled outside of the calls.
        (
            (made("0/0", 0), made("0/1", 0, status="failed"), made("1/0", None, "other")),
            (called(0, None), called(1, None)),
            {"0/0": ("compiled", "unknown"), "0/1": ("failed", ""), "1/0": ("", "")},
        ),
    ],
)
def test_the_strip_shows_which_call_used_which_code_as_far_as_it_is_known(
    compilations: tuple[Compilation, ...], calls: tuple[Call, ...], expected: dict[str, tuple[CallUse, ...]]
) -> None:
    assert call_uses(Report(Setting(), compilations, calls=calls)) == expected


def test_a_recorded_run_shows_which_call_used_which_code() -> None:
    assert call_uses(recorded("symbols")) == {
        "0/0": ("compiled", "", "used", ""),
        "0/1": ("", "compiled", "", "used"),
    }


def test_a_log_from_elsewhere_names_no_call() -> None:
    assert call_uses(recorded("foreign")) == {}
