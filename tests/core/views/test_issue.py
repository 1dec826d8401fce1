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
from core.report import Bisection
from core.views.issue import MAX_PART_CHARS, IssueView, fenced, issue_of
from tests.support.homes import add_run, job_of
from tests.support.places import TRACES

HEADINGS = ("### 🐛 Describe the bug", "### Error logs", "### Versions")
CODE = "import torch\nmodel = torch.sin\ninputs = (torch.ones(3),)\n"


def issue(home: Path, name: str, state: str, code: str = CODE) -> IssueView:
    run = add_run(home, name, (TRACES / name / "trace.log").read_bytes(), job=job_of(name), state=state)
    run.model_path.write_text(code)
    return issue_of(run)


def test_a_failed_run_is_reported_with_its_error(empty_home: Path) -> None:
    view = issue(empty_home, "error", "failed")
    error = view.report.error if view.report else None
    assert error is not None
    assert view.title == f"{view.call} raises {error.type}"
    places = [view.markdown.index(heading) for heading in HEADINGS]
    assert places == sorted(places)
    assert error.traceback.strip().splitlines()[-1] in view.markdown
    assert f"- PyTorch version: {view.report.setting.torch}" in view.markdown if view.report else False


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
        assert archive.namelist() == ["issue.md", "script.py", "model.py", "job.json", "trace.log"]
        assert msgspec.convert(json.loads(archive.read("job.json")), CompileJob) == view.job
        assert archive.read("trace.log") == (TRACES / "error" / "trace.log").read_bytes()


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
