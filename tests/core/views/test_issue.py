"""The bug report about a run: Markdown with the headings of PyTorch's template, and a ZIP with its files."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from core import CompileJob
from core.base.errors import StoreError
from core.base.machine import package_version
from core.report import Bisection
from core.runs.doctor import collected_environment
from core.views.scrub import scrubber
from core.views.sharing import MAX_PART_CHARS, NOT_COLLECTED, NOT_HERE, IssueView, fenced, issue_of
from tests.support.homes import add_run, job_of
from tests.support.places import TRACES

HEADINGS = ("### 🐛 Describe the bug", "### Error logs", "### Versions")
COLLECTED = "PyTorch version: 2.13.0+cpu\nIs debug build: False"
CODE = "import torch\nmodel = torch.sin\ninputs = (torch.ones(3),)\n"


def issue(home: Path, name: str, state: str, code: str = CODE) -> IssueView:
    run = add_run(home, name, (TRACES / name / "trace.log").read_bytes(), job=job_of(name), state=state)
    run.model_path.write_text(code)
    return replace(issue_of(run), collect=lambda: COLLECTED)


def test_a_failed_run_is_reported_with_its_error(empty_home: Path) -> None:
    view = issue(empty_home, "error", "failed")
    error = view.report.error if view.report else None
    assert error is not None
    assert view.title == f"{view.call} raises {error.type}: {error.message.partition(chr(10))[0]}"
    assert view.markdown.startswith("# torch\\.compile\\(model\\) raises ValueError\\: at most four rows\n")
    places = [view.markdown.index(heading) for heading in HEADINGS]
    assert places == sorted(places)
    assert error.traceback.strip().splitlines()[-1] in view.markdown
    assert "Traceback (most recent call last)" in view.markdown
    assert "/core/worker/" in error.traceback
    assert "/core/worker/" not in view.markdown


def test_versions_are_what_torch_collects_where_the_torch_of_the_run_is_installed(empty_home: Path) -> None:
    view = issue(empty_home, "error", "failed")
    assert view.report is not None
    assert f"### Versions\n\n```\n{COLLECTED}\n```\n\nDevice of the run: " in view.markdown
    elsewhere = replace(view, report=replace(view.report, setting=replace(view.report.setting, torch="2.9.1")))
    recorded = f"PyTorch version: 2.9.1\nPython version: {view.report.setting.python}"
    assert f"### Versions\n\n```\n{recorded}\n```\n\n{NOT_HERE}\n" in elsewhere.markdown
    assert NOT_COLLECTED in replace(view, collect=lambda: "").markdown


def test_collect_env_runs_here() -> None:
    assert collected_environment().startswith(f"PyTorch version: {package_version('torch')}")


def test_the_minified_script_takes_the_place_of_the_model(empty_home: Path) -> None:
    view = issue(empty_home, "transformer_block", "done")
    assert view.report is not None
    assert view.script.startswith(CODE)
    assert "actual = call(torch.compile(model" in view.script
    found = Bisection(script="model = 1\ninputs = (2,)\n", ops=1, captured_ops=9, outcome="differs", reproduces=True)
    minified = replace(view, report=replace(view.report, bisection=found))
    assert minified.script.startswith(found.script)
    assert "Torch's minifier left 1 of 9 ops" in minified.markdown


def test_code_without_inputs_gets_no_check(empty_home: Path) -> None:
    view = issue(empty_home, "transformer_block", "done", "calls = []\n")
    assert view.script == "calls = []\n"


def test_the_zip_has_the_files_of_the_run(empty_home: Path) -> None:
    view = issue(empty_home, "error", "failed")
    with zipfile.ZipFile(io.BytesIO(view.as_zip())) as archive:
        listed = [line.partition(":")[0] for line in archive.read("README.txt").decode().splitlines()]
        assert archive.namelist() == ["README.txt", *listed]
        assert listed == ["issue.md", "script.py", "model.py", "job.json", "trace.log"]
        assert msgspec.convert(json.loads(archive.read("job.json")), CompileJob) == view.job
        assert archive.read("trace.log") == (TRACES / "error" / "trace.log").read_bytes()


def test_the_zip_says_what_is_not_in_it_and_what_was_replaced(empty_home: Path) -> None:
    run = add_run(empty_home, "error", None, job=job_of("error"), state="crashed", reason="signal 9")
    run.model_path.write_text(CODE)
    scrub = scrubber(["names"], codes=[], texts=[], names=["my_model"])
    with zipfile.ZipFile(io.BytesIO(issue_of(run).as_zip(scrub))) as archive:
        last = archive.read("README.txt").decode().splitlines()[-2:]
    assert last == ["The run wrote no log of TORCH_TRACE.", "Replaced by placeholders: names."]


def test_an_imported_log_has_no_report(empty_home: Path) -> None:
    run = add_run(empty_home, "log", (TRACES / "error" / "trace.log").read_bytes(), kind="log")
    with pytest.raises(StoreError, match="is an imported log"):
        issue_of(run)


def test_a_block_holds_any_text() -> None:
    assert fenced("a\n```\nb", "python") == "````python\na\n```\nb\n````"
    long = fenced("x" * (MAX_PART_CHARS + 5), "")
    assert long.startswith("```\n… 5 characters before this are left out\n")
    assert len(long) < MAX_PART_CHARS + 100


def test_a_crashed_run_is_reported_with_its_last_words(empty_home: Path) -> None:
    view = issue(empty_home, "transformer_block", "crashed")
    crashed = replace(view, report=None, run=SimpleNamespace(output_tail=lambda: "Segmentation fault"))  # type: ignore[arg-type]
    assert crashed.title == f"{view.call}: the process crashed"
    assert "Segmentation fault" in crashed.markdown


def test_the_text_of_an_error_is_no_live_markdown(empty_home: Path) -> None:
    view = issue(empty_home, "error", "failed")
    assert view.report is not None
    assert view.report.error is not None
    error = replace(view.report.error, message="![x](https://evil.example/p.png) @team fixes #1 GH-2 <img src=x>")
    lines = replace(view, report=replace(view.report, error=error)).markdown.split("### Error logs")[0].splitlines()
    outside = " ".join(line for line in lines if line.startswith("#") or "evil" in line)
    assert "evil" in outside
    assert [mark for mark in ("![", "](", "://", "@team", "#1", "GH-2", "GH\\-2", "<img") if mark in outside] == [
        "<img"
    ]
    assert outside.count("<img") == outside.count("\\<img")
