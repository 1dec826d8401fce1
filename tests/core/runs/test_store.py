"""The store: which runs there are, in which state, and what may be done to them."""

import io
import json
import os
import secrets
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from core import MOST_NAME_CHARS, CompileJob, Model, Run, Status, Store, StoreError
from core.base.words import RUN_ID, fresh_id
from core.runs.comments import set_pinned, set_tags, tags_of
from core.runs.processes.handles import LOCAL

JOB = CompileJob(Model("sample", "mlp"))
RECORD = b'V0101 00:00:00.000000 1 a.py:1] {"dynamo_start": {}}\n'


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def stored(store: Store, **changes: object) -> Run:
    run = store.create(JOB)
    run.write_status(replace(run.status(), **changes))  # type: ignore[arg-type]
    return run


def test_new_run_is_queued_and_holds_its_job(store: Store) -> None:
    run = store.create(JOB, "abc")
    status = run.status()
    assert (status.state, status.kind, status.fingerprint, status.title, status.live) == (
        "queued",
        "run",
        "abc",
        "mlp",
        True,
    )
    assert run.job() == JOB
    assert run.trace_dir.is_dir()
    assert (run.log_path(), run.output_tail()) == (None, "")


@pytest.mark.parametrize("title", ["mlp", "../../etc", "Ü <b>", "", "x" * 300, "a/b.py:model", "\n\0"])
def test_run_id_is_a_plain_name_whatever_the_title(store: Store, title: str) -> None:
    run = store.add_log(title, io.BytesIO(RECORD))
    assert RUN_ID.fullmatch(run.id)
    assert store.open(run.id) == run


def test_run_of_the_same_second_gets_an_id_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digits = iter(("00aa", "00aa", "00bb"))
    monkeypatch.setattr(secrets, "token_hex", lambda _: next(digits))
    first = fresh_id("mlp", tmp_path)
    (tmp_path / first).mkdir()
    assert fresh_id("mlp", tmp_path) != first


@pytest.mark.parametrize(
    "run_id", ["", "..", "../runs", "20260101-000000-x-0000", "20260101-000000-../x-0000", "a\0b", "/etc"]
)
def test_id_of_no_run_is_an_error(store: Store, run_id: str) -> None:
    with pytest.raises(StoreError, match="there is no run"):
        store.open(run_id)


def test_status_is_replaced_whole_while_others_read_it(store: Store) -> None:
    run = store.create(JOB)
    status = run.status()
    reasons = ["short", "long" * 50_000]

    def write() -> None:
        for index in range(200):
            run.write_status(replace(status, reason=reasons[index % 2]))

    run.write_status(replace(status, reason="short"))
    writer = Thread(target=write)
    writer.start()
    seen = set()
    while writer.is_alive():
        seen.add(run.status().reason)
    assert seen <= set(reasons)
    assert sorted(path.name for path in run.path.iterdir()) == ["job.json", "model.py", "status.json", "trace"]


def test_run_whose_supervisor_is_gone_is_interrupted(store: Store) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    run = stored(store, state="running", handle=f"local:{process.pid}@1.00")
    assert (run.status().state, run.status().live) == ("interrupted", False)


def test_run_whose_pid_is_another_process_by_now_is_interrupted(store: Store) -> None:
    run = stored(store, state="running", handle=f"local:{os.getpid()}@1.00")
    assert run.status().state == "interrupted"


@pytest.mark.parametrize(
    ("peak_bytes", "state"), [(0, "done"), (2**63 - 1, "done"), (-1, "damaged"), (2**63, "damaged")]
)
def test_a_run_took_no_less_than_nothing_and_no_more_than_64_bits_count(
    store: Store, peak_bytes: int, state: str
) -> None:
    run = stored(store, state="done")
    status = json.loads((run.path / "status.json").read_bytes())
    (run.path / "status.json").write_text(json.dumps({**status, "peak_memory_bytes": peak_bytes}))
    assert [found.state for _, found in store.list()] == [state]


def test_run_whose_supervisor_lives_is_running(store: Store) -> None:
    run = stored(store, state="running", handle=LOCAL.local_handle())
    assert run.status().state == "running"


def test_live_run_is_not_deleted(store: Store) -> None:
    run = store.create(JOB)
    with pytest.raises(StoreError, match="cancel it first"):
        store.delete(run)
    assert run.path.exists()


def test_ended_run_is_deleted(store: Store) -> None:
    run = stored(store, state="done", handle="")
    store.delete(run)
    assert store.list() == []


def test_damaged_run_is_deleted_too(store: Store) -> None:
    run = store.create(JOB)
    (run.path / "status.json").write_bytes(b"{")
    store.delete(run)
    assert not run.path.exists()


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"state": "lost", "created_s": 1}', b"\xff" * 100, b"[" * 100_000]
)
def test_run_with_a_damaged_status_is_listed_as_damaged(store: Store, damage: bytes) -> None:
    whole = stored(store, state="done", handle="")
    broken = store.create(JOB)
    (broken.path / "status.json").write_bytes(damage)
    (store.runs_dir / "notes.txt").write_text("no run")
    assert {run: status.state for run, status in store.list()} == {whole: "done", broken: "damaged"}


def test_run_without_a_status_is_damaged(store: Store) -> None:
    run = stored(store, state="done", handle="")
    (run.path / "status.json").unlink()
    assert [(found, status.state) for found, status in store.list()] == [(run, "damaged")]


class Unseen(io.BytesIO):
    """A log that looks, while it is being copied, at what is listed."""

    def __init__(self, store: Store) -> None:
        super().__init__(RECORD)
        self.store, self.seen = store, [object()]

    def read(self, size: int | None = -1) -> bytes:
        self.seen = list(self.store.list())
        return super().read(size)


def test_run_is_listed_once_all_of_it_is_written(store: Store) -> None:
    log = Unseen(store)
    run = store.add_log("slow.log", log)
    assert log.seen == []
    assert [found for found, _ in store.list()] == [run]


def test_opened_log_is_copied_and_done(store: Store) -> None:
    run = store.add_log("../<b>trace\x07.log", io.BytesIO(RECORD))
    log = run.log_path()
    assert log is not None
    assert log.read_bytes() == RECORD
    assert run.job() is None
    status = run.status()
    assert status == Status("done", status.created_s, "log", status.created_s, status.created_s, title="<b>trace .log")


class Endless(io.RawIOBase):
    """A log that never ends, and costs nothing."""

    def read(self, size: int = -1) -> bytes:
        return b"\0" * size


def test_log_beyond_the_bound_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, max_log_bytes=10_000_000)
    with pytest.raises(StoreError, match="larger than"):
        store.add_log("big.log", Endless())  # type: ignore[arg-type]
    assert list(store.runs_dir.iterdir()) == []


def test_log_of_just_the_bound_is_taken(tmp_path: Path) -> None:
    store = Store(tmp_path, max_log_bytes=len(RECORD))
    log = store.add_log("a.log", io.BytesIO(RECORD)).log_path()
    assert log is not None
    assert log.read_bytes() == RECORD


def test_tail_of_the_output_is_readable_text(store: Store) -> None:
    run = store.create(JOB)
    run.output_path.write_bytes(b"x" * 100 + "é".encode() * 10)
    assert run.output_tail(5) == "\ufffdéé"


def modes(home: Path) -> dict[str, int]:
    """The permissions of a home and of what is below it."""
    return {str(path.relative_to(home)): stat.S_IMODE(path.stat().st_mode) for path in (home, *home.rglob("*"))}


def test_of_a_long_output_the_end_is_reported(store: Store) -> None:
    run = store.create(JOB)
    run.output_path.write_bytes(b"a" * 10_000 + b"b" * 20_000)
    assert run.output_tail() == "b" * 20_000


def test_a_new_home_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run = Store(home).create(JOB)
    found = modes(home)
    assert {name: found[name] for name in (".", "runs", "cache", f"runs/{run.id}")} == {
        ".": 0o700, "runs": 0o700, "cache": 0o700, f"runs/{run.id}": 0o700,
    }  # fmt: skip


@pytest.mark.promise("users")
def test_a_home_that_all_could_read_is_tightened(tmp_path: Path) -> None:
    """The runs and the cache of an existing home become readable by the owner only."""
    home = tmp_path / "home"
    (home / "runs").mkdir(parents=True, mode=0o755)
    (home / "cache").mkdir(mode=0o755)
    Store(home)
    assert modes(home) == {".": 0o700, "runs": 0o700, "cache": 0o700}


def test_a_home_that_holds_other_things_stays_as_it_is(tmp_path: Path) -> None:
    """It may be the user's own home, or a directory that others share."""
    tmp_path.chmod(0o755)
    (tmp_path / "notes.txt").touch(0o644)
    Store(tmp_path)
    assert modes(tmp_path) == {".": 0o755, "notes.txt": 0o644, "runs": 0o700, "cache": 0o700}


def test_a_name_is_one_line_and_bounded(store: Store) -> None:
    run = stored(store, state="done")
    assert run.name() == ""
    store.rename(run, "  two\nlines\x00 " + "é" * 200)
    assert run.name() == ("two lines " + "é" * 200)[:MOST_NAME_CHARS]
    (run.path / "name.txt").write_bytes(b"x" * 4_000)
    assert run.name() == ""


@pytest.mark.promise("text")
@pytest.mark.parametrize(
    "hidden", ["\u202e", "\u2066", "\u200f", "\u061c", "\u200b", "\u2028", "\ufeff", "\x9b", "\U000e0041"]
)
def test_a_name_holds_nothing_that_turns_or_hides_what_is_around_it(store: Store, hidden: str) -> None:
    """A run's name and note contain no invisible characters and none that change the text direction."""
    run = stored(store, state="done")
    store.rename(run, f"fp{hidden}gnp.exe")
    store.annotate(run, f"a{hidden}b")
    assert (run.name(), run.note()) == ("fp gnp.exe", "a b")
    (run.path / "name.txt").write_text(f"of an earlier version{hidden}")
    assert run.name() == "of an earlier version"


def test_a_pinned_run_is_not_deleted(store: Store) -> None:
    run = stored(store, state="done", handle="")
    set_pinned(run, True)
    with pytest.raises(StoreError, match="is pinned"):
        store.delete(run)
    set_pinned(run, False)
    store.delete(run)
    assert store.list() == []


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["b", "a", "a"], ("a", "b")),
        (["two words", "x" * 90], ("two", "words", "x" * 40)),
        ([], ()),
        ([str(number) for number in range(100, 200)], tuple(str(number) for number in range(100, 120))),
    ],
)
def test_tags_are_words_sorted_and_bounded(store: Store, tags: list[str], expected: tuple[str, ...]) -> None:
    run = stored(store, state="done", handle="")
    set_tags(run, tags)
    assert tags_of(run) == expected
