"""Archives of runs: what goes out comes back with its id, and nothing that an archive holds is trusted."""

import errno
import io
import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from core import Run, Store, StoreError, TraceError, open_report
from core.runs import sharing
from core.runs.comments import set_pinned, set_tags, tags_of
from core.runs.sharing import ImportedRuns, import_archive, write_archive
from tests.support.homes import add_run, add_scenario, keeper

STATUS = json.dumps({"state": "done", "created_s": 1.0, "title": "mlp"}).encode()
NAME = "20260101-000000-mlp-0000"


@pytest.fixture
def here(tmp_path: Path) -> Store:
    return Store(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> Store:
    return Store(tmp_path / "there")


@pytest.mark.promise("archive")
def test_runs_come_back_as_they_were(here: Store, there: Store, tmp_path: Path) -> None:
    """Imported runs are complete and unchanged; a private run stays private."""
    runs = [here.open(add_scenario(here.home, name)) for name in ("target_h100", "eager_backend")]
    here.rename(runs[0], "a name")
    here.annotate(runs[0], "a note")
    set_tags(runs[0], ["nightly"])
    set_pinned(runs[0], True)
    here.set_audience(runs[0], "private")
    reports = [open_report(run) for run in runs]
    write_archive(runs, tmp_path / "runs.tar.gz")
    imported = import_archive(there, tmp_path / "runs.tar.gz")
    added = [there.open(run.id) for run in runs]
    assert imported == ImportedRuns(tuple(sorted(added, key=lambda run: run.id)))
    assert [run.status() for run in added] == [run.status() for run in runs]
    assert [run.job() for run in added] == [run.job() for run in runs]
    assert [open_report(run) for run in added] == reports
    first = added[0]
    assert (first.name(), first.note(), tags_of(first), first.pinned) == ("a name", "a note", ("nightly",), True)
    assert first.audience() == "private"


def test_what_is_made_from_a_run_is_left_out(here: Store, tmp_path: Path) -> None:
    run = here.open(add_scenario(here.home, "eager_backend"))
    open_report(run)
    (run.path / "aoti").mkdir()
    (run.path / "aoti" / "package.pt2").write_bytes(b"compiled")
    write_archive([run], tmp_path / "runs.tar.gz")
    with tarfile.open(tmp_path / "runs.tar.gz") as members:
        names = [member.name for member in members]
        owners = {(member.uid, member.gid, member.uname, member.gname) for member in members}
    assert names == [f"{run.id}/{name}" for name in ("status.json", "job.json", "trace/trace.log")]
    assert owners == {(0, 0, "", "")}


@pytest.mark.promise("archive")
def test_a_run_that_the_store_has_stays_as_it_is(here: Store, tmp_path: Path) -> None:
    """An import changes no existing run."""
    run = add_run(here.home, "mlp", b"")
    write_archive([run], tmp_path / "runs.tar.gz")
    here.rename(run, "renamed")
    assert import_archive(here, tmp_path / "runs.tar.gz") == ImportedRuns(known=(run.id,))
    assert run.name() == "renamed"


def test_a_live_run_is_not_archived(here: Store, tmp_path: Path) -> None:
    run = add_run(here.home, "mlp", b"", state="running", **keeper())
    with pytest.raises(StoreError, match="still going"):
        write_archive([run], tmp_path / "runs.tar.gz")
    assert not (tmp_path / "runs.tar.gz").exists()


def test_an_archive_has_a_limit_of_runs(here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "MOST_RUNS", 1)
    with pytest.raises(StoreError, match="at most 1 runs, and these are 2"):
        write_archive([add_run(here.home, "mlp", b"") for _ in range(2)], tmp_path / "runs.tar.gz")


def test_who_adds_an_archive_owns_its_runs(here: Store, there: Store, tmp_path: Path) -> None:
    run = add_run(here.home, "mlp", b"", by="ada")
    write_archive([run], tmp_path / "runs.tar.gz")
    (added,) = import_archive(there, tmp_path / "runs.tar.gz", by="grace").added
    assert added.status() == replace(run.status(), by="grace")


def made(path: Path, **members: bytes) -> Path:
    """Write an archive with these members; `__` in a name is a slash."""
    with tarfile.open(path, "w:gz") as file:
        for name, data in members.items():
            member = tarfile.TarInfo(name.replace("__", "/"))
            member.size = len(data)
            file.addfile(member, io.BytesIO(data))
    return path


LIVE = json.dumps({"state": "running", "created_s": 1.0, "handle": "local:1:1"}).encode()


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"x__status.json": STATUS}, "x: it is not named as a run"),
        ({f"{NAME}__job.json": b"{}"}, f"{NAME}: its status cannot be read"),
        ({f"{NAME}__status.json": b"\xff[["}, f"{NAME}: its status cannot be read"),
        ({f"{NAME}__status.json": LIVE}, f"{NAME}: it had not ended"),
        ({".hidden__status.json": STATUS}, ".hidden: it is not named as a run"),
        ({"status.json": STATUS}, "status.json: it is not named as a run"),
    ],
)
def test_what_is_no_run_is_not_added_and_that_is_reported(
    there: Store, tmp_path: Path, members: dict[str, bytes], problem: str
) -> None:
    imported = import_archive(there, made(tmp_path / "runs.tar.gz", **members))
    assert (imported.added, imported.known) == ((), ())
    assert imported.problems[0].startswith(problem)
    assert list(there.runs_dir.iterdir()) == []


@pytest.mark.promise("archive")
def test_files_that_belong_to_no_run_are_left_in_the_archive(there: Store, tmp_path: Path) -> None:
    """Only files that a run has are imported; nothing is executed and no link is followed."""
    extra = {"status.json": STATUS, "report.json": b"{}", "aoti__package.pt2": b"x", "tools__a__b": b"x", "x.py": b"x"}
    members = {f"{NAME}__{name}": data for name, data in extra.items()} | {f"{NAME}__trace__t.log": b"x"}
    (added,) = import_archive(there, made(tmp_path / "runs.tar.gz", **members)).added
    files = {path.relative_to(added.path).as_posix() for path in added.path.rglob("*") if path.is_file()}
    assert files == {"status.json", "trace/t.log"}


@pytest.mark.promise("archive")
@pytest.mark.parametrize("name", ["..__..__evil", "__etc__evil", f"{NAME}__..__..__evil"])
def test_a_name_that_leads_out_of_the_store_refuses_the_archive(there: Store, tmp_path: Path, name: str) -> None:
    """An archive of runs with a name that leads outside the store is refused."""
    with pytest.raises(TraceError, match="unsafe name"):
        import_archive(there, made(tmp_path / "runs.tar.gz", **{name: b"x"}))
    assert list(there.runs_dir.iterdir()) == []


@pytest.mark.promise("archive")
def test_links_in_an_archive_are_not_followed(there: Store, tmp_path: Path) -> None:
    """Links in an archive of runs are not followed."""
    with tarfile.open(tmp_path / "runs.tar.gz", "w:gz") as file:
        for name in ("status.json", "note.txt"):
            link = tarfile.TarInfo(f"{NAME}/{name}")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            file.addfile(link)
    assert import_archive(there, tmp_path / "runs.tar.gz").added == ()


@pytest.mark.parametrize("data", [b"", b"no archive", b"\x1f\x8b garbage", b"PK\x03\x04"])
def test_a_file_that_is_no_archive_of_runs_is_an_error(there: Store, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(TraceError):
        import_archive(there, tmp_path / "file")


def test_a_missing_archive_is_an_error(there: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="No such file"):
        import_archive(there, tmp_path / "missing")


def test_nothing_is_left_beside_the_runs(there: Store, tmp_path: Path) -> None:
    run = Run(NAME, there.runs_dir / NAME)
    import_archive(there, made(tmp_path / "runs.tar.gz", **{f"{NAME}__status.json": STATUS}))
    assert run.status().title == "mlp"
    assert sorted(path.name for path in there.home.iterdir()) == ["cache", "runs"]


@pytest.mark.promise("archive")
@pytest.mark.parametrize(
    ("author", "imported"),
    [("", ""), ("boss@example.org", "imported: boss@example.org"), ("x" * 9_000, f"imported: {'x' * 200}")],
)
def test_an_imported_run_belongs_to_nobody_here(here: Store, tmp_path: Path, author: str, imported: str) -> None:
    """An imported run belongs to nobody here and counts towards nobody's limits."""
    run = add_run(here.home, "mlp", b"")
    run.write_status(replace(run.status(), by=author))
    write_archive([run], tmp_path / "runs.tar.gz")
    for name in ("one", "two"):
        (there,) = import_archive(Store(tmp_path / name), tmp_path / "runs.tar.gz").added
        assert there.status().by == imported
        write_archive([there], tmp_path / "runs.tar.gz")


def test_a_full_disk_on_import_names_the_store(here: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_archive([add_run(here.home, "mlp", b"")], tmp_path / "runs.tar.gz")
    there = Store(tmp_path / "there")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sharing, "unpack", full)
    with pytest.raises(StoreError, match=str(there.home)):
        import_archive(there, tmp_path / "runs.tar.gz")
