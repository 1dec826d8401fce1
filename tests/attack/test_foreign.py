"""Files from elsewhere: what is no log, what leads out of the store, and text that Python's own parser gives up on."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import Store, StoreError
from core.code.output_code import call_arguments, definition_in
from pages import menu
from pages.gate.rules import code_allowed
from pages.session import server
from tests.support.apps import A_LOG, opened
from tests.support.homes import add_run
from tests.support.imports import FILES, dotted, nodes_of, offending
from tests.support.places import APP, TRACES

DEEP = (
    "not " * 200_000 + "x",
    f"f({'-' * 300_000}1)",
    f"f(a{'.b' * 100_000})",
    "f(" + "1+" * 3000 + "1)",
    f"f({'[' * 300})",
)


@pytest.fixture
def open_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The pages as their owner sees them, over an empty store."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "1")
    server.the_runner.clear()
    yield tmp_path
    server.the_runner.clear()


@pytest.mark.attack("kill 22", "a pipe, a device, a directory opened as a log by their path")
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/stdin", "{here}/pipe", "{here}", "{here}/\0"])
def test_what_is_no_file_is_no_log(open_pages: Path, name: str) -> None:
    os.mkfifo(open_pages / "pipe")
    app = opened(menu.NEW_RUN.script, held=A_LOG)
    field = next(item for item in app.text_input if item.label.startswith("…or a path"))
    field.set_value(name.format(here=open_pages)).run()
    app.button(key="open-path").click().run()
    assert any("cannot be read" in error.value or "holds no" in error.value for error in app.error)
    assert not app.exception
    assert list((open_pages / "home" / "runs").iterdir()) == []


@pytest.mark.promise("web")
@pytest.mark.attack("request 6", "request 7", "ids of runs that lead out of the store; a run that is a link")
def test_the_store_opens_and_deletes_what_is_in_it(tmp_path: Path) -> None:
    """No run id opens or deletes anything outside the store, also if a run is a link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    store = Store(tmp_path / "home")
    for run_id in ("..", "../outside", "/etc", ".", "", "20260101-000000-x-0000/..", "20260101-000000-x-0000\n"):
        with pytest.raises(StoreError):
            store.open(run_id)
    (store.runs_dir / "20260101-000000-x-0000").symlink_to(outside, target_is_directory=True)
    store.delete(store.open("20260101-000000-x-0000"))
    assert list(store.runs_dir.iterdir()) == []
    assert (outside / "kept").exists()


@pytest.mark.attack("breach 10", "log 1", "code in a log that is nested deeper than Python reads")
@pytest.mark.parametrize("text", DEEP)
def test_code_that_python_cannot_read_is_no_call(text: str) -> None:
    assert call_arguments(text, 1) in ((), ("1+" * 3000 + "1",))
    assert definition_in(text) is None


@pytest.mark.attack("text 5", "names of uploads: paths, control characters, 100 KB")
@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a\0b", "\x1b]0;x\x07.log", "x" * 100_000, "..", ""]
)
def test_the_name_of_an_upload_names_no_file(tmp_path: Path, name: str) -> None:
    store = Store(tmp_path / "home")
    with (TRACES / "error" / "trace.log").open("rb") as log:
        run = store.add_log(name, log)
    assert run.path.parent == store.runs_dir
    assert [path.name for path in run.trace_dir.iterdir()] == ["opened.log"]
    assert len(run.status().title) <= 120
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


@pytest.mark.promise("code")
@pytest.mark.attack("permission 3", "COMPILEBOARD_ALLOW_CODE with other words than 0 and 1")
@pytest.mark.parametrize("said", ["true", "yes", "", "01", " 1", "on", "TRUE"])
def test_only_1_allows_code(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """`COMPILEBOARD_ALLOW_CODE` allows code with the value `1` only."""
    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", said)
    assert not code_allowed()


@pytest.mark.attack("kill 19", "a run from the future")
def test_a_clock_that_was_set_back_is_no_error(open_pages: Path) -> None:
    add_run(open_pages / "home", "future", None, created_s=4e9, started_s=4e9, ended_s=1.0)
    app = AppTest.from_file(APP, default_timeout=240).run()
    app.switch_page(menu.RUNS.script).run()
    assert not app.exception


@pytest.mark.promise("logs")
@pytest.mark.attack("request 9", "functions that would run data: in all of core and pages")
def test_nothing_that_runs_data_is_called() -> None:
    """Data is never executed or unpickled: the code calls no eval, pickle, torch.load or shell."""
    # The worker executes the cells of a notebook, each under its own file's name.
    assert offending(FILES, running_data) == {"core/worker/load.py": {"exec"}}


def running_data(name: str) -> set[str]:
    """What of a file would run data, or put it on a page as it is."""
    calls = [node for node in nodes_of(name) if isinstance(node, ast.Call)]
    runs = {"eval", "exec", "pickle.load", "pickle.loads", "torch.load", "yaml.load", "os.system", "os.popen"}
    named = {call.func.id for call in calls if isinstance(call.func, ast.Name)} | dotted(name)
    words = {keyword.arg for call in calls for keyword in call.keywords if keyword.arg}
    return (named & runs) | (words & {"shell", "unsafe_allow_html"})
