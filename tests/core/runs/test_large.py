"""A large log: its outline comes first, its report is stored in parts, and what is read of it is the same."""

from pathlib import Path

import pytest

from benchmarks.big_log import write_log
from core import Run, Store, build_report, open_report, to_json
from core.runs import stored
from core.runs.stored import is_stored, open_index, open_outline
from core.views.outline import outline_view
from tests.support.homes import add_run, add_scenario
from tests.support.places import TRACES

SCENARIOS = sorted(path.parent.name for path in TRACES.glob("*/trace.log"))


@pytest.fixture(autouse=True)
def all_logs_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "LARGE_LOG_BYTES", 0)


@pytest.fixture(scope="module")
def of_torch_alone(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A log without records of ours, with compilations before and after a reset."""
    log = tmp_path_factory.mktemp("log") / "big.log"
    write_log(log, compilations=20)
    return log.read_bytes()


def path_of(run: Run, name: str) -> Path:
    return run.path / f"report.{name}"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_report_in_parts_is_the_report(tmp_path: Path, scenario: str) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, scenario))
    whole = to_json(build_report(TRACES / scenario / "trace.log"))
    assert to_json(open_report(run)) == whole
    assert is_stored(run)
    assert to_json(open_report(run)) == whole


def test_a_log_of_torch_alone_is_read_one_compilation_after_another(tmp_path: Path, of_torch_alone: bytes) -> None:
    run = add_run(tmp_path, "big", of_torch_alone, kind="log")
    log = run.log_path()
    assert log is not None
    whole = build_report(log)
    assert any(compilation.id.startswith("2:") for compilation in whole.compilations)
    assert to_json(open_report(run)) == to_json(whole)


def test_nothing_of_a_compilation_is_read_before_it_is_used(tmp_path: Path, of_torch_alone: bytes) -> None:
    run = add_run(tmp_path, "big", of_torch_alone, kind="log")
    open_report(run)
    size = path_of(run, "parts").stat().st_size
    path_of(run, "parts").write_bytes(b" " * size)
    report = open_report(run)
    assert [compilation.status for compilation in report.compilations]
    with pytest.raises(stored.ReportError, match="a part of the stored report cannot be read"):
        list(report.compilations[0].graphs)


@pytest.mark.parametrize("name", ["parts", "head.json", "index", "outline.json"])
def test_a_stored_file_that_is_cut_off_is_made_again(tmp_path: Path, name: str) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "foreign"))
    whole = to_json(open_report(run))
    damaged = path_of(run, name)
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert to_json(open_report(run)) == whole
    assert len(open_index(run)) == sum(open_report(run).kinds.values())


def test_the_outline_is_there_before_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "graph_break_zoo"))
    seen = []

    def cut_short(index: object, finish: object) -> None:
        seen.append(outline_view(run))
        raise OSError("no room")

    assert (open_outline(run), outline_view(run)) == (None, None)
    monkeypatch.setattr(stored, "build_in_parts", cut_short)
    report = open_report(run)
    (view,) = seen
    assert view is not None
    assert view.title.startswith(f"{sum(len(c.graphs) > 0 for c in report.compilations)} graphs in ")
    assert [row["compilation"] for row in view.rows] != []
    assert view.failure == ""
