"""The page Doctor: the checks of this machine, problems first, and a run of one function."""

from pathlib import Path

import pytest

from core import CompileJob, Environment
from pages.session import server
from tests.support.apps import opened, titles

PAGE = "setup/doctor.py"


def test_problems_stand_first_with_what_mends_them(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))
    monkeypatch.setenv("CXX", "no-such-compiler")
    app = opened(PAGE)
    assert titles(app)[0].startswith("1 problem: C++ compiler; ")
    first = app.dataframe[0].value.iloc[0]
    assert (first["check"], first["state"], first["found"]) == (
        "C++ compiler",
        "problem",
        "no no-such-compiler on PATH",
    )
    assert "apt-get install g++" in first["remedy"]


def test_while_torch_starts_the_rest_is_there(empty_home: Path) -> None:
    app = opened(PAGE)
    assert "What it finds is added when it has started." in app.caption[0].value
    by_name = {row["check"]: row for _, row in app.dataframe[0].value.iterrows()}
    assert by_name["torch"]["found"].endswith("not started yet")
    assert str(empty_home) in by_name["Store"]["found"]


def test_one_function_is_compiled_by_a_click(empty_home: Path, submitted: list[CompileJob]) -> None:
    app = opened(PAGE)
    next(button for button in app.button if button.label == "Compile one function").click().run()
    assert [job.model.value for job in submitted] == ["sin_cos"]
