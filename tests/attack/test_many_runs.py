"""Sweeps, names and notes, recordings and packages: what a visitor or a file could bring by them."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import (
    AccessError,
    Axis,
    CompileboardError,
    CompileJob,
    Limits,
    Model,
    Runner,
    Store,
    StoreError,
    SweepRunner,
    SweepStore,
    new_sweep,
)
from core.sweep.runner import RecordedSweep, recorded_sweeps
from pages import menu
from pages.gate.rules import Visitor
from pages.gate.visitor import ANOTHERS, NOT_YOURS, Who
from pages.session import actions, server
from tests.support.apps import assert_sound, component, downloads, opened, words
from tests.support.engines import PromptEngine
from tests.support.homes import IMAGE, NOT_LOGS, add_run, job_of
from tests.support.reports.packaged import PACKAGE, packaged_log

SAMPLE = CompileJob(Model("sample", "mlp"))
ANN, BOB, ONLOOKER = Who(Visitor.GUEST, "ann"), Who(Visitor.GUEST, "bob"), Who(Visitor.ONLOOKER)
LIVELY = f"{IMAGE} [click](http://evil.example/) **bold** :material/home: $x$ \x1b[31m"
NUMBERED = "{:.20}".format
AXES = {
    "pasted code": Axis("code", ("import os\nmodel = abs\n",)),
    "a file of the server": Axis("code", ("/etc/passwd.py:model",)),
    "flags of the compiler": Axis("options.cpp.cxx", ("sh",)),
    "a setting of Dynamo's": Axis("dynamo.debug_dir_root", ("/any/path",)),
    "several at once": Axis("variant", ({"backend": "eager", "code": "import os\nmodel = abs\n"},)),
}


@pytest.fixture
def sweeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SweepRunner:
    """Where visitors' code does not run, and a visitor stores three runs at most."""
    limits = Limits(runs=3)
    found = SweepRunner(
        Runner(Store(tmp_path), PromptEngine(), code_allowed=lambda: False, limits=limits), poll_s=0.001
    )
    monkeypatch.setattr(server, "sweeps", lambda: found)
    monkeypatch.setattr(server, "runner", lambda: found.runner)
    return found


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> Callable[[Who], None]:
    return lambda visitor: monkeypatch.setattr(actions, "who", lambda: visitor)


@pytest.mark.attack("feature 1", "breach 1", "permission 1", "code, files, flags and paths as axes of a sweep")
@pytest.mark.parametrize("name", AXES)
def test_no_axis_brings_what_a_job_may_not(sweeps: SweepRunner, visited: Callable[[Who], None], name: str) -> None:
    visited(ANN)
    with pytest.raises(CompileboardError):
        actions.start_sweep(new_sweep(SAMPLE, (AXES[name],)))
    assert (sweeps.store.list(), sweeps.runner.store.list()) == ([], [])


@pytest.mark.attack(
    "feature 1", "request 6", "request 7", "ids of sweeps that lead out of the store; a sweep that is a link, or a pipe"
)
@pytest.mark.parametrize("name", ["../../../etc", "", "x" * 9_000, IMAGE, "linked", "piped"], ids=NUMBERED)
def test_a_sweep_is_opened_within_its_store_alone(closed_pages: Path, name: str) -> None:
    store = SweepStore(Store(closed_pages))
    if name == "linked":
        (store.sweeps_dir / name).symlink_to("/etc")
    if name == "piped":
        name = "20260101-000000-piped-0000"
        (store.sweeps_dir / name).mkdir()
        os.mkfifo(store.sweeps_dir / name / "sweep.json")
    with pytest.raises(StoreError):
        store.open(name)
    app = opened(menu.SWEEP.script, sweep=name)
    assert_sound(app)
    assert IMAGE not in words(app)


@pytest.mark.attack("feature 2", "another visitor names and notes a run; an onlooker names one")
def test_a_run_is_named_and_noted_by_who_made_it(
    sweeps: SweepRunner, visited: Callable[[Who], None], tmp_path: Path
) -> None:
    run = add_run(tmp_path, "mlp", NOT_LOGS["one record"], job=job_of("eager_backend"), by="ann")
    for visitor, why in ((BOB, ANOTHERS), (ONLOOKER, NOT_YOURS)):
        visited(visitor)
        for door in (actions.rename, actions.annotate):
            with pytest.raises(AccessError) as error:
                door(run, "mine")
            assert str(error.value) == why
    visited(ANN)
    actions.annotate(run, LIVELY * 1_000)
    assert ((run.name(), len(run.note())), "\x1b" in run.note()) == (("", 400), False)


@pytest.mark.attack(
    "feature 2",
    "text 1",
    "text 3",
    "text 4",
    "names and notes of runs and sweeps that are markup, on every page that tells them",
)
@pytest.mark.parametrize("page", [menu.RUNS, menu.OVERVIEW, menu.COMPARE, menu.SWEEP])
def test_a_name_and_a_note_are_text(closed_pages: Path, page: menu.Page) -> None:
    store = Store(closed_pages)
    for _ in range(2):
        run = add_run(closed_pages, "mlp", NOT_LOGS["one record"], job=job_of("eager_backend"))
        store.rename(run, LIVELY)
        store.annotate(run, LIVELY)
    sweep = SweepStore(store).create(new_sweep(SAMPLE, (Axis("batch", (1, 2)),), title=LIVELY))
    SweepStore(store).rename(sweep.id, LIVELY)
    query: dict[str, Any] = {"sweep": sweep.id} if page is menu.SWEEP else {}
    app = opened(page.script, run.id, **query)
    assert_sound(app)
    assert not any(lively in words(app) for lively in (IMAGE, "[click](", "**bold**", ":material/home:", "\x1b"))


@pytest.mark.attack("feature 3", "request 6", "recordings by names that are paths")
@pytest.mark.parametrize("name", ["../../etc/passwd", "h200/mlp-inference", "", "*", "\0", "x" * 9_000], ids=NUMBERED)
def test_a_recording_is_one_of_those_that_ship(sweeps: SweepRunner, visited: Callable[[Who], None], name: str) -> None:
    visited(ANN)
    with pytest.raises(StoreError, match="there is no recording"):
        actions.open_recording(name)
    assert sweeps.runner.store.list() == []


@pytest.mark.attack("feature 3", "breach 11", "an onlooker opens recordings; a guest opens more than may be stored")
def test_recordings_count_like_any_run(sweeps: SweepRunner, visited: Callable[[Who], None]) -> None:
    recorded: RecordedSweep = max(recorded_sweeps(), key=lambda one: len(one.cells))
    assert len(recorded.cells) > 3
    name = recorded.cells[0].name
    visited(ONLOOKER)
    for door in (lambda: actions.open_recording(name), lambda: actions.open_recorded_sweep(recorded)):
        with pytest.raises(AccessError, match="Only the owner"):
            door()
    visited(ANN)
    with pytest.raises(AccessError, match="more than the 3 runs"):
        actions.open_recorded_sweep(recorded)
    for _ in range(3):
        actions.open_recording(name)
    with pytest.raises(AccessError):
        actions.open_recording(name)
    assert [status.by for _, status in sweeps.runner.store.list()] == ["ann"] * 3


@pytest.mark.attack(
    "feature 4", "request 5", "request 7", "an uploaded log that says where its package is, and what is in it"
)
@pytest.mark.parametrize("name", ["../../job.json", "../aoti/model.pt2"])
def test_a_log_brings_no_file_to_download(closed_pages: Path, name: str) -> None:
    files = tuple(replace(file, name=f"../../{name}") for file in PACKAGE.files)
    log = packaged_log(package=replace(PACKAGE, file=name, files=files))
    run = add_run(closed_pages, "log", log, kind="log")
    app = opened(menu.AOTINDUCTOR.script, run.id, step="package", file=f"../../{name}")
    assert_sound(app)
    assert "Package" not in downloads(app)
    assert component(app, "package-way")["chosen"] == "package"
