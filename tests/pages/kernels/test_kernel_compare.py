"""Two forms of a kernel, beside one another."""

from pathlib import Path

from msgspec import structs

from core.runs.tools.tasks import Assembly, Ladder, Rung, Task, Trouble, create
from pages import menu
from tests.support.apps import code_of, keys, opened, sound, words
from tests.support.homes import add_run, job_of
from tests.support.reports.kernel_answers import ASSEMBLY, LADDER, answer_with, made

PAGE = menu.KERNEL.script


def test_without_another_run_a_kernel_is_not_compared_with_its_own_assembly(empty_home: Path) -> None:
    run, _ = made(empty_home, "cpp")
    app = sound(opened(PAGE, run.id, view="compare"))

    assert "No other run of this model generates C++. Run it again" in app.info[0].value
    assert [box.key for box in app.selectbox if str(box.key).startswith("compare-")] == []


def test_the_same_kernel_in_another_run_is_preset_in_one_form(empty_home: Path) -> None:
    (run, kernel), (other, _) = made(empty_home, "cpp"), made(empty_home, "cpp")
    for one in (run, other):
        answer_with(one, Assembly(kernel.id), ASSEMBLY)
    app = sound(opened(PAGE, run.id, view="compare"))

    chosen = {key: app.selectbox(key=f"compare-{key}").value for key in ("run-other", "kernel-other", "rung-other")}
    assert chosen == {"run-other": other.id, "kernel-other": kernel.id, "rung-other": "cpp"}
    assert app.success[0].value == "Both are identical."
    app.selectbox(key="compare-rung-other").set_value("asm").run()
    assert "only on the left" in words(sound(app))


def test_what_both_sides_need_is_asked_and_waited_for_once(empty_home: Path) -> None:
    (waiting, kernel), (failed, _) = made(empty_home, "cpp"), made(empty_home, "cpp")
    assert create(waiting, Task(Assembly(kernel.id)))
    answer_with(failed, Assembly(kernel.id), Trouble("g++ could not compile the kernel", ""))
    for run, label in ((waiting, "Cancel"), (failed, "Try again")):
        app = sound(opened(PAGE, run.id, view="compare"))
        app.selectbox(key="compare-run-other").set_value(run.id).run()
        assert [button.label for button in sound(app).button] == [label]


def test_rungs_of_triton_are_compared_without_their_locations(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(
        run, Ladder(kernel.id), structs.replace(LADDER, rungs=(*LADDER.rungs, Rung("ttgir", "a\nc loc(#loc7)", {})))
    )
    app = sound(opened(PAGE, run.id, view="compare"))

    assert "1 line only on the left, 1 only on the right." in words(app)
    lines = ["".join(piece for _, piece in line[2]) for line in code_of(app, "diff-")["lines"]]
    named = f"{kernel.name}, as generated, config 0"
    assert lines == [f"--- {named}, TTIR", f"+++ {named}, TTGIR", "@@ -1,2 +1,2 @@", " a", "-b", "+c"]


def test_a_rung_that_a_target_does_not_have_is_said_to_be_missing(empty_home: Path) -> None:
    run, kernel = made(empty_home, "triton")
    answer_with(run, Ladder(kernel.id), LADDER)
    app = sound(opened(PAGE, run.id, view="compare"))

    assert "has no TTGIR: that target ends on another rung" in app.info[0].value
    assert not [key for key in keys(app) if key.startswith("diff-")]


def test_the_kernel_of_the_same_nodes_is_compared_with_in_another_run(empty_home: Path) -> None:
    (run, kernel), (other, _) = made(empty_home, "cpp"), made(empty_home, "cpp")
    answer_with(run, Assembly(kernel.id), ASSEMBLY)
    answer_with(other, Assembly(kernel.id), structs.replace(ASSEMBLY, source=ASSEMBLY.source.replace("p[i]", "q[i]")))
    app = opened(PAGE, run.id, view="compare")
    app.selectbox(key="compare-run-other").set_value(other.id)
    app.selectbox(key="compare-rung-other").set_value("cpp").run()

    assert sound(app).selectbox(key="compare-kernel-other").value == kernel.id
    assert "1 line only on the left, 1 only on the right." in words(app)


def test_a_run_that_has_nothing_to_compare_with_is_said_to_have_nothing(empty_home: Path) -> None:
    run, kernel = made(empty_home, "cpp")
    answer_with(run, Assembly(kernel.id), ASSEMBLY)
    failed = add_run(empty_home, "failed", None, job=job_of("transformer_block"), state="failed")
    app = opened(PAGE, run.id, view="compare")
    for other, why in (
        (failed.id, "That run has no report."),
        (made(empty_home, "triton")[0].id, "That run has no kernel of the same language."),
    ):
        app.run().selectbox(key="compare-run-other").set_value(other).run()
        assert [item.value for item in sound(app).info] == [why]
