"""What came of a repair: green only if nothing is left of what it tried, and all that was compared is equal."""

from dataclasses import replace

from core.analysis.repairs.offers import repaired
from core.analysis.repairs.trials import Remainder, TrialSide, recompile_subject, trial
from core.graph.fx import source_path
from core.job.gallery import sample
from core.report import Call, Difference, GraphBreak, Place, Recompile, Report
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import failing

ZOO = sample("graph_break_zoo").path.read_text(encoding="utf-8")
BROKEN = recorded_report(TRACES / "graph_break_zoo" / "trace.log")
STORM = recorded_report(TRACES / "recompile_zoo" / "trace.log")
WHOLE = recorded_report(TRACES / "transformer_block" / "trace.log")
PATH = source_path(BROKEN)
BEFORE = TrialSide(BROKEN, ZOO, PATH)


def after(*ids: str, breaks: tuple[GraphBreak, ...] = (), report: Report = WHOLE) -> TrialSide:
    """A run of the zoo with repairs that stops at these places."""
    return TrialSide(replace(report, graph_breaks=breaks), repaired(ZOO, [ids]) if ids else ZOO, PATH)


def stopped(line: int, reason: str, registry_id: str = "GB0170") -> GraphBreak:
    return GraphBreak(reason, "", (), "", registry_id, Place(PATH, line), "", (), ("0/0",))


def other_lines(*left_out: int) -> tuple[GraphBreak, ...]:
    return tuple(found for found in BROKEN.graph_breaks if found.place.line not in left_out)


def test_a_repair_is_done_when_its_break_is_gone_and_says_what_it_did_not_try() -> None:
    found = trial(BEFORE, after("keep_tensor:31", breaks=other_lines(31)), ("keep_tensor:31",))
    assert (found.outcome, found.done, found.total, found.left, found.others) == ("repaired", 1, 1, (), 4)
    assert found.words == "1 graph break fewer, equal results. 4 other graph breaks remain, not covered by this fix"


def test_a_break_that_stays_under_another_reason_is_not_repaired() -> None:
    other = stopped(31, "Data-dependent branching")
    ids = ("print_op:20:x", "keep_tensor:31")
    found = trial(BEFORE, after(*ids, breaks=(*other_lines(20, 31), other)), ids)
    assert found.outcome == "partly"
    assert found.left == (Remainder("line 31", "Data-dependent branching", new=False),)
    assert found.words == "1 of 2 fixed, equal results; 1 remains"


def test_a_break_that_was_behind_the_repaired_one_is_new() -> None:
    found = trial(BEFORE, after("where:25", breaks=(stopped(12, "Dynamic shape operator"),)), ("where:25",))
    assert (found.outcome, found.left) == ("partly", (Remainder("line 12", "Dynamic shape operator", new=True),))


def test_more_breaks_than_before_are_worse() -> None:
    more = (*BROKEN.graph_breaks, stopped(12, "Dynamic shape operator"))
    found = trial(BEFORE, after("where:25", breaks=more), ("where:25",))
    assert (found.outcome, found.words) == ("worse", "Worse than before: 6 graph breaks instead of 5")


def test_a_function_that_is_no_longer_compiled_is_worse() -> None:
    compiled = next(each for each in BROKEN.compilations if each.status == "ok")
    lost = replace(compiled, status="failed", error="no", error_type="Unsupported")
    found = trial(BEFORE, after("where:25", report=replace(BROKEN, compilations=(lost,))), ("where:25",))
    assert found.outcome == "worse"
    assert found.words.endswith("` uncompiled")


def test_more_recompiles_are_worse_where_as_many_breaks_stay() -> None:
    recompiled = replace(WHOLE, recompiles=STORM.recompiles)
    found = trial(BEFORE, after("where:25", breaks=BROKEN.graph_breaks, report=recompiled), ("where:25",))
    before, now = (len({each.compilation for each in report.recompiles}) for report in (BROKEN, STORM))
    assert (found.outcome, found.words) == ("worse", f"Worse than before: {now} recompiles instead of {before}")


def test_a_line_is_found_again_behind_lines_that_a_repair_adds() -> None:
    text = "import torch\n" + ZOO
    moved = tuple(replace(item, place=Place(PATH, item.place.line + 1)) for item in other_lines(25) if item.place.line)
    found = trial(BEFORE, TrialSide(replace(WHOLE, graph_breaks=moved), text, PATH), ("where:25",))
    assert (found.outcome, found.left) == ("repaired", ())


def test_other_printed_text_is_no_full_success() -> None:
    calls = tuple(replace(call, printed="compiled prints nothing where eager prints 'mean'") for call in WHOLE.calls)
    found = trial(BEFORE, after("where:25", report=replace(WHOLE, calls=calls)), ("where:25",))
    assert found.outcome == "partly"
    assert found.words == "1 of 1 fixed, equal results, but compiled prints nothing where eager prints 'mean'"


def test_other_results_are_refused_and_what_cannot_be_compared_is_reported() -> None:
    for same, outcome in ((False, "differs"), (None, "untold")):
        call = Call(0, "f32[4]", 1.0, 1.0, (Difference("output", same, reason="random numbers"),))
        report = replace(WHOLE, calls=(call,))
        assert trial(BEFORE, after("where:25", report=report), ("where:25",)).outcome == outcome


def test_a_repair_that_leaves_a_difference_as_it_was_is_not_refused() -> None:
    wrong, worse = (Difference("output", False, actual=f"{times}.00 times eager's norm") for times in (3, 4))
    before = TrialSide(replace(BROKEN, calls=(Call(0, "f32[4]", 1.0, 1.0, (wrong,)),)), ZOO, PATH)
    for difference, outcome in ((wrong, "repaired"), (worse, "differs")):
        report = replace(WHOLE, calls=(Call(0, "f32[4]", 1.0, 1.0, (difference,)),))
        found = trial(before, after("keep_tensor:31", breaks=other_lines(31), report=report), ("keep_tensor:31",))
        assert found.outcome == outcome
        if outcome == "repaired":
            assert found.words.startswith("1 graph break fewer, the results differ from eager as before.")


def test_without_a_break_fewer_nothing_is_repaired() -> None:
    found = trial(BEFORE, after("keep_tensor:31", breaks=BROKEN.graph_breaks), ("keep_tensor:31",))
    assert found.outcome == "nothing"
    assert [left.place for left in found.left] == ["line 31"]


def test_recompiles_are_counted_by_what_their_guard_is_about() -> None:
    reasons = ("self.seen == 1", "self.seen == 12", "tensor 'x' size mismatch at index 0. expected 8, actual 12",
               "G['N'] == 0.5", "len(d) != 2")  # fmt: skip
    assert [recompile_subject(Recompile("0/1", "0/0", reason)) for reason in reasons] == [
        "self.seen", "self.seen", "tensor 'x' size mismatch at index 0", "G['N']", "len(d)",
    ]  # fmt: skip


def test_dynamic_shapes_are_tried_on_the_sizes_and_numbers_that_varied() -> None:
    text = sample("recompile_zoo").path.read_text(encoding="utf-8")
    before = TrialSide(STORM, text, source_path(STORM))
    rest = tuple(item for item in STORM.recompiles if "size mismatch" not in item.reason and "power" not in item.reason)
    found = trial(before, TrialSide(replace(STORM, recompiles=rest), text, before.path), (), dynamic=True)
    assert (found.total, found.done) == (3, 2)
    assert found.left == (Remainder("1 recompile", "a guard on `scale` failed", new=False),)


def test_more_recompiles_are_not_worse_where_a_break_is_gone() -> None:
    recompiled = replace(WHOLE, recompiles=STORM.recompiles)
    result = trial(BEFORE, after("keep_tensor:31", breaks=other_lines(31), report=recompiled), ("keep_tensor:31",))
    assert result.outcome == "repaired"


def test_a_frame_that_ran_eagerly_because_of_its_break_is_not_counted_beside_it() -> None:
    failed = failing("Unsupported", "what Dynamo cannot trace").compilations
    before = TrialSide(replace(BROKEN, compilations=(*BROKEN.compilations, *failed)), ZOO, PATH)
    found = trial(before, after("keep_tensor:31", breaks=other_lines(31)), ("keep_tensor:31",))
    assert found.words.startswith("1 graph break fewer, equal results.")


def test_a_cause_that_another_replaces_is_no_success() -> None:
    text = sample("recompile_zoo").path.read_text(encoding="utf-8")
    before = TrialSide(STORM, text, source_path(STORM))
    others = tuple(
        replace(item, reason="self.step == 3") if "size mismatch" in item.reason else item for item in STORM.recompiles
    )
    result = trial(before, TrialSide(replace(STORM, recompiles=others), text, before.path), (), dynamic=True)
    assert (result.outcome, result.words) == (
        "nothing",
        "No fewer graph breaks or recompiles. The results are equal",
    )
