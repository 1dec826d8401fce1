"""Which runs the owner's rules move or delete, which stay whatever the rules say, and what is written of it."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest
from filelock import FileLock

from core import Run, Store, StoreError
from core.base.errors import SettingError
from core.commands.main import main
from core.runs import retention
from core.runs.comments import set_pinned
from core.runs.index.database import RunIndex
from core.runs.index.entry import read_entry
from core.runs.people import audit_events
from core.runs.remote import is_away, remote_archive
from core.runs.retention import DAY_S, RetentionRules, due, retain, rules_of, start_retention, trim
from core.views.run_history import retention_words
from tests.support.homes import add_run, job_of, keeper

NOW_S = time.time()
STAYING = ("pinned", "live", "cell", "noted", "commented", "damaged", "new")


def add(home: Path, title: str, days: float, size: int = 1_000, **fields: Any) -> Run:
    created_s = NOW_S - days * DAY_S
    times = {"created_s": created_s, "started_s": created_s, "ended_s": created_s + 1}
    return add_run(home, title, b"x" * size, **{"job": job_of("transformer_block"), **times, **fields})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with two old runs, and with runs that stay."""
    store = Store(tmp_path / "home")
    home = store.home
    add(home, "old", 30)
    add(home, "older", 40)
    set_pinned(add(home, "pinned", 50), True)
    add(home, "live", 50, state="running", **keeper())
    add(home, "cell", 50, job={**job_of("transformer_block"), "sweep": "s"})
    store.annotate(add(home, "noted", 50), "keep this")
    (add(home, "commented", 50).path / "comments.json").write_text("{}")
    (add(home, "damaged", 50).path / "job.json").write_text("{")
    add(home, "new", 1)
    return store


def titles(store: Store) -> set[str]:
    return {run.id.split("-")[2] for run, _ in store.list()}


@pytest.mark.promise("archive")
def test_rules_name_the_oldest_runs_and_never_those_that_people_keep(store: Store) -> None:
    """Retention never selects runs that people pinned, noted or commented."""
    index = RunIndex(store)
    by_age = due(index, RetentionRules(days=20), moves=True, now_s=NOW_S)
    assert [run.status.title for run in by_age.runs] == ["older", "old"]
    assert by_age.next_s == pytest.approx(NOW_S + 19 * DAY_S)
    used = index.usage().store_bytes
    by_size = [due(index, RetentionRules(most_bytes=most), moves=True).runs for most in (used, used - 1, 1)]
    assert [[run.status.title for run in runs] for runs in by_size] == [
        [],
        ["older"],
        ["older", "old", "new"],
    ]
    assert due(index, RetentionRules(), moves=True).runs == ()


def test_due_runs_move_to_the_archive_and_the_audit_log_has_each(store: Store) -> None:
    index, archive = RunIndex(store), remote_archive(store, {"COMPILEBOARD_ARCHIVE": "memory://retained"})
    assert archive is not None
    runs, freed = retain(index, RetentionRules(days=20), archive)
    assert (runs, freed, titles(store)) == (2, 2_000, {"old", "older", *STAYING})
    away = [run for run, _ in store.list() if is_away(run)]
    assert {run.id.split("-")[2] for run in away} == {"old", "older"}
    logged = [(event.by, event.action, event.outcome) for event in audit_events(store.home)]
    assert logged == [("retention", "move", "done")] * 2
    assert retain(index, RetentionRules(days=20), archive) == (0, 0)
    # What came back is a cache: the run that was opened last stays.
    for run in away:
        archive.bring_back(run)
    index.update([run.id for run in away])
    archive.cache_bytes = 1_500
    assert trim(index, archive) == 1_000
    assert [is_away(run) for run in away] == [True, False]
    # A deleted run leaves nothing in the archive.
    files = fsspec.filesystem("memory")
    store.delete(away[0])
    assert len(files.ls("/retained")) == 2
    archive.remove_deleted()
    assert [away[1].id in name for name in files.ls("/retained", detail=False)] == [True]


@pytest.mark.promise("archive")
def test_nothing_is_deleted_unless_the_owner_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Retention deletes nothing unless the owner allows it."""
    index = RunIndex(store)
    with pytest.raises(StoreError, match="nothing is moved or deleted: there is no archive"):
        retain(index, RetentionRules(days=20), None)
    monkeypatch.setenv("COMPILEBOARD_HOME", str(store.home))
    monkeypatch.setenv("COMPILEBOARD_KEEP_DAYS", "20")
    for variable in ("COMPILEBOARD_ARCHIVE", "COMPILEBOARD_KEEP_DELETES"):
        monkeypatch.delenv(variable, raising=False)
    assert start_retention(store.home) is None
    assert main(["prune", "--due", "--delete"]) == 2
    assert retention_words(index).startswith(
        "Runs that are older than 20 days stay: there is no archive, and COMPILEBOARD_KEEP_DELETES is not 1. 2 runs ("
    )
    assert titles(store) == {"old", "older", *STAYING}
    monkeypatch.setenv("COMPILEBOARD_KEEP_DELETES", "1")
    with FileLock(store.home / "retention.lock"), pytest.raises(StoreError, match="another process"):
        retain(index, RetentionRules(days=20, deletes=True), None)
    assert main(["prune", "--due", "--delete"]) == 0
    assert titles(store) == set(STAYING)
    assert retention_words(index).splitlines() == [
        "Runs that are older than 20 days are deleted. "
        f"The next is due on {time.strftime('%Y-%m-%d', time.localtime(NOW_S + 19 * DAY_S))}. "
        "Pinned runs, cells of sweeps, and runs with notes or comments stay."
    ]


def test_an_archive_that_does_not_answer_loses_nothing(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    archive = remote_archive(store, {"COMPILEBOARD_ARCHIVE": f"file://{tmp_path}/file/below"})
    with pytest.raises(StoreError, match="cannot be used"):
        retain(RunIndex(store), RetentionRules(days=20), archive)
    assert [event.outcome for event in audit_events(store.home)] == ["failed"]
    assert not any(is_away(run) for run, _ in store.list())


@pytest.mark.parametrize("name", ["COMPILEBOARD_KEEP_DAYS", "COMPILEBOARD_KEEP_GIB", "COMPILEBOARD_KEEP_DELETES"])
def test_a_rule_that_is_none_is_reported_by_name(name: str) -> None:
    with pytest.raises(SettingError, match=name):
        rules_of({name: "-1"})
    assert (
        rules_of({name: "1"})
        == {
            "COMPILEBOARD_KEEP_DAYS": RetentionRules(days=1.0),
            "COMPILEBOARD_KEEP_GIB": RetentionRules(most_bytes=1024**3),
            "COMPILEBOARD_KEEP_DELETES": RetentionRules(deletes=True),
        }[name]
    )


def test_runs_of_a_search_are_moved_by_the_command(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(store.home))
    monkeypatch.setenv("COMPILEBOARD_ARCHIVE", f"file://{tmp_path}/elsewhere")
    assert main(["prune", "before:35d", "model:older", "--move"]) == 0
    assert "1 run moved, 1.00 kB freed" in capsys.readouterr().err
    assert main(["prune", "--due", "is:failed"]) == 2


def test_a_run_that_was_pinned_or_discussed_meanwhile_stays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    index = RunIndex(store)
    usual = due(index, RetentionRules(days=20), moves=True)
    every = tuple(entry for run, _ in store.list() if (entry := read_entry(run)) is not None)
    monkeypatch.setattr(retention, "due", lambda *_, **__: replace(usual, runs=every))
    archive = remote_archive(store, {"COMPILEBOARD_ARCHIVE": "memory://meanwhile"})
    retain(index, RetentionRules(days=20), archive)
    away = {run.id.split("-")[2] for run, _ in store.list() if is_away(run)}
    assert away.isdisjoint({"pinned", "live", "commented"})
    assert {"old", "older", "new"} <= away
