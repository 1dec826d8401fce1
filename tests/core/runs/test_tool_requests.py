"""Requests to a kernel tool: the largest code, and one directory for one request."""

from pathlib import Path

import pytest

from core import Store
from core.base.errors import ToolError
from core.runs.tools.tasks import MAX_CODE_CHARS, Interpret, create, task_for
from tests.support.homes import add_scenario


def test_code_for_the_interpreter_is_bounded(tmp_path: Path) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "eager_backend"))
    assert task_for(run, Interpret(code="x" * MAX_CODE_CHARS)).script == "x" * MAX_CODE_CHARS
    with pytest.raises(ToolError, match="the code is longer than 1,000,000 characters"):
        task_for(run, Interpret(code="x" * (MAX_CODE_CHARS + 1)))


def test_a_request_has_one_directory_and_the_second_one_changes_nothing(tmp_path: Path) -> None:
    run = Store(tmp_path).open(add_scenario(tmp_path, "eager_backend"))
    task = task_for(run, Interpret(code="import triton"))
    assert create(run, task)
    before = sorted(path.relative_to(run.path) for path in run.path.rglob("*"))
    assert not create(run, task)
    assert sorted(path.relative_to(run.path) for path in run.path.rglob("*")) == before
