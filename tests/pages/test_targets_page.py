"""The page of two targets side by side: what it compares, what it says of each side, and what it says without a second
one.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pages import menu
from tests.record import normalised
from tests.support.apps import assert_sound, component, keys, opened, titles, words
from tests.support.homes import CREATED_S, IMAGE, add_run, add_scenario, job_of, record
from tests.support.places import TRACES
from tests.support.screen import plain

PAGE = menu.TARGETS.script
TRACE = TRACES / "transformer_block"
SETTING: dict[str, Any] = json.loads((TRACE / "report.json").read_bytes())["setting"]
NORM, GELU = "cpp_fused_native_layer_norm_0", "cpp_fused_gelu_view_2"


def triton_log(target: str, registers: int, replacements: dict[str, str] | None = None) -> bytes:
    """The transformer block, said to be generated for a target, with two kernels that take so many registers."""
    places = {"async_compile.cpp_pybinding(": "async_compile.triton(", **(replacements or {})}
    setting = record("compileboard_job", {"schema": 1, **SETTING, "target": target})
    binaries = b"".join(binary_record(name, registers) for name in (NORM, GELU))
    return normalised((TRACE / "trace.log").read_bytes(), places) + setting + binaries


def binary_record(name: str, registers: int) -> bytes:
    """A kernel with one config, as a worker records it."""
    config = {"kwargs": {"XBLOCK": 64}, "num_warps": 4, "num_stages": 1, "chosen": True, "compile_s": 0.1}
    config |= {"registers": registers, "spill_bytes": 0, "shared_bytes": 0}
    data = {"schema": 1, "name": name, "direction": "inference", "graph_id": 0, "heuristic": "pointwise"}
    line = record("compileboard_binary", {**data, "choice": "the only config", "configs": [config]})
    return line.replace(
        b'"encoding": "json"}', b'"encoding": "json"}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0', 1
    )


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """Ids of the runs of one model."""

    cpu: str
    a100: str
    h100: str


def add_target(home: Path, target: str, log: bytes) -> str:
    job = {**job_of("transformer_block"), "target": target}
    made_s = CREATED_S + 60 * len(list((home / "runs").glob("*")))
    return add_run(home, "transformer_block", log, job=job, created_s=made_s).id


@pytest.fixture
def stored(empty_home: Path) -> StoredGraph:
    """A run on the CPU, and one each for two targets that differ in registers alone."""
    return StoredGraph(
        add_target(empty_home, "", (TRACE / "trace.log").read_bytes()),
        add_target(empty_home, "a100", triton_log("a100", 26)),
        add_target(empty_home, "h100", triton_log("h100", 27)),
    )


def test_the_title_says_what_differs_and_each_side_what_it_is(stored: StoredGraph) -> None:
    app = opened(PAGE, stored.a100, other=stored.h100)

    assert_sound(app)
    assert titles(app) == ["Fusion is the same; 2 of 4 kernels differ in registers; the generated source is identical"]
    said = words(app).replace("\\", "")
    assert "**Left** (this run): generated for NVIDIA A100, which is not present; not run." in said
    assert "**Right**: generated for NVIDIA H100, which is not present; not run." in said
    assert "in all kernels, predicted" in said


def test_cells_that_differ_are_marked_by_a_sign(stored: StoredGraph) -> None:
    app = opened(PAGE, stored.a100, other=stored.h100)
    calls, pairs = (frame.value for frame in app.dataframe[:2])
    table = pairs.set_index("generated name")

    assert (table.loc[NORM, "registers"], table.loc[NORM, "differs"]) == ("26 ≠ 27", "registers")
    assert table.loc[NORM, "config"] == "XBLOCK: 64, num_warps: 4, num_stages: 1"
    assert len(table) == 9
    assert "NVIDIA H200" in {*calls["device"]}
    assert not table.drop(columns=["registers", "differs"]).map(lambda value: "≠" in str(value)).any(axis=None)


def test_the_right_side_is_a_run_for_another_target_and_is_kept_in_the_url(stored: StoredGraph) -> None:
    app = opened(PAGE, stored.a100)
    assert app.query_params["other"] == stored.h100
    app.selectbox(key="other").set_value(stored.cpu).run()

    assert_sound(app)
    assert app.query_params["other"] == stored.cpu
    assert "4 kernels are Triton on the left and C++ on the right" in plain(titles(app)[0])
    assert f"**Right**: run on {SETTING['device']}." in words(app).replace("\\", "")


def test_the_selected_pairs_sources_are_shown_as_a_difference(stored: StoredGraph, empty_home: Path) -> None:
    changed = add_target(
        empty_home, "mi300x", triton_log("mi300x", 11, {"std::erf": "libdevice.erf", ".erf()": ".erf2()"})
    )
    app = opened(PAGE, stored.h100, other=changed, select=f"k:0/0.inference.{GELU}")

    assert_sound(app)
    assert app.query_params["select"] == f"k:0/0.inference.{GELU}"
    diff = component(app, next(key for key in keys(app) if key.startswith("diff-Difference")))
    assert "".join(piece for _, piece in diff["lines"][0][2]) == f"--- {GELU}, left"


def test_sources_that_are_the_same_to_the_letter_are_reported_to_be(stored: StoredGraph) -> None:
    app = opened(PAGE, stored.a100, other=stored.h100)
    assert [plain(item.value) for item in app.success] == ["The generated sources are identical."]


def test_sources_of_two_languages_are_side_by_side(stored: StoredGraph) -> None:
    app = opened(PAGE, stored.cpu, other=stored.h100, select=f"k:0/0.inference.{GELU}")

    assert_sound(app)
    assert [block.language for block in app.code[-2:]] == ["cpp", "python"]


def test_an_extern_kernel_has_no_source_to_compare(stored: StoredGraph) -> None:
    extern = next(
        kernel["id"]
        for kernel in json.loads((TRACE / "report.json").read_bytes())["compilations"][0]["kernels"]
        if kernel["extern"]
    )
    app = opened(PAGE, stored.a100, other=stored.h100, select=f"k:{extern}")

    assert_sound(app)
    assert "Extern kernels are library functions" in words(app)


def test_without_another_run_of_the_model_one_is_offered(empty_home: Path) -> None:
    add_scenario(empty_home, "training_step")
    app = opened(PAGE, add_scenario(empty_home, "transformer_block"))

    assert_sound(app)
    assert titles(app) == ["There is no other run of this model yet"]
    assert "retarget-h100" in [button.key for button in app.button]


def test_a_run_without_kernels_has_nothing_to_compare(empty_home: Path) -> None:
    app = opened(PAGE, add_scenario(empty_home, "eager_backend"))

    assert_sound(app)
    assert titles(app) == ["This compilation has no kernel"]


def test_a_right_side_that_failed_is_reported_to_have_no_kernel(stored: StoredGraph, empty_home: Path) -> None:
    job = job_of("transformer_block")
    failed = add_run(empty_home, "transformer_block", None, job=job, state="failed").id
    app = opened(PAGE, stored.a100, other=failed)

    assert_sound(app)
    assert titles(app) == ["The run on the right has no kernel to compare with"]


def test_names_that_mean_harm_are_shown_as_text(empty_home: Path) -> None:
    places = {"cpp_fused_gelu_view_2": "cpp_fused_gelu", "erf": "<b onclick=alert(1)>"}
    runs = [add_target(empty_home, target, triton_log(target, 20, places)) for target in ("a100", "h100")]
    app = opened(PAGE, runs[0], other=runs[1])

    assert_sound(app)
    assert IMAGE not in words(app)
    assert "<b" not in words(app)
