"""The command line's runs, from the options to the exit code, without a worker; and its reports in words."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import NO_RECORD, CompileJob, CompileOptions, Model, Run, Store, job_to_json
from core.commands import run as command
from core.commands.main import main
from core.commands.output import CANCELLED, FAILED, MISSING, OK, USAGE
from core.commands.summary import summarise
from core.job import Conditions
from core.report import Frame, RunError
from core.runs.status import Status
from core.views.header import facts_line
from tests.support.engines import FakeEngine
from tests.support.homes import add_run, add_scenario, job_of
from tests.support.logs import recorded_report
from tests.support.places import TRACES


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of its own for each test."""
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path))
    return tmp_path


class Ends:
    """Instead of a runner: a run that has ended before it is looked at."""

    def __init__(self, store: Store, status: dict[str, Any], log: bytes | None) -> None:
        self.store, self.status, self.log = store, status, log
        self.jobs: list[CompileJob] = []
        self.cancelled: list[Run] = []
        self.engine = FakeEngine()

    def stalled(self) -> None:
        """Return None: the run does not wait."""

    def submit(self, job: CompileJob) -> Run:
        self.jobs.append(job)
        run = add_run(self.store.home, "mlp", self.log, job=job_of("eager_backend"), **self.status)
        run.output_path.write_text("the last words of the worker\n")
        return run

    def cancel(self, run: Run) -> None:
        self.cancelled.append(run)


@pytest.fixture
def ends(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ends]:
    """Have every run end so."""

    def ends(log: bytes | None = None, **status: Any) -> Ends:
        runner = Ends(Store(home), status, log)
        monkeypatch.setattr(command, "Runner", lambda *_: runner)
        return runner

    return ends


SIN_COS = CompileJob(Model("sample", "sin_cos"))


@pytest.mark.parametrize(
    ("options", "job"),
    [
        ([], SIN_COS),
        (["--call", "f32[8]", "--call", "f32[9], 2.0"], replace(SIN_COS, calls=("f32[8]", "f32[9], 2.0"))),
        (["--training"], replace(SIN_COS, training=True)),
        (["--no-training"], replace(SIN_COS, training=False)),
        (["--fullgraph"], replace(SIN_COS, compile=CompileOptions(fullgraph=True))),
        (["--no-dynamic"], replace(SIN_COS, compile=CompileOptions(dynamic=False))),
        (["--backend", "eager"], replace(SIN_COS, compile=CompileOptions(backend="eager"))),
        (["--mode", "max-autotune"], replace(SIN_COS, compile=CompileOptions(mode="max-autotune"))),
        (
            ["--options", "epilogue_fusion=False"],
            replace(SIN_COS, compile=CompileOptions(options={"epilogue_fusion": False})),
        ),
        (["--dtype", "bfloat16"], replace(SIN_COS, dtype="bfloat16")),
        (["--device", "cuda"], replace(SIN_COS, device="cuda")),
        (["--target", "h100"], replace(SIN_COS, target="h100")),
        (["--seed", "7"], replace(SIN_COS, seed=7)),
        (["--no-measure"], replace(SIN_COS, measure=False)),
        (["--time-limit", "30"], replace(SIN_COS, time_limit_s=30.0)),
        (["--size", "batch=64", "--size", "0.1=8"], replace(SIN_COS, sizes={"batch": 64, "0.1": 8})),
        (["--mark", "0.0"], replace(SIN_COS, marks=("0.0",))),
        (["--threads", "1"], replace(SIN_COS, conditions=Conditions(threads=1))),
        (
            ["--stance", "fail_on_recompile", "--primed"],
            replace(SIN_COS, conditions=Conditions(stance="fail_on_recompile", primed=True)),
        ),
        (["--force-backend", "eager"], replace(SIN_COS, conditions=Conditions(force_backend="eager"))),
        (
            ["--dynamo", "recompile_limit=2, verbose=True"],
            replace(SIN_COS, conditions=Conditions(dynamo={"recompile_limit": 2, "verbose": True})),
        ),
        (["--caches", "warm"], replace(SIN_COS, conditions=Conditions(caches="warm"))),
        (
            ["--rival", "dynamic=None, backend=inductor, options.max_autotune=True"],
            replace(SIN_COS, rival=CompileOptions(options={"max_autotune": True})),
        ),
        (["--memory"], replace(SIN_COS, memory=True)),
        (["--profile"], replace(SIN_COS, profile=True)),
        (["--numerics", "nodes"], replace(SIN_COS, numerics="nodes")),
    ],
)
def test_every_option_reaches_the_job(ends: Callable[..., Ends], options: list[str], job: CompileJob) -> None:
    runner = ends()
    assert main(["run", "sin_cos", *options]) == OK
    assert runner.jobs == [job]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--size", "batch"], "--size: `batch`: write batch=64, or 0.1=128"),
        (["--dynamo", "verbose"], "--dynamo: `verbose`: write name=value"),
        (
            ["--rival", "max_autotune=True"],
            "--rival: `max_autotune` is none of fullgraph, dynamic, backend, mode, ",
        ),
        (["--rival", "mode=1"], "--rival: `1` is no str"),
    ],
)
def test_an_option_that_is_no_job_says_which(
    capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert main(["run", "sin_cos", *options]) == USAGE
    assert capsys.readouterr().err.startswith(message)


def test_a_backend_is_a_name_or_that_of_a_callable_in_a_file_which_is_read(
    ends: Callable[..., Ends], home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runner = ends()
    (home / "b.py").write_bytes(b"def backend(graph, inputs):\r\n    return graph\r\n")
    code = "def backend(graph, inputs):\n    return graph\n"
    for backend in ("mine", f"{home}/b.py", f"{home}/b.py:other"):
        assert main(["run", "sin_cos", "--backend", backend]) == OK
    assert [job.compile for job in runner.jobs] == [
        CompileOptions(backend="mine"),
        CompileOptions(backend="backend", backend_code=code),
        CompileOptions(backend="other", backend_code=code),
    ]
    assert runner.jobs[1].compile.as_call() == "torch.compile(model, backend=backend)"
    capsys.readouterr()
    assert main(["run", "sin_cos", "--backend", f"{home}/none.py"]) == USAGE
    assert capsys.readouterr().err == f"--backend: {home}/none.py cannot be read: No such file or directory\n"


def test_a_model_is_a_sample_a_file_a_name_in_a_file_or_a_whole_job(ends: Callable[..., Ends], home: Path) -> None:
    runner = ends()
    (home / "job.json").write_bytes(job_to_json(replace(SIN_COS, seed=5)))
    for model in (f"{home}/m.py", f"{home}/m.py:net", f"{home}/job.json"):
        assert main(["run", model]) == OK
    file = str((home / "m.py").resolve())
    assert runner.jobs == [
        CompileJob(Model("file", file, "model")),
        CompileJob(Model("file", file, "net")),
        replace(SIN_COS, seed=5),
    ]


@pytest.mark.parametrize(
    ("state", "code", "said"),
    [
        ("done", OK, ""),
        ("timed out", FAILED, "timed out: not done after 30 s\nthe last words of the worker\n\n"),
        ("cancelled", CANCELLED, "cancelled: not done after 30 s\nthe last words of the worker\n\n"),
    ],
)
def test_how_a_run_ended_is_the_exit_code(
    ends: Callable[..., Ends], capsys: pytest.CaptureFixture[str], state: str, code: int, said: str
) -> None:
    ends(state=state, reason="not done after 30 s")
    assert main(["run", "sin_cos"]) == code
    assert capsys.readouterr() == ("", said)


def test_an_error_of_the_model_is_reported_with_what_was_recorded(
    ends: Callable[..., Ends], capsys: pytest.CaptureFixture[str]
) -> None:
    ends((TRACES / "error" / "trace.log").read_bytes(), state="failed")
    assert main(["run", "sin_cos"]) == FAILED
    printed = capsys.readouterr()
    assert "the last words" not in printed.err
    assert printed.err.splitlines()[-1].startswith("failed: ValueError while ")
    first, stage, _, _, facts, *_ = printed.out.splitlines()
    assert first == "Eager failed on line 7 of your code: ValueError: at most four rows."
    assert stage == "  Failed while call 1: eager (ValueError: at most four rows)."
    assert facts.startswith("  1 graph break · ")


def test_an_error_of_cpp_is_reported_without_the_frames_that_torch_lists_after_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = (
        "refused\nOnly CPUs are left.\nException raised from data at Impl.h:9 (most recent call first):\nframe #0: c10"
    )
    error = RunError("first call", "RuntimeError", "", message, (Frame("m.py", 4, "forward"),), f"Traceback\n{message}")
    report = replace(recorded_report(TRACES / "error" / "trace.log"), error=error)
    summarise(report, Status("failed", 0.0))
    assert capsys.readouterr().out.splitlines()[:5] == [
        "The run failed on line 4 of your code: RuntimeError: refused.",
        "  Failed while first call (RuntimeError: refused).",
        "  at m.py:4 in forward",
        "  Only CPUs are left.",
        f"  {facts_line(report)}",
    ]


def test_a_worker_that_crashed_is_reported_with_what_it_was_about(
    ends: Callable[..., Ends], capsys: pytest.CaptureFixture[str]
) -> None:
    ends(
        (TRACES / "training_step" / "trace.log").read_bytes(), state="crashed", reason="the worker was ended by SIGSEGV"
    )
    assert main(["run", "sin_cos"]) == FAILED
    said = capsys.readouterr().err
    assert (
        "crashed while making the inputs of call 1: the worker was ended by SIGSEGV\nthe last words of the worker\n"
        in said
    )


def test_a_run_that_is_interrupted_is_cancelled_and_reported(
    ends: Callable[..., Ends], monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = ends(state="cancelled")
    followed: list[Run] = []

    def follow(run: Run, _: object) -> None:
        followed.append(run)
        if len(followed) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "_follow", follow)
    assert main(["run", "sin_cos"]) == CANCELLED
    assert runner.cancelled == followed[:1] == followed[1:]


def test_report_of_a_stored_run_is_that_of_its_log(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", add_scenario(home, "recompile_zoo")]) == OK
    stored = capsys.readouterr()
    assert main(["report", str(TRACES / "recompile_zoo" / "trace.log")]) == OK
    assert stored == capsys.readouterr()
    assert "  - 7 recompiles" in stored.out.splitlines()


def test_report_of_what_is_no_trace_says_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "a.log").write_text("hello\n")
    assert main(["report", str(home / "a.log")]) == MISSING
    assert capsys.readouterr() == ("", f"{NO_RECORD}\n")


def test_report_of_a_run_for_a_target_has_a_line_for_each_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(TRACES / "target_h100")]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert "generated for NVIDIA H100, which is not present; not run." in lines
    assert (
        "  triton_per_fused_sum_1: 1 config; XBLOCK: 8, num_warps: 4, num_stages: 1: 17 registers, 128 B shared, "
        "0 B spilled, occupancy 100 %"
    ) in lines
    assert sum(line.startswith("  triton_") for line in lines) == 8
