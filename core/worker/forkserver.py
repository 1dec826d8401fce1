"""Fork server: a warm process with torch imported that forks a supervisor for each run.

Dynamo and Inductor are imported, too. The process starts no thread and uses no accelerator, so a fork is safe
on every device. Requests come on standard input; results go to the original standard output:
`core.runs.engine.forkserver`.

A supervisor ends its run at the run's limits. The fork server watches the supervisors: it continues a stopped
supervisor, kills an overdue supervisor with all its descendants, and kills the descendants that a dead
supervisor leaves behind. Each forked process has a directory of temporary files, which is removed when the
process has ended.
"""

import contextlib
import gc
import importlib
import linecache
import math
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
import psutil

from core.base.decoder import decoded_as, toml_as
from core.base.errors import CompileboardError, WorkerError
from core.base.machine import Environment, cpp_compiler, own_module
from core.runs.engine.forkserver import (
    Alive,
    Answer,
    EndMessage,
    FailureMessage,
    Probe,
    ProbeResult,
    Ready,
    Request,
    StartMessage,
    WarmUp,
    request,
    written,
)
from core.runs.processes.handles import (
    PARENT,
    alive,
    become_subreaper,
    descendants,
    end,
    end_descendants,
    end_groups,
    end_tree,
    follow_parent,
    group_of,
)
from core.runs.store import Run

NO_PROBE = "the process that asks torch for its devices ended without a result"
POLL_S = 0.05
BEAT_S = 1.0
# Modules by their part in the start: `always`, `late` or `quoted`.
MODULES = {
    part: tuple(own_module(name) if name.startswith("core.") else name for name in names)
    for part, names in toml_as(Path(__file__).with_name("forkserver.toml"), dict[str, tuple[str, ...]]).items()
}
CACHED = (
    ("torch._inductor.codecache", "torch_key"),
    ("torch._inductor.runtime.triton_compat", "triton_key"),
    ("torch._inductor.codecache", "triton_key"),
)
TEMPORARY = "compileboard-"
ANSWERS_FD = 200
# A supervisor ends its run at the limit; after this many more seconds it counts as stuck.
MARGIN_S = 10.0
# Time for a supervisor to end its run when this process ends.
PATIENCE_S = 2.0
REAP_S = 0.02


def main(backend: str = "") -> None:
    """Serve until standard input closes, then end all forked processes.

    With a `backend`, serve runs for targets of that backend: see `core.worker.cross_compilation`. If the parent
    dies, this process gets SIGCONT: a stopped process continues, and sees that its input is closed. During the
    imports no input is read, so SIGCONT then kills the process group.
    """
    parent = int(os.environ.pop(PARENT, os.getppid()))
    signal.signal(signal.SIGCONT, lambda *_: _end_if_orphan(parent))
    follow_parent(parent, signal.SIGCONT)
    become_subreaper()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    os.dup2(1, ANSWERS_FD)
    answers = os.fdopen(ANSWERS_FD, "wb", buffering=0)
    os.dup2(2, 1)
    server = _Server(answers)
    try:
        _prepare_target(backend)
    except WorkerError as error:
        server.say(FailureMessage(str(error)))
        return
    _import_everything()
    signal.signal(signal.SIGCONT, signal.SIG_DFL)
    server.serve()


def _end_if_orphan(parent: int) -> None:
    """Kill this process's group if the parent is gone: the only children so far are compilers."""
    if os.getppid() != parent:
        os.killpg(0, signal.SIGKILL)


class _Server:
    """Server of requests that also watches its children."""

    def __init__(self, answers: BinaryIO) -> None:
        self._answers = answers
        self._files = _new_directory()
        self._children = Children(files=self._files)
        self._next_beat_s = 0.0
        self._warming: dict[int, int] = {}

    def say(self, answer: Answer) -> None:
        """Write one message, as a line."""
        self._answers.write(written(answer))

    def serve(self) -> None:
        """Serve until standard input closes or nobody reads the answers."""
        try:
            self.say(Ready())
            for line in self._lines():
                self.say(self._answer(request(line)))
        except BrokenPipeError:
            return
        finally:
            self._children.end()
            _remove(self._files)

    def _lines(self) -> Iterator[bytes]:
        pending = b""
        while True:
            self._wait_for(0)
            chunk = os.read(0, 1 << 16)
            if not chunk:
                return
            *lines, pending = (pending + chunk).split(b"\n")
            yield from lines

    def _wait_for(self, descriptor: int) -> None:
        """Wait until a descriptor can be read.

        Meanwhile report ended children, and that this process is alive.
        """
        while not select.select([descriptor], [], [], POLL_S)[0]:
            for pid in self._children.ended():
                self._learn_headers(pid)
                self.say(EndMessage(pid))
            if time.monotonic() > self._next_beat_s:
                self._next_beat_s = time.monotonic() + BEAT_S
                self.say(Alive())

    def _answer(self, message: Request) -> Answer:
        if isinstance(message, Probe):
            environment = self._probed()
            return ProbeResult(environment) if environment is not None else FailureMessage(NO_PROBE)
        if isinstance(message, WarmUp):
            return StartMessage(self._warmed_up())
        return self._started(Run(message.id, Path(message.run)))

    def _warmed_up(self) -> int:
        """Fork the process that warms up; return its pid."""
        from core.worker.warmup import warm_up

        reader, writer = os.pipe()
        pid = self._fork(lambda: _write_all(writer, msgspec.json.encode(warm_up())))
        os.close(writer)
        self._children.add(pid)
        self._warming[pid] = reader
        return pid

    def _learn_headers(self, pid: int) -> None:
        """Store the headers that a warm-up process precompiled, for later forks; ignore other processes."""
        from core.worker.warmup import HEADERS

        if pid in self._warming:
            with os.fdopen(self._warming.pop(pid), "rb") as pipe:
                HEADERS.update(decoded_as(pipe.read() or b"{}", dict[str, str]))

    def _started(self, run: Run) -> StartMessage | FailureMessage:
        """Fork the supervisor of a run; return a FailureMessage if the run's job can't be read."""
        from core.worker.supervisor import SUPERVISOR_SIGNALS, supervise, task_of

        try:
            task = task_of(run)
        except (CompileboardError, OSError, ValueError) as error:
            return FailureMessage(f"the run cannot be started: {error}")
        signal.pthread_sigmask(signal.SIG_BLOCK, SUPERVISOR_SIGNALS)
        pid = self._fork(lambda: supervise(run, task), signal.SIGUSR1)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SUPERVISOR_SIGNALS)
        self._children.add(pid, task.limits.time_limit_s)
        return StartMessage(pid)

    def _probed(self) -> Environment | None:
        """Return the environment; None if the process that probes it leaves no result.

        The probe has a separate process, since it may initialize a device.
        """
        from core.worker.environment import probe

        reader, writer = os.pipe()
        pid = self._fork(lambda: _write_all(writer, msgspec.json.encode(probe())))
        self._children.add(pid, reported=False)
        os.close(writer)
        self._wait_for(reader)
        with os.fdopen(reader, "rb") as pipe:
            data = pipe.read()
        return decoded_as(data, Environment) if data else None

    def _fork(self, task: Callable[[], object], at_my_end: signal.Signals = signal.SIGKILL) -> int:
        """Run a function in a forked process; return the pid.

        The forked process receives the signal `at_my_end` when this process ends.
        """
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                follow_parent(parent, at_my_end)
                _close_streams()
                _use_directory(self._files)
                task()
                code = 0
            finally:
                os._exit(code)
        return pid


def _write_all(writer: int, data: bytes) -> None:
    """Write to a pipe, which takes large data in several parts."""
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(data)


def _prepare_target(backend: str) -> None:
    """Import torch with a simulated device of the target's backend; do nothing without a backend."""
    if not backend:
        return
    from core.worker.cross_compilation.device import load_shim, pretend, set_guard

    shim = load_shim(Path(os.environ["COMPILEBOARD_CACHE"]))
    pretend(backend)
    set_guard(shim, backend)


def _import_everything() -> None:
    """Import modules and fill torch's process-wide caches, so that no compilation repeats this work."""
    # What is imported stays: looking for garbage among it takes a seventh of the time.
    gc.disable()
    for name in MODULES["always"]:
        importlib.import_module(name)
    for name in MODULES["late"]:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    import torch

    from core.worker.warmup import rebuild_broken_objects, remember_headers, resolve_vector_math

    torch._dynamo.list_backends(exclude_tags=())
    resolve_vector_math()
    rebuild_broken_objects()
    remember_headers()
    for module, function in CACHED:
        compute = getattr(importlib.import_module(module), function, None)
        if compute is not None:
            compute()
    if not torch.cuda.is_available():
        _prepare_for_cpu()
    for name in MODULES["quoted"]:
        linecache.getlines(getattr(sys.modules.get(name), "__file__", None) or "")
    gc.collect()
    gc.freeze()
    gc.enable()


def _prepare_for_cpu() -> None:
    """Query the CPU's vector extensions, and trace the patterns of Inductor's passes.

    Call it only without a GPU, since tracing would use the GPU. `lazy_init` is called exactly as Inductor calls
    it: its result is cached by the arguments, and patterns may be registered only once.
    """
    import torch
    from torch._inductor import cpu_vec_isa
    from torch._inductor.fx_passes import joint_graph, post_grad

    if cpp_compiler() is not None:
        cpu_vec_isa.valid_vec_isa_list()
    joint_graph.lazy_init(torch.device("cpu"))
    post_grad.lazy_init()


def _new_directory() -> Path | None:
    """Create the directory for the temporary files of all forked processes; None if the disk is full."""
    with contextlib.suppress(OSError):
        return Path(tempfile.mkdtemp(prefix=TEMPORARY))
    return None


def _use_directory(files: Path | None) -> None:
    """Let this process and its children write their temporary files to a directory of its own."""
    own = files and files / str(os.getpid())
    with contextlib.suppress(OSError):
        if own is not None:
            own.mkdir()
            os.environ["TMPDIR"] = tempfile.tempdir = str(own)


def _remove(files: Path | None) -> None:
    if files is not None:
        shutil.rmtree(files, ignore_errors=True)


def _close_streams() -> None:
    """Close the streams to the engine: a child must not write to them."""
    os.close(ANSWERS_FD)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


class Children:
    """Forked processes whose end has not been reported; `files` has the temporary files of each."""

    def __init__(self, margin_s: float = MARGIN_S, files: Path | None = None) -> None:
        self._margin_s, self._files = margin_s, files
        self._deadlines: dict[int, float] = {}
        self._unreported: set[int] = set()

    def add(self, pid: int, limit_s: float = math.inf, reported: bool = True) -> None:
        """Register a process that should end by itself within its limit."""
        self._deadlines[pid] = time.monotonic() + limit_s + self._margin_s
        if not reported:
            self._unreported.add(pid)

    def ended(self) -> list[int]:
        """Kill overdue processes; return the pids that ended since the last call.

        Processes added with `reported=False` are left out. The descendants of an ended process are killed, too.
        """
        now = time.monotonic()
        for pid in [pid for pid, deadline in self._deadlines.items() if now > deadline]:
            self._deadlines[pid] = math.inf
            self._kill(pid)
        reaped = self._reaped()
        if reaped:
            end(self._strangers)
        ended = [pid for pid in reaped if pid in self._deadlines]
        for pid in ended:
            end_groups(group_of(pid))
            _remove(self._files and self._files / str(pid))
        reported = [pid for pid in ended if pid not in self._unreported]
        for pid in ended:
            del self._deadlines[pid]
            self._unreported.discard(pid)
        return reported

    def end(self) -> None:
        """End all children.

        Each first gets time to end by itself, since a supervisor reports how its run ended.
        """
        for pid in self._deadlines:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR1)
                os.kill(pid, signal.SIGCONT)
        deadline = time.monotonic() + PATIENCE_S
        while self._deadlines and time.monotonic() < deadline:
            self.ended()
            time.sleep(REAP_S)
        for pid in list(self._deadlines):
            self._kill(pid)
        end_descendants(psutil.Process())

    def _kill(self, pid: int) -> None:
        with contextlib.suppress(psutil.Error):
            end_tree(psutil.Process(pid))

    def _reaped(self) -> list[int]:
        """Return the children that have ended; continue stopped children."""
        reaped: list[int] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return reaped
            if pid == 0:
                return reaped
            if not os.WIFSTOPPED(status):
                reaped.append(pid)
            elif pid in self._deadlines:
                os.kill(pid, signal.SIGCONT)

    def _strangers(self) -> list[psutil.Process]:
        """Return children that this process did not fork, with their descendants.

        A killed supervisor leaves such processes behind.
        """
        strangers = [child for child in alive(psutil.Process().children()) if child.pid not in self._deadlines]
        return [*strangers, *(process for stranger in strangers for process in descendants(stranger))]
