"""The pages of graphs without a browser: what they send to the graph view, and what they say beside it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob, limits_of
from pages import menu
from pages.session import server
from tests.core.sweep.test_rewrites import HERE, ended_rows
from tests.support.apps import assert_sound, component, opened, read_titles, read_words, sound, titles, words
from tests.support.homes import add_run, job_of, record
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.sweeps import add_sweep


def drawn_ids(app: AppTest, key: str) -> list[str]:
    """The ids of all boxes that a graph view is sent at first."""
    data = component(app, key)
    return [item["id"] for level in [data["root"], *data["opened"].values()] for item in level["items"]]


@pytest.mark.parametrize("scenario", ["transformer_block", "training_step"])
def test_every_stage_of_the_graph_can_be_chosen(runs: dict[str, str], scenario: str) -> None:
    app = opened(menu.FX_GRAPH.script, runs[scenario])
    stages = [stop["id"] for stretch in component(app, "stage-row")["stretches"] for stop in stretch["stops"]]
    assert len(stages) == {"transformer_block": 8, "training_step": 10}[scenario]
    for stage in stages:
        app.session_state["graph"] = stage
        app.run()

        assert_sound(app)
        assert app.query_params["graph"] == stage
        assert drawn_ids(app, f"fx-0/0-{stage}")


def test_the_stages_are_in_the_compilers_order_each_with_its_ops(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["training_step"])
    data = component(app, "stage-row")
    assert data["chosen"] == "dynamo_output_graph"
    rows = [(row["label"], row["lane"], [stop["count"] for stop in row["stops"]]) for row in data["stretches"]]
    assert rows == [
        ("Dynamo", False, ["5"]),
        ("pre-grad", False, ["5", "5"]),
        ("joint", False, ["88"]),
        ("forward", False, ["37"]),
        ("post-grad", False, ["37", "37"]),
        ("backward", True, ["51"]),
        ("post-grad", False, ["51", "51"]),
    ]


def test_a_deep_link_restores_compilation_stage_and_node(runs: dict[str, str]) -> None:
    link: dict[str, Any] = {"compilation": "2/0", "graph": "inductor_post_grad_graph.inference", "select": "n:mul"}
    app = opened(menu.FX_GRAPH.script, runs["graph_break_zoo"], **link)

    assert_sound(app)
    assert {name: app.query_params[name] for name in link} == link
    assert app.selectbox(key="compilation").value == "2/0"
    assert "`mul`" in app.table[0].value.to_string()


def test_a_clicked_node_is_described_and_put_into_the_url(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["transformer_block"])
    assert not app.table
    app.session_state["fx-0/0-dynamo_output_graph"] = {"selected": "n:layer_norm", "serial": 1}
    app.run()

    assert_sound(app)
    assert app.query_params["select"] == "n:layer_norm"
    assert "`layer_norm` call_function" in app.table[0].value.to_string()
    assert app.segmented_control(key="drawer-tab").options == ["node", "graph text"]


def test_a_drawer_that_was_closed_opens_with_the_next_selection(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["transformer_block"], select="n:layer_norm")
    app.button(key="drawer-close").click().run()
    assert not app.table
    app.run()
    assert not app.table
    assert app.query_params["drawer"] == "off"

    app.session_state["fx-0/0-dynamo_output_graph"] = {"selected": "n:linear", "serial": 1}
    app.run()

    assert_sound(app)
    assert "drawer" not in app.query_params
    assert "`linear` call_function" in app.table[0].value.to_string()


def test_a_tab_of_the_drawer_is_in_the_url(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["transformer_block"], select="n:layer_norm")
    app.segmented_control(key="drawer-tab").set_value("graph text").run()

    assert_sound(app)
    assert app.query_params["drawer"] == "graph text"
    assert component(app, "text-0/0-dynamo_output_graph")["title"] == "dynamo_output_graph"


def test_the_next_selection_opens_the_drawer_at_the_tab_that_was_chosen_last(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["transformer_block"], select="n:layer_norm")
    app.segmented_control(key="drawer-tab").set_value("graph text").run()
    app.button(key="drawer-close").click().run()
    app.session_state["fx-0/0-dynamo_output_graph"] = {"selected": "n:linear", "serial": 1}
    app.run()

    assert_sound(app)
    assert app.segmented_control(key="drawer-tab").value == "graph text"


def test_the_drawer_of_fusion_has_the_source_of_a_selected_kernel_and_its_lines(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"], select="s:op0")

    assert_sound(app)
    kernel = recorded_report(TRACES / "transformer_block" / "trace.log").compilations[0].kernels[0]
    assert component(app, f"kernel-{kernel.id}")["title"] == kernel.name
    assert component(app, f"lines-{kernel.id}")["title"] == "model.py"


def test_a_kernel_that_is_double_clicked_in_fusion_opens_its_page(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"])
    app.session_state["fusion-opened"] = "g:op0"
    app.run()

    assert_sound(app)
    assert titles(app)[0].startswith("cpp\\_fused")


def test_an_input_is_reported_with_its_guards_and_symbols(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["recompile_zoo"], compilation="0/1", select="n:l_x_")

    assert_sound(app)
    told = "\n".join(table.value.to_string() for table in app.table)
    assert "TENSOR_MATCH" in told
    assert "L['x'].size()[0]" in told


def test_the_fusion_page_films_the_steps_from_ops_to_launches(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"])
    data = component(app, "fusion-0/0-0")
    drawn = drawn_ids(app, "fusion-0/0-0")

    assert_sound(app)
    assert titles(app)[0].startswith(
        "26 ops → 9 launches of 6 kernels: fusion saves 12.3\N{NO-BREAK SPACE}% of memory traffic"
    )
    assert [frame["title"] for frame in data["frames"]][:3] == ["Ops", "Scheduler nodes", "Fusion 1 of 6, round 1"]
    assert data["frames"][-1]["detail"] == "6 kernels; each hull is one launch; no node joined another since"
    assert [amount["text"] for amount in data["frames"][-1]["amounts"]] == ["9 launches", "22.6 MB moved"]
    assert sum(item.startswith("g:") for item in drawn) == 9


def test_another_graphs_fusion_starts_at_its_launches(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["training_step"], frame="2")
    assert app.query_params["frame"] == "2"
    app.selectbox(key="schedule").select_index(1).run()
    assert_sound(app)
    assert "frame" not in app.query_params


def test_fusion_side_by_side_is_one_drawing_at_two_steps(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"])
    app.segmented_control(key="fusion").set_value("side by side").run()

    assert_sound(app)
    before, after = component(app, "before-0/0-0"), component(app, "after-0/0-0")
    assert before["digest"] == after["digest"]
    assert before["step"] == after["step"] == "0/0-0"


@pytest.mark.parametrize(
    "select",
    [
        pytest.param("n:add_2", id="op"),
        pytest.param("n:add_2@8", id="copy"),
        pytest.param("s:op14", id="scheduler node"),
        pytest.param("g:op14", id="launch"),
        pytest.param("k:0/0.inference.cpp_fused_add_view_3", id="kernel"),
    ],
)
def test_every_part_of_a_hull_leads_to_its_kernel(runs: dict[str, str], select: str) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"], select=select)

    assert_sound(app)
    assert any((item.key or "").startswith("kernel-") for item in app.get("bidi_component"))


def test_an_op_in_a_branch_leads_to_its_kernel(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["control_flow"], select="n:true_graph_0/add")

    assert_sound(app)
    assert any("cpp_fused_abs_add" in (item.key or "") for item in app.get("bidi_component"))


def test_the_fusion_page_says_why_two_nodes_stayed_apart(runs: dict[str, str]) -> None:
    app = opened(menu.FUSION.script, runs["transformer_block"])
    app.button(key="open-why not fused").click().run()
    assert len(app.selectbox(key="why-one").options) == 10
    app.selectbox(key="why-other").set_value(app.selectbox(key="why-one").value).run()

    assert_sound(app)
    assert "Choose two different nodes." in words(app)


@pytest.mark.parametrize("scenario", ["transformer_block", "training_step", "foreign"])
def test_every_chapter_and_step_of_the_film_can_be_seen(runs: dict[str, str], scenario: str) -> None:
    app = opened(menu.PASSES.script, runs[scenario], drawer="steps")
    for chapter in app.segmented_control(key="chapter").options:
        app.segmented_control(key="chapter").set_value(chapter.partition(" ")[0]).run()

        assert_sound(app)
        assert len(app.dataframe[0].value) == int(chapter.rpartition(" ")[2]) + 1


def test_a_step_of_the_film_is_in_the_url(runs: dict[str, str]) -> None:
    app = opened(menu.PASSES.script, runs["training_step"], chapter="joint", frame="1", drawer="steps")

    assert_sound(app)
    assert app.query_params["frame"] == "1"
    assert "**Step 1**" in words(app)
    assert app.code[0].value.splitlines() == [
        "alias = torch.ops.aten.alias.default(sub_2)",
        "alias_1 = torch.ops.aten.alias.default(alias)",
    ]


def test_the_film_has_what_the_sweep_of_rewrites_shows_of_each_pass(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "environment", lambda: HERE)
    log = (TRACES / "training_step" / "trace.log").read_bytes()
    run = add_run(empty_home, "trained", log, job=job_of("training_step"))
    base = limits_of({}, code_allowed=True).fitted(msgspec.convert(job_of("training_step"), CompileJob))
    sweep, rows = ended_rows({"remove_noop_ops": 0.9}, base=base)
    assert "a call" not in opened(menu.PASSES.script, run.id, chapter="joint", drawer="steps").dataframe[0].value
    add_sweep(empty_home, sweep, rows)
    app = opened(menu.PASSES.script, run.id, chapter="joint", frame="1", drawer="steps")
    assert_sound(app)
    assert app.dataframe[0].value["a call"].tolist()[1] == "costs 1.00 ms a call"
    assert component(app, "film-0/0-joint")["frames"][1]["detail"].endswith("; costs 1.00 ms a call")


def test_saved_activations_are_reported_with_their_bytes(runs: dict[str, str]) -> None:
    app = opened(menu.PARTITION.script, runs["training_step"], drawer="saved values")
    table = app.dataframe[0].value

    assert_sound(app)
    assert "he forward saves " in titles(app)[0]
    assert list(table["bytes"]) == sorted(table["bytes"], reverse=True)
    assert component(app, "joint-0/0-aot_joint_graph")["overlays"][-1]["name"] == "partition"


def test_what_inductor_keeps_is_reported_beside_the_partitioners_plan(empty_home: Path) -> None:
    log = (TRACES / "training_step" / "trace.log").read_bytes().replace(b'"compileboard_kept"', b'"another_record"')
    (partition,) = recorded_report(TRACES / "training_step" / "trace.log").compilations[0].partitions
    given = next(value.name for value in partition.saved if value.kind == "input")
    values = [
        {"name": given, "buffer": "buf0", "kind": "activation", "bytes": 1000},
        {"name": "other", "buffer": "buf7", "kind": "activation", "bytes": 500},
        {"name": "same", "buffer": "primals_9", "kind": "input", "bytes": 300},
    ]
    kept = record("compileboard_kept", {"schema": 1, "graph_id": 0, "values": values}, frame_id=0, frame_compile_id=0)
    app = opened(
        menu.PARTITION.script,
        add_run(empty_home, "kept", log + kept, job=job_of("training_step")).id,
        drawer="saved values",
    )

    assert_sound(app)
    assert read_titles(app) == ["The forward saves 2 activations (1.50 kB) for the backward"]
    assert "Inductor also saves 1 copy of an input." in read_words(app)
    table = app.dataframe[0].value
    assert dict(zip(table["value"], table["kept as"], strict=True))[given] == "buf0, a copy"


def test_inference_has_no_partition(runs: dict[str, str]) -> None:
    assert titles(opened(menu.PARTITION.script, runs["transformer_block"])) == ["This compilation has no joint graph"]


def test_torchs_script_of_a_graph_opens_in_the_editor(runs: dict[str, str]) -> None:
    app = opened(menu.FX_GRAPH.script, runs["foreign"])
    next(button for button in app.button if button.label == "Open as a script").click().run()

    assert_sound(app)
    assert titles(app) == ["What does torch.compile do to your model?"]
    assert "import torch._inductor.inductor_prims" in app.session_state["pasted"]
    assert app.session_state["pasted"] in component(app, "pasted-code").values()


def test_next_and_back_lead_through_the_tour(runs: dict[str, str]) -> None:
    app = sound(opened(menu.TOUR.script, runs["transformer_block"]))
    names = app.segmented_control(key="stop").options
    assert app.button(key="tour-back").disabled
    app.button(key="tour-next").click().run()
    app.button(key="tour-next").click().run()
    assert app.query_params["stop"] == names[2]
    app.button(key="tour-back").click().run()
    assert app.query_params["stop"] == names[1]
