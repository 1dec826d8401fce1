"""The findings: each rule fires where there is evidence for it and nowhere else, and the dearest comes first."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from core import CompileOptions
from core.analysis.durations import compilation_seconds
from core.analysis.findings import RULES, Finding, findings
from core.analysis.findings.finding import RunFacts
from core.base.words import duration_s
from core.report import (
    Counters,
    Invocation,
    Recompile,
    Report,
    Setting,
)
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import FIRES, OUTPUTS, QUIET, SOURCES, compiling, frame, of

Rule = Callable[[RunFacts], Iterator[Finding]]


def test_a_run_with_nothing_to_say_says_nothing() -> None:
    assert findings(QUIET) == ()
    assert findings(Report(Setting())) == ()


def test_every_rule_fires_on_a_report_of_its_own() -> None:
    """Add a report to `FIRES`, under the `rule` of its finding."""
    assert {rule.__name__ for rule in RULES if not own_reports(rule)} == set()


def test_every_report_makes_one_rule_fire() -> None:
    rules = [name for rule in RULES for name in own_reports(rule)]
    assert sorted(rules) == sorted(FIRES)


def own_reports(rule: Rule) -> set[str]:
    """The names in `FIRES` under which a rule finds something of that name."""
    return {
        name
        for name, report in FIRES.items()
        if any(finding.rule == name for finding in rule(RunFacts(report, OUTPUTS.get(name, ""), SOURCES.get(name, ""))))
    }


def test_what_is_wrong_comes_first_then_what_costs_most_then_what_is_to_be_known() -> None:
    found = findings(recorded_report(TRACES / "recompile_zoo" / "trace.log"))
    weights = [finding.weight for finding in found]
    assert weights == sorted(weights, key=["wrong", "cost", "note"].index)
    costs = [finding.cost_s for finding in found if finding.weight == "cost"]
    assert costs == sorted(costs, reverse=True)
    assert (found[0].rule, found[-1].rule) == ("not compiled: over the limit", "first call")


def test_each_break_has_the_frames_that_it_adds_and_their_time_in_dynamo() -> None:
    report = recorded_report(TRACES / "graph_break_zoo" / "trace.log")
    found = of(report, "graph breaks")
    assert len(found) == len(report.graph_breaks) == 5
    # Only the frame of the model itself would be left.
    seconds = compilation_seconds(report)
    added = [seconds[item.id]["dynamo"] for item in report.compilations if item.id != "0/0"]
    assert sum(finding.once_s for finding in found) == pytest.approx(sum(added))
    (shape,) = [finding for finding in found if "`model.py:36`" in finding.title]
    took = duration_s(shape.once_s)
    assert (
        shape.title == f"Graph break at `model.py:36`: 3 more frames (2 resume functions), 23 guards, {took} in Dynamo."
    )
    assert "capture_dynamic_output_shape_ops = True" in shape.advice
    assert [finding.once_s for finding in found] == sorted((finding.once_s for finding in found), reverse=True)
    assert "`zlib.crc32` belongs to Python" in next(
        finding.advice for finding in found if "model.py:41" in finding.title
    )


CAUSES = {
    "tensor 'x' size mismatch at index 1. expected 8, actual 12": (
        "dimension 1 of `x` changed size",
        "`dynamic=True` makes sizes symbolic",
        True,
    ),
    "tensor 'kwargs['ids']' size mismatch at index 0. expected 8, actual 12": (
        "dimension 0 of `ids` changed size",
        "`dynamic=True` makes sizes symbolic",
        True,
    ),
    "tensor 'x' dtype mismatch. expected Float, actual Double": (
        "`x` changed dtype or device",
        "one dtype",
        False,
    ),
    "tensor 'x' stride mismatch at index 0. expected 8, actual 1": ("changed strides", "one memory format", False),
    "tensor 'x' requires_grad mismatch. expected requires_grad=0": (
        "sometimes requires grad and sometimes doesn't",
        "If you need both",
        False,
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU": (
        "another kind of tensor",
        "subclasses",
        False,
    ),
    "GLOBAL_STATE changed: grad_mode ": ("torch's `grad_mode` changed.", "two compilations are expected", False),
    "GLOBAL_STATE changed: autocast ": ("torch's `autocast` changed.", "two compilations are expected", False),
    "2 <= input_ids.size()[1] <= 13": ("dimension 1 of `input_ids` is on the other side", "compares this size", False),
    "x.size()[0] == 8": ("dimension 0 of `x` is on the other side", "each side of the comparison is compiled", False),
    "len(extras) == 1": ("`extras` changed length.", "a separate graph", False),
    "len(extras) != 1": ("the dictionary `extras` changed its number of keys.", "the same keys in every call", False),
    "not ___dict_contains('mask', batch)": (
        "`batch` sometimes has the key 'mask'",
        "the same keys in every call",
        False,
    ),
    'Duplicate tensors found: ["key", "value"]': ("`key` and `value` are sometimes one", "`value.clone()`", False),
    "key is value": ("`key` and `value` are sometimes one", "`value.clone()`", False),
    "not self.seen": ("the container `self.seen` changed its length", "outside of the compiled function", False),
    "len(self.seen) == 1": ("the container `self.seen` changed its length", "outside of the compiled function", False),
    "expected type of 'x' to be a tensor type, ' but found <class 'int'>": (
        "`x` has the type `int` in some calls and another one in others",
        "`torch.as_tensor` makes one of a number",
        False,
    ),
    "expected type of 'x' to be a tensor type, ' but found <class 'torch.nn.parameter.Parameter'>": (
        "`x` has the type `Parameter` in some calls",
        "Pass one type in every call",
        False,
    ),
    "'NoneType' object has no attribute 'size'": ("an input is a view of a larger tensor", "`x.clone()`", False),
    "tokens._base.size()[0] == 32": ("`tokens` is a view of a tensor with other sizes", "`x.clone()`", False),
    "G['OFFSET'] == 1": ("the global `G['OFFSET']`", "as an argument", False),
    "power == 2": ("the number `power`", "torch.tensor(power)", False),
    "scale == 0.5": ("the number `scale`", "torch.tensor(scale)", False),
    "self.scale == 0.5": ("the attribute `self.scale`", "store it in a tensor", False),
    "key == 'attentions'": ("`key` changed value.", "an argument that is neither a tensor", False),
    "self.mode == 'sin'": ("`self.mode` changed value.", "attribute", False),
    "self.training == True": ("`self.training` is True in some calls", "two compilations are expected", False),
    "batch['text'] == 'a'": ("`batch['text']` changed value.", "before the call", False),
    "mask is None": ("`mask` is None in some calls", "such as a mask of ones", False),
    "power <= 1": ("the number `power` is on the other side", "two compilations are expected", False),
    "self.scale <= 1.0": ("the attribute `self.scale` is on the other side", "store it in a tensor", False),
    "___normalize_range_iter(___stack0) == (1, 2, 1)": ("a loop goes on after a graph break", "out of the loop", False),
    "x.size()[1] == x.size()[0]  # duck sizing added this equality because these variables had the same size 4": (
        "dimension 1 of `x` is tied to a size",
        "use_duck_shape = False",
        False,
    ),
    "BACKEND_MATCH failure: torch.compile detected different backend callables.": (
        "compiled by two `torch.compile` calls with different backends or options.",
        "Call `torch.compile` once",
        False,
    ),
    "___check_current_backend(140)": ("compiled by two `torch.compile` calls", "the same backend", False),
    "reason not recorded": ("recompiled 1 time (1.50 s): reason not recorded.", "TORCH_LOGS=recompiles", False),
    "what nobody has seen before": ("`what nobody has seen before`", "The page Recompiles shows", False),
}


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        ("/tmp/tmpa/main.c:4:10: fatal error: Python.h: No such file or directory", "Python's headers"),
        ("/usr/bin/ld: cannot find -lcuda: No such file or directory", "libcuda"),
        (
            "CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpa/cuda_utils.c', '-lcuda']' returned non-zero exit "
            "status 1.",
            "Python's headers (`python3-dev`) or libcuda",
        ),
        ("RuntimeError: Failed to find C compiler. Please specify via CC environment variable.", "install one"),
    ],
)
def test_an_error_of_the_c_compiler_has_the_missing_part_as_advice(error: str, advice: str) -> None:
    failed = replace(frame("0/0"), status="failed", error=error, error_type="BackendCompilerFailed")
    (finding,) = of(replace(QUIET, compilations=(failed,)), "not compiled")
    assert advice in finding.advice
    assert "aot_eager" not in finding.advice


@pytest.mark.parametrize("reason", CAUSES)
def test_a_failed_guard_shows_what_to_do(reason: str) -> None:
    what, advice, dynamic = CAUSES[reason]
    report = replace(
        QUIET,
        compilations=(frame("0/0"), frame("0/1"), frame("1/0", "other")),
        recompiles=(Recompile("0/1", "0/0", reason),),
        phases=compiling(a0_0=2.0, a0_1=1.5, a1_0=9.0),
    )
    (found,) = of(report, "recompiles")
    assert found.title.startswith("`forward at m.py:3` recompiled 1 time (1.50 s): ")
    assert what in found.title
    assert advice in found.advice
    assert (found.compilation, found.once_s, found.each_s) == ("0/1", 1.5, 0.0)
    assert (found.proposal is not None) is dynamic
    if found.proposal is not None:
        assert replace(CompileOptions(), **found.proposal.compile).as_call() == "torch.compile(model, dynamic=True)"


def test_dynamic_is_not_advised_to_who_asked_for_it() -> None:
    reason = next(iter(CAUSES))
    report = replace(QUIET, compilations=(frame("0/0"), frame("0/1")), recompiles=(Recompile("0/1", "0/0", reason),))
    assert [found.proposal is None for found in of(report, "recompiles")] == [False]
    asked = replace(report, setting=Setting(job={"compile": {"dynamic": True}}))
    assert [found.proposal is None for found in of(asked, "recompiles")] == [True]


def test_a_run_with_fullgraph_shows_its_result_without_it() -> None:
    report = recorded_report(TRACES / "refused" / "trace.log")
    (found,) = of(report, "not compiled")
    assert "Without `fullgraph=True`" in found.advice
    assert found.proposal is not None
    assert found.proposal.compile == {"fullgraph": False}


def test_what_a_backend_raised_is_corrected_in_its_own_line() -> None:
    report = FIRES["not compiled: failed"]
    (found,) = of(report, "not compiled")
    assert "The page Backend shows its output (its error)." in found.advice
    raised = Invocation("mine", (), (), 0, "", "", 0.1, "raised ValueError: no", ("/models/mine.py", 7))
    compilations = tuple(replace(item, invocations=(raised,)) for item in report.compilations)
    (found,) = of(replace(report, compilations=compilations), "not compiled")
    assert found.advice == "The backend raised it: fix `mine.py:7`."


def test_a_break_without_times_is_reported_without_compile_time() -> None:
    report = replace(recorded_report(TRACES / "graph_break_zoo" / "trace.log"), phases=())
    titles = [finding.title for finding in findings(report) if finding.rule == "graph breaks"]
    assert len(titles) == 5
    assert [title for title in titles if "compile time" in title] == []


def test_one_cause_is_reported_once_with_all_that_it_cost() -> None:
    report = replace(
        QUIET,
        compilations=tuple(frame(f"0/{index}") for index in range(4)),
        recompiles=(
            Recompile("0/1", "0/0", "n == 1"),
            Recompile("0/2", "0/1", "n == 2"),
            Recompile("0/2", "0/0", "len(x) == 1"),
            Recompile("0/3", "0/2", "len(x) == 1"),
        ),
        phases=compiling(a0_0=1.0, a0_1=1.0, a0_2=2.0, a0_3=5.0),
    )
    assert [(found.title.rpartition(": ")[2], found.once_s) for found in of(report, "recompiles")] == [
        ("`x` changed length.", 5.0),
        ("the number `n` changed value.", 3.0),
    ]


@pytest.mark.parametrize(
    ("made", "failed", "fires"), [(5, 0, False), (6, 0, True), (8, 0, True), (8, 1, False), (9, 0, False)]
)
def test_near_the_limit_is_from_six_compilations_on_until_it_is_met(made: int, failed: int, fires: bool) -> None:
    frames = [frame(f"0/{index}") for index in range(made)]
    frames += [frame(f"0/{made + index}", status="failed") for index in range(failed)]
    limited = replace(QUIET, compilations=tuple(frames), counters=Counters({}, {}, recompile_limit=8))
    found = of(limited, "near the recompile limit")
    assert bool(found) is fires
    assert all(f"{made} of the 8" in finding.title for finding in found)


@pytest.mark.parametrize(("limit", "fires"), [(None, False), (8, True), (9, False), (64, False), (5, False)])
def test_how_near_the_limit_is_hangs_on_the_limit_that_the_run_had(limit: int | None, fires: bool) -> None:
    counters = Counters({}, {}, recompile_limit=limit)
    frames = tuple(frame(f"0/{index}") for index in range(6))
    assert bool(of(replace(QUIET, compilations=frames, counters=counters), "near the recompile limit")) is fires


def test_a_frame_that_was_given_up_is_wrong_only_where_nothing_else_was_compiled() -> None:
    alone = FIRES["not compiled: given up"]
    assert [found.weight for found in of(alone, "not compiled")] == ["wrong"]
    beside = replace(alone, compilations=(*alone.compilations, frame("1/0")))
    assert [found.weight for found in of(beside, "not compiled")] == ["cost"]


@pytest.mark.parametrize("rule", FIRES)
def test_a_rule_fires_with_a_number_a_reason_and_advice(rule: str) -> None:
    found: Callable[[Finding], bool] = lambda finding: finding.rule == rule  # noqa: E731
    (first, *_) = filter(found, findings(FIRES[rule], OUTPUTS.get(rule, ""), SOURCES.get(rule, "")))
    assert any(letter.isdigit() for letter in first.title) or rule == "not compiled: failed"
    for text in (first.title, first.reason, first.advice):
        assert text.strip()
        assert text.count("`") % 2 == 0
    assert first.title.endswith(".") or rule == "printed"


def test_frames_of_one_function_have_one_finding_each() -> None:
    frames = [frame(f"{place}/{index}") for place in range(95) for index in range(7)]
    reasons = [Recompile(found.id, "", "n == 1", "== 1") for found in frames if not found.id.endswith("/0")]
    report = replace(
        QUIET,
        compilations=tuple(frames),
        recompiles=tuple(reasons),
        counters=Counters({}, {}, recompile_limit=8),
    )
    assert [found.title for found in of(report, "recompiles")] == [
        "`forward at m.py:3` recompiled 570 times in 95 of its frames: the number `n` changed value."
    ]
    assert [found.title for found in of(report, "near the recompile limit")] == [
        "`forward at m.py:3` has 7 of the 8 compilations that torch allows a frame in 95 of its frames."
    ]
