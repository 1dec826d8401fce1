"""The conditions of a job, folded: settings during the run, other input sizes, and optional measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core import (
    MAX_THREADS,
    STANCES,
    CompileJob,
    Conditions,
    compile_options_as_text,
    compile_options_from_text,
    options_as_text,
    options_from_text,
    sizes_as_text,
    sizes_from_text,
)
from pages.parts.run.fields import Field, Form, choice, switch, text

DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.compiler.set_stance.html"
NONE = "none"
CACHES = {"objects": "objects alone", "cold": "cold", "warm": "warm"}
NUMERICS = {"": "no", "results": "results", "nodes": "every node"}


def _draw_threads(at: Any, _: Form, value: int | None, key: str) -> Any:
    help_ = "`torch.set_num_threads`, for eager and compiled."
    return at.number_input("threads", 1, MAX_THREADS, value, key=key, placeholder="torch's own", help=help_)


# In the order of the page, a row a line.
ROWS: tuple[tuple[Field, ...], ...] = (
    (
        Field("threads", lambda form: form.start.conditions.threads, _draw_threads),
        choice(
            "stance",
            lambda _: STANCES,
            lambda form: form.start.conditions.stance,
            "In which the compiled calls are made: what Dynamo does where it would compile. A call that "
            f"`fail_on_recompile` refuses is recorded, and the run goes on. [set_stance]({DOCS})",
        ),
        choice(
            "force",
            lambda form: [NONE, *form.backends],
            lambda form: form.start.conditions.force_backend or NONE,
            f"`force_backend` of [set_stance]({DOCS}): in place of the job's, in the default stance alone.",
            label="force backend",
        ),
        choice(
            "caches",
            lambda _: list(CACHES),
            lambda form: form.start.conditions.caches,
            "Objects alone: compiled C++ and Triton are shared between runs, and torch has everything to do and to "
            "tell. Cold: empty caches, as on a new machine. Warm: a first process fills the caches of FX graphs and "
            "AOTAutograd, and the run finds them.",
            says=lambda value, _: CACHES[value],
        ),
    ),
    (
        switch(
            "primed",
            lambda form: form.start.conditions.primed,
            "Make the first compiled call in the default stance, so that there is code to use again.",
        ),
        switch(
            "peak",
            lambda form: form.start.memory,
            "Measure the memory of an eager and a compiled call.",
            label="measure memory",
        ),
        choice(
            "numerics",
            lambda _: list(NUMERICS),
            lambda form: form.start.numerics,
            "Hold eager and compiled against float64: all results, or every node of the FX graphs, too.",
            label="compare with float64",
            says=lambda value, _: NUMERICS[value],
        ),
    ),
    (
        text(
            "sizes",
            lambda form: sizes_as_text(form.start.sizes),
            "sizes",
            "batch=64, 0.1=128",
            "Other sizes for dimensions of the inputs: `batch`, `0.1` for dimension 1 of argument 0, `mask.0` for "
            "keyword argument `mask`. The tensors are made anew, with random numbers in the range of the old ones.",
        ),
        text(
            "marks",
            lambda form: ", ".join(form.start.marks),
            "marked dynamic",
            "0.0, mask.1",
            "Dimensions that are marked by `torch._dynamo.mark_dynamic` before each compiled call.",
        ),
    ),
    (
        text(
            "dynamo",
            lambda form: options_as_text(form.start.conditions.dynamo or {}),
            "torch._dynamo.config",
            "recompile_limit=2, verbose=True",
            "Names of `torch._dynamo.config` and their values, set after the file was loaded.",
        ),
        text(
            "rival",
            lambda form: compile_options_as_text(form.start.rival) if form.start.rival else "",
            "timed against",
            "mode=max-autotune, options.max_autotune=True",
            "Another call of `torch.compile`, timed in turn with this one in one process.",
        ),
    ),
)


def conditioned(job: CompileJob, values: Mapping[str, Any]) -> CompileJob:
    """Return the job under the conditions in the fields; raises JobError."""
    chosen = Conditions(
        threads=values["threads"],
        stance=values["stance"],
        force_backend="" if values["force"] == NONE else values["force"],
        primed=values["primed"],
        dynamo=options_from_text(values["dynamo"], "conditions.dynamo"),
        caches=values["caches"],
    )
    rival = values["rival"].strip()
    return replace(
        job,
        conditions=chosen,
        sizes=sizes_from_text(_parts(values["sizes"])),
        marks=tuple(_parts(values["marks"])),
        rival=compile_options_from_text(rival, "rival") if rival else None,
        memory=values["peak"],
        numerics=values["numerics"],
    )


def words(job: CompileJob) -> str:
    """Describe a job's conditions that differ from the defaults; empty if none does."""
    measured = [*(["memory"] if job.memory else []), *([f"{job.numerics} against float64"] if job.numerics else [])]
    return "; ".join([*job.differences(), *measured])


def _parts(typed: str) -> list[str]:
    return [part.strip() for part in typed.split(",") if part.strip()]
