"""Where a run's times are no evidence, the same job is offered to be measured again, as a run of its own."""

from pathlib import Path
from typing import Any

import pytest

from core import CompileJob
from pages import menu
from tests.support.apps import assert_sound, opened, words
from tests.support.homes import add_run, job_of, measured_log, record

BUSY: dict[str, Any] = {"load": {"others": 0.75, "waited": 0.4}}
SLOW = "TimeoutError: one call takes 2.03 s, and 3 s are there to time its kernels."


def _offers(page: str, run: str, **query: Any) -> list[str]:
    app = opened(page, run, **query)
    assert_sound(app)
    return [button.label for button in app.button if (button.key or "").startswith("measure-again")]


@pytest.fixture
def runs(submitted: list[CompileJob], empty_home: Path) -> dict[str, str]:
    job = job_of("transformer_block")
    untimed = record("compileboard_kernel_times", {"schema": 1, "reason": SLOW})
    logs = {"quiet": measured_log(), "busy": measured_log(**BUSY), "untimed": measured_log() + untimed}
    return {name: add_run(empty_home, "transformer_block", log, job=job).id for name, log in logs.items()}


@pytest.mark.parametrize("page", [menu.OVERVIEW, menu.SPEEDUP, menu.KERNELS])
def test_a_doubtful_run_is_offered_to_be_measured_again_and_a_quiet_one_is_not(
    runs: dict[str, str], page: menu.Page
) -> None:
    label = "Time the kernels" if page is menu.KERNELS else "Measure again"
    assert _offers(page.script, runs["quiet"]) == []
    assert _offers(page.script, runs["busy"]) == [label]


def test_a_doubtful_run_is_measured_again_by_the_same_job_and_its_run_is_shown(
    runs: dict[str, str], submitted: list[CompileJob]
) -> None:
    app = opened(menu.OVERVIEW.script, runs["busy"])
    app.button(key="measure-again-0").click().run()
    assert_sound(app)
    (job,) = submitted
    assert (job.model.value, job.measure, job.sweep) == ("transformer_block", True, "")


def test_each_side_of_a_comparison_is_measured_again_by_itself(runs: dict[str, str]) -> None:
    assert _offers(menu.COMPARE.script, runs["quiet"], other=runs["busy"]) == ["Measure again (right)"]
    assert _offers(menu.COMPARE.script, runs["busy"], other=runs["busy"]) == [
        "Measure again (left)",
        "Measure again (right)",
    ]


def test_kernels_that_there_was_no_time_for_are_timed_by_the_same_job_once_more(
    runs: dict[str, str], submitted: list[CompileJob]
) -> None:
    app = opened(menu.KERNELS.script, runs["untimed"])
    assert "Kernels were not timed: one call takes 2.03 s" in words(app).replace("\\", "")
    app.button(key="measure-again-0").click().run()
    assert_sound(app)
    (job,) = submitted
    assert (job.model.value, job.measure, job.sweep) == ("transformer_block", True, "")
