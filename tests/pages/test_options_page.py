"""The page Options: the search, one option, and a run with it."""

from pathlib import Path

import pytest

from core import CompileJob, Environment
from core.base.machine import ConfigOption
from pages.parts.run import submit
from pages.session import actions, server
from tests.support.apps import opened, titles
from tests.support.homes import add_scenario

PAGE = "setup/options.py"
OPTIONS = (
    ConfigOption("inductor", "epilogue_fusion", "True", "True", kind="bool", comment="<b>fuse</b> into [x](http://y)"),
    ConfigOption("dynamo", "recompile_limit", "8", "8", kind="int"),
)


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> list[CompileJob]:
    submitted: list[CompileJob] = []
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", options=OPTIONS))
    monkeypatch.setattr(actions, "submit", submitted.append)
    monkeypatch.setattr(submit, "show_run", lambda *_: None)
    return submitted


def test_a_search_in_the_url_shows_the_options_that_match(empty_home: Path, jobs: list[CompileJob]) -> None:
    app = opened(PAGE, option="fuse")
    assert titles(app) == ["1 of torch.compile's 2 options match"]
    assert list(app.dataframe[0].value["option"]) == ["epilogue_fusion"]


def test_no_match_is_reported(empty_home: Path, jobs: list[CompileJob]) -> None:
    app = opened(PAGE, option="nothing of the kind")
    assert [item.value for item in app.info] == [
        "No option has all these words in its name, its environment variables or its comment."
    ]
    assert not app.dataframe


def test_a_torch_that_cannot_start_is_reported(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "environment", lambda: Environment(problem="no module named torch"))
    app = opened(PAGE)
    assert titles(app) == ["torch cannot be started, so its options are unknown"]


def test_the_shown_model_runs_with_a_changed_option(empty_home: Path, jobs: list[CompileJob]) -> None:
    run = add_scenario(empty_home, "transformer_block")
    app = opened(PAGE, run, held={"options": {"selection": {"rows": [], "columns": [], "cells": [(0, "option")]}}})
    assert [item.value for item in app.subheader] == ["torch._inductor.config.epilogue_fusion"]
    app.text_input("value-inductor-epilogue_fusion").set_value("False").run()
    assert "python -m core run MODEL --options epilogue_fusion=False" in [item.value for item in app.code]
    next(button for button in app.button if button.label == "Run the shown model with it").click().run()
    assert [job.compile.options for job in jobs] == [{"epilogue_fusion": False}]
