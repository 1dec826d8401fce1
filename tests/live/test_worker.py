"""What a run does when the user's code misbehaves: a clear status, and every record so far."""

import stat
import time

import psutil
import pytest

from core import CompileJob, CompileOptions, Model, Report, Run, Runner, StoreError, open_report
from core.job import GIB
from core.report import Frame
from tests.support.browser import PATIENCE_S
from tests.support.runs import RunCode

pytestmark = pytest.mark.torch

EAGER = CompileOptions(backend="eager")
INPUTS = "\ninputs = (torch.ones(4),)\n"
MARK = "compileboard-test-sleeper"
LOG_LOST = "its log was closed or cut off while it ran"


def calling(*lines: str) -> str:
    """Code whose model does something before it computes; it knows the files of its log."""
    body = "\n    ".join(lines)
    logs = "LOGS = glob.glob(os.path.dirname(__file__) + '/trace/*.log')"
    return (
        f"import glob, os, signal, sys, threading, time; {logs}\nimport torch\ndef model(x):\n    {body}\n    "
        f"return x.sin()\n{INPUTS}"
    )


def ended(run: Run) -> tuple[str, str]:
    status = run.status()
    return status.state, status.reason


def ended_or_none(run: Run) -> tuple[str, str] | None:
    try:
        return None if run.status().live else ended(run)
    except StoreError:
        return None


def records(run: Run) -> Report:
    """The report, which opens whatever happened and has read what there is."""
    report = open_report(run)
    assert report.problems == ()
    assert report.setting.run == run.id
    return report


@pytest.mark.parametrize(
    ("line", "state", "reason"),
    [
        ("os._exit(3)", "crashed", "the worker left with exit code 3"),
        ("os._exit(0)", "crashed", "the worker left with exit code 0"),
        ("os._exit(1)", "crashed", "the worker left with exit code 1"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "crashed", "the worker was ended by SIGSEGV"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "crashed", "the worker was ended by SIGKILL"),
        ("os.kill(0, signal.SIGKILL)", "crashed", "the worker was ended by SIGKILL"),
        ("os._exit(100)", "crashed", "the worker left with exit code 100 before its last record"),
        ("os._exit(101)", "crashed", "the worker left with exit code 101 before its last record"),
        ("os.closerange(0, 1000)", "crashed", LOG_LOST),
        ("os.closerange(3, 100)", "crashed", LOG_LOST),
        ("[os.remove(path) for path in LOGS]", "crashed", LOG_LOST),
        ("[os.truncate(path, 2000) for path in LOGS]", "crashed", LOG_LOST),
        ("torch._logging._internal.LOG_TRACE_HANDLER.close()", "crashed", LOG_LOST),
        ("os.kill(os.getpid(), signal.SIGRTMIN + 3)", "crashed", "the worker was ended by signal 37"),
    ],
)
def test_worker_that_dies_or_loses_its_log_is_a_crash_that_says_how(
    run_code: RunCode, line: str, state: str, reason: str
) -> None:
    run = run_code(calling(line), compile=EAGER)
    assert ended(run) == (state, reason)


@pytest.mark.parametrize("line", ["os._exit(100)", "os.closerange(0, 1000)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_what_a_crashed_run_recorded_is_kept(run_code: RunCode, line: str) -> None:
    assert records(run_code(calling(line), compile=EAGER)).steps[-1] == "call 0: eager"


def test_no_record_goes_into_the_file_that_took_the_place_of_the_log(run_code: RunCode) -> None:
    code = calling("os.closerange(3, 100)", "taken = [open(f'{here}/mine{n}', 'w+') for n in range(20)]")
    run = run_code(f"from pathlib import Path\nhere = Path(__file__).parent\n{code}", compile=EAGER)
    assert {path.name: path.stat().st_size for path in run.path.glob("mine*")} == {f"mine{n}": 0 for n in range(20)}


def test_endless_loop_ends_at_the_time_limit(run_code: RunCode) -> None:
    run = run_code(calling("while True: pass"), compile=EAGER, time_limit_s=3.0)
    assert ended(run) == ("timed out", "not done after 3 s; raise the time limit, or give it less to do")
    assert records(run).steps[-1] == "call 0: eager"


@pytest.mark.parametrize(
    "line",
    [
        "torch.empty(4 * 2**30, dtype=torch.uint8).fill_(1)",
        "kept = [torch.ones(2**22) for _ in range(1000)]",
        "kept = [bytes(2**20) for _ in range(10_000)]",
    ],
)
def test_too_much_memory_ends_the_run(run_code: RunCode, line: str) -> None:
    run = run_code(calling(line), compile=EAGER, memory_limit_bytes=GIB)
    assert ended(run)[0] == "out of memory"
    assert "raise the memory limit" in ended(run)[1]
    assert records(run).steps[-1] == "call 0: eager"


def test_memory_of_children_counts(run_code: RunCode) -> None:
    # Each stays within the limit of one process, whose data may be 0.9 GB with torch alone.
    child = "os.fork() or (bytearray(b'x') * 600_000_000, time.sleep(60))"
    run = run_code(calling(*[child] * 4, "time.sleep(60)"), compile=EAGER, memory_limit_bytes=2 * GIB)
    assert ended(run)[0] == "out of memory"


def test_no_process_outlives_its_run(run_code: RunCode) -> None:
    sleeper = f"os.execvp(sys.executable, [sys.executable, '-c', 'import time; time.sleep(100)', '{MARK}'])"
    code = calling(
        "for _ in range(50):",
        "    if os.fork() == 0:",
        "        os.setsid()",
        "        os.fork()",
        f"        {sleeper}",
    )
    run = run_code(code, compile=EAGER)
    assert run.status().state == "done"
    assert [
        process.pid for process in psutil.process_iter(["cmdline"]) if MARK in (process.info["cmdline"] or [])
    ] == []


def test_flood_of_output_is_bounded_and_ends_with_the_last_words(run_code: RunCode) -> None:
    run = run_code(calling("for _ in range(100):", "    print('x' * 1_000_000)", "print('last words')"), compile=EAGER)
    assert ended(run) == ("done", "")
    assert run.output_path.stat().st_size < 1_200_000
    assert "left out" in run.output_path.read_bytes().decode()
    assert run.output_tail().endswith("x\nlast words\n")
    assert len(records(run).calls) == 1


def test_binary_output_is_kept_and_read_as_text(run_code: RunCode) -> None:
    run = run_code(calling("sys.stdout.buffer.write(bytes(range(256)))", "sys.stdout.flush()"), compile=EAGER)
    assert run.status().state == "done"
    assert bytes(range(256)) in run.output_path.read_bytes()
    assert "\ufffd" in run.output_tail()


@pytest.mark.parametrize(
    ("code", "type_", "stage", "frame"),
    [
        ("x = 1\ndef model(:\n", "SyntaxError", "loading the model", (2, "", "def model(:")),
        ("x = (\n", "SyntaxError", "loading the model", (1, "", "x = (")),
        ("import torch\nx = 1 / 0\n", "ZeroDivisionError", "loading the model", (2, "<module>", "x = 1 / 0")),
        (
            "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        raise KeyError('no')\nmodel = Model()\n",
            "KeyError", "loading the model", (5, "__init__", "raise KeyError('no')"),
        ),
        (calling("raise ValueError('no')"), "ValueError", "call 0: eager", (4, "model", "raise ValueError('no')")),
        (calling("sys.exit(0)"), "SystemExit", "call 0: eager", (4, "model", "sys.exit(0)")),
        (
            "import torch\nmodel = torch.nn.Linear(8, 8)\ndef calls():\n    yield torch.ones(2, 8)\n    raise "
            "OSError('gone')\n",
            "OSError", "making the inputs of call 1", (5, "calls", "raise OSError('gone')"),
        ),
    ],
)  # fmt: skip
def test_exception_is_told_with_the_users_line(
    run_code: RunCode, code: str, type_: str, stage: str, frame: tuple[int, str, str]
) -> None:
    run = run_code(code, compile=EAGER)
    assert ended(run) == ("failed", "the run ended with an error")
    error = records(run).error
    assert error is not None
    assert (error.type, error.stage) == (type_, stage)
    line, name, text = frame
    assert error.frames[-1] == Frame(str(run.model_path), line, name, text)


@pytest.mark.parametrize(
    ("code", "fields", "field", "message"),
    [
        ("import torch\nnet = abs\ninputs = (1,)", {}, "model.name", "`model` is not defined in the file; it has net"),
        ("model = 3\ninputs = (1,)", {}, "model.name", "`model` is not callable in the file"),
        ("model = abs", {}, "model", "the file defines neither `inputs` nor `calls`"),
        (
            "model = abs\ninputs = (1,)",
            {"compile": CompileOptions(backend="fast")},
            "compile.backend",
            "no backend `fast`",
        ),
        ("model = abs\ninputs = (1,)", {"device": "xpu:7"}, "device", "`xpu:7` is not here; this machine has cpu"),
        (
            "import torch\nmodel = torch.sign\ninputs = (torch.ones(2, dtype=torch.int64),)",
            {"training": True},
            "training",
            "no output",
        ),
    ],
)
def test_job_that_does_not_fit_names_the_field(
    run_code: RunCode, code: str, fields: dict[str, object], field: str, message: str
) -> None:
    run = run_code(code, **{"compile": EAGER, **fields})
    error = records(run).error
    assert error is not None
    assert (run.status().state, error.type, error.field) == ("failed", "JobError", field)
    assert message in error.message


def test_inputs_that_do_not_fit_fail_with_torchs_own_words(run_code: RunCode) -> None:
    run = run_code("import torch\nmodel = torch.nn.Linear(8, 8)\n", compile=EAGER, calls=("f32[2, 8]", "f32[2, 9]"))
    report = records(run)
    assert report.error is not None
    assert (run.status().state, report.error.stage, len(report.calls)) == ("failed", "call 1: eager", 1)
    assert "mat1 and mat2 shapes cannot be multiplied" in report.error.message


@pytest.mark.parametrize(
    "line",
    [
        "threading.Thread(target=time.sleep, args=(100,), daemon=True).start()",
        "threading.Thread(target=time.sleep, args=(100,)).start()",
        "os.closerange(1, 3)",
        "sys.stdout = sys.stderr = None",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "os.chdir('/')",
        "sys.setrecursionlimit(50_000)",
        "os.environ.clear()",
    ],
)
def test_harmless_mischief_does_not_keep_a_run_from_its_end(run_code: RunCode, line: str) -> None:
    run = run_code(calling(line), compile=EAGER)
    assert run.status().state == "done"


def test_closed_standard_output_fails_in_torch_and_is_told(run_code: RunCode) -> None:
    error = records(run_code(calling("sys.stdout.close()"), compile=EAGER)).error
    assert error is not None
    assert (error.stage, error.type, error.frames[-1].text) == (
        "call 0: compiled", "InternalTorchDynamoError", "sys.stdout.close()",
    )  # fmt: skip


def test_run_that_deletes_its_directory_still_says_how_it_ended(runner: Runner) -> None:
    code = calling("import shutil", "here = os.path.dirname(__file__)", "shutil.rmtree(here, ignore_errors=True)")
    run = runner.submit(CompileJob(Model("code", code), compile=EAGER, measure=False))
    deadline = time.monotonic() + PATIENCE_S
    while ended_or_none(run) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert ended_or_none(run) == ("crashed", LOG_LOST)


def test_worker_cannot_talk_to_the_runner(run_code: RunCode) -> None:
    line = (
        "[os.write(fd, b'nonsense\\n') for fd in range(3, 64) if os.path.exists(f'/proc/self/fd/{fd}') and 'pipe' "
        "in os.readlink(f'/proc/self/fd/{fd}')]"
    )
    assert run_code(calling(f"try: {line}", "except OSError: pass"), compile=EAGER).status().state == "done"
    assert run_code(calling("pass"), compile=EAGER).status().state == "done"


def stepped(run: Run, step: str) -> None:
    """Wait until a run has come to a step."""
    deadline = time.monotonic() + PATIENCE_S
    while run.log_path() is None or step not in open_report(run).steps:
        assert time.monotonic() < deadline, run.status()
        time.sleep(0.05)


def test_a_cancelled_run_ends_with_its_records(runner: Runner) -> None:
    run = runner.submit(CompileJob(Model("code", calling("time.sleep(100)")), compile=EAGER))
    stepped(run, "call 0: eager")
    runner.cancel(run)
    assert ended(runner.wait(run)) == ("cancelled", "cancelled by the user")
    assert records(run).steps[-1] == "call 0: eager"


def test_run_cancelled_right_after_its_start_is_cancelled(runner: Runner) -> None:
    for _ in range(5):
        run = runner.submit(CompileJob(Model("code", calling("time.sleep(100)")), compile=EAGER))
        while run.status().state == "queued" and runner.position(run) is not None:
            time.sleep(0.001)
        runner.cancel(run)
        assert runner.wait(run).status().state == "cancelled"


def test_queued_runs_follow_each_other(runner: Runner) -> None:
    code = "import torch\nmodel = torch.sin\ninputs = (torch.ones(2),)"
    runs = [
        runner.submit(CompileJob(Model("code", code), seed=seed, compile=EAGER, measure=False)) for seed in range(4)
    ]
    assert [runner.wait(run).status().state for run in runs] == ["done"] * 4


def test_inductor_run_under_a_small_memory_limit_is_done(run_code: RunCode) -> None:
    run = run_code(calling("pass"), memory_limit_bytes=GIB)
    assert ended(run) == ("done", "")
    kernels = [kernel for compilation in records(run).compilations for kernel in compilation.kernels]
    assert [kernel.name for kernel in kernels] == ["cpp_fused_sin_0"]


def test_results_that_differ_are_told(run_code: RunCode) -> None:
    code = "import torch\ndef model(x):\n    return x + (1 if torch.compiler.is_compiling() else 0)\n" + INPUTS
    call = records(run_code(code, compile=EAGER)).calls[0]
    assert [(item.what, item.same, item.max_abs) for item in call.differences] == [("output", False, 1.0)]


def test_what_a_run_writes_is_its_owners_alone(run_code: RunCode) -> None:
    run = run_code("model = abs\ninputs = (1,)", compile=EAGER)
    written = [run.output_path, run.path / "status.json", *run.trace_dir.iterdir()]
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in written} == {path.name: 0o600 for path in written}
