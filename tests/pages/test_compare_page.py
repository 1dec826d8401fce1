"""The page that compares two runs: what it says, what stands in the URL, and what one option would change."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob, Model, Store
from core.job.prepared import prepared
from core.views.compare import ASPECTS, CompareView, aspects
from pages import menu
from pages.parts.compare import runs
from pages.session import actions, server
from tests.support.apps import assert_sound, component, keys, opened, titles, words
from tests.support.homes import HOSTILE, IMAGE, add_run, add_scenario, hostile_log, job_of, keeper, measured_log
from tests.support.logs import recorded_side
from tests.support.places import TRACES
from tests.support.sample import one_in
from tests.support.screen import plain

PAGE = menu.COMPARE.script
SAME = "No difference: options, source, breaks, graphs, guards and kernels are the same"


@pytest.fixture
def two(empty_home: Path) -> tuple[str, str]:
    """Two runs of one model that were measured: the second is one and a half times faster."""
    job = job_of("transformer_block")
    logs = (measured_log(1e-3), measured_log(0.667e-3))
    one, other = (add_run(empty_home, "transformer_block", log, job=job).id for log in logs)
    return one, other


def title_of(app: AppTest) -> str:
    """The title without the marks that keep it plain."""
    (title,) = titles(app)
    return title.replace("\\", "")


def test_the_title_says_what_differs_and_how_much_faster_it_is(two: tuple[str, str]) -> None:
    app = opened(PAGE, two[0], other=two[1])
    assert_sound(app)
    same = "Options, source, breaks, graphs, guards and kernels are the same"
    assert title_of(app) == "The right run is 1.50× faster (1.42–1.58)"
    assert f"{same}; 1.50× faster (1.42–1.58)." in [item.value.replace("\\", "") for item in app.caption]
    table = app.dataframe[0].value.set_index("")
    assert table.loc["compiled call", ["left", "right"]].tolist() == ["1.00 ms", "667 µs"]
    assert "≠" not in table["≠"].tolist()


@pytest.mark.parametrize("aspect", one_in(4, ASPECTS))
def test_equal_runs_differ_in_no_aspect(empty_home: Path, aspect: str) -> None:
    one, other = (add_scenario(empty_home, "transformer_block") for _ in range(2))
    app = opened(PAGE, one, other=other, aspect=aspect)
    assert_sound(app)
    assert title_of(app) == SAME
    assert app.query_params["aspect"] == aspect
    side = recorded_side(TRACES / "transformer_block" / "trace.log")
    compare = CompareView(side, side)
    assert [pane.title for pane in aspects(compare, "0/0").panes] == list(ASPECTS)


def test_equal_code_is_reported_to_be_identical_and_other_code_is_a_diff(empty_home: Path) -> None:
    one, other = (add_scenario(empty_home, "transformer_block") for _ in range(2))
    (same,) = opened(PAGE, one, other=other, aspect="source").success
    assert plain(same.value) == "The code is identical."
    app = opened(PAGE, one, other=add_scenario(empty_home, "training_step"), aspect="source")
    assert [item.value for item in app.success] == []
    assert "lines added" in " ".join(item.value for item in app.markdown)


@pytest.mark.parametrize("aspect", one_in(4, ASPECTS))
def test_every_aspect_of_two_runs_that_differ_is_shown(empty_home: Path, aspect: str) -> None:
    left, right = add_scenario(empty_home, "graph_break_zoo"), add_scenario(empty_home, "training_step")
    app = opened(PAGE, left, other=right, aspect=aspect, compilation="0/0")
    assert_sound(app)
    assert titles(app)[0].startswith("5 graph breaks gone, ")


def test_the_graphs_of_both_are_one_drawing_that_opens_with_both(empty_home: Path) -> None:
    left, right = add_scenario(empty_home, "transformer_block"), add_scenario(empty_home, "training_step")
    app = opened(PAGE, left, other=right, aspect="graphs", drawer="changes")
    assert_sound(app)
    drawing = component(app, next(key for key in keys(app) if key.startswith("union-") and "command" not in key))
    assert [frame["title"] for frame in drawing["frames"]] == ["left", "both", "right"]
    assert drawing["overlays"][0]["name"] == "difference"
    assert set(app.dataframe[-1].value["change"]) >= {"only left", "only right"}


def test_a_selected_node_is_described_in_both_graphs(empty_home: Path) -> None:
    one, other = (add_scenario(empty_home, "transformer_block") for _ in range(2))
    app = opened(PAGE, one, other=other, aspect="graphs", select="n:layer_norm", drawer="node")
    assert_sound(app)
    facts = app.table[0].value["value"]
    assert list(facts.index) == ["name", "target", "value", "arguments", "line", "module"]
    assert (facts["value"], facts["module"]) == ("`f32[8, 64, 256]`", "`L['self'].norm1` `LayerNorm`")


def test_a_pasted_link_holds_any_two_runs(two: tuple[str, str], empty_home: Path) -> None:
    other = add_scenario(empty_home, "foreign")
    app = opened(PAGE, two[0], other=other)
    assert_sound(app)
    assert app.query_params["other"] == other
    assert app.selectbox(key="other").value == other


def test_the_newest_run_of_the_same_model_is_the_one_to_begin_with(two: tuple[str, str], empty_home: Path) -> None:
    add_scenario(empty_home, "training_step")
    assert opened(PAGE, two[0]).query_params["other"] == two[1]


def test_without_another_run_one_option_can_be_changed(empty_home: Path) -> None:
    app = opened(PAGE, add_scenario(empty_home, "transformer_block"))
    assert_sound(app)
    assert titles(app) == ["There is no other run yet"]
    assert "what-if-run" in [button.key for button in app.button]


def test_a_run_that_goes_on_is_waited_for_with_its_progress(two: tuple[str, str], empty_home: Path) -> None:
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    going = add_run(
        empty_home, "going", log[: len(log) // 3], job=job_of("transformer_block"), state="running", **keeper()
    )
    app = opened(PAGE, two[0], other=going.id)
    assert_sound(app)
    assert "live-progress" in keys(app)


def test_a_run_that_recorded_nothing_is_reported_to_have(two: tuple[str, str], empty_home: Path) -> None:
    failed = add_run(
        empty_home, "lost", None, job=job_of("transformer_block"), state="crashed", reason="it was *killed*"
    )
    app = opened(PAGE, two[0], other=failed.id)
    assert_sound(app)
    assert titles(app) == ["The run on the right has recorded nothing to compare"]
    assert "it was \\*killed\\*" in words(app)


def test_names_that_mean_harm_are_shown_as_text(two: tuple[str, str], empty_home: Path) -> None:
    other = add_run(empty_home, IMAGE.replace("/", ""), hostile_log(), kind="log").id
    for aspect in ASPECTS:
        app = opened(PAGE, two[0], other=other, aspect=aspect)
        assert_sound(app)
        assert not any(harm in words(app) for harm in HOSTILE.values())
        assert IMAGE not in words(app).replace("\\", "#")


def test_what_if_runs_the_job_with_one_option_changed(
    two: tuple[str, str], monkeypatch: pytest.MonkeyPatch, empty_home: Path
) -> None:
    jobs: list[CompileJob] = []

    def submit(job: CompileJob) -> object:
        jobs.append(job)
        return Store(empty_home).open(two[1])

    monkeypatch.setattr(actions, "submit", submit)
    app = opened(PAGE, two[0], other=two[0])
    app.selectbox(key="what-if-option").set_value("dynamic").run()
    app.selectbox(key="what-if-dynamic").set_value("always").run()
    app.button(key="what-if-run").click().run()
    assert_sound(app)
    shown = Store(empty_home).open(two[0]).job()
    assert shown is not None
    assert [(job.compile.dynamic, job.model) for job in jobs] == [(True, shown.model)]
    assert app.query_params["other"] == two[1]


def test_what_if_takes_fields_as_a_sweep_does_and_names_those_that_are_wrong(
    two: tuple[str, str], monkeypatch: pytest.MonkeyPatch, empty_home: Path
) -> None:
    jobs: list[CompileJob] = []
    monkeypatch.setattr(actions, "submit", jobs.append)
    app = opened(PAGE, two[0], other=two[1])
    app.selectbox(key="what-if-option").set_value(runs.TYPED).run()
    app.text_area(key="what-if-fields").set_value("batch=1,2").run()
    assert app.button(key="what-if-run").disabled
    assert "axis batch: give it one value here" in app.error[0].value.replace("\\", "")
    app.text_area(key="what-if-fields").set_value("batch=64\noptions.epilogue_fusion=False").run()
    app.button(key="what-if-run").click().run()
    assert_sound(app)
    assert [(job.sizes, job.compile.options) for job in jobs] == [({"batch": 64}, {"epilogue_fusion": False})]


@pytest.mark.parametrize(
    ("option", "word", "training"), [("training", "inference", False), ("dynamic", "always", True)]
)
def test_what_if_changes_what_it_names_and_leaves_the_rest_to_the_file(option: str, word: str, training: bool) -> None:
    job, _ = prepared(CompileJob(Model("code", "model, inputs = abs, (1,)\ntraining = True\n")))
    found, _ = prepared(runs.MENU[option](job)[word])
    assert (found.training, found.compile.dynamic) == (training, True if option == "dynamic" else None)


@pytest.mark.parametrize("option", runs.MENU)
def test_every_option_offers_another_job(option: str, empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "environment", lambda: None)
    job = CompileJob(Model("sample", "mlp"))
    offered = runs.MENU[option](job)
    assert [label for label, other in offered.items() if other != job]


def test_a_visitor_sees_what_the_file_of_both_runs_leaves_out(empty_home: Path, two: tuple[str, str]) -> None:
    for run in two:
        Store(empty_home).open(run).model_path.write_text("model = None\n")
    app = opened(PAGE, two[0], other=two[1])
    pills = next(group for group in app.pills if group.label == "Replace by placeholders")
    assert not [caption.value for caption in app.caption if "→ dir_1" in caption.value]
    app = pills.set_value(["paths"]).run()
    assert_sound(app)
    assert [caption.value for caption in app.caption if "→ dir_1" in caption.value]
