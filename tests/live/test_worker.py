"""What a run does when the user's code misbehaves or it is cancelled: a clear status, and every record so far."""

import os
import secrets
import stat
import time

import psutil
import pytest

from core import CompileJob, Model, Run, Runner, StoreError, open_report
from core.job import GIB
from tests.support.browser import PATIENCE_S
from tests.support.homes import CACHE
from tests.support.sample import one_in
from tests.support.user_code import EAGER, INPUTS, LOG_LOST, RunCode, calling, ended, records

pytestmark = pytest.mark.torch
MARK = "compileboard-test-sleeper"
# What is freed by a new definition may look whole for long.
CUSTOM_OP = """import sys, torch
@torch.library.custom_op("mine::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2
double.register_fake(torch.empty_like)
def model(x):
    if not torch.compiler.is_compiling():
        copies = [sys.modules[f"compileboard_{name}"].double for name in ("eager", "model")]
        assert copies[0] is not copies[1] and copies[0]._opoverload is copies[1]._opoverload
    return double(x) + 1
inputs = (torch.ones(4),)
"""


def ended_or_none(run: Run) -> tuple[str, str] | None:
    try:
        return None if run.status().live else ended(run)
    except StoreError:
        return None


@pytest.mark.promise("runs")
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
    """A run without the last record of its log counts as crashed, with the reason."""
    run = run_code(calling(line), compile=EAGER)
    assert ended(run) == (state, reason)


@pytest.mark.parametrize("line", ["os._exit(100)", "os.closerange(0, 1000)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_what_a_crashed_run_recorded_is_kept(run_code: RunCode, line: str) -> None:
    assert records(run_code(calling(line), compile=EAGER)).steps[-1] == "call 0: eager"


def test_eager_and_compiled_code_call_the_custom_op_that_the_file_defined_last(run_code: RunCode) -> None:
    report = open_report(run_code(CUSTOM_OP, compile=EAGER))
    assert (report.error, len(report.calls)) == (None, 1)


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
    # The second fork is one of a small process: a fork of torch's takes long.
    forks = "import os, time; os.fork(); time.sleep(100)"
    sleeper = f"os.execvp(sys.executable, [sys.executable, '-IS', '-c', '{forks}', '{MARK}'])"
    code = calling(
        "for _ in range(50):",
        "    if os.fork() == 0:",
        "        os.setsid()",
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
        "os.path.lexists(OTHER_LOG) or os.symlink('/nowhere', OTHER_LOG)",
        "os.path.lexists(OTHER_LOG) or os.mkfifo(OTHER_LOG)",
        "os.path.lexists(OTHER_LOG) or os.mkdir(OTHER_LOG)",
    ],
)
def test_harmless_mischief_does_not_keep_a_run_from_its_end(run_code: RunCode, line: str) -> None:
    run = run_code(calling(line), compile=EAGER)
    assert run.status().state == "done"


def test_run_that_deletes_its_directory_still_says_how_it_ended(runner: Runner) -> None:
    code = calling("import shutil", "here = os.path.dirname(__file__)", "shutil.rmtree(here, ignore_errors=True)")
    run = runner.submit(CompileJob(Model("code", code), compile=EAGER, measure=False))
    deadline = time.monotonic() + PATIENCE_S
    while ended_or_none(run) is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert ended_or_none(run) == ("crashed", LOG_LOST)


@pytest.mark.parametrize("left_bytes", one_in(3, [0, 64, 4_000]))
def test_object_whose_build_was_killed_is_built_again(runner: Runner, left_bytes: int) -> None:
    constant = repr(secrets.randbelow(2**20) / 2**20)
    job = CompileJob(
        Model("code", f"import torch\ndef model(x):\n    return x.sin() * {constant}\n{INPUTS}"), measure=False
    )
    assert ended(runner.wait(runner.submit(job)))[0] == "done"
    sources = (CACHE / "inductor").glob("*/*.cpp")
    built = next(path for path in sources if constant in path.read_text()).with_suffix(".so")
    size = built.stat().st_size
    os.truncate(built, left_bytes)
    run = runner.wait(runner.submit(job))
    assert ended(run)[0] == "done", open_report(run).error
    assert built.stat().st_size == size


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


def test_what_a_run_writes_is_its_owners_alone(run_code: RunCode) -> None:
    run = run_code("model = abs\ninputs = (1,)", compile=EAGER)
    written = [run.output_path, run.path / "status.json", *run.trace_dir.iterdir()]
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in written} == {path.name: 0o600 for path in written}
