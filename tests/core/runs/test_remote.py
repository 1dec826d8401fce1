"""Large files of runs in an archive elsewhere: moved there, brought back as they were, and never trusted."""

import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import fsspec
import msgspec
import pytest

from core import Run, Store, StoreError, open_report, open_summary
from core.base.errors import SettingError
from core.runs.index.database import RunIndex
from core.runs.index.query import RunQuery
from core.runs.remote import MovedFile, MovedFiles, RemoteArchive, bring_back, is_away, moved_of, remote_archive
from core.runs.sharing import import_archive, write_archive
from tests.support.homes import add_run, add_scenario


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def archive_at(store: Store, url: str) -> RemoteArchive:
    archive = remote_archive(store, {"COMPILEBOARD_ARCHIVE": url})
    assert archive is not None
    return archive


def files_of(run: Run) -> dict[str, tuple[bytes, int]]:
    """Each file of a run with its content and modification time, but the record of what was moved."""
    paths = (path for path in sorted(run.path.rglob("*")) if path.is_file() and path.name != "archived.json")
    return {str(path.relative_to(run.path)): (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


@pytest.mark.promise("archive")
@pytest.mark.parametrize("url", ["memory://runs-{}/below", "file://{}/elsewhere"])
def test_a_run_comes_back_as_it_was_and_is_opened_by_itself(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """An archived run is restored unchanged, and its links are not followed into the archive."""
    run = store.open(add_scenario(store.home, "transformer_block"))
    summary, report = open_summary(run), open_report(run)
    (run.path / "profile.json").write_text("{}")
    (run.path / "aoti").mkdir()
    (run.path / "aoti" / "package.pt2").write_bytes(b"\0" * 5_000)
    (run.path / "comments.json").write_text("{}")
    (run.path / "link.log").symlink_to("/etc/passwd")
    before = files_of(run)
    monkeypatch.setenv("COMPILEBOARD_ARCHIVE", url.format(tmp_path))
    archive = archive_at(store, url.format(tmp_path))
    moved_names = {"trace/trace.log", "profile.json", "aoti/package.pt2"}

    freed = archive.move(run)
    assert freed == sum(len(before[name][0]) for name in moved_names)
    assert set(files_of(run)) == set(before) - moved_names - {"report.json"}
    assert (is_away(run), run.standing().state, open_summary(run, stored_alone=True)) == (True, "done", summary)
    assert archive.move(run) == 0
    index = RunIndex(store)
    index.complete()
    (entry,) = index.search(RunQuery.of("is:archived"), 9).runs
    assert (entry.archived, entry.summary) == ("away", summary)

    seen: list[tuple[int, int]] = []
    archive.bring_back(run, lambda done, total: seen.append((done, total)))
    moved = moved_of(run)
    assert moved is not None
    assert seen[-1] == (moved.size_bytes, moved.size_bytes)
    assert files_of(run) == {name: before[name] for name in before if name != "report.json"}
    assert archive.let_go(run) == freed
    assert open_report(run) == report
    # A file that was added since is moved with the others the next time.
    (run.path / "profile.json").write_text("{ }")
    archive.let_go(run)
    assert (run.path / "profile.json").read_text() == "{ }"
    target = tmp_path / "runs.tar.gz"
    write_archive([run], target)
    there = Store(tmp_path / "there")
    assert import_archive(there, target).added[0].log_path() is not None


def test_live_runs_and_those_of_several_ranks_stay(store: Store, tmp_path: Path) -> None:
    archive = archive_at(store, f"file://{tmp_path}/elsewhere")
    live = add_run(store.home, "live", b"x", state="running", handle=store.liveness.local_handle(), ended_s=None)
    ranked = add_run(store.home, "ranked", b"x")
    for rank in (0, 1):
        (ranked.trace_dir / f"rank_{rank}.log").write_bytes(b"x")
    for run, words in ((live, "is still going"), (ranked, "has ranks")):
        with pytest.raises(StoreError, match=words):
            archive.move(run)


def packed(*members: tuple[str, bytes], link: str = "") -> bytes:
    """A tar file with gzip."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        if link:
            member = tarfile.TarInfo("trace/trace.log")
            member.type, member.linkname = tarfile.SYMTYPE, link
            archive.addfile(member)
    return data.getvalue()


HOSTILE: dict[str, tuple[Callable[[], bytes], bool, str]] = {
    "another file": (lambda: packed(("trace/trace.log", b"y")), False, "is not what was moved there"),
    "a larger one": (lambda: b"\0" * 5_000_000, False, "is larger than"),
    "gone": (lambda: b"", False, "cannot be used"),
    "no archive": (lambda: b"no archive", True, "damaged"),
    "a bomb": (lambda: packed(("trace/trace.log", b"\0" * 200_000_000)), True, "are larger than"),
    "a name that leads out": (lambda: packed(("../../../evil", b"y")), True, "unsafe name"),
    "an absolute name": (lambda: packed(("/tmp/evil", b"y")), True, "unsafe name"),
    "a link": (lambda: packed(link="/etc/passwd"), True, "something else than files"),
    "other files": (lambda: packed(("trace/other.log", b"y")), True, "no such file"),
    "another size": (lambda: packed(("trace/trace.log", b"yy")), True, "no such file"),
}


@pytest.mark.promise("archive")
@pytest.mark.parametrize("case", HOSTILE)
def test_what_comes_back_is_checked(store: Store, tmp_path: Path, case: str) -> None:
    """Files from an external archive are accepted only with the recorded size and SHA-256."""
    data, is_named_so, words = HOSTILE[case]
    run = add_run(store.home, "mlp", b"x" * 100)
    archive = archive_at(store, f"memory://hostile-{case.replace(' ', '-')}")
    archive.move(run)
    files = fsspec.filesystem("memory")
    (name,) = files.ls(f"/hostile-{case.replace(' ', '-')}", detail=False)
    content = data()
    if content:
        files.pipe_file(name, content)
    else:
        files.rm(name)
    if is_named_so:
        # The record in the run's directory is as hostile as the archive.
        other = f"{run.id}-{hashlib.sha256(content).hexdigest()}.tar.gz"
        files.mv(name, f"{name.rpartition('/')[0]}/{other}")
        record = MovedFiles(other, len(content), (MovedFile("trace/trace.log", 1, 0),))
        (run.path / "archived.json").write_bytes(msgspec.json.encode(record))
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with pytest.raises(StoreError, match=words):
        archive.bring_back(run)
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before
    assert (is_away(run), run.standing().state) == (True, "done")


@pytest.mark.promise("archive")
def test_a_record_that_leads_elsewhere_is_none(store: Store, tmp_path: Path) -> None:
    """No name or link of an archived run leads outside the run."""
    run = add_run(store.home, "mlp", b"x" * 100)
    archive = archive_at(store, f"memory://record-{os.getpid()}")
    archive.move(run)
    record = (run.path / "archived.json").read_bytes()
    for name in (f"../{run.id}-{'0' * 64}.tar.gz", f"another-{'0' * 64}.tar.gz", "x"):
        (run.path / "archived.json").write_bytes(msgspec.json.encode(MovedFiles(name, 1, ())))
        assert moved_of(run) is None
    (run.path / "archived.json").write_bytes(record)
    # A directory that became a link after the move: nothing is written through it.
    run.trace_dir.rename(tmp_path / "outside")
    run.trace_dir.symlink_to(tmp_path / "outside")
    with pytest.raises(StoreError):
        archive.bring_back(run)
    assert list((tmp_path / "outside").iterdir()) == []


def test_what_is_wrong_with_the_archive_is_reported_without_a_password(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = add_run(store.home, "mlp", b"x" * 100)
    archive_at(store, f"file://{tmp_path}/elsewhere").move(run)
    monkeypatch.delenv("COMPILEBOARD_ARCHIVE", raising=False)
    with pytest.raises(StoreError, match="set COMPILEBOARD_ARCHIVE to its address"):
        bring_back(run)
    for url, words in (
        ("nosuch://ann:secret@host/x", "the archive nosuch://host/x cannot be used: Protocol not known"),
        (f"file://{tmp_path}/empty", "cannot be used: .*No such file"),
    ):
        with pytest.raises(StoreError, match=words) as error:
            archive_at(store, url).bring_back(run)
        assert "secret" not in str(error.value)
    assert remote_archive(store, {}) is None
    with pytest.raises(SettingError, match="COMPILEBOARD_ARCHIVE_CACHE_GIB is `many`"):
        remote_archive(store, {"COMPILEBOARD_ARCHIVE": "memory://x", "COMPILEBOARD_ARCHIVE_CACHE_GIB": "many"})


def test_files_that_changed_after_a_fetch_replace_the_earlier_ones_in_the_archive(store: Store, tmp_path: Path) -> None:
    run = add_run(store.home, "mlp", b"x" * 100)
    archive = archive_at(store, f"file://{tmp_path}/elsewhere")
    archive.move(run)
    archive.bring_back(run)
    log = run.log_path()
    assert log is not None
    log.write_bytes(b"y" * 200)
    assert archive.move(run) == 200
    moved = moved_of(run)
    assert moved is not None
    assert [file.name for file in (tmp_path / "elsewhere").iterdir()] == [moved.name]
    archive.bring_back(run)
    assert log.read_bytes() == b"y" * 200


def test_what_is_deleted_is_removed_from_the_archive_once(store: Store, tmp_path: Path) -> None:
    archive = archive_at(store, f"file://{tmp_path}/elsewhere")
    runs = [store.open(add_scenario(store.home, "error")) for _ in range(2)]
    assert archive.let_go(runs[0]) == 0
    for run in runs:
        archive.move(run)
        store.delete(run)
    gone, _ = sorted((tmp_path / "elsewhere").iterdir())
    gone.unlink()
    archive.remove_deleted()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    archive.remove_deleted()
