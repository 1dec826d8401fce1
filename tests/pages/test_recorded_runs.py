"""A run that was recorded on a device which is not here offers what can be had here, and says what cannot."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Environment, Store, recordings
from core.runs.recordings import add_recording
from pages import menu
from pages.parts.run.submit import recorded_as
from pages.session import server
from tests.support.apps import assert_sound, elements, opened
from tests.support.homes import add_scenario

NEEDS = "needs a CUDA device, and this machine has none."


@pytest.fixture
def recorded(empty_home: Path, submitted: list[CompileJob], monkeypatch: pytest.MonkeyPatch) -> str:
    """A recorded run, on a machine without its device."""
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))
    return add_recording(Store(empty_home), "llama_block-inference").id


def test_what_needs_the_device_is_not_offered_and_the_device_is_named(recorded: str) -> None:
    app = opened(menu.OVERVIEW.script, recorded)
    assert_sound(app)
    captions = [item.value for item in app.caption]
    assert [text for text in captions if NEEDS in text] == [
        f"Running this again {NEEDS}",
        f"`dtype=bfloat16` {NEEDS}",
    ]
    offered = {button.key for button in app.button}
    assert {key for key in offered if key and key.startswith(("try-", "overview-", "what-if"))} == set()


@pytest.mark.parametrize(
    ("page", "key"),
    [
        (menu.BACKEND, "with-inspect"),
        (menu.ACCELERATOR, "instead-aot_eager"),
        (menu.AOTINDUCTOR, "package-model"),
        (menu.NEIGHBOURS, "neighbours-now"),
    ],
)
def test_pages_of_backends_lead_on_by_the_cpu(
    recorded: str, submitted: list[CompileJob], page: menu.Page, key: str
) -> None:
    app = opened(page.script, recorded)
    assert_sound(app)
    assert "No CUDA device is here: a new run uses the CPU." in [item.value for item in app.caption]
    app.button(key=key).click().run()
    assert [(job.device, job.target) for job in submitted] == [("cpu", "")]


@pytest.mark.parametrize("page", [menu.BACKEND, menu.ACCELERATOR, menu.AOTINDUCTOR, menu.NEIGHBOURS])
def test_pages_of_backends_lead_from_an_imported_log_to_a_command(empty_home: Path, page: menu.Page) -> None:
    app = opened(page.script, add_scenario(empty_home, "foreign"))
    assert_sound(app)
    (command,) = (item.value for item in app.code)
    assert command.startswith("python -m core ")
    assert "Compile a model here" in [link.label for link in elements(app, "page_link")]


def test_a_sweep_is_of_the_same_sample_where_the_run_cannot_run_again(recorded: str) -> None:
    app = opened(menu.SWEEP.script, recorded)
    assert_sound(app)
    assert app.selectbox(key="sweep-of").value == "llama_block"


def test_code_for_a_target_can_be_had_without_the_device(recorded: str, submitted: list[CompileJob]) -> None:
    app = opened(menu.OVERVIEW.script, recorded)
    next(button for button in app.button if button.key == "retarget-h100").click().run()
    assert_sound(app)
    assert [(job.target, job.device) for job in submitted] == [("h100", "cpu")]


def test_the_device_of_this_machine_offers_the_same_as_ever(empty_home: Path, submitted: list[CompileJob]) -> None:
    app = opened(menu.OVERVIEW.script, add_recording(Store(empty_home), "llama_block-inference").id)
    assert [item.value for item in app.caption if NEEDS in item.value] == []
    next(button for button in app.button if (button.key or "").startswith("try-")).click().run()
    assert [job.dtype for job in submitted] == ["bfloat16"]


def test_a_recorded_run_is_that_of_the_very_same_job() -> None:
    plain = next(one for one in recordings() if one.name == "mlp-mode-default")
    faster = replace(plain.job, compile=replace(plain.job.compile, mode="reduce-overhead"))
    found = recorded_as(faster)
    assert found is not None
    assert found.name == "mlp-mode-reduce-overhead"
    assert recorded_as(replace(faster, compile=CompileOptions(backend="eager"))) is None
