"""Recording in a user's own process: what is in the run, and what a process may do meanwhile."""

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import torch

from core.base.errors import StoreError
from core.library.recording import GENERATOR, NOTHING, RecordWarning, record
from core.runs.engine.following import stop_following
from core.runs.store import Store
from core.runs.stored import open_report
from core.trace.parsers.build import build_report
from core.views.recompiles import RecompilesView
from core.worker.own_process import TOO_LARGE, ProcessLog
from tests.support.places import ROOT

pytestmark = pytest.mark.torch
LOG = torch._logging._internal.trace_log
LIMIT_S = 240


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store of its own, in a process that has compiled nothing; nothing of a recording may be left behind."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    torch.compiler.reset()
    handlers = list(LOG.handlers)
    yield tmp_path / "home"
    assert [handler for handler in LOG.handlers if handler not in handlers] == []
    assert torch._dynamo.utils.get_hook_for_recompile_user_context() is None


def compiled(*, dynamic: bool | None = None) -> Any:
    """A new function with one graph, for a backend that takes no time."""

    def double(x: torch.Tensor) -> torch.Tensor:
        return x + x

    # Dynamo's cache belongs to the code object.
    fresh = FunctionType(double.__code__.replace(), globals(), "double")
    return torch.compile(fresh, backend="eager", dynamic=dynamic)


def frames(run: Any) -> list[str]:
    return [compilation.frame.name for compilation in run.compilations]


def test_a_recording_is_a_run_of_the_store_that_grows_while_it_is_made(home: Path) -> None:
    function, seen = compiled(dynamic=False), []
    with record("resolutions") as run:
        for size in (2, 3, 3):
            run.mark(size=size, step=0)
            function(torch.ones(size))
            seen.append((len(run.compilations), len(run.recompiles)))
        live = Store().open(run.run.id).status()
    assert seen == [(1, 0), (2, 1), (2, 1)]
    assert (live.state, live.in_process, live.title) == ("running", True, "resolutions")
    (stored, status), *others = Store().list()
    assert (status.state, status.handle, others) == ("done", "", [])
    assert status.origin == f"Recorded by compileboard.record() in process {os.getpid()} on {os.uname().nodename}."
    report = open_report(stored)
    assert report == run.report
    assert [found.user_contexts for found in report.compilations] == [("size=2, step=0",), ("size=3, step=0",)]
    assert (report.setting.torch, report.problems) == (torch.__version__, ())
    assert report.sources[0].path == __file__
    (tree,) = RecompilesView(report).trees("")
    assert [row.call for row in tree.rows] == ["size=2, step=0", "size=3, step=0"]
    assert "speedup" in report.notes[0]


def test_the_dashboard_never_ends_the_process_that_records(home: Path) -> None:
    with record() as run:
        compiled()(torch.ones(2))
        stop_following(run.run)
        assert run.run.status().live


def test_recordings_overlap_in_threads_and_each_has_all_that_the_process_compiles(home: Path) -> None:
    inner: list[Any] = []

    def in_thread() -> None:
        with record("inner") as run:
            inner.append(run)
            compiled()(torch.ones(2))

    with record("outer") as outer:
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
        with record("nested") as nested:
            compiled()(torch.ones(2))
    assert [frames(run) for run in (*inner, nested, outer)] == [["double"], ["double"], ["double", "double"]]
    assert all(frame.file for run in (nested, outer) for found in run.compilations for frame in found.stack)


def test_a_second_recording_says_which_code_it_cannot_see_and_may_compile_again(home: Path) -> None:
    function = compiled()
    with record("first"):
        function(torch.ones(2))
    says = pytest.warns(RecordWarning, match="nothing while `second` was recorded. Before recording, 1 function")
    with says, record("second") as second:
        function(torch.ones(2))
    line = function._torchdynamo_orig_callable.__code__.co_firstlineno
    assert [(place.file, place.line) for place in second.compiled_before] == [(__file__, line)]
    with record("third", reset=True) as third:
        function(torch.ones(2))
    assert (frames(third), third.compiled_before) == (["double"], ())


def test_an_empty_recording_says_that_no_compiled_function_was_called(home: Path) -> None:
    with pytest.warns(RecordWarning, match=NOTHING.format(label="record", before="No compiled")), record():
        pass


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("a\nb"), "ValueError: a b"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_an_exception_passes_through_and_the_run_is_kept(home: Path, error: BaseException, said: str) -> None:
    runs = []

    def recorded() -> None:
        with record() as run:
            runs.append(run)
            compiled()(torch.ones(2))
            raise error

    with pytest.raises(type(error)) as raised:
        recorded()
    (run,) = runs
    assert raised.value is error
    assert frames(run) == ["double"]
    assert run.report.notes[-1] == f"record() was left by {said}."


def test_a_decorated_function_records_each_call(home: Path) -> None:
    @record()
    def train(size: int) -> int:
        compiled()(torch.ones(size))
        return size

    assert (train(2), train(3)) == (2, 3)
    assert train.__name__ == "train"
    titles = [status.title for _, status in Store().list()]
    assert titles == [train.__qualname__] * 2


def test_a_coroutine_cannot_be_decorated() -> None:
    async def train() -> None: ...

    with pytest.raises(TypeError) as refused:
        record()(train)
    assert str(refused.value) == GENERATOR


def test_one_object_can_be_entered_again_inside_itself(home: Path) -> None:
    again = record("again")
    with again as outer, again as inner:
        compiled()(torch.ones(2))
    assert (frames(outer), frames(inner), outer.run.id != inner.run.id) == (["double"], ["double"], True)


def test_a_store_that_is_a_file_is_refused_before_anything_is_recorded(home: Path) -> None:
    home.write_text("no directory")
    with pytest.raises(StoreError, match="cannot be used: File exists"), record():
        raise AssertionError


def test_a_log_that_cannot_be_written_ends_and_the_compilation_goes_on(tmp_path: Path, home: Path) -> None:
    recording = record()
    run = recording.__enter__()
    run._log._file.close()
    result = compiled()(torch.ones(2))
    with pytest.warns(RecordWarning, match="recorded in part: the log ended early"):
        recording.__exit__(None, None, None)
    assert (result.tolist(), run.run.status().state) == ([2.0, 2.0], "done")
    assert "the log ended early" in run.run.status().reason


def test_a_run_that_is_gone_does_not_hide_the_users_exception(home: Path) -> None:
    def recorded() -> None:
        with record() as run:
            shutil.rmtree(run.run.path)
            raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        recorded()


def test_a_log_is_bounded(tmp_path: Path) -> None:
    log = ProcessLog(tmp_path / "own.log", most_bytes=100)
    log.note("x" * 100)
    assert (log.problem, log.path.read_bytes()) == (TOO_LARGE, b"")
    log.close()


HOSTILE = """
import json, os, sys, torch
from types import FunctionType
from core.library.recording import record

def compiled():
    def double(x):
        return x + x
    return torch.compile(FunctionType(double.__code__.replace(), globals(), "double"), backend="eager")

compiled()(torch.ones(2))
with record("forks") as run:
    compiled()(torch.ones(2))
    child = os.fork()
    if child == 0:
        compiled()(torch.ones(2))
        try:
            raise KeyError("in the child")
        except KeyError as error:
            run.end(error)
        os._exit(0)
    os.waitpid(child, 0)
    torch._logging.set_logs(dynamo=30)
    compiled()(torch.ones(2))
print(json.dumps([run.run.id, len(run.compilations)]), flush=True)
record("exits").__enter__()
compiled()(torch.ones(2))
os._exit(7)
"""


def test_a_process_that_forks_and_exits_leaves_whole_runs_and_torchs_own_log(tmp_path: Path) -> None:
    home, traces = tmp_path / "home", tmp_path / "traces"
    environment = {**os.environ, "COMPILEBOARD_HOME": str(home), "TORCH_TRACE": str(traces), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", HOSTILE],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    forked, compilations = json.loads(done.stdout)
    runs = {status.title: (run, status) for run, status in Store(home).list()}
    assert (runs["forks"][0].id, compilations) == (forked, 2)
    exited, status = runs["exits"]
    assert (status.state, "is not recorded" in status.origin) == ("done", True)
    assert len(open_report(exited).compilations) == 1
    (log,) = [path for path in traces.glob("*.log") if len(build_report(path).compilations) == 4]
    report = build_report(log)
    assert all(frame.file for compilation in report.compilations for frame in compilation.stack)
    assert [kind for kind in report.kinds if "compileboard" in kind] == []
