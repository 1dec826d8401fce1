"""Menu What if: the options of a job to change, and the job that each change makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.job import MODES, CompileJob, CompileOptions
from core.job.options import AXES, OPTIONS, Option
from core.job.targets import TARGETS
from core.sweep import AxisValue, applied, changed

Alternatives = dict[str, CompileJob]
HELP = (
    "Runs the same job with one option changed, and compares it with this run, which stays on the left. A stored run "
    "is not repeated."
)
TYPED_NAMES = ", ".join(f"`{name}`" for name, option in AXES.items() if option.what_if is None)
FIELDS_HELP = (
    "A field a line, as the page Sweep takes them: `options.NAME` (Inductor), `dynamo.NAME`, `inputs.0.1` (dimension 1 "
    f"of argument 0), `batch`, {TYPED_NAMES} …"
)


@dataclass(frozen=True)
class WhatIfMenu:
    """Options of a job, each with the jobs that other values make of it.

    `list_backends` returns the backends that the visitor may choose.
    """

    job: CompileJob
    list_backends: Callable[[], Sequence[str]]

    help = HELP
    fields_help = FIELDS_HELP
    fields_example = "options.epilogue_fusion=False\nbatch=64"
    labels = tuple(option.what_if.label for option in OPTIONS if option.what_if)

    def choices(self, label: str) -> Alternatives:
        """Return the jobs that differ from this one in the option with a label, by the value's label."""
        return {word: job for word, job in ALTERNATIVES[label](self).items() if not _is_same(job, self.job)}

    def changed_job(self, text: str) -> CompileJob | None:
        """Return the job with typed fields, which have the form of sweep axes; None if it stays the same.

        Raises JobError that names the axis.
        """
        lines = [line for line in text.splitlines() if line.strip()]
        job = changed(self.job, lines) if lines else self.job
        return None if _is_same(job, self.job) else job


def _is_same(left: CompileJob, right: CompileJob) -> bool:
    """Return True if both jobs have the same settings, set by the job or by the file."""
    return replace(left, from_file=()) == replace(right, from_file=())


def _each(field: str, values: Mapping[str, AxisValue]) -> Callable[[WhatIfMenu], Alternatives]:
    """Return the function that makes the job with each value of a field, by the value's label."""
    return lambda menu: {word: applied(menu.job, field, value) for word, value in values.items()}


def _modes(menu: WhatIfMenu) -> Alternatives:
    """Return the job with each mode, on Inductor and without options, since torch takes either a mode or options."""
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
    """Return the job for this machine's device and for each target, which needs no device but the CPU."""
    on_cpu = replace(menu.job, device="cpu")
    return {
        "this machine's device": applied(menu.job, "target", ""),
        **{target.title: applied(on_cpu, "target", key) for key, target in TARGETS.items()},
    }


# Options whose values depend on the server, or that take the place of others.
CUSTOM: dict[str, Callable[[WhatIfMenu], Alternatives]] = {"mode": _modes, "backend": _backends, "target": _targets}


def _alternatives(options: Sequence[Option]) -> dict[str, Callable[[WhatIfMenu], Alternatives]]:
    """Return the alternatives of each option that has an entry, by its label."""
    return {
        option.what_if.label: CUSTOM.get(option.name)
        or _each(option.what_if.field or option.name, option.alternatives())
        for option in options
        if option.what_if
    }


ALTERNATIVES = _alternatives(OPTIONS)
