"""An agent's session: what it may use, its calls, and the resources that it may read."""

import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from core.base.errors import AccessError, CompileboardError, JobError, StoreError
from core.job import CompileJob, Model, job_with, model_of
from core.job.notebook import SUFFIX
from core.runs.engine.opening import open_engine
from core.runs.permission import allowed
from core.runs.runner import Runner
from core.runs.store import Run, Store
from core.sweep.runner import SweepRunner
from core.trace.parsers.build import GrowingReport
from core.views.agents import (
    MOST_CHARS,
    RunAnswers,
    named_words,
    outside_words,
    unknown_words,
)
from core.views.artifacts import artifacts_view
from core.views.printed import AgentAnswer

POLL_S = 0.1
MOST_GOING = 64  #: runs and searches that a later call may wait for
FILES = (".py", SUFFIX)
# Options whose value may name a file.
OF_FILES = {"backend", "rival_code"}


@dataclass(frozen=True)
class AgentSession:
    """The store, the directories and the rights of an agent.

    `runner` and `sweeps` are made at their first use. `by` is the name of the runs' author, empty for the owner.
    `roots` are the directories whose files may be read; without `runs_code`, only samples run. `require_change` raises
    AccessError for an agent that may start no runs. `sees` returns False for a run that it may not open, and `lists`
    for a run that it may not list. `admit` queues a permitted job; by default the runner does.
    """

    store: Store
    runner: Callable[[], Runner]
    sweeps: Callable[[], SweepRunner]
    roots: tuple[Path, ...] = ()
    by: str = ""
    runs_code: bool = True
    require_change: Callable[[], None] = lambda: None
    sees: Callable[[Run], bool] = lambda run: True
    lists: Callable[[Run], bool] = lambda run: True
    admit: Callable[[CompileJob], Run] | None = None

    def run(self, run_id: str) -> Run:
        """Return a stored run that the agent may open; raises StoreError for any other."""
        run = self.store.open(run_id)
        if not self.sees(run):
            raise self.store.missing(run_id)
        return run

    def path(self, text: str) -> Path:
        """Return a path below one of the roots, links resolved; raises AccessError."""
        path = Path(text).expanduser()
        resolved = (self.roots[0] / path).resolve() if self.roots else path
        if not any(resolved.is_relative_to(root) for root in self.roots):
            raise AccessError(outside_words(path, self.roots))
        return resolved

    def model(self, file: str, code: str, sample: str, script: bool) -> Model:
        """Return the model that one of three texts names; raises AccessError, JobError."""
        if len([each for each in (file, code, sample) if each]) != 1:
            raise JobError("model", named_words(("file", "code", "sample")))
        if file:
            return model_of(self.file(file), script or None)
        return Model("code", code, "" if script else "model") if code else Model("sample", sample)

    def file(self, text: str) -> str:
        """Return a file of Python, or a name in it, with its path below a root; raises AccessError, JobError."""
        path, _, name = text.rpartition(":") if ".py:" in text else (text, "", "")
        if not path.endswith(FILES):
            raise JobError("file", unknown_words("file of Python", text, FILES))
        return f"{self.path(path)}{name and f':{name}'}"

    def job(self, job: CompileJob, options: Mapping[str, Any]) -> CompileJob:
        """Return a job with options by name, files in them below a root; raises AccessError, JobError."""
        values = dict(options)
        for name in OF_FILES & {*values}:
            if name == "rival_code" or ".py" in str(values[name]):
                values[name] = self.file(str(values[name]))
        return job_with(job, values)

    def permitted(self, job: CompileJob) -> CompileJob:
        """Return a job if the agent may run it; raises AccessError, JobError."""
        self.require_change()
        return replace(job if self.runs_code else allowed(job), sweep="")

    def answers(self, run: Run) -> RunAnswers:
        """Return the answers about a run, with its job if the agent may run it again."""
        job = run.job()
        with suppress(CompileboardError):
            return RunAnswers(run, self.permitted(job) if job is not None else None)
        return RunAnswers(run)


class AgentVisitor(Protocol):
    """A visitor of the dashboard, as the gate names it; `by` is the name of a run's author."""

    @property
    def name(self) -> str:
        """The name under which the visitor's runs are stored."""

    @property
    def runs_code(self) -> bool:
        """True if the visitor may run code."""

    def require_change(self) -> None:
        """Raise AccessError for a visitor who may start no runs."""

    def may_open(self, run: Run, by: str) -> bool:
        """Return True if the visitor may open a run."""

    def sees(self, run: Run, by: str) -> bool:
        """Return True if a run is listed for the visitor."""


def session_of_visitor(runner: Runner, visitor: AgentVisitor, admit: Callable[[CompileJob], Run]) -> AgentSession:
    """Return the session of a visitor of a server, who names no files and starts no sweeps."""
    return AgentSession(
        runner.store,
        lambda: runner,
        lambda: SweepRunner(runner),
        by=visitor.name,
        runs_code=visitor.runs_code,
        require_change=visitor.require_change,
        sees=lambda run: visitor.may_open(run, run.status().by),
        lists=lambda run: visitor.sees(run, run.status().by),
        admit=admit,
    )


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool: its session, where progress goes, and a request to stop.

    At `deadline_s`, a time of `time.monotonic`, it answers though its run goes on. `going` has the ids of such runs and
    searches by author and by what was called, for the same call again.
    """

    session: AgentSession
    report: Callable[[str], None] = lambda words: None
    stop: threading.Event = field(default_factory=threading.Event)
    deadline_s: float = math.inf
    going: dict[tuple[str, str], str] = field(default_factory=dict)

    def answers(self, run_id: str) -> RunAnswers:
        """Return the answers about a run that the agent may open; raises StoreError."""
        return self.session.answers(self.session.run(run_id))

    def executed(self, job: CompileJob) -> RunAnswers:
        """Run a job, or wait for its run that goes on; return the answers about it. A stopped call cancels it."""
        runner, permitted = self.session.runner(), self.session.permitted(job)
        what = runner.fingerprint(permitted, is_permitted=True)
        known = self.taken(what)
        run = self.session.run(known) if known else self._admitted(runner, permitted)
        steps, growing = 0, None
        while True:
            live, log = run.status().live, run.log_path()
            growing = growing or (GrowingReport(log) if log and live else None)
            known_steps = growing.look().steps if growing is not None else ()
            for step in known_steps[steps:]:
                self.report(step)
            steps = len(known_steps)
            if not live:
                return self.session.answers(run)
            if self.stop.is_set():
                with suppress(CompileboardError):
                    runner.cancel(run)
                time.sleep(POLL_S)
            elif self.is_late:
                self.keep(what, run.id)
                return replace(self.session.answers(run), step=known_steps[-1] if known_steps else "")
            self.stop.wait(POLL_S)

    @property
    def is_late(self) -> bool:
        """True if the call has to answer."""
        return time.monotonic() > self.deadline_s

    def keep(self, what: str, going_id: str) -> None:
        """Keep the id of a run or search that goes on; of too many, the oldest is forgotten."""
        if len(self.going) >= MOST_GOING:
            self.going.pop(next(iter(self.going)), None)
        self.going[self.session.by, what] = going_id

    def taken(self, what: str) -> str:
        """Return the id of the run or search of an earlier call, if it was kept; otherwise an empty string."""
        return self.going.pop((self.session.by, what), "")

    def _admitted(self, runner: Runner, job: CompileJob) -> Run:
        return self.session.admit(job) if self.session.admit else runner.admit(job, self.session.by)


class OwnRunner:
    """The runner of this process; its engine opens at the first use."""

    def __init__(self, store: Store, engine: str | None) -> None:
        self.store, self._address = store, engine
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._sweeps: SweepRunner | None = None

    def runner(self) -> Runner:
        """Return the runner."""
        with self._lock:
            if self._runner is None:
                self._runner = Runner(self.store, open_engine(self.store, address=self._address))
            return self._runner

    def sweeps(self) -> SweepRunner:
        """Return the sweep runner."""
        runner = self.runner()
        with self._lock:
            self._sweeps = self._sweeps or SweepRunner(runner)
            return self._sweeps

    def close(self) -> None:
        """Cancel the sweeps, and close the engine."""
        if self._sweeps is not None:
            self._sweeps.close()
        if self._runner is not None:
            self._runner.engine.close()


# Name of a resource → its address.
RESOURCES = {
    "run": "compileboard://runs/{run}",
    "code": "compileboard://runs/{run}/code",
    "artifacts": "compileboard://runs/{run}/artifacts",
    "artifact": "compileboard://runs/{run}/artifacts/{record}",
}
RESOURCE = re.compile(r"compileboard://runs/([\w@-]{1,200})(?:/(code|artifacts)(?:/([0-9]{1,9}))?)?")


def resource(session: AgentSession, uri: str) -> str:
    """Return the text of a resource; raises StoreError."""
    match = RESOURCE.fullmatch(uri)
    if match is None or (match[3] and match[2] == "code"):
        raise StoreError(unknown_words("resource", uri, tuple(RESOURCES.values())))
    run = session.run(match[1])
    if match[2] is None:
        return session.answers(run).verdict.fitted(MOST_CHARS)[0]
    facts, lines = {"run": run.id}, run.code().splitlines() if match[2] == "code" else []
    if match[3]:
        lines = artifacts_view(run).raw(int(match[3]))[1].decode("utf-8", "replace").splitlines()
    elif match[2] == "artifacts":
        return AgentAnswer(facts, "artifacts", artifacts_view(run).rows).fitted(MOST_CHARS)[0]
    return AgentAnswer(facts, "lines", lines, is_text=True).fitted(MOST_CHARS)[0]
