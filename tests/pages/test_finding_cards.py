"""The overview's cards: what weighs most first, the evidence a click away, and what can be tried is tried."""

from pathlib import Path

from core import CompileJob, CompileOptions, Model
from core.job import Conditions
from core.job.model import OptionValue
from pages import menu
from tests.support.apps import assert_sound, opened, words
from tests.support.homes import add_run, add_scenario, job_of
from tests.support.places import TRACES
from tests.support.screen import plain


def test_three_findings_are_first_and_the_others_are_folded(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["recompile_zoo"])
    assert_sound(app)
    shown = words(app)
    assert shown.index("over the recompile limit") < shown.index("the number `power` changed value")
    assert [fold.label for fold in app.expander if "more finding" in fold.label] == ["5 more findings"]


def test_a_finding_leads_to_its_evidence_in_the_same_run(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["recompile_zoo"])
    links = [link.proto for link in app.get("page_link") if link.proto.label == menu.RECOMPILES.title]
    asked = [set(link.query_string.split("&")) for link in links]
    assert {"compilation=0%2F2", "select=0%2F2", f"run={runs['recompile_zoo']}"} in asked


def test_a_run_with_nothing_to_find_says_so(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["eager_backend"])
    assert_sound(app)
    assert "No issues found." in [plain(caption.value) for caption in app.caption]


def test_what_a_finding_proposes_is_the_same_job_with_that_alone_changed(
    empty_home: Path, submitted: list[CompileJob]
) -> None:
    app = opened(menu.OVERVIEW.script, add_scenario(empty_home, "recompile_zoo"))
    buttons = [button for button in app.button if (button.key or "").startswith("try-")]
    assert [button.help for button in buttons] == ["`torch.compile(model, dynamic=True)`"] * 3
    buttons[0].click().run()
    assert_sound(app)
    assert submitted == [
        CompileJob(
            Model("sample", "recompile_zoo"), training=False, measure=False, compile=CompileOptions(dynamic=True)
        )
    ]


def test_a_setting_of_dynamo_is_tried_beside_those_that_the_job_has(
    empty_home: Path, submitted: list[CompileJob]
) -> None:
    log = (TRACES / "graph_break_zoo" / "trace.log").read_bytes()
    job = {**job_of("graph_break_zoo"), "conditions": {"threads": 2, "dynamo": {"trace_numpy": True}}}
    app = opened(menu.OVERVIEW.script, add_run(empty_home, "zoo", log, job=job).id)
    helps = {button.help: button for button in app.button if (button.key or "").startswith("try-")}
    helps["`torch._dynamo.config.capture_dynamic_output_shape_ops = True`"].click().run()
    assert_sound(app)
    dynamo: dict[str, OptionValue] = {"trace_numpy": True, "capture_dynamic_output_shape_ops": True}
    assert [found.conditions for found in submitted] == [Conditions(threads=2, dynamo=dynamo)]


def test_a_fix_of_the_code_is_tried_as_a_run_of_the_shown_run(empty_home: Path, submitted: list[CompileJob]) -> None:
    run = add_scenario(empty_home, "graph_break_zoo")
    app = opened(menu.OVERVIEW.script, run)
    next(button for button in app.button if "Keep the tensor" in (button.help or "")).click().run()
    assert [(job.repairs, job.repairs_of) for job in submitted] == [((("keep_tensor:31",),), run)]


def test_a_log_from_elsewhere_has_nothing_to_try(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["foreign"])
    assert_sound(app)
    assert "Graph break at" in words(app)
    assert [button.key for button in app.button if (button.key or "").startswith("try-")] == []


def test_a_run_that_did_not_end_well_is_never_said_to_look_right(empty_home: Path) -> None:
    log = (TRACES / "eager_backend" / "trace.log").read_bytes()
    for state, said in (("done", True), ("failed", False), ("timed out", False), ("crashed", False)):
        run = add_run(empty_home, "mlp", log, job=job_of("eager_backend"), state=state, reason="30 s")
        captions = [plain(caption.value) for caption in opened(menu.OVERVIEW.script, run.id).caption]
        assert ("No issues found." in captions) is said
