"""The command palette: its palette, their bounds, and what a choice opens."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob
from core.report import Report
from pages import menu
from pages.components.palette.view import PaletteGroup
from pages.parts.palette import palette
from pages.session.shown import open_view
from tests.support.apps import component, opened, picked_in, sound
from tests.support.homes import add_run, add_scenario, hostile_log, layers_log
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def labels(app: AppTest, kind: str) -> list[str]:
    """The entries of one kind that the palette has on this page."""
    groups = [*component(app, "palette")["groups"], *component(app, "palette-entries")["groups"]]
    return [entry[1] for group in groups if group["kind"] == kind for entry in group["entries"]]


def over(page: menu.Page, run: str, **query: str) -> AppTest:
    """A page over which the palette was opened."""
    return sound(opened(page.script, run, held={"palette-entries": {"wanted": run}}, **query))


def choose(app: AppTest, page: str = "", action: str = "", **query: str) -> AppTest:
    """The page after a choice in the palette."""
    return sound(picked_in(app, "palette", "chosen", {"action": action, "page": page, "query": query}))


def test_a_page_is_sent_pages_runs_and_actions_and_no_entry_of_its_run(runs: dict[str, str]) -> None:
    app = sound(opened(menu.GUARDS.script, runs["measured"]))
    assert labels(app, "Page") == [page.title for page in menu.PAGES.values()]
    assert len(labels(app, "Run")) == len(runs)
    assert labels(app, "Action") == [
        *("Compare with…", "Edit and run again", "Measure again", "Download…"),
        *("Present", "Full screen", "Keys"),
    ]
    assert component(app, "palette-entries") == {"run": "", "groups": []}


def test_the_entries_of_a_run_come_once_they_are_requested_and_stay_the_same(runs: dict[str, str]) -> None:
    app = over(menu.GUARDS, runs["measured"])
    assert labels(app, "Compilation") == ["[0/0] TransformerBlock.forward"]
    assert "extern_kernels.addmm" in labels(app, "Kernel")
    assert {"layer_norm", "addmm"} <= set(labels(app, "Node"))
    first = component(app, "palette-entries")
    assert len(json.dumps(first)) < 20_000
    assert component(sound(app.run()), "palette-entries") == first


@pytest.mark.parametrize("scenario", ["error", "refused", "eager_backend", "foreign", "target_h100"])
def test_every_recorded_run_has_entries(runs: dict[str, str], scenario: str) -> None:
    report = recorded_report(TRACES / scenario / "trace.log")
    app = over(menu.OVERVIEW, runs[scenario])
    assert len(labels(app, "Compilation")) == len(report.compilations)
    assert len(labels(app, "Kernel")) == sum(len(found.kernels) for found in report.compilations)


def test_a_log_from_elsewhere_offers_no_run_of_its_job(runs: dict[str, str]) -> None:
    assert labels(opened(menu.OVERVIEW.script, runs["foreign"]), "Action") == [
        *("Compare with…", "Download…"),
        *("Present", "Full screen", "Keys"),
    ]


def counted(groups: list[PaletteGroup]) -> tuple[int, int]:
    """The entries that are sent, and those that are left out."""
    return sum(len(group.entries) for group in groups), sum(group.left_out for group in groups)


def huge(compilations: int, kernels: int) -> Report:
    """A report with so many compilations, each with so many kernels."""
    report = recorded_report(TRACES / "measured" / "trace.log")
    (one,) = report.compilations
    many = tuple(replace(one.kernels[at % len(one.kernels)], id=str(at)) for at in range(kernels))
    return replace(report, compilations=tuple(replace(one, id=f"{at}/0", kernels=many) for at in range(compilations)))


def test_a_huge_report_has_a_bounded_number_of_entries() -> None:
    report = huge(1_000, 7)
    compilations, kernels = list(palette._compilation_groups(report)), palette._kernel_groups(report)
    assert counted(compilations) == (200, 800)
    assert counted(kernels) == (500, 6_500)
    assert len(msgspec.json.encode([*compilations, *kernels])) < 150_000
    assert counted(palette._kernel_groups(huge(1, 600))) == (500, 100)


def test_nodes_of_a_large_graph_are_bounded(empty_home: Any) -> None:
    run = add_run(empty_home, "layers", layers_log(3_000), kind="log")
    view = open_view(run.id)
    assert view is not None
    sent, left_out = counted(palette._node_groups(view))
    assert sent == palette.MOST_NODES
    assert left_out > 0


def test_text_from_elsewhere_is_one_plain_line(empty_home: Any) -> None:
    run = add_run(empty_home, "hostile", hostile_log(), kind="log")
    run.write_status(replace(run.status(), title="<b>a\nb</b>\u202e\x07"))
    app = over(menu.OVERVIEW, run.id)
    assert labels(app, "Run") == ["<b>a b</b>��"]
    texts = json.dumps(component(app, "palette-entries"), ensure_ascii=False)
    assert not any(mark in texts for mark in "\x7f\u202e\u200b")


def test_a_choice_opens_its_page_with_the_run_and_the_selection(runs: dict[str, str]) -> None:
    app = opened(menu.GUARDS.script, runs["measured"])
    choose(app, menu.KERNELS.name, compilation="0/0", select="k:gone")
    assert app.query_params["run"] == runs["measured"]
    assert "kernel" in app.title[0].value
    app = choose(
        opened(menu.KERNELS.script, runs["measured"]), menu.FX_GRAPH.name, compilation="0/0", select="n:layer_norm"
    )
    assert app.query_params["select"] == "n:layer_norm"
    assert app.query_params["run"] == runs["measured"]


def test_another_run_chosen_in_a_list_opens_on_its_overview(runs: dict[str, str]) -> None:
    app = choose(opened(menu.RUNS.script, runs["measured"]), run=runs["training_step"])
    assert app.query_params["run"] == runs["training_step"]
    assert app.title[0].value.startswith("1 graph")


def test_a_second_run_is_compared_with_the_shown_one(runs: dict[str, str]) -> None:
    app = choose(opened(menu.GUARDS.script, runs["measured"]), menu.COMPARE.name, other=runs["transformer_block"])
    assert app.query_params["run"] == runs["measured"]
    assert app.query_params["other"] == runs["transformer_block"]


@pytest.mark.parametrize(
    "chosen",
    [
        "text",
        {},
        {"page": "no such page", "query": {}},
        {"page": "guards", "query": {"run": 7}},
        {"action": "no such action"},
        {"action": ["keys"]},
        {"page": {}, "query": "select"},
    ],
)
def test_a_forged_choice_opens_nothing(runs: dict[str, str], chosen: object) -> None:
    app = opened(menu.GUARDS.script, runs["measured"])
    before = dict(app.query_params)
    assert "guards must pass" in sound(picked_in(app, "palette", "chosen", chosen)).title[0].value
    assert dict(app.query_params) == before


def test_measuring_again_submits_the_same_job(submitted: list[CompileJob], empty_home: Any) -> None:
    run = add_scenario(empty_home, "measured")
    choose(opened(menu.GUARDS.script, run), action="measure")
    assert [job.measure for job in submitted] == [True]


@pytest.mark.parametrize(("action", "buttons"), [("keys", 0), ("download", 2)])
def test_actions_open_their_dialogs(runs: dict[str, str], action: str, buttons: int) -> None:
    app = choose(opened(menu.RUNS.script, runs["measured"]), action=action)
    assert len(app.table) == (4 if action == "keys" else 0)
    assert [item.proto.label for item in app.get("download_button")] == ["Report", "Log"][:buttons]
