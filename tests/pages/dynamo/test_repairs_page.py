"""Repairs on the pages of graph breaks and recompiles: what is offered, what is tried, and what came of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob, CompileOptions, Model, Run, Runner, Store
from core.analysis.repairs.claims import AppliedFixes, Proof, RunTrials
from core.analysis.repairs.source import Proposal
from core.analysis.repairs.trials import Remainder
from core.job import Conditions
from core.runs.stored import write_trials
from pages import menu
from pages.parts.run import launch
from pages.session import actions
from tests.support.apps import assert_sound, component, keys, opened, read_words, words
from tests.support.homes import add_run, add_scenario
from tests.support.places import TRACES

BREAKS, RECOMPILES = menu.GRAPH_BREAKS.script, menu.RECOMPILES.script
ZOO = CompileJob(Model("sample", "graph_break_zoo"), training=False, measure=False)
SHAPES = Conditions(dynamo={"capture_dynamic_output_shape_ops": True})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """The runs whose fixes the page would try, and whether together."""
    runs: list[tuple[str, bool]] = []
    monkeypatch.setattr(actions, "try_fixes", lambda run, together=False: runs.append((run.id, together)))
    return runs


def tries(app: AppTest) -> list[str]:
    return [key for button in app.button if (key := button.key or "").startswith("try-")]


def repaired(home: Path, of: str, scenario: str, **fields: Any) -> str:
    """A run of the zoo with its tensor `if` repaired, which has recorded what a scenario has."""
    job = replace(ZOO, repairs=(("where:25",),), repairs_of=of)
    mark = Runner(Store(home)).fingerprint(job)
    log = (TRACES / scenario / "trace.log").read_bytes()
    return add_run(home, "repaired", log, job=msgspec.to_builtins(job), kind="run", fingerprint=mark, **fields).id


def box_of(app: AppTest, reason: str) -> int:
    """The number of the box that a break stands in."""
    texts = [item.value for item in app.markdown]
    return next(int(text[2:].partition("\\")[0]) for text in texts if text.startswith("**") and reason in text)


def test_breaks_stand_by_what_they_cost_with_the_method_said(runs: dict[str, str]) -> None:
    app = opened(BREAKS, runs["graph_break_zoo"])
    assert_sound(app)
    heads = [
        item.value for item in app.markdown if item.value.startswith("**") and item.value.endswith("\u00a0×\u00a02")
    ]
    assert [head.partition("\\")[0] for head in heads] == ["**1", "**2", "**3", "**4", "**5"]
    assert sum("Dynamic shape operator" in head for head in heads) == 1
    captions = [item.value for item in app.caption]
    assert sum("Ranked by Dynamo's time in the frames that a break adds" in text for text in captions) == 1
    place = "line 36 in select · hit 2 times, in \\[9/0\\], \\[10/0\\] · 3 more frames (2 resume functions), "
    assert place in read_words(app)
    assert "core/worker" not in "\n".join(item.value for item in app.code)
    first = "/compileboard/run/model.py:36 in select\n    positive = x[x > 0]"
    assert sum(item.value.startswith(first) for item in app.code) == 1


def test_the_registry_is_at_hand_in_each_break(runs: dict[str, str]) -> None:
    app = opened(BREAKS, runs["graph_break_zoo"])
    labels = [fold.label for fold in app.expander]
    assert sum(label.endswith("in PyTorch's registry") for label in labels) == 5
    assert "**Unsupported Tensor\\.item\\(\\) call with capture\\_scalar\\_outputs=False**" in words(app)
    assert "text in braces is filled in for each break." in read_words(app)


def test_every_break_has_a_repair_as_a_difference_and_all_can_be_applied_at_once(
    empty_home: Path, submitted: list[CompileJob], asked: list[tuple[str, bool]]
) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    app = opened(BREAKS, run)
    assert_sound(app)
    assert len(tries(app)) == 6
    number = box_of(app, "Data\\-dependent branching")
    sheet = component(app, f"repair-break-{number}-0")
    texts = ["".join(piece[1] for piece in line[2]) for line in sheet["lines"]]
    assert "+    return torch.where(x.mean() > 0, x.relu(), x.neg())  # which way to go depends on data" in texts
    app.button(key=f"try-break-{number}-0").click().run()
    app.button(key="try-all-breaks").click().run()
    assert_sound(app)
    assert submitted == [replace(ZOO, repairs=(("where:25",),), repairs_of=run)]
    app.button(key="prove-fixes").click().run()
    assert asked == [(run, True), (run, False)]


def test_another_way_can_be_chosen(empty_home: Path, submitted: list[CompileJob]) -> None:
    app = opened(BREAKS, add_scenario(empty_home, "graph_break_zoo"))
    number = box_of(app, "Failed to trace builtin operator")
    app.button_group(key=f"ways-break-{number}").set_value(1).run()
    app.button(key=f"try-break-{number}-1").click().run()
    assert submitted[0].repairs == (("eager_only:20",),)


def test_what_came_of_a_repair_is_beside_what_was(empty_home: Path) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    repaired(empty_home, run, "transformer_block")
    app = opened(BREAKS, run)
    assert_sound(app)
    assert [item.value for item in app.success] == ["**5 graph breaks fewer, equal results.**"]
    table = app.table[0].value
    assert table.loc["graphs"].tolist() == ["9", "1"]
    assert table.loc["graph breaks"].tolist() == ["5", "0"]
    assert table.loc["result"].tolist() == ["same", "same"]
    assert len(tries(app)) == 5


def test_a_repair_that_changes_results_is_refused(empty_home: Path) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    other = repaired(empty_home, run, "transformer_block")
    log = empty_home / "runs" / other / "trace" / "trace.log"
    log.write_bytes(log.read_bytes().replace(b'"same": true', b'"same": false'))
    app = opened(BREAKS, run)
    assert_sound(app)
    assert [item.value.partition("** ")[0] for item in app.error] == [
        "**Refused\\: the results differ from the original code, run eagerly."
    ]
    assert list(app.success) == []


def test_a_repair_without_effect_is_no_success_and_torchs_reason_is_beside_it(empty_home: Path) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    repaired(empty_home, run, "graph_break_zoo")
    app = opened(BREAKS, run)
    assert [item.value for item in app.warning] == ["**No fewer graph breaks or recompiles.** The results are equal."]
    assert list(app.success) == []
    assert "- line 25: Data\\-dependent branching" in [item.value for item in app.markdown]


@pytest.mark.parametrize(("state", "shown"), [("failed", 1), ("cancelled", 0)])
def test_a_trial_that_did_not_end_well_says_so_or_can_be_made_again(empty_home: Path, state: str, shown: int) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    repaired(empty_home, run, "error", state=state, reason="it ended <b>badly</b>")
    app = opened(BREAKS, run)
    assert_sound(app)
    assert [item.value for item in app.error] == ["The fixed run ended: it ended \\<b\\>badly\\</b\\>"] * shown
    assert len(tries(app)) == 6 - shown


def test_a_repaired_run_leads_back_and_what_is_left_is_repaired_upon_it(
    empty_home: Path, submitted: list[CompileJob]
) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    other = repaired(empty_home, run, "graph_break_zoo")
    for page in (menu.OVERVIEW.script, BREAKS):
        app = opened(page, other)
        links = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
        assert links["Back to the run that this fix is for"] == f"run={run}"
    app.button(key=f"try-break-{box_of(app, 'Dynamic shape operator')}-0").click().run()
    assert submitted[0] == replace(ZOO, repairs=(("where:25",),), repairs_of=other, conditions=SHAPES)


def test_recompiles_have_edits_and_a_change_of_the_job(
    empty_home: Path, submitted: list[CompileJob], asked: list[tuple[str, bool]]
) -> None:
    run = add_scenario(empty_home, "recompile_zoo")
    of_each = [
        set(tries(opened(RECOMPILES, run, compilation=f"0/{number}", select=f"0/{number}"))) for number in range(1, 9)
    ]
    assert len(set.union(*of_each)) == 9
    app = opened(RECOMPILES, run, compilation="0/1", select="0/1")
    assert_sound(app)
    assert len(tries(app)) == 2
    app.button(key="try-all-recompiles").click().run()
    app.button_group(key="ways-recompile-0/1").set_value(1).run()
    app.button(key="try-recompile-0/1-1").click().run()
    assert_sound(app)
    assert asked == [(run, True)]
    assert [(job.repairs, job.compile) for job in submitted] == [((), CompileOptions(dynamic=True))]
    assert r"Not among them\: 2 fixes that may change results, or that edit the same lines as these\." in words(app)


def test_a_log_without_its_code_has_nothing_to_edit(runs: dict[str, str]) -> None:
    app = opened(BREAKS, runs["foreign"])
    assert_sound(app)
    assert tries(app) == []
    assert read_words(app).count("No fix: the log does not contain the code.") == 2


def test_repairs_of_a_sample_are_offered_where_code_may_not_run_and_those_of_code_are_not(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = add_scenario(empty_home, "graph_break_zoo")
    job = replace(ZOO, model=Model("code", "model = abs"))
    log = (TRACES / "graph_break_zoo" / "trace.log").read_bytes()
    code = add_run(empty_home, "code", log, job=msgspec.to_builtins(job), kind="run").id
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    assert len(tries(opened(BREAKS, sample))) == 6
    app = opened(BREAKS, code)
    assert tries(app) == []
    assert "repair-break-1-0" in keys(app)


def test_a_repaired_run_is_edited_as_the_code_that_it_ran(empty_home: Path, submitted: list[CompileJob]) -> None:
    run = Store(empty_home).create(replace(ZOO, repairs=(("where:25",),)), code="model = abs\ninputs = (1,)\n").id
    app = opened(menu.NEW_RUN.script, again=run)
    assert_sound(app)
    app.button(key="compile-code").click().run()
    assert submitted == [replace(ZOO, model=Model("code", "model = abs\ninputs = (1,)\n"))]


def test_the_form_of_a_repaired_run_says_that_it_leaves_the_repairs_out(
    empty_home: Path, submitted: list[CompileJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "may_bring_code", lambda: False)
    run = Store(empty_home).create(replace(ZOO, repairs=(("where:25",),)), code="model = abs\ninputs = (1,)\n").id
    app = opened(menu.NEW_RUN.script, again=run)
    assert_sound(app)
    assert "The fixes of this run are left out: its fixed code is gone, or this server takes no code." in words(app)
    app.button(key="compile-sample").click().run()
    assert submitted == [ZOO]


def proofs(home: Path, run: str, *shown: Proof, applied: AppliedFixes | None = None) -> None:
    write_trials(Run(run, home / "runs" / run), RunTrials(shown, applied))


def test_a_proven_fix_comes_first_and_one_without_effect_is_folded(empty_home: Path) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    proven = Proof("cond:25", "repaired", "graph breaks", "eager", (5, 0, 0), (4, 0, 0), "same")
    idle = Proof("where:25", "nothing", "graph breaks", "eager", (5, 0, 0), (5, 0, 0), "same")
    proofs(empty_home, run, proven, idle)
    app = opened(BREAKS, run)
    assert_sound(app)
    assert "**Tried\\: graph breaks 5 → 4, results same \\(backend `eager`\\)\\.**" in words(app)
    assert [fold.label for fold in app.expander].count("Tried without effect") == 1
    assert [button.label for button in app.button if button.key == "prove-fixes"] == ["Try the fixes"]


def test_what_was_applied_together_stands_with_its_diff_and_what_is_left(empty_home: Path) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    change = Proposal("Choose with `torch.where`.", repairs=("where:25",))
    left = (Remainder("line 20", "a print", False),)
    fixes = AppliedFixes(((change,),), (5, 0, 0), (4, 0, 0), "eager", "same", True, left=left, run="gone")
    proofs(empty_home, run, applied=fixes)
    for page in (BREAKS, RECOMPILES):
        app = opened(page, run)
        assert_sound(app)
        if page == BREAKS:
            assert "1 fix together: graph breaks 5 → 4, results same (backend `eager`); each is needed." in words(app)
            assert "Left: line 20 (`a print`)." in words(app)
            assert "try-all-breaks" not in tries(app)
