"""A large log: its outline comes first, its report is stored in parts, and what is read of it is the same."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.big_log import write_log
from core import Report, ReportError, Run, Store, from_json, open_report, to_json, verdict
from core.analysis.durations import compile_time_s
from core.report import parts
from core.runs import stored
from core.runs.stored import is_stored, open_index
from core.views.prepared import prepared, summaries
from core.views.progress import outline_view
from tests.support.homes import add_run, add_scenario
from tests.support.logs import recorded_report, report_of
from tests.support.places import TRACES
from tests.support.sample import one_in

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


@pytest.fixture(scope="module")
def whole(of_torch_alone: bytes) -> Report:
    """The report of that log, built at once."""
    return report_of(of_torch_alone)


def path_of(run: Run, name: str) -> Path:
    return run.path / f"report.{name}"


@pytest.mark.parametrize("scenario", one_in(5, SCENARIOS))
def test_a_report_in_parts_is_the_report(tmp_path: Path, scenario: str) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, scenario))
    whole = to_json(recorded_report(TRACES / scenario / "trace.log"))
    assert to_json(open_report(run)) == whole
    assert is_stored(run)
    assert to_json(open_report(run)) == whole


@pytest.mark.parametrize("scenario", one_in(5, SCENARIOS))
def test_what_is_made_of_a_whole_report_is_read_as_it_was_made(tmp_path: Path, scenario: str) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, scenario))
    open_report(run, summaries(run))
    files = {path: path.stat().st_mtime_ns for path in (run.path / "results").iterdir()}
    assert len(files) > 10
    assert prepared(run, open_report(run)) == prepared(run, recorded_report(TRACES / scenario / "trace.log"))
    assert {path: path.stat().st_mtime_ns for path in (run.path / "results").iterdir()} == files


@pytest.mark.parametrize("damage", [b"", b"0123 4567\n{}", b"{"])
def test_what_does_not_fit_its_report_is_made_again(tmp_path: Path, damage: bytes) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "foreign"))
    made = verdict(open_report(run))
    (path,) = (run.path / "results").glob("analysis.verdict.*")
    whole = path.read_bytes()
    path.write_bytes(damage or whole.replace(b'"graphs":', b'"drawings":'))
    assert verdict(open_report(run)) == made
    assert path.read_bytes() == whole


def test_what_another_version_of_our_code_made_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "foreign"))
    made = verdict(open_report(run))
    (path,) = (run.path / "results").glob("analysis.verdict.*")
    changed = path.read_bytes().replace(b'"graphs":', b'"graphs":1')
    path.write_bytes(changed)
    assert verdict(open_report(run)) != made
    monkeypatch.setattr(parts, "code_version", lambda: "another")
    assert verdict(open_report(run)) == made


def test_a_changed_report_has_its_own_results(tmp_path: Path) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "training_step"))
    report = open_report(run)
    changed = replace(report, phases=report.phases[:1], graph_breaks=())
    assert (changed.phases, verdict(changed).breaks) == (report.phases[:1], 0)
    assert compile_time_s(changed) == report.phases[0].duration_s != compile_time_s(report)


def test_the_phases_of_a_compilation_are_read_alone(tmp_path: Path, of_torch_alone: bytes, whole: Report) -> None:
    report = open_report(add_run(tmp_path, "big", of_torch_alone, kind="log"))
    ids = {phase.compilation for phase in whole.phases}
    assert len(ids) > 20
    assert {name: report.phases_of(name) for name in ids} == {name: whole.phases_of(name) for name in ids}


def test_a_report_in_parts_of_an_older_version_opens_as_it_did(tmp_path: Path) -> None:
    """Its head had the phases, and no mark."""
    run = Store(tmp_path).open(add_scenario(tmp_path, "graph_break_zoo"))
    whole = to_json(open_report(run))
    head = json.loads(path_of(run, "head.json").read_bytes())
    report = {**json.loads(whole), "compilations": head["report"]["compilations"]}
    older = {"report": report, "places": head["places"], "parts_bytes": head["parts_bytes"]}
    path_of(run, "head.json").write_text(json.dumps(older))
    shutil.rmtree(run.path / "results")
    report_then = open_report(run)
    assert to_json(report_then) == whole
    assert verdict(report_then) == verdict(from_json(whole))
    assert path_of(run, "head.json").read_text() == json.dumps(older)
    assert not (run.path / "results").exists()


def test_a_log_of_torch_alone_is_read_one_compilation_after_another(
    tmp_path: Path, of_torch_alone: bytes, whole: Report
) -> None:
    run = add_run(tmp_path, "big", of_torch_alone, kind="log")
    assert any(compilation.id.startswith("2:") for compilation in whole.compilations)
    assert to_json(open_report(run)) == to_json(whole)


def test_nothing_of_a_compilation_is_read_before_it_is_used(tmp_path: Path, of_torch_alone: bytes) -> None:
    run = add_run(tmp_path, "big", of_torch_alone, kind="log")
    open_report(run)
    size = path_of(run, "parts").stat().st_size
    path_of(run, "parts").write_bytes(b" " * size)
    report = open_report(run)
    assert [compilation.status for compilation in report.compilations]
    with pytest.raises(ReportError, match="a part of the stored report cannot be read"):
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

    assert outline_view(run) is None
    monkeypatch.setattr(stored, "build_in_parts", cut_short)
    report = open_report(run, summaries(run))
    (view,) = seen
    assert view is not None
    assert view.title.startswith(f"{sum(len(c.graphs) > 0 for c in report.compilations)} graphs in ")
    assert [row["compilation"] for row in view.rows] != []
    assert view.failure == ""
