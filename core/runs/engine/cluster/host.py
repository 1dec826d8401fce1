"""Host: executes the runs of any number of servers on one machine, through an engine.

<home>/hosts/<n>/                   `id` has the host's id, `lock` is locked while the host lives
<home>/hosted/<host>-<store>-<run>/ a run's directory, as on a server
<home>/hosted/<...>.started         the mark of a run that may have started
<home>/turns, <home>/cache          device locks and compiled objects, which the hosts of one machine share

Several hosts can share one home, since each locks a number n. A host stores its facts about a run on disk, so
that it can report the run after a restart. Each run is started at most once: the host writes the mark before
the start, and a marked run without a live supervisor has ended.
"""

import contextlib
import fcntl
import hashlib
import os
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

import psutil

from core.analysis.repairs.offers import repaired
from core.base.errors import ClosedError, CompileboardError, StoreError, WorkerError
from core.base.files import OWNER_ALONE, in_words, make_private, one_line, read_line, remove
from core.base.machine import Environment, default_home, package_version, visible_cards
from core.job.gallery import exercise
from core.job.prepared import prepared
from core.runs.engine.cluster import messages
from core.runs.engine.local import LocalEngine
from core.runs.engine.queues import Assignment, Engine
from core.runs.permission import allowed
from core.runs.processes.handles import LOCAL
from core.runs.progress import ended_for
from core.runs.status import State, Status
from core.runs.store import Run

MOST_SLOTS = 64  #: limit: hosts of one machine with one home
POLL_S = 0.1
MOST_NAME_CHARS = 80  #: the name of a host
MOST_REASON_CHARS = 600  #: the reason of a failed call
# A server that was silent for so long has lost its locks, and an ended run that nobody collects is removed.
LEASE_S, KEEP_S = 30.0, 7 * 86_400.0
# The reply to a launch waits so long for the first record, in so many threads: calls need the others.
FIRST_S, FIRST_POLL_S = 0.2, 0.002
MOST_WAITING = 2  #: starts that wait for their first record at once
# A run that was forgotten, or cancelled before it came, is started by no launch that comes late.
REFUSED_S = 3_600.0
# Growing files of a run, and the bytes of one reply.
LOGS = "trace/*.log"
GROWING = (LOGS, "output.txt")
MOST_NEW_BYTES = 8 * 1024**2  #: new bytes of a run in a reply


class Host:
    """Executor of runs for servers; `messages` defines the calls. Safe to use from threads.

    Close the host at the end. `code_allowed` is False for a host that runs samples only, with the settings that
    `permission` allows.
    """

    def __init__(
        self, home: Path | None = None, engine: Engine | None = None, name: str = "", code_allowed: bool = True
    ) -> None:
        base = (home or default_home()).resolve()
        self._runs_dir, self._cache_dir = base / "hosted", base / "cache"
        with in_words(base):
            base.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
            for private in (self._runs_dir, self._cache_dir, base / "hosts"):
                make_private(private)
            slot, self.id = _take_slot(base / "hosts")
        self.name = one_line(name or f"{os.uname().nodename}{f'#{slot}' if slot else ''}", MOST_NAME_CHARS)
        self._engine: Engine = engine or LocalEngine(self._cache_dir)
        self._code_allowed = code_allowed
        self._lock = threading.RLock()
        self._live: set[str] = set()
        self._cancelled: set[str] = set()
        # Key → the server that has locked the device for a run.
        self._turns: dict[str, str] = {}
        self._heard_s: dict[str, float] = {}
        self._problems: dict[str, str] = {}
        # Runs that start no more, and since when.
        self._refused: dict[str, float] = {}
        self._waiting = threading.BoundedSemaphore(MOST_WAITING)
        self._starting: set[str] = set()
        self._environment: Environment | None = None
        self._remove_old()
        threading.Thread(target=self._describe, daemon=True).start()

    def answer(self, data: bytes) -> bytes:
        """Return the reply to a call, both as bytes; an error becomes a `FailureReply`."""
        try:
            reply = self._reply(messages.call_of(data))
        except WorkerError as error:
            reply = messages.FailureReply(str(error)[:MOST_REASON_CHARS], error.signal)
        except CompileboardError as error:
            reply = messages.FailureReply(str(error)[:MOST_REASON_CHARS])
        except OSError as error:
            reply = messages.FailureReply(f"{self.name}: {error.strerror or error}"[:MOST_REASON_CHARS])
        return messages.packed(reply)

    def close(self) -> None:
        """End all runs and start no more; calls are still answered."""
        self._engine.close()

    def is_busy(self) -> bool:
        """Return True while torch starts, a run starts or executes, or a server has to collect files."""
        return self._environment is None or bool(self._live or self._turns) or self._has_files()

    def wait_until_collected(self, limit_s: float) -> None:
        """Wait until servers have collected the files of ended runs, for at most `limit_s` seconds."""
        end_s = time.monotonic() + limit_s
        while time.monotonic() < end_s and self._has_files():
            time.sleep(POLL_S)

    def _has_files(self) -> bool:
        return any(self._runs_dir.glob(f"{self.id}-*"))

    def _reply(self, call: messages.HostCall) -> messages.HostReply:
        match call:
            case messages.HelloCall():
                return self._hello(call)
            case messages.DescribeCall():
                return messages.DescriptionReply(self._environment)
            case messages.PrepareCall():
                return messages.LackReply(self._lack(call.target))
            case _:
                return self._reply_about_run(call)

    def _reply_about_run(self, call: messages.CallAboutRun) -> messages.HostReply:
        match call:
            case messages.TakeTurnCall():
                return messages.TurnReply(self._take_turn(call))
            case messages.LaunchCall():
                return self._launch(call)
            case messages.PollCall():
                return self._progress(call, call.sizes)
            case messages.ListCall():
                return messages.FilesReply(messages.file_entries(self._ended_run(call).path))
            case messages.ReadCall():
                return messages.read_piece(self._ended_run(call).path, call.name, call.offset)
            case messages.CancelCall():
                self._cancel(call)
            case messages.EndTurnCall():
                self._end_turn(self._key(call))
            case messages.ForgetCall():
                self._forget(call)
            case _:
                assert_never(call)
        return messages.DoneReply()

    def _hello(self, call: messages.HelloCall) -> messages.FactsReply:
        self._heard_s[call.server] = time.monotonic()
        environment = self._environment or Environment()
        devices = {device_of(name): words for name, words in environment.devices.items()}
        return messages.FactsReply(
            host=self.id,
            protocol=messages.PROTOCOL,
            name=self.name,
            code_allowed=self._code_allowed,
            devices=devices,
            torch=environment.torch,
            triton=package_version("triton"),
            driver=drivers(),
            kind=kind_of(devices, environment.torch) if devices else "",
            problem=environment.problem,
            runs=self._runs_of(call.store),
        )

    def _describe(self) -> None:
        """Start torch, and store its capabilities or its problem; warm up if there is a compiler."""
        try:
            environment = self._engine.environment()
        except CompileboardError as error:
            environment = Environment(problem=str(error)[:MOST_REASON_CHARS])
        self._environment = environment
        if environment.compiler:
            with contextlib.suppress(CompileboardError):
                self._engine.warm_up()

    def _lack(self, target: str) -> str:
        """Start torch for the run's target in the background; return what still starts. Raises WorkerError."""
        assignment = Assignment(Run("", self._runs_dir / "none"), target)
        lack = self._engine.lacks(assignment)
        with self._lock:
            if (problem := self._problems.pop(target, "")) and lack:
                raise WorkerError(problem)
            if lack and target not in self._starting:
                self._starting.add(target)
                threading.Thread(target=self._prepare, args=(assignment,), daemon=True).start()
        return lack

    def _prepare(self, assignment: Assignment) -> None:
        try:
            self._engine.prepare(assignment)
        except CompileboardError as error:
            self._problems[assignment.target] = str(error)
        finally:
            with self._lock:
                self._starting.discard(assignment.target)

    def _take_turn(self, call: messages.TakeTurnCall) -> bool:
        key = self._key(call)
        with self._lock:
            self._release_silent()
            if key in self._turns:
                return True
            device = physical(call.device)
            if not self._engine.take_turn(Assignment(self._run(call), "", device, call.measures)):
                return False
            self._turns[key] = call.server
            self._heard_s.setdefault(call.server, time.monotonic())
        return True

    def _release_silent(self) -> None:
        """Release the locks of runs that have not started and whose servers have been silent for `LEASE_S`."""
        now = time.monotonic()
        for key, server in list(self._turns.items()):
            if key not in self._live and now - self._heard_s.get(server, now) > LEASE_S:
                self._end_turn(key)

    def _end_turn(self, key: str) -> None:
        """Release the device lock of a run, unless the run is live."""
        with self._lock:
            if key not in self._live and self._turns.pop(key, None) is not None:
                self._engine.end_turn(Run(key, self._runs_dir / key))

    def _launch(self, call: messages.LaunchCall) -> messages.ProgressReply:
        """Receive a run and start it, unless the run has already been started or is refused."""
        if self._key(call) not in self._refused:
            self._receive(call)
            self._start(call)
            self._wait_for_record(self._run(call))
        return self._progress(call, {})

    def _receive(self, call: messages.LaunchCall) -> None:
        if messages.digest_of(call.files) != call.digest:
            raise StoreError("the run's files were damaged on their way; try again")
        run = self._run(call)
        if run.path.exists():
            return
        fresh = run.path.with_name(f".{run.path.name}.{secrets.token_hex(4)}")
        with in_words(self._runs_dir):
            try:
                fresh.mkdir(mode=OWNER_ALONE)
                messages.unpack_files(call.files, fresh)
                (fresh / "trace").mkdir(exist_ok=True)
                received = Run(run.id, fresh)
                self._check_code(received)
                received.write_status(Status("queued", time.time(), handle=LOCAL.local_handle()))
                with self._lock:
                    if not run.path.exists():
                        fresh.rename(run.path)
            finally:
                if fresh.exists():
                    remove(fresh)

    def _check_code(self, run: Run) -> None:
        """Raise JobError or StoreError unless the host may run the code of a run."""
        if self._code_allowed:
            return
        job = run.job()
        if job is None:
            raise StoreError(f"{self.name} runs samples only, and no kernel tools")
        job, written = prepared(allowed(job))
        original = exercise(job.exercise).code if job.exercise else written
        same = run.code() == repaired(written, job.repairs)
        if not same or (job.has_original and run.original_path.read_text(encoding="utf-8") != original):
            raise StoreError(f"{self.name} runs samples only, and this code is not its sample's")

    def _start(self, call: messages.LaunchCall) -> None:
        """Start a run unless it has already been started, cancelled or refused."""
        run, mark = self._run(call), self._mark(call)
        with self._lock:
            if mark.exists() or run.path.name in self._refused or run.status().state != "queued":
                return
            mark.touch(mode=0o600)
            self._live.add(run.path.name)
        try:
            assignment = Assignment(run, call.target, call.device, call.measures)
            self._engine.start(assignment, lambda: self._end(run))
        except CompileboardError as error:
            signal = error.signal if isinstance(error, WorkerError) else None
            state: State = "interrupted" if isinstance(error, ClosedError) else "crashed"
            run.write_status(replace(run.written_status(), state=state, reason=str(error), signal=signal, handle=""))
            self._end(run)

    def _wait_for_record(self, run: Run) -> None:
        """Wait briefly for the first bytes of a run's log, which saves the server a call."""
        if not self._waiting.acquire(blocking=False):
            return
        try:
            end_s = time.monotonic() + FIRST_S
            while run.path.name in self._live and time.monotonic() < end_s and not _has_record(run.path):
                time.sleep(FIRST_POLL_S)
        finally:
            self._waiting.release()

    def _end(self, run: Run) -> None:
        """Mark a run as ended, and write its status if its supervisor could not."""
        with contextlib.suppress(CompileboardError):
            status = run.written_status()
            if status.live:
                run.write_status(ended_for(run, status, run.path.name in self._cancelled))
        with self._lock:
            self._cancelled.discard(run.path.name)
            self._live.discard(run.path.name)
            self._end_turn(run.path.name)

    def _progress(self, call: messages.CallAboutRun, sizes: dict[str, int]) -> messages.ProgressReply:
        run = self._run(call)
        if not run.path.is_dir():
            return messages.ProgressReply(None)
        live = run.path.name in self._live
        status = run.status()
        pieces, complete = _new_pieces(run.path, sizes)
        return messages.ProgressReply(status, live or status.live or not complete, pieces)

    def _ended_run(self, call: messages.CallAboutRun) -> Run:
        run = self._run(call)
        if not run.path.is_dir() or self._is_live(run):
            raise StoreError(f"{self.name} has no such run that has ended")
        return run

    def _cancel(self, call: messages.CancelCall) -> None:
        run = self._run(call)
        with self._lock:
            if not self._mark(call).exists():
                if run.path.is_dir():
                    cancelled = replace(run.written_status(), state="cancelled", handle="")
                    run.write_status(replace(cancelled, reason="cancelled before it started"))
                else:
                    self._refuse(run)
                return
            if run.path.name in self._live:
                self._cancelled.add(run.path.name)
        self._engine.cancel(run)

    def _forget(self, call: messages.ForgetCall) -> None:
        run = self._run(call)
        if run.path.is_dir() and self._is_live(run):
            raise StoreError("the run is still going; cancel it first")
        with self._lock:
            self._refuse(run)
        with in_words(run.path):
            remove(run.path)
            remove(self._mark(call))

    def _refuse(self, run: Run) -> None:
        """Refuse later launches of a run; refusals older than `REFUSED_S` are dropped."""
        now = time.monotonic()
        recent = {key: since_s for key, since_s in self._refused.items() if now - since_s < REFUSED_S}
        self._refused = {**recent, run.path.name: now}

    def _is_live(self, run: Run) -> bool:
        return run.path.name in self._live or run.status().live

    def _key(self, call: messages.CallAboutRun) -> str:
        return f"{self.id}-{call.store}-{call.run.replace('/', '+')}"

    def _run(self, call: messages.CallAboutRun) -> Run:
        key = self._key(call)
        return Run(call.run, self._runs_dir / key)

    def _mark(self, call: messages.CallAboutRun) -> Path:
        return self._runs_dir / f"{self._key(call)}.started"

    def _runs_of(self, store: str) -> tuple[str, ...]:
        prefix = f"{self.id}-{store}-"
        found = (path.name for path in self._runs_dir.glob(f"{prefix}*") if path.is_dir())
        return tuple(sorted(name.removeprefix(prefix).replace("+", "/") for name in found))[: messages.MOST_FILES]

    def _remove_old(self) -> None:
        """Remove ended runs that no server has collected within `KEEP_S`."""
        oldest = time.time() - KEEP_S
        for path in self._runs_dir.glob(f"{self.id}-*"):
            with contextlib.suppress(OSError, CompileboardError):
                if path.stat().st_mtime < oldest and not (path.is_dir() and Run(path.name, path).status().live):
                    remove(path)


def _take_slot(hosts: Path) -> tuple[int, str]:
    """Lock the first free slot until this process ends; return its number and id."""
    for number in range(MOST_SLOTS):
        slot = hosts / str(number)
        slot.mkdir(exist_ok=True, mode=OWNER_ALONE)
        file = os.open(slot / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            continue
        named = slot / "id"
        if not named.exists():
            named.write_text(secrets.token_hex(8))
        return number, named.read_text()
    raise StoreError(f"{MOST_SLOTS} hosts are running over {hosts.parent}; use another home")


def _has_record(run: Path) -> bool:
    return any(path.stat().st_size for path in run.glob(LOGS))


def _new_pieces(run: Path, sizes: dict[str, int]) -> tuple[tuple[messages.PieceReply, ...], bool]:
    """Return new bytes of the growing files, and True if there are no further new bytes."""
    pieces: list[messages.PieceReply] = []
    room = MOST_NEW_BYTES
    for path in sorted(path for pattern in GROWING for path in run.glob(pattern)):
        name = path.relative_to(run).as_posix()
        if not messages.is_returned(name):
            continue
        offset = sizes.get(name, 0)
        while room > 0 and (new := messages.read_piece(run, name, offset)).data:
            pieces.append(new)
            offset += len(new.data)
            room -= len(new.data)
    return tuple(pieces), room > 0


GIB = 1024**3
MOST_KIND_CHARS = 2_000  #: the description of a node's hardware and versions
# Directory of the kernel's modules, and those that are drivers of accelerators.
MODULES, DRIVERS = Path("/sys/module"), ("nvidia", "amdgpu", "i915", "xe")
MOST_VERSION_CHARS = 80  #: a driver's version


def device_of(name: str) -> str:
    """Return a device as assignments name it: `cuda:0` for `cuda`."""
    return name if name == "cpu" or ":" in name else f"{name}:0"


def physical(device: str) -> str:
    """Return a device's name in the lock files that all hosts of a machine share.

    Hosts may number the cards differently, so the name has the physical index or a digest of the card's id.
    """
    kind, _, index = device.partition(":")
    cards = visible_cards() if kind == "cuda" else []
    if not index or int(index) >= len(cards):
        return device
    card = cards[int(index)]
    return f"cuda:{card}" if card.isdigit() else f"cuda:{hashlib.sha256(card.encode()).hexdigest()[:8]}"


def drivers(modules: Path = MODULES) -> str:
    """Return the kernel's accelerator drivers with versions, or the kernel's: `nvidia 535.104.05`."""
    found = []
    for name in DRIVERS:
        if not (modules / name).is_dir():
            continue
        version = ""
        with contextlib.suppress(OSError):
            version = one_line(read_line(modules / name / "version", MOST_VERSION_CHARS), MOST_VERSION_CHARS)
        found.append(f"{name} {version or os.uname().release}")
    return ", ".join(found)


def kind_of(devices: Mapping[str, str], torch: str) -> str:
    """Return the hardware and versions that affect measurements; drivers only with an accelerator."""
    memory = round(psutil.virtual_memory().total / GIB)
    size = f"{os.cpu_count()} CPUs, {memory} GiB"
    versions = (torch, package_version("triton"), *((drivers(),) if set(devices) - {"cpu"} else ()))
    named = (f"{name} {words}" for name, words in sorted(devices.items()))
    return "; ".join((*named, size, *versions))[:MOST_KIND_CHARS]
