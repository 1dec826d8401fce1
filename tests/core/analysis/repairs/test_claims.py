"""Claims of fixes, and what a trial shows about them: on recorded runs, with counts made by hand."""

from dataclasses import replace

import pytest

from core.analysis.repairs.claims import (
    AppliedFixes,
    Claim,
    Objection,
    Problems,
    behaviour_changes,
    claim_of,
    claims,
    is_better,
    ladder,
    next_round,
    prove,
    reproduces,
)
from core.analysis.repairs.source import DYNAMIC_SIZES, Proposal, joined
from core.analysis.repairs.trials import TrialSide, left_over
from core.job import CompileJob, CompileOptions, Conditions, Model
from core.job.model import inductor_mitigations
from core.report import Call, Difference, FxGraph, Payload, Place, Recompile, Report, RunError
from core.views.proofs import AppliedView, claim_words, proof_words
from tests.core.views.test_fixes import source_of
from tests.support.reports.findings import QUIET, compiling, frame

ZOO = CompileJob(Model("sample", "graph_break_zoo"), training=False)
STORM = CompileJob(Model("sample", "recompile_zoo"), training=False)
WHERE = Proposal("Choose.", repairs=("where:25",))
SCALARS = Proposal("Set.", dynamo={"capture_scalar_outputs": True})
INTEGERS = Proposal("Set.", dynamo={"allow_unspec_int_on_nn_module": True})
HEAD = (
    "import torch\n\n\nclass M(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
    "        self.n = n\n\n"
)


def side_of(name: str) -> TrialSide:
    report, text = source_of(name)
    return TrialSide(report, text, report.sources[0].path if report.sources else "")


def integers(*ids: str) -> Report:
    """A report of recompiles because of the integer attribute `n`."""
    return replace(QUIET, recompiles=tuple(Recompile(each, "0/0", "self.n == 1") for each in ids))


def error_of(kind: str) -> RunError:
    return RunError(stage="", type=kind, field="", message="", frames=(), traceback="")


def made(side: TrialSide, job: CompileJob, proposal: Proposal) -> Claim:
    claim = claim_of(Problems(side, job), proposal)
    assert isinstance(claim, Claim)
    return claim


def objection(side: TrialSide, job: CompileJob, proposal: Proposal) -> str:
    claim = claim_of(Problems(side, job), proposal)
    assert isinstance(claim, Objection)
    return claim.reason


def test_a_break_fix_claims_that_its_line_has_no_break() -> None:
    claim = made(side_of("graph_break_zoo"), ZOO, WHERE)
    assert (claim.measure, claim.subjects, claim.before, claim.after) == ("graph breaks", ("line 25",), 5, 4)
    assert claim_words(claim) == "graph breaks 5 → 4, none at line 25"


def test_a_recompile_fix_claims_the_recompiles_of_its_guard() -> None:
    side = side_of("recompile_zoo")
    claim = made(side, STORM, Proposal("Buffer.", repairs=("tensor_argument:scale",)))
    assert (claim.measure, claim.subjects, claim.before, claim.after) == ("recompiles", ("scale",), 7, 6)
    assert claim_words(claim, "forward") == "recompiles of `forward` 7 → 6, none because of `scale`"


def test_a_symbolic_integer_still_costs_a_recompile_in_each_frame() -> None:
    text = f"{HEAD}    def forward(self, x):\n        self.n += 1\n        return x * self.n\n"
    claim = made(TrialSide(integers("0/1", "0/2", "1/1"), text, ""), ZOO, INTEGERS)
    assert (claim.before, claim.after, claim.kept) == (3, 2, 2)
    assert claim_words(claim) == "recompiles 3 → 2, at most 2 because of `self.n`"


def test_a_value_that_differs_by_instance_refutes_the_setting_for_integers() -> None:
    text = f"{HEAD}    def forward(self, x):\n        return x if self.n == 1 else -x\n"
    assert objection(TrialSide(integers("0/1"), text, ""), ZOO, INTEGERS) == "differs by instance"


def test_a_setting_that_the_run_has_is_refuted() -> None:
    job = replace(ZOO, conditions=Conditions(dynamo=dict(SCALARS.dynamo)))
    assert objection(side_of("graph_break_zoo"), job, SCALARS) == "is set"
    dynamic = replace(STORM, compile=CompileOptions(dynamic=True))
    assert objection(side_of("recompile_zoo"), dynamic, DYNAMIC_SIZES) == "is set"


@pytest.mark.parametrize(
    ("proposal", "reason"),
    [
        (Proposal("Skip.", repairs=("eager_only:20",)), "changes behaviour"),
        (Proposal("Disable.", repairs=("disable:20",)), "leaves a break"),
        (Proposal("dtype=bfloat16", job={"dtype": "bfloat16"}), "needs times"),
    ],
)
def test_a_fix_that_no_trial_proves_has_a_reason(proposal: Proposal, reason: str) -> None:
    assert objection(side_of("graph_break_zoo"), ZOO, proposal) == reason


def test_another_backend_is_a_question_and_no_claim() -> None:
    assert claim_of(Problems(side_of("graph_break_zoo"), ZOO), Proposal("eager", compile={"backend": "eager"})) is None


def test_each_problem_has_its_first_choice_before_any_alternative() -> None:
    found = [claim for claim in claims(side_of("graph_break_zoo"), ZOO) if isinstance(claim, Claim)]
    assert [claim.rank for claim in found] == sorted(claim.rank for claim in found)
    firsts = {claim.subjects for claim in found if claim.rank == 0}
    assert firsts == {(f"line {line}",) for line in (20, 25, 31, 36, 41)}
    costs = [claim.cost_s for claim in found if claim.rank == 0]
    assert costs == sorted(costs, reverse=True)


def test_errors_and_wrong_results_come_before_seconds() -> None:
    failed = replace(side_of("graph_break_zoo").report, graph_breaks=(), error=error_of("Unsupported"))
    claim = made(TrialSide(failed, "", ""), ZOO, Proposal("Whole.", compile={"fullgraph": False}))
    assert (claim.measure, claim_words(claim)) == ("error", "no `Unsupported`")
    slow = Claim(WHERE, "graph breaks", ("line 25",), 1, 0, cost_s=1e6)
    assert sorted([slow, claim], key=lambda each: each.order) == [claim, slow]


def test_a_claim_is_proven_on_the_cheapest_backend_that_can() -> None:
    claim = made(side_of("graph_break_zoo"), ZOO, WHERE)
    assert ladder(claim, ZOO) == ("eager", "aot_eager", "inductor")
    assert ladder(claim, ZOO.with_settings(backend="eager")) == ("eager",)
    assert ladder(replace(claim, backend=""), ZOO) == ("inductor",)
    floats = replace(QUIET, recompiles=(Recompile("0/1", "0/0", "scale == 0.5"),))
    text = "calls = [(a, 0.5), (a, 0.1)]\n\ndef model(x, scale):\n    return x * scale\n"
    argument = made(TrialSide(floats, text, ""), STORM, Proposal("Pass.", repairs=("tensor_argument:scale",)))
    assert ladder(argument, STORM) == ("aot_eager", "inductor")


def test_a_base_reproduces_a_run_only_with_its_breaks_guards_and_error() -> None:
    zoo, storm = side_of("graph_break_zoo"), side_of("recompile_zoo")
    assert reproduces(zoo, zoo)
    assert not reproduces(zoo, replace(zoo, report=replace(zoo.report, graph_breaks=zoo.report.graph_breaks[1:])))
    assert not reproduces(storm, replace(storm, report=replace(storm.report, recompiles=())))
    failed = replace(zoo.report, error=error_of("ValueError"))
    assert not reproduces(zoo, replace(zoo, report=failed))


def test_a_trial_that_reaches_the_target_proves_the_claim() -> None:
    before = side_of("graph_break_zoo")
    after = replace(before, report=side_of("transformer_block").report)
    proof = prove(made(before, ZOO, WHERE), before, after, "eager")
    assert (proof.outcome, proof.before, proof.after, proof.results) == ("repaired", (5, 0, 0), (0, 0, 0), "same")
    assert proof_words(proof) == "Tried: graph breaks 5 → 0, compiling 7.27 s → 2.41 s, results same (backend `eager`)."


def test_a_trial_that_misses_the_target_is_no_proof() -> None:
    before = side_of("graph_break_zoo")
    claim = replace(made(before, ZOO, WHERE), after=3)
    left = replace(
        before.report, graph_breaks=tuple(each for each in before.report.graph_breaks if each.place.line != 25)
    )
    proof = prove(claim, before, replace(before, report=left), "eager")
    assert (proof.outcome, proof.after[0]) == ("partly", 4)
    assert proof_words(proof) == "Tried: graph breaks 5 → 4 instead of 3, results same (backend `eager`)."


def test_a_trial_without_effect_is_no_advice() -> None:
    before = side_of("graph_break_zoo")
    proof = prove(made(before, ZOO, WHERE), before, before, "eager")
    assert (proof.outcome, proof.is_without_effect, proof.is_proven) == ("nothing", True, False)
    assert proof_words(proof) == "Tried: changes nothing (backend `eager`)."


def test_a_trial_with_more_breaks_or_other_results_is_no_advice() -> None:
    before = side_of("graph_break_zoo")
    claim = made(before, ZOO, WHERE)
    more = replace(before.report, graph_breaks=(*before.report.graph_breaks, before.report.graph_breaks[0]))
    worse = prove(claim, before, replace(before, report=more), "eager")
    assert proof_words(worse) == "Tried: makes it worse, graph breaks 5 → 6 (backend `eager`)."
    call = before.report.calls[0]
    wrong = replace(call, differences=(replace(call.differences[0], same=False, kind="value"), *call.differences[1:]))
    differs = prove(claim, before, replace(before, report=replace(before.report, calls=(wrong,))), "eager")
    assert proof_words(differs) == "Tried: results differ from eager (backend `eager`)."
    assert worse.is_without_effect
    assert differs.is_without_effect


def test_a_trial_that_errs_is_no_proof() -> None:
    before = side_of("graph_break_zoo")
    failed = replace(before.report, error=error_of("ValueError"))
    assert prove(made(before, ZOO, WHERE), before, replace(before, report=failed), "eager").outcome == "failed"


def test_a_round_has_the_first_choice_of_each_problem_that_may_be_combined() -> None:
    zoo = side_of("graph_break_zoo")
    changes = next_round(zoo, ZOO, ())
    assert sorted(change.key for change in changes) == [
        "dynamo.capture_dynamic_output_shape_ops=True", "hoist:41", "keep_tensor:31", "print_op:20:x", "where:25",
    ]  # fmt: skip
    assert "cond:25" in {change.key for change in next_round(zoo, ZOO, ["where:25"])}
    settled = joined(changes).applied(ZOO)
    assert settled.repairs == (tuple(each for change in changes for each in change.repairs),)
    assert settled.conditions.dynamo == {"capture_dynamic_output_shape_ops": True}
    assert next_round(side_of("transformer_block"), settled, ()) == ()


def test_fewer_problems_are_better_eager_frames_first_and_only_with_equal_results() -> None:
    zoo, whole = side_of("graph_break_zoo"), side_of("transformer_block")
    assert is_better(zoo, zoo, whole)
    assert not is_better(zoo, whole, zoo)
    assert (is_better(zoo, zoo, zoo), is_better(zoo, zoo, zoo, or_equal=True)) == (False, True)
    failed = replace(whole, report=replace(whole.report, error=error_of("ValueError")))
    assert not is_better(zoo, zoo, failed)


def test_what_is_left_is_named_with_the_fixes_that_change_behaviour() -> None:
    zoo = side_of("graph_break_zoo")
    assert [change.repairs for change in behaviour_changes(zoo)] == [("eager_only:20",)]
    assert sorted(each.place for each in left_over(zoo, zoo)) == [f"line {line}" for line in (20, 25, 31, 36, 41)]


def test_a_change_is_needed_if_the_code_without_it_compares_what_varied() -> None:
    """The recompiles of a value are hidden if another guard fails first in each call of a trial."""
    guarded = side_of("recompile_zoo")
    compilations = tuple(
        replace(each, guards=tuple(guard for guard in each.guards if ".mode ==" not in guard.expression))
        for each in guarded.report.compilations
    )
    free = replace(guarded, report=replace(guarded.report, compilations=compilations))
    assert not is_better(guarded, free, guarded, or_equal=True)
    assert is_better(guarded, guarded, free, or_equal=True)


def test_applied_fixes_are_shown_with_counts_and_what_was_not_applied() -> None:
    text = side_of("graph_break_zoo").text
    fixes = AppliedFixes(((WHERE,), (SCALARS,)), (5, 1, 2), (2, 0, 2), "eager", "same", True, (Proposal("Skip it."),))
    view = AppliedView(fixes, text)
    assert view.words == (
        "**2 fixes together: graph breaks 5 → 2, eager frames 1 → 0, results same (backend `eager`); each is needed.**"
    )
    assert view.named == "Not applied, since it changes what the code does: Skip it."
    assert "+    return torch.where(x.mean() > 0, x.relu(), x.neg())" in view.diff
    assert fixes.applied(ZOO).repairs == (("where:25",),)
    assert AppliedView(replace(fixes, rounds=()), text).words == "No fix makes this run better."


def test_a_file_with_endless_fixes_shows_the_first_and_no_diff() -> None:
    endless = AppliedFixes(((WHERE,) * 1_000,), (5, 0, 0), (4, 0, 0), "eager", named=(WHERE,) * 1_000)
    view = AppliedView(endless, side_of("graph_break_zoo").text)
    assert (view.diff, view.changes.count("Choose"), view.named.count("Choose")) == ("", 64, 64)


def test_an_error_that_is_gone_for_a_graph_break_is_shown_with_its_price() -> None:
    whole = side_of("transformer_block")
    failed = replace(whole, report=replace(whole.report, error=error_of("Unsupported")))
    claim = made(failed, ZOO, Proposal("Whole.", compile={"fullgraph": False}))
    broken = replace(whole.report, graph_breaks=side_of("graph_break_zoo").report.graph_breaks[:1])
    proof = prove(claim, failed, replace(whole, report=broken), "eager")
    assert proof_words(proof) == "Tried: no error, graph breaks 0 → 1, results same (backend `eager`)."
    assert (proof.is_proven, proof.is_without_effect) == (False, False)
    gone = prove(claim, failed, whole, "eager")
    assert (proof_words(gone), gone.is_proven) == ("Tried: no error, results same (backend `eager`).", True)


WRONG = Difference("output[0]", False, actual="0.5 times eager's norm")


def differing(*differences: Difference) -> TrialSide:
    calls = (Call(0, "f32[2]", 1.0, 2.0, differences),)
    return TrialSide(replace(QUIET, calls=calls), "", "")


def test_wrong_results_of_inductor_have_cures_that_are_claims_about_the_same_results() -> None:
    found = claims(differing(WRONG, replace(WRONG, what="output[1]")), ZOO)
    assert [claim.proposal.compile["options"] for claim in found] == list(inductor_mitigations("cpu"))
    assert {"cpp.simdlen": 1} in inductor_mitigations("cpu")
    assert {"triton.cudagraphs": False} in inductor_mitigations("cuda")
    first = found[0]
    assert isinstance(first, Claim)
    assert (first.subjects, first.is_wrong, ladder(first, ZOO)) == (("output[0]", "output[1]"), True, ("inductor",))
    assert claim_words(first) == "output[0] and 1 more as eager's"
    assert claims(differing(WRONG), ZOO.with_settings(backend="aot_eager")) == ()


def test_a_cure_of_wrong_results_is_proven_by_equal_results_alone() -> None:
    wrong, right = differing(WRONG), differing(replace(WRONG, same=True))
    (claim, *_) = (each for each in claims(wrong, ZOO) if isinstance(each, Claim))
    proof = prove(claim, wrong, right, "inductor")
    assert (proof.is_proven, proof_words(proof)) == (True, "Tried: results same (backend `inductor`).")
    assert prove(claim, wrong, wrong, "inductor").outcome == "nothing"
    other = differing(replace(WRONG, what="output[1]"))
    assert prove(claim, wrong, other, "inductor").outcome == "differs"


def test_a_setting_for_a_lost_write_is_tried_from_aot_eager_up() -> None:
    lost = differing(Difference("input 0", False, kind="mutation"))
    numbers = Proposal("numpy", dynamo={"use_numpy_random_stream": True})
    assert ladder(made(lost, ZOO, numbers), ZOO) == ("aot_eager", "inductor")
    assert ladder(made(differing(WRONG), ZOO, numbers), ZOO) == ("eager", "aot_eager", "inductor")


def test_an_error_of_inductor_has_cures_and_an_error_of_dynamo_has_none() -> None:
    failing = replace(QUIET, error=RunError("call 0: compiled", "InductorError", "", "no", (), ""))
    lost = replace(
        frame("0/0", status="failed", error="no kernel", error_type="InductorError"),
        graphs=(FxGraph("a", "aot_forward_graph", "forward", 0, Payload(0, 0), {}),),
    )
    found = claims(TrialSide(replace(failing, compilations=(lost,)), "", ""), ZOO)
    assert {claim.measure for claim in found if isinstance(claim, Claim)} == {"error"}
    assert len(found) == len(inductor_mitigations("cpu"))
    of_dynamo = replace(
        failing, error=error_of("UserError"), compilations=(replace(lost, graphs=(), error_type="UserError"),)
    )
    assert claims(TrialSide(of_dynamo, "", ""), ZOO) == ()


def guarded(warm_us: float) -> TrialSide:
    report = replace(QUIET, compilations=(frame("0/0", guard_warm_us=100.0), frame("0/1", guard_warm_us=warm_us)))
    return TrialSide(report, "", "")


def test_a_setting_for_guards_is_proven_by_the_time_of_the_newest_guards() -> None:
    claim = made(guarded(12.0), ZOO, Proposal("floats", dynamo={"specialize_float": True}))
    assert (claim.measure, claim_words(claim)) == ("guards", "guards of a call 12 → at most 10 µs")
    calls = differing(replace(WRONG, same=True)).report.calls
    before, faster, slower = (TrialSide(replace(guarded(us).report, calls=calls), "", "") for us in (12.0, 7.5, 11.5))
    assert prove(claim, before, faster, "eager").is_proven
    assert "guards of a call 12.0 → 7.50 µs" in proof_words(prove(claim, before, faster, "eager"))
    assert prove(claim, before, slower, "eager").outcome == "nothing"


def test_a_trial_says_the_seconds_that_it_clearly_saved() -> None:
    before = side_of("graph_break_zoo")
    slow = replace(before, report=replace(before.report, phases=compiling(a0_0=5.0)))
    fast = replace(before, report=replace(side_of("transformer_block").report, phases=compiling(a0_0=2.0)))
    proof = prove(made(before, ZOO, WHERE), slow, fast, "eager")
    assert proof_words(proof) == "Tried: graph breaks 5 → 0, compiling 5.00 s → 2.00 s, results same (backend `eager`)."
    noise = replace(proof, compile_s=(5.0, 4.0))
    assert "compiling" not in proof_words(noise)


def test_a_trial_names_the_problem_behind_the_one_that_it_removed() -> None:
    before = side_of("graph_break_zoo")
    report = before.report
    left = tuple(each for each in report.graph_breaks if each.place.line != 25)
    behind = replace(left[0], reason="Data-dependent jump.", place=Place("zoo.py", 27), stack=(), code="")
    after = replace(before, report=replace(report, graph_breaks=(*left, behind)))
    proof = prove(made(before, ZOO, WHERE), before, after, "eager")
    assert proof.outcome != "repaired"
    assert proof_words(proof).endswith("(backend `eager`). Next problem, at zoo.py:27: Data-dependent jump.")
