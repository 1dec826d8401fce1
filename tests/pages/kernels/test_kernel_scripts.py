"""The scripts around a kernel: the one that reproduces it, and the one that interprets it."""

from pathlib import Path

import pytest
from msgspec import structs

from core.base.errors import ToolError
from core.runs.tools.tasks import Interpret, Reproduce, ReproduceAnswer
from pages import menu
from tests.support.apps import code_of, opened, read_titles, sound
from tests.support.reports.kernel_answers import INTERPRETED, answer_with, made

PAGE = menu.KERNEL.script


def test_the_reproduction_script_can_be_read_and_downloaded(empty_home: Path) -> None:
    run, kernel = made(empty_home, "cpp")
    app = sound(opened(PAGE, run.id, view="reproduce"))

    script = "\n".join("".join(run[1] for run in line[2]) for line in code_of(app, "repro-")["lines"])
    assert script.startswith(f'"""{kernel.name}, alone')
    assert "torch.testing.assert_close" in script


@pytest.mark.parametrize(
    ("code", "said"), [(0, "It ran, and all compared results equal eager."), (3, "It ended with exit code 3.")]
)
def test_the_reproduction_script_runs_when_it_is_asked_for(empty_home: Path, code: int, said: str) -> None:
    run, kernel = made(empty_home, "cpp")
    answer_with(run, Reproduce(kernel.id), ReproduceAnswer("" if code else "eager 1 ms", code))
    app = sound(opened(PAGE, run.id, view="reproduce"))
    assert [*app.success, *app.error, *app.code] == []
    app.button(key="run-repro").click().run()

    shown = [*sound(app).success, *app.error]
    assert [item.value.replace("\\", "")[: len(said)] for item in shown] == [said]
    assert app.code[0].value == ("It printed nothing." if code else "eager 1 ms")


def test_a_kernel_that_cannot_be_reproduced_says_why(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> str:
        raise ToolError("its inputs are not in the log")

    monkeypatch.setattr("core.views.kernels.kernel.reproduction_of", refuse)
    run, _ = made(empty_home, "cpp")
    app = sound(opened(PAGE, run.id, view="reproduce"))
    assert [item.value for item in app.info] == ["its inputs are not in the log"]
    assert not [button for button in app.button if button.key == "run-repro"]


def test_code_of_ones_own_is_interpreted_at_the_program_that_is_asked_for(empty_home: Path) -> None:
    run, _ = made(empty_home, "cpp")
    answer_with(run, Interpret("", "", (0, 0, 0)), INTERPRETED)
    answer_with(
        run, Interpret("", "result = 1", (2, 0, 1)), structs.replace(INTERPRETED, same=False, words="result: differs")
    )
    app = sound(opened(PAGE, run.id, view="interpreter"))
    assert read_titles(app) == ["Triton's interpreter on an example kernel: the selected kernel is not Triton"]
    assert app.segmented_control(key="interpret").options == ["vector add", "your code"]
    assert len(app.success) == 1
    app.segmented_control(key="interpret").set_value("your code").run()
    assert (len(sound(app).success), len(app.number_input)) == (0, 0)
    app.text_area(key="interpret-code").set_value("result = 1").run()
    app.number_input(key="program-x").set_value(2)
    app.number_input(key="program-z").set_value(1).run()
    assert sound(app).error[0].value.replace("\\", "") == "result: differs"
