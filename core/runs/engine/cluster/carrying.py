"""Transfer of runs from hosts: new bytes while a run executes, then all other files and the status.

One server transfers a run, in a thread, with a lock in the store. If that server ends, another server of the same store
continues.
"""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from core.base.errors import CompileboardError, NodeError, StoreError
from core.base.files import OWNER_ALONE, in_words
from core.base.words import gib
from core.runs.engine.cluster import messages
from core.runs.engine.cluster.messages import MOST_COLLECTED_BYTES
from core.runs.engine.cluster.nodes import LONG_CALL_S, RETRY_S, Nodes
from core.runs.engine.queues import Assignment
from core.runs.progress import ended_as, overdue_limit_s
from core.runs.status import OWNER_ENDED, Liveness, State, Status
from core.runs.store import Run, Store

# Between two looks at a run: until its first bytes, and then, when more of them would disturb what is measured.
FIRST_POLL_S, POLL_S, CANCEL_S = 0.01, 0.1, 2.0
# With many runs the looks come less often, so that they take half of what the transport can carry.
SHARE, LONGEST_POLL_S = 1 / 2, 10.0
# Weight of the newest look in the mean time of one.
NEWEST = 1 / 16
# A host that does not answer has ended its run by the run's own time limit, and so many seconds.
OVERDUE_S = 60.0
# Locks of the runs that servers carry, and what they collect.
CARRIED = "carried"


@dataclass(slots=True)
class CarriedRun:
    """A run that this server transfers; `lock` is the file that marks the run.

    `assignment` is needed to repeat the launch. It is None once the host has reported the run. `sizes` has the
    bytes of each growing file on this server. `over` is set when the transfer ends.
    """

    run: Run
    host: str
    lock: int
    ended: Callable[[], None]
    assignment: Assignment | None
    cancelled: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)


@dataclass(slots=True)
class Pace:
    """Intervals between polls of a run.

    `look_s` is the mean duration of a poll, which grows when the transport is busy.
    """

    look_s: float = 0.0

    def note(self, took_s: float) -> None:
        """Update the mean with the duration of a poll."""
        self.look_s += (took_s - self.look_s) * NEWEST

    def pause_s(self, has_begun: bool, runs: int) -> float:
        """Return the seconds until the next poll of one of `runs` runs, which has written output or not."""
        shortest_s = POLL_S if has_begun else FIRST_POLL_S
        return min(max(shortest_s, self.look_s * runs / SHARE), LONGEST_POLL_S)


class Carrier:
    """Transfer of the runs of a store from hosts to its server. Safe to use from threads."""

    def __init__(self, store: Store, nodes: Nodes, liveness: Liveness) -> None:
        self._store, self._nodes, self._liveness = store, nodes, liveness
        self._lock = threading.Lock()
        self._carried: dict[Path, CarriedRun] = {}
        # Live runs whose hosts may be lost.
        self._unseen: set[Run] = set()
        self._pace = Pace()

    def all(self) -> list[CarriedRun]:
        """Return the runs in transfer."""
        return list(self._carried.values())

    def get(self, run: Run) -> CarriedRun | None:
        """Return the transfer of a run; None if this server does not transfer it."""
        return self._carried.get(run.path)

    def key(self, run: Run) -> str:
        """Return a run's name on its host: its id, or `RUN/TOOL` for a tool's directory in a run."""
        return run.path.relative_to(self._store.runs_dir).as_posix().replace("/tools/", "/").replace("/trials/", "/")

    def claim(
        self, run: Run, host: str, ended: Callable[[], None] = lambda: None, assignment: Assignment | None = None
    ) -> CarriedRun | None:
        """Claim the transfer of a run for this server; None if it is already claimed."""
        folder = self._store.home / CARRIED
        with in_words(folder), self._lock:
            folder.mkdir(exist_ok=True, mode=OWNER_ALONE)
            lock = os.open(folder / self._file_name(run), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(lock)
                return None
            return self._carried.setdefault(run.path, CarriedRun(run, host, lock, ended, assignment))

    def launch(self, carried: CarriedRun, assignment: Assignment) -> None:
        """Send a run to its host to start it, and store new bytes; raises NodeError, WorkerError, StoreError."""
        run = carried.run
        files = messages.parcel_of(run.path)
        call = messages.LaunchCall(
            self._nodes.store_id,
            self.key(run),
            assignment.target,
            assignment.device,
            assignment.measures,
            messages.digest_of(files),
            files,
        )
        self._take(carried, self._nodes.call(carried.host, call, messages.ProgressReply, LONG_CALL_S))

    def follow(self, carried: CarriedRun) -> None:
        """Transfer a run to its end, in a separate thread."""
        threading.Thread(target=self._follow, args=(carried,), daemon=True).start()

    def release(self, carried: CarriedRun, has_ended: bool = True) -> None:
        """Stop the transfer of a run. The lock file stays if another server may continue the transfer."""
        with self._lock, contextlib.suppress(OSError):
            self._carried.pop(carried.run.path, None)
            if has_ended:
                (self._store.home / CARRIED / self._file_name(carried.run)).unlink(missing_ok=True)
            os.close(carried.lock)
        carried.over.set()

    def take_up(self) -> None:
        """Take over the hosts' runs that no server transfers, and close the lost runs."""
        for host, node in self._nodes.all().items():
            for key in node.facts.runs if node.answers and not node.lost else ():
                with contextlib.suppress(CompileboardError):
                    self._take_up_run(self._run(key), host)
        for run in list(self._unseen):
            with contextlib.suppress(CompileboardError):
                self._close_if_lost(run)

    def look_for_lost(self) -> None:
        """Find the live runs and kernel tools of the store on hosts, for `take_up`."""
        listed = self._store.list()
        listed += [(tool, tool.standing()) for run, _ in listed for tool in run.tools()]
        self._unseen |= {run for run, status in listed if status.live and self._nodes.host_of(status.handle)}

    def _follow(self, carried: CarriedRun) -> None:
        """Transfer the new bytes of a run until the run has ended, then its remaining files."""
        cancel_s = 0.0
        while not self._nodes.closed.wait(self._pace.pause_s(bool(carried.sizes), len(self._carried))):
            try:
                if carried.cancelled and time.monotonic() > cancel_s:
                    cancel_s = time.monotonic() + CANCEL_S
                    self._nodes.try_call(carried.host, messages.CancelCall(self._nodes.store_id, self.key(carried.run)))
                if self._step(carried):
                    break
            except NodeError:
                if self._is_lost(carried.host, carried.run):
                    self._end_lost(carried)
                    break
                self._nodes.closed.wait(RETRY_S)
            except (CompileboardError, OSError) as error:
                self._end(carried, "crashed", f"its files could not be carried here: {error}")
                break
        else:
            self.release(carried, has_ended=False)
            return
        self.release(carried)
        carried.ended()

    def _look(self, carried: CarriedRun) -> messages.ProgressReply:
        """Ask a run's host for its state and new bytes."""
        call = messages.PollCall(self._nodes.store_id, self.key(carried.run), carried.sizes)
        began_s = time.monotonic()
        progress = self._nodes.call(carried.host, call, messages.ProgressReply)
        self._pace.note(time.monotonic() - began_s)
        return progress

    def _step(self, carried: CarriedRun) -> bool:
        """Store the new bytes of a run; return True once the run has ended and all its files are here."""
        run, key = carried.run, self.key(carried.run)
        progress = self._look(carried)
        self._take(carried, progress)
        if progress.status is None:
            return self._launch_again(carried)
        if progress.live:
            return False
        self._collect(carried)
        run.write_status(_ended(run.written_status(), progress.status))
        self._nodes.try_call(carried.host, messages.ForgetCall(self._nodes.store_id, key))
        return True

    def _launch_again(self, carried: CarriedRun) -> bool:
        """Launch a run that its host does not have; return True if the run is ended instead."""
        if carried.assignment is None or carried.cancelled:
            reason = "it had not started" if carried.assignment else "its node does not have it"
            self._end(carried, "interrupted", reason)
            return True
        self.launch(carried, carried.assignment)
        return False

    def _take(self, carried: CarriedRun, progress: messages.ProgressReply) -> None:
        """Append the new bytes of a run to its files on this server; drop its assignment once reported."""
        if progress.status is not None:
            carried.assignment = None
        with in_words(carried.run.path):
            for new in progress.pieces:
                carried.sizes[new.name] = messages.append_piece(carried.run.path, new)

    def _collect(self, carried: CarriedRun) -> None:
        """Fetch each file of an ended run that differs from the file on this server."""
        run, room = carried.run, MOST_COLLECTED_BYTES
        listed = self._nodes.call(
            carried.host, messages.ListCall(self._nodes.store_id, self.key(run)), messages.FilesReply, LONG_CALL_S
        )
        with in_words(run.path), TemporaryDirectory(dir=self._store.home / CARRIED) as scratch:
            for entry in listed.files:
                messages.check_returned(entry.name)
                room -= entry.size
                if room < 0:
                    raise StoreError(f"they are larger than {gib(MOST_COLLECTED_BYTES)}")
                if not messages.has_file(run.path, entry):
                    messages.place_file(run.path, entry.name, self._fetch(carried, entry, Path(scratch) / "file"))

    def _fetch(self, carried: CarriedRun, entry: messages.HostFile, path: Path) -> Path:
        with path.open("wb") as file:
            while file.tell() < entry.size:
                call = messages.ReadCall(self._nodes.store_id, self.key(carried.run), entry.name, file.tell())
                data = self._nodes.call(carried.host, call, messages.PieceReply).data
                if not data:
                    raise StoreError(f"{entry.name} ends early")
                file.write(data)
        return path

    def _take_up_run(self, run: Run, host: str) -> None:
        """Take over a run on a host if no server transfers it.

        If this server's store has no such live run, cancel the run and remove it from the host.
        """
        status = run.status() if run.path.is_dir() else None
        if run.path in self._carried:
            return
        if status is None or not status.live:
            for kind in (messages.CancelCall, messages.ForgetCall):
                self._nodes.try_call(host, kind(self._nodes.store_id, self.key(run)))
        elif self._nodes.host_of(status.handle) == host and (carried := self.claim(run, host)):
            self.follow(carried)

    def _close_if_lost(self, run: Run) -> None:
        """End a run whose host is lost; take over one that its host lacks and no server transfers."""
        status = run.written_status() if run.path.is_dir() else None
        host = self._nodes.host_of(status.handle) if status and status.live else None
        if status is None or host is None:
            self._unseen.discard(run)
        elif run.path in self._carried:
            return
        elif self._is_lost(host, run):
            if carried := self.claim(run, host):
                self._end_lost(carried)
                self.release(carried)
        elif self._is_without(host, run) and (carried := self.claim(run, host)):
            self.follow(carried)

    def _end_lost(self, carried: CarriedRun) -> None:
        self._end(carried, "interrupted", f"its node {self._nodes.name(carried.host)} was lost")

    def _end(self, carried: CarriedRun, state: State, reason: str) -> None:
        """Write the end of a run whose host cannot report it."""
        with contextlib.suppress(CompileboardError):
            status = carried.run.written_status()
            if status.live:
                carried.run.write_status(ended_as(status, state, reason, carried.cancelled))

    def _is_lost(self, host: str, run: Run) -> bool:
        """Return True if a host is lost, or if it does not answer and the run is overdue."""
        node = self._nodes.all().get(host)
        if node is not None and (node.lost or node.answers):
            return node.lost
        return overdue_limit_s(run, run.written_status(), OVERDUE_S) is not None

    def _is_without(self, host: str, run: Run) -> bool:
        """Return True if a host answers but lacks the run: a server may have ended before it sent the run."""
        node = self._nodes.all().get(host)
        return node is not None and node.answers and self.key(run) not in node.facts.runs

    def _run(self, key: str) -> Run:
        run, _, tool = key.partition("/")
        path = self._store.runs_dir / run
        return Run(key, path / "tools" / tool if tool else path, self._liveness)

    def _file_name(self, run: Run) -> str:
        return self.key(run).replace("/", "+")


def _ended(started: Status, host_status: Status) -> Status:
    """Return an ended run's status: its host says how it ended; the end time is by this machine's clock."""
    took_s = host_status.took_s
    ended_s = time.time() if took_s is None or started.started_s is None else started.started_s + took_s
    return replace(
        started,
        state=host_status.state,
        reason=f"the worker on {started.node} ended" if host_status.reason == OWNER_ENDED else host_status.reason,
        exit_code=host_status.exit_code,
        signal=host_status.signal,
        peak_memory_bytes=host_status.peak_memory_bytes,
        ended_s=ended_s,
        handle="",
    )
