"""torch.profiler and TORCH_LOGS beside a recording, in each order: all are complete, and none disturbs another."""

import logging
from pathlib import Path
from types import CodeType, FunctionType

import pytest
import torch
from torch._inductor.codecache import PyCodeCache
from torch.profiler import ProfilerActivity, profile, record_function

from core.library.recording import RecordedRun, record
from core.report.run import NOT_RECORDED
from core.runs.stored import open_profile, profile_path
from core.views.timeline import failed_profile
from core.worker import own_process
from core.worker.own_process import ENDED, RUNNING

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of its own, in a process that has compiled nothing."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    torch.compiler.reset()


@torch.compile(backend="eager", dynamic=False)
def doubled(x: torch.Tensor) -> torch.Tensor:
    """One op in one graph, for a backend that takes no time."""
    return x + x


def step(rows: int) -> None:
    """A call as a slice of a profile."""
    with record_function("step"):
        doubled(torch.ones(rows))


def steps(profiled: profile) -> int:
    """Steps in a user's own profile."""
    return sum(event.name == "step" for event in profiled.events() or ())


def codes_of_wrappers() -> list[CodeType]:
    return [
        function.__code__
        for module in PyCodeCache.modules
        for function in vars(getattr(module, "Runner", object)).values()
        if isinstance(function, FunctionType)
    ]


def test_a_recorded_profile_has_each_generated_kernel_and_the_compiled_code_is_as_before() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.GELU(), torch.nn.LayerNorm(16))
    compiled = torch.compile(model)
    with record("training", profile=True) as run:
        for _ in range(2):
            compiled(torch.randn(4, 16)).sum().backward()
    joined = open_profile(run.run, run.report)
    assert joined is not None
    launched = [piece.kernel for piece in joined.joined]
    assert {kernel.id: launched.count(kernel.id) for kernel in run.kernels} == dict.fromkeys(
        [kernel.id for kernel in run.kernels], 2
    )
    assert failed_profile(run.report) == ""
    codes = codes_of_wrappers()
    assert {Path(code.co_filename).suffix for code in codes} == {".py"}
    compiled(torch.randn(4, 16))
    assert codes_of_wrappers() == codes


def test_a_recording_in_a_users_profile_leaves_it_complete_and_says_why_it_has_none() -> None:
    with profile(activities=[ProfilerActivity.CPU]) as users:
        step(2)
        with record("plain") as plain:
            step(3)
        with record("profiled", profile=True) as profiled:
            step(4)
        step(2)
    assert steps(users) == 4
    assert [len(run.compilations) for run in (plain, profiled)] == [1, 1]
    assert failed_profile(profiled.report) == f"{NOT_RECORDED}{RUNNING}"
    assert not profile_path(profiled.run).exists()


def test_a_users_profile_in_a_recording_is_complete_and_takes_the_place_of_the_recordings_own() -> None:
    runs: list[RecordedRun] = []
    for label, is_profiled in (("plain", False), ("profiled", True)):
        torch.compiler.reset()
        with record(label, profile=is_profiled) as run:
            step(2)
            with profile(activities=[ProfilerActivity.CPU]) as users:
                step(3)
            step(4)
        assert (steps(users), len(run.compilations)) == (1, 3)
        runs.append(run)
    assert [failed_profile(run.report) for run in runs] == ["", f"{NOT_RECORDED}{ENDED}"]


def test_a_profile_that_another_profiler_took_over_is_not_stored_as_the_recordings_own() -> None:
    users = profile(activities=[ProfilerActivity.CPU])
    with record("profiled", profile=True) as run:
        step(2)
        users.start()
        step(3)
    users.stop()
    assert failed_profile(run.report) == f"{NOT_RECORDED}{ENDED}"
    assert not profile_path(run.run).exists()


def test_a_profiler_that_fails_is_a_note_and_no_error_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_process, "supported_activities", lambda: 1 / 0)
    with record("broken", profile=True) as run:
        doubled(torch.ones(2))
    assert failed_profile(run.report) == f"{NOT_RECORDED}ZeroDivisionError: division by zero"
    assert len(run.compilations) == 1


@pytest.mark.parametrize("is_first", [True, False], ids=["logs first", "recording first"])
def test_logs_of_torch_are_the_same_and_the_recording_is_complete(is_first: bool) -> None:
    said: list[str] = []

    class Listener(logging.Handler):
        def emit(self, message: logging.LogRecord) -> None:
            said.append(message.getMessage())

    logger, listener = logging.getLogger("torch._dynamo.guards.__recompiles"), Listener()
    logger.addHandler(listener)
    try:
        if is_first:
            torch._logging.set_logs(recompiles=True)
        with record("logged") as run:
            doubled(torch.ones(2))
            if not is_first:
                torch._logging.set_logs(recompiles=True)
            doubled(torch.ones(3))
        doubled(torch.ones(4))
    finally:
        logger.removeHandler(listener)
        torch._logging.set_logs()
    assert [text.count("Recompiling function doubled") for text in said] == [1, 1]
    assert (len(run.compilations), len(run.recompiles), run.problem) == (2, 1, "")
