"""One damaged file harms one run: the others are as they were, every page works, and the run can be deleted."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core import (
    CompileboardError,
    CompileJob,
    GrowingReport,
    Model,
    Report,
    Run,
    Store,
    StoreError,
    TraceError,
    open_graph,
    open_report,
)
from core.graph.levels import as_json
from core.job.prepared import prepared
from core.runs.stored import open_model
from core.runs.tools.tasks import Assembly, Trouble, result, tool_run
from pages import menu
from tests.support.damage import DAMAGE
from tests.support.homes import add_run, add_scenario, chain
from tests.support.places import APP
from tests.support.sample import one_in

FILES = ("status.json", "job.json", "report.json", "trace/trace.log", "output.txt", "model.py")
PAGES = (
    menu.OVERVIEW.script,
    menu.RUNS.script,
    menu.FX_GRAPH.script,
    menu.KERNELS.script,
    menu.KERNEL.script,
    menu.SPEEDUP.script,
)
Damaged = Callable[[str, str], Run]
Graphed = tuple[Run, Report, object, object]
# A run goes on without them: they are made again, or were not needed.
HARMLESS = ("report.json", "output.txt", "model.py")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with one run that is whole and has nothing to do with the others."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    st.cache_resource.clear()
    add_scenario(tmp_path, "control_flow")
    yield tmp_path
    st.cache_resource.clear()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that has been opened, and of which each test damages a copy."""
    home = tmp_path_factory.mktemp("sound")
    run = Store(home).open(add_scenario(home, "dynamic_batch"))
    run.output_path.write_text("printed")
    run.model_path.write_text("model = 1")
    open_report(run)
    return run


@pytest.fixture
def damaged(home: Path, sound: Run) -> Damaged:
    """Makes a run of which one file is damaged."""

    def damaged(name: str, kind: str) -> Run:
        copy = shutil.copytree(sound.path, home / "runs" / sound.id.replace("-000000-", "-000001-"))
        run = Store(home).open(copy.name)
        DAMAGE[kind](run.path / name)
        return run

    return damaged


def look(run: Run) -> Report | None:
    log = run.log_path()
    return GrowingReport(log).look() if log else None


@pytest.mark.promise("files")
@pytest.mark.parametrize("kind", one_in(4, DAMAGE))
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_run_is_answered_for_listed_beside_the_others_and_deleted(
    home: Path, damaged: Damaged, name: str, kind: str
) -> None:
    """A damaged file affects its own run only, which is listed and can be deleted."""
    run = damaged(name, kind)
    for ask in (run.status, run.job, lambda: open_report(run), lambda: look(run)):
        try:
            ask()
        except CompileboardError as error:
            assert str(error)
    assert run.output_tail() == "printed" or name == "output.txt"
    store = Store(home)
    found = dict(store.list())
    assert [status.state for other, status in found.items() if other != run] == ["done"]
    assert found[run].state == "done" if name in HARMLESS else run in found
    store.delete(run)
    assert [other.id[16:-5] for other, _ in store.list()] == ["control_flow"]
    assert [path for path in store.runs_dir.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("kind", [kind for kind in DAMAGE if kind != "half a character"])
def test_a_status_that_cannot_be_right_makes_a_damaged_run(home: Path, damaged: Damaged, kind: str) -> None:
    run = damaged("status.json", kind)
    assert dict(Store(home).list())[run].state == "damaged"
    with pytest.raises(StoreError, match="no readable status"):
        run.status()


@pytest.mark.parametrize("kind", ["directory", "dangling link", "link to itself", "link to a device", "pipe"])
def test_a_log_that_is_no_file_makes_a_damaged_run(home: Path, damaged: Damaged, kind: str) -> None:
    run = damaged("trace/trace.log", kind)
    found = dict(Store(home).list())[run]
    assert (found.state, found.reason) == ("damaged", "its log cannot be read: it is not a regular file")


@pytest.mark.parametrize("kind", one_in(4, DAMAGE))
def test_a_damaged_report_is_made_again(home: Path, damaged: Damaged, kind: str) -> None:
    run = damaged("report.json", kind)
    whole = open_report(Store(home).open(add_scenario(home, "dynamic_batch")))
    assert open_report(run) == whole
    assert run.report_path.is_file()


@pytest.fixture(scope="module")
def graphed(tmp_path_factory: pytest.TempPathFactory) -> Graphed:
    """A run whose large graph has been opened, and of which each test damages a copy; its nodes and its model."""
    run, report, compilation, graph = chain(tmp_path_factory.mktemp("graphed"), 2_000)
    return run, report, open_graph(run, compilation, graph), as_json(open_model(run, report, compilation, graph))


@pytest.mark.promise("files")
@pytest.mark.parametrize("kind", one_in(4, [kind for kind in DAMAGE if kind != "list"]))
@pytest.mark.parametrize("name", ["nodes", "model"])
def test_damaged_graphs_are_made_again(tmp_path: Path, graphed: Graphed, name: str, kind: str) -> None:
    """A damaged stored graph is computed again."""
    whole, report, nodes, model = graphed
    run = Run(whole.id, shutil.copytree(whole.path, tmp_path / whole.id))
    compilation = report.compilations[0]
    graph = compilation.graphs[0]
    (stored,) = run.graphs_dir.glob(f"*.{name}-*.msgpack")
    DAMAGE[kind](stored)
    assert open_graph(run, compilation, graph) == nodes
    assert as_json(open_model(run, report, compilation, graph)) == model


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("name", ["status.json", "task.json", "answer.json"])
def test_a_damaged_answer_of_a_tool_is_reported_and_forgotten(home: Path, name: str, kind: str) -> None:
    run = Store(home).open(add_scenario(home, "dynamic_batch"))
    tool = tool_run(run, Assembly("k"))
    tool.path.mkdir(parents=True)
    for file, text in (
        ("status.json", '{"state": "done", "created_s": 1}'),
        ("task.json", "{}"),
        ("answer.json", '{"type": "Trouble", "message": "m"}'),
    ):
        (tool.path / file).write_text(text)
    DAMAGE[kind](tool.path / name)
    found = result(run, Assembly("k"))
    assert isinstance(found, Trouble)
    if name == "answer.json":
        assert found.message != "m"


@pytest.mark.parametrize("kind", ["pipe", "link to a device", "directory", "endless", "missing"])
def test_a_model_that_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "model.py"
    path.write_text("model = 1")
    DAMAGE[kind](path)
    with pytest.raises(CompileboardError, match="there is no file" if kind == "missing" else "cannot be read"):
        prepared(CompileJob(Model("file", str(path))))


@pytest.mark.parametrize("instead", ["a file", "a link", "nothing in it"])
def test_what_is_in_the_place_of_a_run_is_deleted_and_not_what_it_leads_to(
    home: Path, tmp_path_factory: pytest.TempPathFactory, instead: str
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept.txt").touch()
    store = Store(home)
    path = store.runs_dir / "99999999-999999-odd-0000"
    {"a file": path.touch, "a link": lambda: path.symlink_to(elsewhere), "nothing in it": path.mkdir}[instead]()
    run = Run(path.name, path)
    assert dict(store.list())[run].state == "damaged"
    store.delete(run)
    assert run not in dict(store.list())
    assert (elsewhere / "kept.txt").exists()


@pytest.mark.promise("files")
@pytest.mark.parametrize("page", one_in(4, PAGES))
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("status.json", "negative pid"),
        ("status.json", "huge time"),
        ("job.json", "deep"),
        ("report.json", "directory"),
        ("trace/trace.log", "dangling link"),
        ("trace/trace.log", "pipe"),
        ("trace/trace.log", "binary"),
        ("output.txt", "pipe"),
    ],
)
def test_every_page_works_with_a_damaged_run(damaged: Damaged, page: str, name: str, kind: str) -> None:
    """Every page works with a damaged run; no pipe is waited for."""
    run = damaged(name, kind)
    app = AppTest.from_file(APP, default_timeout=240)
    app.query_params["run"] = run.id
    app.switch_page(page).run()
    assert [error.message for error in app.exception] == []


def test_a_log_that_is_endless_is_not_read(tmp_path: Path) -> None:
    run = add_run(tmp_path, "endless", b"", kind="log")
    log = run.log_path()
    assert log is not None
    DAMAGE["endless"](log)
    with pytest.raises(TraceError, match="larger than 8 GiB"):
        open_report(run)
