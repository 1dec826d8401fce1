"""The page Accelerator, of a run that was made by hand; and what it says where there is none."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import CompileJob, CompileOptions, Model
from core.accelerator.program.program import PROGRAMS
from core.report import PipelineSegment
from pages import menu
from tests.support.apps import (
    assert_sound,
    code_of,
    component,
    forget,
    keys,
    opened,
    read_titles,
    read_words,
    sound,
    words,
)
from tests.support.homes import add_run, add_scenario, line, record
from tests.support.pipelines import ACCELERATED, FILE, PROGRAM, REFUSED, SEGMENT, add_pipeline, pipeline_log
from tests.support.screen import arranged, plain

PAGE = menu.ACCELERATOR.script
NO_COMPILER = "the backend `accelerator` builds its runtime with a C++ compiler, and there is none: install g++"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPILEBOARD_HOME", str(directory))
        forget()
        yield directory
    forget()


@pytest.fixture(scope="module")
def run(home: Path) -> str:
    return add_pipeline(home).id


def at(station: str, run: str, **query: Any) -> AppTest:
    return sound(opened(PAGE, run, station=station, **query))


def table(app: AppTest, index: int = 0) -> list[list[object]]:
    return [list(row) for row in app.dataframe[index].value.to_numpy().tolist()]


def test_panels_stand_beside_each_other_and_one_segment_is_no_choice(run: str) -> None:
    app = opened(menu.ACCELERATOR.script, run)
    assert arranged(app) == ["2 × row center", "1 × row", "1 × row none gap"]
    assert "Segment" not in [box.label for box in app.selectbox]


def test_the_title_says_how_much_went_to_the_accelerator(run: str) -> None:
    assert read_titles(at("graph", run)) == ["5 of 6 ops in 1 segment on the accelerator: 5 program entries, 2.64 kB"]


def test_the_graph_is_coloured_by_segments_and_what_torch_runs_says_why(run: str) -> None:
    app = at("graph", run, select="n:cumsum", drawer="order")
    data = component(app, "pipeline-0/0-aot_inference_graph")
    overlay = next(found for found in data["overlays"] if found["name"] == "segment")
    assert [one["name"] for one in overlay["categories"]] == [
        "input or output",
        "segment_0",
        "torch: no kernel for aten.cumsum.default",
    ]
    assert [row[0] for row in table(app)] == ["segment_0", "cumsum"]
    assert (
        "The inference graph of 6 ops: 1 segment, 128 B in and 60 B out across its borders; 1 op stays"
        in read_words(app)
    )


def test_ops_that_stay_with_torch_are_listed_by_their_reason(home: Path, run: str) -> None:
    every = "Every op of this graph is in a segment."
    refused = read_words(at("graph", run, drawer="with torch"))
    assert ("**1 op**: no kernel for" in refused, every in refused) == (True, False)
    whole = add_run(home, "whole", pipeline_log(SEGMENT, ())).id
    assert every in read_words(at("graph", whole, drawer="with torch"))


@pytest.mark.parametrize(
    ("node", "rows"),
    [
        ("relu", ["in `segment_0`: 128 B in, 60 B out", "instruction 2, `product`, fused with `mm`, `add`"]),
        ("mul", ["in `segment_0`: 128 B in, 60 B out", "no instruction: a pass took it out, or it is in the strides"]),
        ("cumsum", ["with torch", "no kernel for aten"]),
        ("x", ["nothing: it is an input or the output of the graph"]),
    ],
)
def test_a_node_says_where_it_runs(run: str, node: str, rows: list[str]) -> None:
    texts = [plain(str(text)) for text in at("graph", run, select=f"n:{node}").table[0].value.iloc[:, 0]][1:]
    assert [text.startswith(start) for text, start in zip(texts, rows, strict=True)] == [True] * len(rows), texts


def test_the_program_is_a_table_of_its_instructions_with_their_nodes_and_lines(run: str) -> None:
    app = at("program", run)
    assert table(app)[2] == [
        2,
        "product",
        "mm, add, relu",
        "relu: f32[3, 5]",
        "x, w, b",
        "add = add(product, b); relu = relu(add)",
        "return self.head(x).cumsum(1)",
    ]
    assert "5 ops of the graph became 2 inputs, 2 instructions and 1 result." in read_words(app)


def test_a_pass_is_shown_before_and_after_at_first_the_one_that_took_out_the_most(run: str) -> None:
    app = at("passes", run)
    shown = code_of(app, "pass-")
    assert "".join(text for _, text in shown["lines"][0][2]) == "--- as it was read"
    assert shown["title"] == "2 lines out, 1 in"
    assert code_of(app, "after-")["title"] == "after fuse-products"
    assert "3 entries became 2. Switched off: fold-constants" in read_words(app)
    assert "This pass changed nothing here." in words(at("passes", run, frame="2"))
    assert "Before the first pass there is nothing to compare with." in words(at("passes", run, frame="0"))


def test_the_chosen_pass_is_in_the_url(run: str) -> None:
    app = at("passes", run)
    assert app.query_params["frame"] == "1"
    app.button_group(key="frame").set_value("0").run()
    assert sound(app).query_params["frame"] == "0"


def test_memory_is_drawn_with_what_it_saves(run: str) -> None:
    app = at("memory", run)
    assert "Temporaries of 192 B in an arena of 128 B, 66.7 % of that" in read_words(app)
    assert [row[0] for row in table(app)] == ["x", "w", "b", "mm", "relu", "mul", "softmax"]


def test_the_file_is_shown_section_by_section(run: str) -> None:
    shown = code_of(at("file", run, listing="instructions"), "dump-")
    assert "".join(text for _, text in shown["lines"][0][2]) == (
        f"{(PROGRAM.index(SECTION)).to_bytes(4, 'big').hex()}  01 00 00 00 1b 00 00 00  00 00 00 00 00 00 00 00  "
        "················  instruction 0 x: t0 ← argument()"
    )
    assert "CRC32C" in words(at("file", run, listing="tensors"))


def test_a_program_is_downloaded_as_a_file_and_as_c(run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    offered: dict[str, str] = {}
    monkeypatch.setattr(st, "download_button", lambda label, _, name, *__, **___: offered.update({label: name}))
    at("file", run)
    assert (offered["Program"], offered["As C"]) == ("0_0-inference-segment_0.cbp", "0_0-inference-segment_0.c")


SECTION = bytes.fromhex("01000000 1b000000") + bytes(8)


def test_of_a_log_without_its_files_the_sections_are_told_as_they_were_recorded(home: Path) -> None:
    run = add_run(home, "elsewhere", pipeline_log(), kind="log").id
    app = opened(PAGE, run, station="file")
    assert_sound(app)
    assert [item.value for item in app.error] == ["the program's file is not here\\: an imported log comes without it"]
    assert [row[0] for row in table(app)] == [section.name for section in SEGMENT.sections]


def test_a_damaged_file_is_said_to_be_damaged(home: Path) -> None:
    found = add_pipeline(home)
    at_ = SEGMENT.sections[2].offset
    (found.path / PROGRAMS / FILE).write_bytes(PROGRAM[:at_] + b"\x07" + PROGRAM[at_ + 1 :])
    assert "which **its bytes do not have**: the file was damaged" in words(at("file", found.id, listing="tensors"))


def test_calls_across_the_abi_are_told_with_what_torch_ran_and_the_stages(run: str) -> None:
    app = at("calls", run)
    assert table(app) == [["inference · segment_0", 4, 0.001, 0.00025, 128, 1, 1, 2]]
    assert "4 calls across the ABI: 4.00 ms in the runtime on 2 threads" in read_words(app)
    assert "torch ran it 2 times: an input has other sizes, or another dtype, than the graph says" in read_words(app)


def test_a_segment_without_a_program_says_why(home: Path) -> None:
    broken = PipelineSegment("segment_0", ("mm", "add"), 8, 8, problem="a size that no input tells")
    run = add_run(home, "broken", pipeline_log(broken), job=ACCELERATED).id
    for station in ("program", "passes", "memory", "file"):
        infos = [plain(item.value) for item in at(station, run).info]
        assert infos == ["Torch runs this segment, since no program could be made: a size that no input tells."]
    assert read_titles(at("graph", run)) == ["0 of 3 ops in 0 segments on the accelerator: 0 program entries, 0 B"]


def test_two_runs_stand_beside_each_other(home: Path, run: str) -> None:
    other = add_pipeline(home, pipeline_log(replace(SEGMENT, arena_bytes=192), ())).id
    app = at("changes", run, other=other)
    assert "1 op went back to torch." in read_words(app)
    assert table(app)[8] == ["temporaries as they are placed", "192 B", "128 B", "−64 B (33.3 %)"]
    assert table(app, 1) == [["cumsum", 0, 1]]


def test_what_was_chosen_before_is_what_the_menu_begins_with(submitted: list[CompileJob], empty_home: Path) -> None:
    app = sound(opened(PAGE, add_pipeline(empty_home).id))
    assert app.multiselect(key="pipeline-without").value == ["cumsum"]
    assert app.multiselect(key="pipeline-without").options == ["cumsum", "mm", "add", "relu", "mul", "_softmax"]
    assert app.button(key="pipeline-run").disabled
    app.multiselect(key="pipeline-without").set_value(["relu", "add"])
    app.multiselect(key="pipeline-passes").set_value(["plan-memory"])
    app.toggle(key="pipeline-freeze").set_value(True).run()
    app.button(key="pipeline-run").click().run()
    assert [job.compile for job in submitted] == [
        CompileOptions(backend="accelerator", options={"without": "relu add", "passes": "plan-memory", "freeze": True})
    ]


def test_a_run_of_another_backend_is_offered_to_the_accelerator(submitted: list[CompileJob], empty_home: Path) -> None:
    run = add_scenario(empty_home, "transformer_block")
    app = sound(opened(PAGE, run))
    assert read_titles(app) == ["This run did not use the accelerator"]
    assert "This run used `inductor`." in read_words(app)


def test_without_a_compiler_that_is_said_and_other_backends_are_offered(
    submitted: list[CompileJob], empty_home: Path
) -> None:
    said = {"stage": "call 0", "type": "BackendCompilerFailed", "field": "", "message": NO_COMPILER}
    error = record("compileboard_error", {"schema": 1, **said, "frames": [], "traceback": ""})
    log = line({"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0}, "") + error
    run = add_run(empty_home, "failed", log, job=ACCELERATED, state="failed")
    app = sound(opened(PAGE, run.id))
    assert read_titles(app) == ["The accelerator could not be used"]
    assert "builds its runtime with a C\\+\\+ compiler" in app.error[0].value
    app.button(key="instead-aot_eager").click().run()
    chosen = {"backend": "aot_eager", "mode": None, "options": None}
    assert submitted == [CompileJob(Model("sample", "mlp")).with_settings(**chosen)]


def test_nothing_of_a_log_becomes_markup(home: Path) -> None:
    image = "<img src=x onerror=alert(1)>"
    hostile = replace(SEGMENT, name="segment_0", problem="", file="../../job.json")
    run = add_run(home, "hostile", pipeline_log(hostile, (replace(REFUSED, reason=f"{image}[a](http://b)"),))).id
    for station in ("graph", "program", "passes", "memory", "file", "calls"):
        app = at(station, run, drawer="with torch")
        assert image not in words(app)
        assert "](http" not in words(app)
    assert [key for key in keys(app) if key.startswith("dump-")] == []
