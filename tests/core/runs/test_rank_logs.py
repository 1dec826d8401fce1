"""Logs of several ranks: one run, and one rank of it by `ID@3`."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from core import Run, Store, StoreError, TraceError, open_report, open_summary
from core.base.words import bytes_, ranges_words
from core.commands.main import main
from core.runs.tools.tasks import Ladder, digest
from core.trace.ranks import rank_logs, unread_words
from core.views.progress import followed_words
from tests.support.places import TRACES

LOG = (TRACES / "foreign" / "trace.log").read_bytes()


def record(rank: int | None, name: str = "a") -> bytes:
    header = {"dynamo_start": {"stack": []}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    more = {"rank": rank} if rank is not None else {}
    return f"V0101 00:00:00.000000 1 {name}.py:1] {json.dumps({**header, **more})}\n".encode()


def written(folder: Path, **logs: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, log in logs.items():
        (folder / f"{name}.log").write_bytes(log)
    return folder


def added(home: Path, folder: Path) -> Run:
    return Store(home).add_path(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four ranks, of which rank 1 has no compilation."""
    logs = {f"dedicated_log_torch_trace_rank_{rank}_x": LOG for rank in (0, 2, 10)}
    return written(tmp_path / "job", **logs, dedicated_log_torch_trace_rank_1_x=record(1))


def test_a_rank_is_in_the_name_of_a_log_or_in_its_records(tmp_path: Path) -> None:
    folder = written(tmp_path / "job", dedicated_log_torch_trace_rank_3_abc=record(None), b=record(7), c=record(12))
    found = rank_logs(folder)
    assert {rank: log.name for rank, log in found.ranks.items()} == {
        3: "dedicated_log_torch_trace_rank_3_abc.log",
        7: "b.log",
        12: "c.log",
    }
    assert (found.plain, found.unread) == (None, ())


def test_a_process_that_joined_its_group_late_has_its_rank_in_later_records(tmp_path: Path) -> None:
    folder = written(tmp_path / "job", a=record(None) * 20_000 + record(4), b=record(None) * 300 + record(5))
    assert tuple(rank_logs(folder).ranks) == (4, 5)


def test_what_is_not_read_is_named(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "job", a=record(0) * 2, b=record(0), c=record(1), launcher=record(None), notes=b"no record\n"
    )
    found = rank_logs(folder)
    assert {rank: log.name for rank, log in found.ranks.items()} == {0: "a.log", 1: "c.log"}
    assert found.unread == ("b.log", "launcher.log", "notes.log")
    assert unread_words(found.unread) == "Not read: b.log, launcher.log, notes.log"
    assert unread_words(["x"] * 8) == f"Not read: {', '.join('x' * 8)}"
    assert unread_words(["x"] * 9) == f"Not read: {', '.join('x' * 8)} and 1 more"


def at(time: str, records: int = 1) -> bytes:
    return record(None).replace(b"0101 00:00:00.000000", time.encode()) * records


def test_of_logs_without_ranks_the_newest_is_read_and_the_others_are_earlier(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "job", a=at("0102 20:25:00.000000", 3), b=at("0102 20:29:00.000000"), c=at("0101 20:29:00.000000")
    )
    logs = rank_logs(folder)
    assert (logs.plain, list(logs.earlier.values()), logs.unread) == (folder / "b.log", ["a.log", "c.log"], ())
    assert logs.origin == "The newest of 3 logs. Earlier logs: a.log, c.log."


def test_of_several_logs_of_a_rank_the_newest_is_read(tmp_path: Path) -> None:
    before, after = record(1).replace(b"0101", b"0102"), record(1).replace(b"0101", b"0103")
    logs = rank_logs(written(tmp_path / "job", a=before * 2, b=after))
    assert (logs.ranks[1].name, logs.unread) == ("b.log", ("a.log",))


def test_a_copy_of_a_log_is_no_earlier_log(tmp_path: Path) -> None:
    logs = rank_logs(written(tmp_path / "job", dedicated=record(None), raw=record(None)))
    assert (len(logs.earlier), len(logs.unread)) == (0, 1)


def test_earlier_logs_of_a_directory_are_separate_runs(tmp_path: Path) -> None:
    folder = written(tmp_path / "job", a=at("0102 20:25:00.000000", 3), b=at("0102 20:29:00.000000"))
    run = added(tmp_path / "home", folder)
    listed = Store(tmp_path / "home").list()
    assert [status.title for _, status in listed] == ["job", "job · a.log"]
    assert listed[0][0].id == run.id
    assert run.status().origin == (
        "The newest of 2 logs. Earlier logs: a.log. They are separate runs, ready for Compare."
    )


def test_logs_in_inner_directories_are_found(tmp_path: Path) -> None:
    written(tmp_path / "job")
    written(tmp_path / "job" / "node0", a=record(0))
    written(tmp_path / "job" / "node1", a=record(8))
    assert tuple(rank_logs(tmp_path / "job").ranks) == (0, 8)


def test_a_directory_of_ranks_is_one_run(folder: Path, tmp_path: Path) -> None:
    run = added(tmp_path / "home", folder)
    store = Store(tmp_path / "home")
    assert [(listed.id, listed.ranks(), status.kind) for listed, status in store.list()] == [
        (run.path.name, (0, 1, 2, 10), "log")
    ]
    assert sorted(path.name for path in run.trace_dir.iterdir()) == [
        "rank_0.log",
        "rank_1.log",
        "rank_10.log",
        "rank_2.log",
    ]


def test_an_id_opens_its_rank_and_alone_the_lowest(folder: Path, tmp_path: Path) -> None:
    run = added(tmp_path / "home", folder)
    store, name = Store(tmp_path / "home"), run.path.name
    assert (run.id, run.rank) == (f"{name}@0", 0)
    assert store.open(name) == run
    tenth = store.open(f"{name}@10")
    assert (tenth.id, tenth.rank, tenth.log_path()) == (f"{name}@10", 10, run.trace_dir / "rank_10.log")
    assert [other.id for other in tenth.other_ranks()] == [f"{name}@{rank}" for rank in (0, 1, 2)]


@pytest.mark.parametrize("rank", ["3", "03", "-1", "", "x", "1234567"])
def test_a_rank_that_there_is_not_is_an_error(folder: Path, tmp_path: Path, rank: str) -> None:
    run = added(tmp_path / "home", folder)
    with pytest.raises(StoreError, match=r"no rank 3; its ranks are 0–2, 10|there is no run"):
        Store(tmp_path / "home").open(f"{run.path.name}@{rank}")


def test_reports_and_verdicts_are_those_of_the_rank(folder: Path, tmp_path: Path) -> None:
    first = added(tmp_path / "home", folder)
    second = first.of_rank(1)
    assert [bool(open_report(run).compilations[0].graphs) for run in (first, second)] == [True, False]
    assert open_summary(first) != open_summary(second)
    assert (first.report_path, second.report_path) == (
        first.path / "ranks" / "0" / "report.json",
        first.path / "ranks" / "1" / "report.json",
    )
    assert second.report_path.is_file()
    assert replace(first, id=first.path.name, rank=None).report_path == first.report_path


def test_the_whole_run_is_renamed_and_deleted(folder: Path, tmp_path: Path) -> None:
    run = added(tmp_path / "home", folder).of_rank(2)
    store = Store(tmp_path / "home")
    store.rename(run, "eight cards")
    assert store.open(run.path.name).name() == "eight cards"
    store.delete(run)
    assert (store.list(), list(store.runs_dir.iterdir())) == ([], [])


def test_a_tool_on_a_rank_has_a_directory_of_its_own() -> None:
    request = Ladder("kernel")
    assert len({digest(request), digest(request, 0), digest(request, 1)}) == 3


def test_a_single_rank_is_a_plain_log(tmp_path: Path) -> None:
    run = added(tmp_path / "home", written(tmp_path / "job", dedicated_log_torch_trace_rank_3_x=LOG))
    assert (run.rank, run.ranks(), [path.name for path in run.trace_dir.iterdir()]) == (None, (), ["opened.log"])


def test_a_directory_without_a_log_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"holds no \.log file"):
        added(tmp_path / "home", written(tmp_path / "job", notes=b"no record\n"))
    assert Store(tmp_path / "home").list() == []


def test_the_command_line_says_which_rank_it_reads(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("Rank 0 of 4 (--rank N).\n")
    assert main(["report", str(folder), "--rank", "1"]) == 0
    assert capsys.readouterr().out.startswith("Rank 1 of 4 (--rank N).\nNo graph was compiled.")
    assert main(["report", f"{folder}@5"]) == 3
    assert capsys.readouterr().err.endswith("has no rank 5; its ranks are 0–2, 10\n")


def test_two_ranks_are_compared(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["compare", f"{folder}@0", f"{folder}@2"]) == 0
    same = capsys.readouterr().out
    assert main(["compare", f"{folder}@0", f"{folder}@1"]) == 0
    assert capsys.readouterr().out != same


@pytest.mark.parametrize(("numbers", "words"), [((), ""), ((3,), "3"), ((0, 1, 2), "0–2"), ((0, 2, 3, 7), "0, 2–3, 7")])
def test_ranks_are_written_as_ranges(numbers: tuple[int, ...], words: str) -> None:
    assert ranges_words(numbers) == words


def test_a_followed_job_shows_the_counts_and_the_newest_record_of_all_ranks(folder: Path, tmp_path: Path) -> None:
    run = added(tmp_path / "home", folder)
    logs = [run.of_rank(rank).log_path() for rank in run.ranks()]
    sizes = [log.stat().st_size for log in logs if log is not None]
    for seconds, log in enumerate(logs):
        assert log is not None
        os.utime(log, (1_000.0 + seconds, 1_000.0 + seconds))
    report = open_report(run.of_rank(0))
    text = followed_words(run, report, 1_063.0)
    compilations = 3 * len(report.compilations) + 1
    graphs = 3 * report.kinds["dynamo_output_graph"]
    assert text == (
        f"So far: 4 ranks, {compilations} compilations, {graphs} graphs, {bytes_(sum(sizes))}. Last written 60.0 s ago."
    )
