"""Sweep questions about a job: presets and custom axes; texts are Markdown.

The menu What if offers changes of the same options, and creates a job for each change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod

from core.base import words as fmt
from core.base.errors import JobError
from core.base.machine import Environment
from core.job import MODES, CompileJob, CompileOptions
from core.job.options import AXES, OPTIONS, Option
from core.job.targets import TARGETS
from core.runs.limits import Limits
from core.sweep.model import Axis, AxisValue, Sweep, applied, changed, check_backends, parse_axes
from core.sweep.presets import GOALS, PRESETS, SEARCH_S, Goal, Plan, Preset, search_plan
from core.sweep.runner import new_sweep
from core.views.markdown import code

EXAMPLE = "backend=eager,aot_eager,inductor\nbatch=1,2,4,…,64"
FIELDS = ", ".join(map(code, AXES))
HELP = (
    f"One axis per line, `field=value,value`; every combination is a cell. Fields: {FIELDS}, `batch`, `inputs.0.1` "
    "(dimension 1 of argument 0), `options.NAME` (Inductor), `dynamo.NAME`. `…` continues the numbers before it."
)
# A sweep with more runs needs a confirmation.
CONFIRMED_ABOVE = 10
# Backends that are open to visitors who may not run code.
OPEN_BACKENDS = ("inductor", "eager", "aot_eager")
ONE_BY_ONE = "one after the other on a device"
Alternatives = dict[str, CompileJob]
CHANGE_HELP = (
    "Runs the same job with one option changed, and compares it with this run, which stays on the left. If "
    "such a run is already stored, it is used."
)
TYPED_NAMES = ", ".join(f"`{name}`" for name, option in AXES.items() if option.what_if is None)
FIELDS_HELP = (
    "A field a line, as the page Sweep takes them: `options.NAME` (Inductor), `dynamo.NAME`, `inputs.0.1` (dimension 1 "
    f"of argument 0), `batch`, {TYPED_NAMES} …"
)


@dataclass(frozen=True)
class SweepQuestion:
    """A question about a job: a preset's question, or custom axes without a name and a text.

    `make_plan` returns the job and the axes of its sweep, or raises JobError. `each_s` are the seconds of the model's
    last run, None without such a run.
    """

    make_plan: Callable[[], Plan]
    each_s: float | None
    name: str = ""
    title: str = ""
    text: str = ""
    sweep_title: str = ""
    budget_s: float = SEARCH_S

    @cached_property
    def plan(self) -> Plan:
        """Job and axes of its sweep; raises JobError."""
        return self.make_plan()

    @property
    def cells(self) -> int:
        """Number of cells of its sweep; raises JobError."""
        return prod(len(axis.values) for axis in self.plan.axes)

    @property
    def needs_confirmation(self) -> bool:
        """True if its sweep has many runs; raises JobError."""
        return self.grows or self.cells > CONFIRMED_ABOVE

    @property
    def grows(self) -> bool:
        """True if its sweep gets more runs while it goes on."""
        preset = PRESETS.get(self.name)
        return preset is not None and preset.more is not None

    @property
    def cost(self) -> str:
        """Number of runs, the axes, and the total time estimated from the last run; raises JobError."""
        fields = [axis.field for axis in self.plan.axes if axis.field != "variant"]
        over = f" over {', '.join(map(code, fields))}" if fields else ""
        return f"{self._runs}{over}{self._total_time}"

    @property
    def _runs(self) -> str:
        return f"at least {fmt.count(self.cells, 'run')}" if self.grows else fmt.count(self.cells, "run")

    @property
    def heading(self) -> str:
        """Title of the preset."""
        return f"**{self.title}**"

    @property
    def confirmation(self) -> str:
        """Cost of a sweep that needs a confirmation."""
        return f"{self.heading}: {self.cost}, {ONE_BY_ONE}."

    @property
    def confirmation_label(self) -> str:
        """Label of the button that confirms."""
        return f"Start {self._runs}"

    @property
    def cells_sentence(self) -> str:
        """Number of cells of custom axes, and their total time, estimated from the last run."""
        return f"{fmt.count(self.cells, 'cell')}, each an ordinary run; {ONE_BY_ONE}{self._total_time}."

    @property
    def _total_time(self) -> str:
        if self.each_s is None:
            return ""
        return f", {fmt.estimate_s(self.cells * self.each_s)}, estimated from the last run"

    def sweep(self) -> Sweep:
        """Return a new sweep that has not started; raises JobError."""
        sweep = new_sweep(self.plan.base, self.plan.axes, self.name, self.sweep_title)
        searches = {preset.name for preset in GOALS.values()}
        return sweep.limited(self.budget_s) if self.name in searches else sweep


@dataclass(frozen=True)
class SweepQuestions:
    """Questions about a job on this machine.

    `limits` apply to each run. `may_bring_code` is True if the visitor may run code of the visitor's choice.
    """

    base: CompileJob
    environment: Environment
    limits: Limits
    may_bring_code: bool
    each_s: float | None

    introduction = "Run a job with several options, and compare."
    not_repeatable = "The shown run cannot run again here, so sweeps are of the sample below, on this machine."
    goals = tuple((goal, preset.title) for goal, preset in GOALS.items())
    not_searchable = "Imported logs, scripts, and code that may not run here are not searched."
    precision_help = "Results may differ from the default's; the error against float64 is shown."
    no_sweeps = "No sweeps yet. Start one with a question above."
    axes_example = EXAMPLE
    axes_help = HELP
    axes_hint = "One axis a line, such as {} or {}.".format(*map(code, EXAMPLE.splitlines()))

    @staticmethod
    def shown_label(job: CompileJob | None) -> str:
        """Return the label of the choice to vary the shown run's job."""
        return f"the shown run: {job.title() if job else ''}"

    @staticmethod
    def delete_label(sweeps: int) -> str:
        """Return the label of a button that deletes sweeps."""
        return f"Delete {fmt.count(sweeps, 'sweep')}"

    @staticmethod
    def delete_runs_label(sweeps: int) -> str:
        """Return the label of the choice that deletes the runs of sweeps, too."""
        return f"and the runs of {fmt.agree(sweeps, 'its', 'their')} cells"

    @cached_property
    def presets(self) -> tuple[SweepQuestion, ...]:
        """Question of each preset."""
        return tuple(map(self._preset, PRESETS.values()))

    def _preset(self, preset: Preset) -> SweepQuestion:
        return SweepQuestion(
            partial(self._plan, preset),
            self.each_s,
            preset.name,
            preset.title,
            preset.question,
            f"{preset.title}: {self.base.title()}",
        )

    def _plan(self, preset: Preset) -> Plan:
        open_environment = replace(self.environment, backends=OPEN_BACKENDS)
        return preset.plan(self._start, self.environment if self.may_bring_code else open_environment)

    def search(self, goal: Goal, budget_s: float, allows_precision: bool) -> SweepQuestion:
        """Return the question of a search for a goal, in some seconds."""
        question = self._preset(GOALS[goal])
        plan = partial(search_plan, goal, self._start, self.environment, allows_precision)
        return replace(question, make_plan=plan, budget_s=budget_s)

    @property
    def _start(self) -> CompileJob:
        """The job that a sweep starts from: `base` within the limits, without fixes and without a sweep id."""
        return self.limits.fitted(replace(self.base, repairs=(), repairs_of="", sweep=""))

    def custom(self, text: str) -> SweepQuestion:
        """Return the question of typed axes, one a line.

        Raises JobError if the axes make no sweep, name a backend that is not available here, or name a file that the
        visitor may not run.
        """
        axes = parse_axes([line for line in text.splitlines() if line.strip()])
        self._check_backends(axes)
        plan = Plan(self._start, new_sweep(self.base, axes).axes)
        return SweepQuestion(lambda: plan, self.each_s)

    def _check_backends(self, axes: Sequence[Axis]) -> None:
        named = [value for axis in axes if axis.field == "backend" for value in axis.values]
        if not self.may_bring_code and any(".py" in str(value) for value in named):
            raise JobError("axis backend", "must be a backend that torch lists here, not a file")
        if named:
            check_backends(self.base, tuple(axes), self.environment.backends)


@dataclass(frozen=True)
class WhatIfMenu:
    """Options of a job, each with the jobs that have another value of the option.

    `list_backends` returns the backends that the visitor may choose.
    """

    job: CompileJob
    list_backends: Callable[[], Sequence[str]]

    help = CHANGE_HELP
    fields_help = FIELDS_HELP
    fields_example = "options.epilogue_fusion=False\nbatch=64"
    labels = tuple(option.what_if.label for option in OPTIONS if option.what_if)

    def choices(self, label: str) -> Alternatives:
        """Return value label → job with that value, for the option `label`, without the job's own."""
        return {word: job for word, job in ALTERNATIVES[label](self).items() if not _is_same(job, self.job)}

    def changed_job(self, text: str) -> CompileJob | None:
        """Return the job changed by typed fields of sweep axes, or None; raises JobError."""
        lines = [line for line in text.splitlines() if line.strip()]
        job = changed(self.job, lines) if lines else self.job
        return None if _is_same(job, self.job) else job


def _is_same(left: CompileJob, right: CompileJob) -> bool:
    """Return True if both jobs have the same settings; `from_file` is not compared."""
    return replace(left, from_file=()) == replace(right, from_file=())


def _each(field: str, values: Mapping[str, AxisValue]) -> Callable[[WhatIfMenu], Alternatives]:
    """Return a function that maps a menu to label → job, with a job for each value of a field."""
    return lambda menu: {word: applied(menu.job, field, value) for word, value in values.items()}


def _modes(menu: WhatIfMenu) -> Alternatives:
    """Return mode → job with that mode, on Inductor and without options, which exclude a mode."""
    without_options = menu.job.with_settings(options=None, backend="inductor", backend_code="")
    default = CompileOptions().mode
    return {mode: applied(without_options, "mode", default if mode == MODES[0] else mode) for mode in MODES}


def _backends(menu: WhatIfMenu) -> Alternatives:
    """Return the job with each backend; only Inductor takes a mode or options."""
    for_inductor = menu.job.with_settings(backend_code="")
    for_others = for_inductor.with_settings(mode=None, options=None)
    return {
        name: applied(for_inductor if name == "inductor" else for_others, "backend", name)
        for name in menu.list_backends()
    }


def _targets(menu: WhatIfMenu) -> Alternatives:
    """Return label → job, for this machine's device and each target; jobs for targets run on the CPU."""
    on_cpu = replace(menu.job, device="cpu")
    return {
        "this machine's device": applied(menu.job, "target", ""),
        **{target.title: applied(on_cpu, "target", key) for key, target in TARGETS.items()},
    }


# Options whose values depend on the server, or that take the place of others.
CUSTOM: dict[str, Callable[[WhatIfMenu], Alternatives]] = {"mode": _modes, "backend": _backends, "target": _targets}


def _alternatives(options: Sequence[Option]) -> dict[str, Callable[[WhatIfMenu], Alternatives]]:
    """Return label → alternatives for each option that the menu offers."""
    return {
        option.what_if.label: CUSTOM.get(option.name)
        or _each(option.what_if.field or option.name, option.alternatives())
        for option in options
        if option.what_if
    }


ALTERNATIVES = _alternatives(OPTIONS)
