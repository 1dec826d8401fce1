"""Supervisor of one run: it forks the worker, enforces its limits, and writes output and status.

The supervisor is a separate process that never runs user code. It is the subreaper of all processes that
the worker starts, so that no process outlives its run, even a detached one. It ends on SIGTERM (cancelled),
and on SIGUSR1 when the fork server ends (interrupted). If the supervisor itself is killed, the worker dies
with it, and the fork server ends the rest.
"""

import os
import resource
import select
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import psutil

from core.base.files import sizes
from core.base.words import gib, limit_s
from core.job import CompileJob
from core.runs.processes.handles import (
    MEMORY,
    PROCESSES,
    ProcessMemory,
    become_subreaper,
    descendants,
    end_descendants,
    end_groups,
    enter,
    follow_parent,
    group_of,
    process_handle,
    ran_out_of_memory,
)
from core.runs.progress import OVERDUE
from core.runs.status import OWNER_ENDED, State, Status
from core.runs.store import Run
from core.runs.tools.tasks import Task, has_answer, read_task
from core.worker.caches import DIRECTORY
from core.worker.kernel_tools import run_tool
from core.worker.record import OutputFile, has_end
from core.worker.run import DISK_FULL, DONE, FAILED, LOG_LOST, OUT_OF_MEMORY, work

SUPERVISOR_SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
# Signal at which a worker prints its stacks, and the seconds that it has for them.
STACKS, STACKS_S = signal.SIGUSR2, 0.5
POLL_S = 0.05
MEMORY_POLL_S = 0.2
MAX_TRACE_BYTES = 4 * 1024**3  #: limit: the log of a run
# Threads count as processes, and a large machine has many.
MOST_PROCESSES = 16_384  #: limit: processes and threads of a run
DISK_WAS_FULL = "the disk is full; delete runs, or make room, and run the job again"


@dataclass(slots=True)
class _Stop:
    """State and reason of a stopped run; `state` is None while nothing stops it. The first reason counts."""

    state: State | None = None
    reason: str = ""

    def set(self, state: State, reason: str) -> None:
        if self.state is None:
            self.state, self.reason = state, reason


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """A worker's task, its limits, and a check for its last record."""

    limits: CompileJob | Task
    work: Callable[[], int]
    has_end: Callable[[], bool]


def supervise(run: Run, task: WorkerTask) -> None:
    """Run the task of a run to its end, and write the final status.

    A run that was already cancelled isn't started.
    """
    before = run.written_status()
    if before.state == "cancelled":
        return
    os.setsid()
    become_subreaper()
    stop = _Stop()
    signal.signal(signal.SIGTERM, lambda *_: stop.set("cancelled", "cancelled by the user"))
    signal.signal(signal.SIGUSR1, lambda *_: stop.set("interrupted", OWNER_ENDED))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SUPERVISOR_SIGNALS)
    handle = process_handle(psutil.Process(), psutil.Process(os.getppid()))
    status = replace(before, state="running", started_s=time.time(), handle=handle)
    run.write_status(status)
    ended = _watch(run, task, status, stop)
    shutil.rmtree(run.path / DIRECTORY, ignore_errors=True)
    run.path.mkdir(parents=True, exist_ok=True)
    run.write_status(ended)


def task_of(run: Run) -> WorkerTask:
    """Return the worker's task for a run directory: a kernel tool or a job.

    Raises JobError, OSError, ValueError.
    """
    tool_task = read_task(run)
    if tool_task is not None:
        return WorkerTask(tool_task, lambda: run_tool(run, tool_task), lambda: has_answer(run))
    job = run.job()
    if job is None:
        raise ValueError("there is no job.json")
    return WorkerTask(job, lambda: work(run, job), lambda: has_end(run.trace_dir))


def _watch(run: Run, task: WorkerTask, status: Status, stop: _Stop) -> Status:
    limits = task.limits
    reader, writer = os.pipe()
    supervisor = psutil.Process()
    pid = _start_worker(task, reader, writer)
    os.close(writer)
    output = OutputFile(run.output_path)
    deadline = time.monotonic() + limits.time_limit_s
    next_memory, memory, exit_status = 0.0, ProcessMemory(), None
    while exit_status is None:
        _drain(reader, output, stop, POLL_S)
        exit_status = _exit_status(pid)
        now = time.monotonic()
        if now > deadline and stop.state is None and exit_status is None:
            _print_stacks(pid, reader, output, stop)
            stop.set(
                "timed out",
                f"not done after {limit_s(limits.time_limit_s)}; raise the time limit, or give it less to do",
            )
        if now > next_memory:
            next_memory = now + MEMORY_POLL_S
            if memory.exceeds(descendants(supervisor), limits.memory_limit_bytes):
                stop.set("out of memory", _memory_reason(limits))
            _check_trace(run, stop)
        if stop.state is not None and exit_status is None:
            end_descendants(supervisor)
            exit_status = os.waitpid(pid, 0)[1]
    end_descendants(supervisor)
    if ran_out_of_memory(group_of(supervisor.pid)):
        stop.set("out of memory", _memory_reason(limits))
    end_groups(group_of(supervisor.pid))
    while _drain(reader, output, stop, 0):
        pass
    output.close()
    if output.full:
        stop.set("crashed", DISK_WAS_FULL)
    return _ended(replace(status, peak_memory_bytes=memory.peak_bytes), exit_status, stop, task)


def _print_stacks(pid: int, reader: int, output: OutputFile, stop: _Stop) -> None:
    """Let the worker print the stacks of its threads, which show where it hangs."""
    output.write(f"\n{OVERDUE}\n".encode())
    os.kill(pid, STACKS)
    end = time.monotonic() + STACKS_S
    while time.monotonic() < end:
        _drain(reader, output, stop, POLL_S)


def _start_worker(task: WorkerTask, reader: int, writer: int) -> int:
    supervisor = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    follow_parent(supervisor, signal.SIGKILL)
    os.setsid()
    for signum in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
        signal.signal(signum, signal.SIG_DFL)
    os.close(reader)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(writer, 1)
    os.dup2(writer, 2)
    os.close(writer)
    limits = task.limits
    if limits.device == "cpu":
        resource.setrlimit(resource.RLIMIT_DATA, (limits.memory_limit_bytes,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    enter(group_of(supervisor), {MEMORY: limits.memory_limit_bytes, PROCESSES: MOST_PROCESSES})
    code = 70
    try:
        code = task.work()
    finally:
        os._exit(code)


def _drain(reader: int, output: OutputFile, stop: _Stop, wait_s: float) -> bool:
    readable, _, _ = select.select([reader], [], [], wait_s)
    chunk = os.read(reader, 1 << 16) if readable else b""
    if readable and not chunk:
        time.sleep(wait_s)
    try:
        output.write(chunk)
    except OSError as error:
        stop.set("crashed", f"what it prints could not be kept: {error.strerror}")
    return bool(chunk)


def _exit_status(pid: int) -> int | None:
    """Return the worker's exit status; None while it runs. Also reaps the worker's orphans."""
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == pid:
            return status
        if ended == 0:
            return None


def _check_trace(run: Run, stop: _Stop) -> None:
    if sum(sizes(run.trace_dir, "*.log").values()) > MAX_TRACE_BYTES:
        stop.set("crashed", f"the trace log grew beyond {MAX_TRACE_BYTES // 1024**3} GiB")


def _ended(status: Status, exit_status: int, stop: _Stop, task: WorkerTask) -> Status:
    status = replace(status, ended_s=time.time(), handle="")
    if stop.state is not None:
        return replace(status, state=stop.state, reason=stop.reason)
    if os.WIFSIGNALED(exit_status):
        name = _signal_name(os.WTERMSIG(exit_status))
        return replace(status, state="crashed", signal=name, reason=f"the worker was ended by {name}")
    code = os.WEXITSTATUS(exit_status)
    if code == LOG_LOST:
        return replace(status, state="crashed", exit_code=1, reason="its log was closed or cut off while it ran")
    if code == DISK_FULL:
        return replace(status, state="failed", exit_code=1, reason=DISK_WAS_FULL)
    if code not in (DONE, FAILED, OUT_OF_MEMORY):
        return replace(status, state="crashed", exit_code=code, reason=f"the worker left with exit code {code}")
    if not task.has_end():
        reason = f"the worker left with exit code {code} before its last record"
        return replace(status, state="crashed", exit_code=code, reason=reason)
    if code == DONE:
        return replace(status, state="done", exit_code=0)
    if code == FAILED:
        return replace(status, state="failed", exit_code=1, reason="the run ended with an error")
    return replace(status, state="out of memory", exit_code=1, reason=_memory_reason(task.limits))


def _memory_reason(job: CompileJob | Task) -> str:
    return f"the run used more than its {gib(job.memory_limit_bytes)}; raise the memory limit, or make it smaller"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
