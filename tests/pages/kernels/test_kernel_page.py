"""The page of one kernel, from stored answers of the tools: what it draws, what it says while it waits, and when they
fail.
"""

from pathlib import Path
from typing import Any

import pytest

from core import Run, open_report
from core.runs.tools.tasks import Assembly, Configs, Interpret, Ladder, LadderAnswer, Passes, Task, Trouble, create
from core.views.kernels import KernelTool
from pages import menu
from pages.session import actions
from tests.record import SCENARIOS
from tests.support.apps import code_of, component, keys, opened, read_titles, read_words, sound, words
from tests.support.homes import IMAGE, NOT_LOGS, add_run, add_scenario, job_of, record
from tests.support.reports.kernel_answers import (
    ASSEMBLY,
    CONFIGS,
    FIGURES,
    INTERPRETED,
    LADDER,
    PASSES,
    answer_with,
    log_of,
    made,
)

PAGE = menu.KERNEL.script


def test_the_ladder_shows_two_rungs_with_linked_lines_and_says_that_it_did_not_run(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(run, Ladder(kernel.id), LADDER)
    app = sound(opened(PAGE, run.id))

    assert "Compiled for NVIDIA H100 (cuda:sm\\_90) on this machine; not run." in read_words(app)
    assert "22 registers a thread, no spills, 8 B of shared memory a block, theoretical occupancy 100 %." in read_words(
        app
    )
    left, right = (component(app, key) for key in keys(app) if key.endswith(("left-python", "right-sass")))
    assert (left["title"], right["title"], left["channel"] == right["channel"]) == ("Triton Python", "SASS", True)
    assert (left["lines"][2][3], right["lines"][0][3]) == (["s:3"], ["s:3"])
    assert app.query_params["item"] == f"k:{kernel.id}"


def test_any_rung_can_be_put_on_either_side(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(run, Ladder(kernel.id), LADDER)
    app = opened(PAGE, run.id)
    next(item for item in app.segmented_control if str(item.key).endswith("-right")).set_value("ttir").run()

    assert next(key for key in keys(sound(app)) if key.endswith("right-ttir"))
    next(item for item in app.segmented_control if str(item.key).endswith("-right")).set_value(None).run()
    assert next(key for key in keys(sound(app)) if key.endswith("right-sass"))


def test_a_problem_of_the_target_stands_above_the_rungs(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    problem = "it needs 131,072 bytes of shared memory a block; the target allows 101,376"
    tight = LadderAnswer("NVIDIA L4", 0, LADDER.configs, LADDER.rungs, FIGURES, (), problem)
    answer_with(run, Ladder(kernel.id, "l4"), tight)
    app = sound(opened(PAGE, run.id, target="l4"))

    assert app.warning[0].value.replace("\\", "") == problem


def test_the_passes_are_listed_and_the_first_one_is_opened(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(run, Passes(kernel.id), PASSES)
    app = sound(opened(PAGE, run.id, view="passes"))

    assert "1 pass of 68 changed the module" in read_words(app)
    assert list(app.dataframe[0].value["pass"]) == ["CSE"]
    assert code_of(app, "diff-")["title"] == "CSE (cse)"


def test_the_configs_are_a_table_that_says_what_did_not_compile(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(run, Configs(kernel.id), CONFIGS)
    app = sound(opened(PAGE, run.id, view="configs"))

    assert "not timed: the device is not present" in read_words(app)
    table = app.dataframe[0].value
    assert list(table["settings"]) == ["XBLOCK=1", "XBLOCK=8"]
    assert list(table["problem"]) == ["", "Triton could not"]


def test_a_config_that_autotuning_measured_has_its_time(empty_home: Path) -> None:
    _, kernel = made(empty_home, "triton")
    choices = [{"name": "XBLOCK: 8", "time_s": 2e-6, "chosen": True}, {"name": "XBLOCK: 1", "time_s": 3e-6}]
    autotuning = record(
        "compileboard_autotuning", {"schema": 1, "name": kernel.name, "kind": "configs", "choices": choices}
    )
    run = add_run(empty_home, "tuned", log_of("triton") + autotuning, job=job_of("transformer_block"))
    answer_with(run, Configs(kernel.id), CONFIGS)
    app = sound(opened(PAGE, run.id, view="configs"))

    assert "times are those of the run's autotuning" in read_words(app)
    assert app.dataframe[0].value[["", "time"]].to_dict("list") == {"": ["", "chosen"], "time": [3e-6, 2e-6]}


def test_the_assembly_stands_beside_its_source_with_the_loops_marked(empty_home: Path) -> None:
    run, kernel = made(empty_home, "cpp")
    answer_with(run, Assembly(kernel.id), ASSEMBLY)
    app = sound(opened(PAGE, run.id))

    assert "1 of 1 loop vectorised; 1 OpenMP region outlined." in read_words(app)
    source, assembly = (component(app, key) for key in keys(app) if key.endswith(("-cpp", "-asm")))
    loop = source["lines"][3]
    assert (loop[5], loop[6]) == ("ok", "vectorised with 64-byte vectors, written as at::vec::Vectorized<float>")
    assert source["lines"][2][6] == "OpenMP: parallel"
    assert assembly["lines"][1][3] == source["lines"][4][3] == ["s:5"]


def test_the_interpreters_blocks_are_drawn_on_the_tensors(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(run, Interpret(kernel.id), INTERPRETED)
    app = sound(opened(PAGE, run.id, view="interpreter"))

    assert read_titles(app)[0].replace("\\", "").startswith(kernel.name)
    assert app.success[0].value.replace("\\", "") == "result: is what eager computes"
    assert "`x` `float32[4, 8]`: 3 loads and 1 store" in read_words(app)


def test_while_a_tool_works_the_page_says_so_and_can_cancel_and_the_source_stands_there(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    assert create(run, Task(Ladder(kernel.id)))
    app = sound(opened(PAGE, run.id))

    assert "Starting torch… " in read_words(app)
    assert [button.label for button in app.button] == ["Cancel"]
    source = component(app, f"kernel-{kernel.id}")
    assert (source["title"], source["lines"][0][0]) == (kernel.name, kernel.lines[0])


def test_two_tools_can_be_waited_for_at_once(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    assert create(run, Task(Ladder(kernel.id)))
    assert create(run, Task(Ladder(kernel.id, "h100")))
    app = opened(PAGE, run.id, view="compare")
    next(item for item in app.selectbox if item.label == "Target" and str(item.key).endswith("other")).set_value(
        "h100"
    ).run()
    assert [button.label for button in sound(app).button] == ["Cancel", "Cancel"]


def test_a_tool_that_failed_says_why_and_can_be_tried_again(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, kernel = made(empty_home, "cpp")
    answer_with(run, Assembly(kernel.id), Trouble("g++ could not compile the kernel", "kernel.cpp:1:1: error: no"))
    app = sound(opened(PAGE, run.id))

    assert app.error[0].value.replace("\\", "") == "g++ could not compile the kernel"
    assert app.code[0].value == "kernel.cpp:1:1: error: no"
    assert [button.label for button in app.button] == ["Try again"]
    assert read_titles(app)[0].endswith("FX nodes")
    started: list[KernelTool] = []
    monkeypatch.setattr(actions, "start_tool", started.append)
    app.button[0].click().run()
    assert (list(sound(app).error), [(tool.run, tool.request) for tool in started]) == (
        [],
        [(run, Assembly(kernel.id))],
    )


@pytest.mark.promise("code")
def test_a_log_from_elsewhere_runs_nothing_before_it_is_trusted(
    empty_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code from an opened log runs only where code is allowed, and only after the user trusts the log."""
    run, kernel = made(empty_home, "triton", kind="log")
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "1")
    app = sound(opened(PAGE, run.id))
    assert "Continue only if you trust it." in app.info[0].value
    assert not (run.path / "tools").exists()
    answer_with(run, Ladder(kernel.id), LADDER)
    app.button(key="trust").click().run()
    assert "Compiled for NVIDIA H100" in words(sound(app))
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "0")
    app = sound(opened(PAGE, run.id))
    assert "This server allows that only for its own runs." in app.info[0].value


def test_a_deep_link_opens_a_kernel_and_a_view(empty_home: Path) -> None:
    run, _ = made(empty_home, "cpp")
    kernel = next(item for item in open_report(run).compilations[0].kernels if item.name.startswith("cpp_fused_gelu"))
    answer_with(run, Assembly(kernel.id), ASSEMBLY)
    app = sound(opened(PAGE, run.id, select=f"k:{kernel.id}", view="assembly"))

    assert read_titles(app)[0].startswith("cpp\\_fused\\_gelu")
    assert app.query_params["select"] == f"k:{kernel.id}"


def test_another_kernel_can_be_picked_in_the_box_or_by_a_link(empty_home: Path) -> None:
    run, _ = made(empty_home, "cpp")
    one, other = [item.id for item in open_report(run).compilations[0].kernels if not item.extern][:2]
    for kernel_id in (one, other):
        answer_with(run, Assembly(kernel_id), ASSEMBLY)
    app = opened(PAGE, run.id, select=f"k:{one}")
    app.selectbox(key="kernel").set_value(other).run()
    assert (sound(app).query_params["select"], app.selectbox(key="kernel").value) == (f"k:{other}", other)
    app.query_params["select"] = f"k:{one}"
    assert sound(app.run()).selectbox(key="kernel").value == one


@pytest.mark.parametrize("link", [{"kernel": "x" * 900}, {"view": "<b>"}, {"target": "../.."}, {"select": "k:gone"}])
def test_a_link_to_what_does_not_exist_is_no_error(empty_home: Path, link: dict[str, Any]) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(run, Ladder(kernel.id), LADDER)
    assert "Compiled for" in words(sound(opened(PAGE, run.id, **link)))


def test_what_a_tool_says_is_shown_as_text(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(run, Ladder(kernel.id), Trouble(f"{IMAGE} [click](http://evil.example/)", IMAGE))
    app = sound(opened(PAGE, run.id))

    assert "\\<img" in app.error[0].value
    assert "\\[click\\]" in app.error[0].value


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_recorded_scenario_opens(empty_home: Path, scenario: str) -> None:
    run = Run(name := add_scenario(empty_home, scenario), empty_home / "runs" / name)
    generated = {item.id for found in open_report(run).compilations for item in found.kernels if item.language == "cpp"}
    for kernel_id in generated:
        answer_with(run, Assembly(kernel_id), ASSEMBLY)
    app = sound(opened(PAGE, run.id))

    if scenario == "eager_backend":
        assert read_titles(app) == ["This compilation generated no C++ and no Triton kernel"]


@pytest.mark.parametrize("name", NOT_LOGS)
def test_no_log_is_bad_enough_for_an_exception(empty_home: Path, name: str) -> None:
    sound(opened(PAGE, add_run(empty_home, "log", NOT_LOGS[name], kind="log").id))
    assert list(empty_home.glob("runs/*/tools")) == []


def test_without_a_run_the_page_says_what_would_be_here(empty_home: Path) -> None:
    app = sound(opened(PAGE))
    assert app.header[0].value == "This page shows one kernel, from its source to machine code."
    app = sound(opened(PAGE, "../../etc"))
    assert "it may have been deleted" in app.warning[0].value
