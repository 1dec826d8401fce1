"""The command line over stored runs: listed, searched, tagged, pinned, pruned, archived and imported."""

import json
from pathlib import Path

import pytest

from core import Run, Store
from core.analysis.repairs.claims import Proof, RunTrials
from core.base.errors import StoreError
from core.base.words import bytes_
from core.commands.main import main
from core.commands.output import FAILED, MISSING, OK, USAGE
from core.commands.runs import matching_runs
from core.runs.comments import set_pinned, set_tags
from core.runs.stored import write_trials
from tests.support.homes import add_run, add_scenario


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    return Store(tmp_path / "home")


def lines(capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    """Return the lines on standard output, without more spaces than needed, and those on standard error."""
    out, err = capsys.readouterr()
    return [" ".join(line.split()) for line in out.splitlines()], err.splitlines()


def states(store: Store) -> list[Run]:
    return [add_run(store.home, "mlp", b"", state=state) for state in ("done", "failed", "crashed", "failed")]


def test_runs_are_listed_newest_first_and_counted(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    runs = states(store)
    set_tags(runs[0], ["nightly"])
    set_pinned(runs[0], True)
    assert main(["runs"]) == OK
    assert lines(capsys) == (
        [
            f"{runs[3].id} failed mlp",
            f"{runs[2].id} crashed mlp",
            f"{runs[1].id} failed mlp",
            f"{runs[0].id} done mlp · #nightly · pinned",
        ],
        ["4 runs"],
    )


def test_a_search_is_terms_and_excluded_terms(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    runs = states(store)
    assert main(["runs", "is:failed", "--most", "1"]) == OK
    assert lines(capsys) == ([f"{runs[3].id} failed mlp"], ["2 runs, 1 listed (--most N)"])
    assert main(["runs", "mlp", "--not", "is:failed", "--not", "is:done"]) == OK
    assert lines(capsys) == ([f"{runs[2].id} crashed mlp"], ["1 run"])
    assert main(["runs", "colour:red"]) == OK
    assert lines(capsys)[1][1:] == ["No run matches"]


def test_runs_are_json(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    run = add_run(store.home, "mlp", b"", by="ada")
    assert main(["runs", "--json"]) == OK
    data = json.loads(capsys.readouterr().out)
    assert data["total"] == 1
    assert {name: data["runs"][0][name] for name in ("id", "tags", "pinned", "summary")} == {
        "id": run.id,
        "tags": [],
        "pinned": False,
        "summary": None,
    }
    assert data["runs"][0]["status"]["by"] == "ada"


def test_a_run_is_tagged_pinned_and_commented(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    run = add_run(store.home, "mlp", b"")
    assert main(["mark", run.id, "--tag", "nightly", "--tag", "slow", "--pin"]) == OK
    assert main(["mark", run.id, "--untag", "slow"]) == OK
    assert main(["mark", run.id, "--untag", "nightly", "--unpin"]) == OK
    assert main(["mark", run.id, "--comment", "slower since Monday"]) == OK
    assert lines(capsys)[0] == [
        "nightly · slow · pinned",
        "nightly · pinned",
        "no tags, no open threads, not pinned",
        "1 open thread",
    ]
    assert main(["mark", "20260101-000000-none-0000", "--pin"]) == MISSING


def test_prune_lists_first_and_deletes_on_request_without_pinned_runs(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = states(store)
    set_pinned(runs[1], True)
    assert main(["prune", "is:failed"]) == OK
    out, (err,) = lines(capsys)
    assert out == [f"{runs[3].id} failed mlp"]
    assert err.startswith("1 run, ")
    assert err.endswith("; add --delete to delete them, or --move")
    assert len(store.list()) == 4
    assert main(["prune", "is:failed", "--delete"]) == OK
    assert {run.id for run, _ in store.list()} == {run.id for run in runs[:3]}


def test_prune_counts_only_what_it_could_delete(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [add_run(store.home, title, b"") for title in ("mlp", "gpt")]
    delete = Store.delete

    def refuse_first(self: Store, run: Run) -> None:
        if run.id == runs[0].id:
            raise StoreError("it is in use")
        delete(self, run)

    monkeypatch.setattr(Store, "delete", refuse_first)
    assert main(["prune", "is:ended", "--delete"]) == OK
    (size,) = {run.entry.size_bytes for run in matching_runs("").runs}
    _, (refused, words) = lines(capsys)
    assert refused == f"{runs[0].id}: it is in use"
    assert words == f"1 run deleted, {bytes_(size or 0)}"


def test_prune_keeps_the_newest_of_each_model(store: Store) -> None:
    runs = [add_run(store.home, title, b"") for title in ("mlp", "gpt", "mlp", "mlp")]
    assert main(["prune", "--keep", "2", "--delete"]) == OK
    assert {run.id for run, _ in store.list()} == {run.id for run in runs[1:]}


@pytest.mark.parametrize("search", [[], ["isfailed:x"], ["is:purple"], ["before:long-ago"], ["--not", "tga:keep"]])
def test_prune_deletes_nothing_for_a_search_that_is_not_understood(store: Store, search: list[str]) -> None:
    states(store)
    assert main(["prune", *search, "--delete"]) == USAGE
    assert len(store.list()) == 4


def test_runs_are_archived_by_a_search_or_by_id_and_imported(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, file = states(store), str(tmp_path / "runs.tar.gz")
    assert main(["archive", "is:failed", "--out", file]) == OK
    assert lines(capsys)[0][0].startswith(f"{file}: 2 runs, ")
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "other"))
    assert main(["import", file]) == OK
    assert main(["import", file]) == OK
    assert lines(capsys) == ([runs[1].id, runs[3].id], ["2 runs added", "0 runs added, 2 runs already here"])
    monkeypatch.setenv("COMPILEBOARD_HOME", str(store.home))
    assert main(["archive", runs[0].id, runs[2].id, "--out", file]) == OK
    assert lines(capsys)[0][0].startswith(f"{file}: 2 runs, ")


def test_an_archive_without_runs_is_an_error(store: Store, tmp_path: Path) -> None:
    assert main(["archive", "is:failed", "--out", str(tmp_path / "file")]) == USAGE
    (tmp_path / "file").write_bytes(b"no archive")
    assert main(["import", str(tmp_path / "file")]) == MISSING
    assert main(["archive", "is:done", "--out", str(tmp_path / "none" / "file")]) == USAGE
    add_run(store.home, "mlp", b"")
    assert main(["archive", "is:done", "--out", str(tmp_path / "none" / "file")]) in (MISSING, FAILED)


def test_reports_and_html_files_have_what_the_trials_of_fixes_showed(
    store: Store, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = store.open(add_scenario(store.home, "graph_break_zoo"))
    proven = Proof("where:25", "repaired", "graph breaks", "eager", (5, 0, 0), (4, 0, 0), "same")
    idle = Proof("keep_tensor:31", "nothing", "graph breaks", "eager", (5, 0, 0), (5, 0, 0), "same")
    write_trials(run, RunTrials((proven, idle)))
    shown = "Tried: graph breaks 5 → 4, results same (backend `eager`)."
    assert main(["report", run.id, "--page", "graph_breaks"]) == OK
    page = lines(capsys)[0]
    assert shown.replace("`", "") in [line.replace("`", "") for line in page]
    assert "Tried without effect" in page
    assert main(["report", run.id]) == OK
    assert any("Tried: changes nothing" in line for line in lines(capsys)[0])
    assert main(["export", run.id, "--html", str(tmp_path / "run.html")]) == OK
    assert "Tried: graph breaks 5 → 4, results same" in (tmp_path / "run.html").read_text(encoding="utf-8")
