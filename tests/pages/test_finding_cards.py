"""The overview's cards: what weighs most first, the evidence a click away, and what can be tried is tried."""

from pathlib import Path

from core import CompileJob, CompileOptions, Model
from pages import menu
from tests.support.apps import assert_sound, opened, words
from tests.support.homes import add_scenario


def test_three_findings_stand_first_and_the_others_are_folded(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["recompile_zoo"])
    assert_sound(app)
    shown = words(app)
    assert shown.index("over the recompile limit") < shown.index("the number `power` has another value")
    assert [fold.label for fold in app.expander if "more finding" in fold.label] == ["6 more findings"]


def test_a_finding_leads_to_its_evidence_in_the_same_run(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["recompile_zoo"])
    links = [link.proto for link in app.get("page_link") if link.proto.label == menu.RECOMPILES.title]
    asked = [set(link.query_string.split("&")) for link in links]
    assert {"compilation=0%2F2", f"run={runs['recompile_zoo']}"} in [found - {"select="} for found in asked]


def test_a_run_with_nothing_to_find_says_so(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["eager_backend"])
    assert_sound(app)
    assert "Nothing here looks wrong or dear." in [caption.value for caption in app.caption]


def test_what_a_finding_proposes_is_the_same_job_with_that_alone_changed(
    empty_home: Path, submitted: list[CompileJob]
) -> None:
    app = opened(menu.OVERVIEW.script, add_scenario(empty_home, "recompile_zoo"))
    buttons = [button for button in app.button if (button.key or "").startswith("try-")]
    assert [button.help for button in buttons] == ["`torch.compile(model, dynamic=True)`"]
    buttons[0].click().run()
    assert_sound(app)
    assert submitted == [
        CompileJob(
            Model("sample", "recompile_zoo"), training=False, measure=False, compile=CompileOptions(dynamic=True)
        )
    ]


def test_a_log_from_elsewhere_has_nothing_to_try(runs: dict[str, str]) -> None:
    app = opened(menu.OVERVIEW.script, runs["foreign"])
    assert_sound(app)
    assert "A graph break at" in words(app)
    assert [button.key for button in app.button if (button.key or "").startswith("try-")] == []
