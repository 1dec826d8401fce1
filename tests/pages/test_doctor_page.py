"""The page Doctor: the checks of this machine, problems first, and a run of one function."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import CompileJob, Environment
from pages.session import server
from tests.support.apps import opened, titles

PAGE = "setup/doctor.py"


LINE = re.compile(r"^(?:- )?\*\*(.+?)\*\*: (.*)$", re.MULTILINE)


def rows(app: AppTest) -> dict[str, str]:
    """The result of each check, by the check."""
    text = "\n".join(block.value for block in (*app.error, *app.markdown))
    return dict(LINE.findall(text.replace("\\", "")))


def test_problems_come_first_with_their_remedies(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "environment", lambda: Environment(torch="2.13.0", devices={"cpu": "Xeon"}))
    monkeypatch.setenv("CXX", "no-such-compiler")
    app = opened(PAGE)
    assert titles(app)[0].replace("\\", "").startswith("1 problem: C++ compiler; ")
    assert next(iter(rows(app))) == "C++ compiler"
    assert app.error[0].value.startswith("**C\\+\\+ compiler**")
    result = rows(app)["C++ compiler"]
    assert result.partition(". ")[0] == "no no-such-compiler on PATH"
    assert ". To fix it: apt-get install g++" in result


def test_while_torch_starts_the_rest_is_there(empty_home: Path) -> None:
    app = opened(PAGE)
    assert "What it finds is added when it has started." in app.caption[0].value
    assert rows(app)["torch"].endswith("not started yet")
    assert str(empty_home) in rows(app)["Store"]


def test_one_function_is_compiled_by_a_click(empty_home: Path, submitted: list[CompileJob]) -> None:
    app = opened(PAGE)
    next(button for button in app.button if button.label == "Compile one function").click().run()
    assert [job.model.value for job in submitted] == ["sin_cos"]
