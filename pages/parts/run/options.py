"""The options of a job, folded below one line that reads like the call: a table of fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core import (
    GIB,
    MODES,
    SHIPPED_BACKENDS,
    TARGETS,
    CompileJob,
    CompileOptions,
    Environment,
    FileSettings,
    Limits,
    Model,
    file_settings,
    options_as_text,
    options_from_text,
)
from core.base import words as fmt
from pages.gate.visitor import may_bring_code
from pages.look.sizes import MAX_CHARS
from pages.look.text import one_line, plain
from pages.parts.run.conditions import ROWS as CONDITIONS
from pages.parts.run.conditions import conditioned, words
from pages.parts.run.fields import AS_FILE, LEAST_GIB, ON, OWN, Field, Form, choice, file_switch, lines, setting, switch
from pages.parts.run.own_backend import BackendChoice, chosen_backend, of_a_job
from pages.session.attempt import attempt, passed_over
from pages.session.memory import held

DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"
SHIPPED_WORDS = (
    "Examples that ship: " + "; ".join(f"`{one.name}` {one.words}" for one in SHIPPED_BACKENDS.values()) + "."
)
DYNAMIC = {"automatic": None, "always": True, "never": False}
NO_OPTIONS = "none"
OPTIONS_HELP = (
    "Inductor options as `torch.compile(options={…})` takes them: name=value, separated by commas. Not together with a "
    f"mode. Empty: as the file says; `{NO_OPTIONS}`: none of them, whatever it says."
)
# The least width of a row; fields that do not fit side by side wrap.
ROW_PX = 560
Rows = tuple[tuple[Field, ...], ...]
DTYPES = ("as it is", "float32", "bfloat16", "float16", "float64")


def _draw_seed(at: Any, _: Form, value: int, key: str) -> Any:
    return at.number_input("seed", 0, 2**31, value, key=key)


def _draw_time(at: Any, form: Form, value: int, key: str) -> Any:
    bound = _bound(form.limits.time_s, fmt.limit_s(form.most_s))
    return at.number_input("time limit (s)", 1, form.most_s, value, key=key, help=bound)


def _draw_memory(at: Any, form: Form, value: float, key: str) -> Any:
    bound = _bound(form.limits.memory_bytes, fmt.gib(form.most_gib * GIB))
    limits = LEAST_GIB, form.most_gib
    return at.number_input("memory limit (GiB)", *limits, value, step=0.5, format="%g", key=key, help=bound)


def _bound(set_by_owner: float | None, most: str) -> str | None:
    """Return a note about the owner's bound; None if there is none."""
    return f"At most {most}: the owner of this server gives no more to one run." if set_by_owner else None


def _first_options(form: Form) -> str:
    if form.is_left("options"):
        return ""
    return options_as_text(form.start.compile.options or {}) or NO_OPTIONS


def _draw_options(at: Any, form: Form, value: str, key: str) -> Any:
    said = options_as_text(form.file.values.get("options") or {})
    example = f"{AS_FILE}: {said}" if said else "max_autotune=True, epilogue_fusion=False"
    return at.text_input("options", value, key=key, placeholder=example, help=OPTIONS_HELP, max_chars=MAX_CHARS)


def _dynamic_word(value: bool | None) -> str:
    return next(word for word, meaning in DYNAMIC.items() if meaning is value)


def device_words(choice: str, names: Mapping[str, str]) -> str:
    """Return a device of this machine by name, or a target."""
    if choice in TARGETS:
        return f"{TARGETS[choice].title} (not run)"
    return f"{choice} · {names[choice]}" if names.get(choice) else choice


# In the order of the page, a row a line.
ROWS: Rows = (
    (
        setting(
            "backend",
            lambda form: [*form.backends, *([OWN] if form.code else [])],
            lambda form: form.backend,
            str,
            CompileOptions().backend,
            "Which compiler gets the FX graph. `inductor` generates kernels; `aot_eager` stops after AOTAutograd; "
            f"`eager` after Dynamo. {SHIPPED_WORDS} [torch.compile]({DOCS})",
        ),
        setting(
            "mode",
            lambda _: MODES,
            lambda form: form.start.compile.mode or MODES[0],
            lambda value: value or MODES[0],
            None,
            "`reduce-overhead` replays CUDA graphs; `max-autotune` times several kernels for matmul and convolution "
            f"and keeps the best. [torch.compile]({DOCS})",
        ),
        setting(
            "dynamic",
            lambda _: list(DYNAMIC),
            lambda form: _dynamic_word(form.start.compile.dynamic),
            _dynamic_word,
            None,
            "Automatic: sizes are fixed at first, and a size that changed becomes a symbol in the recompile. "
            "Always: symbols from the start.",
        ),
        choice(
            "dtype",
            lambda _: DTYPES,
            lambda form: form.start.dtype or DTYPES[0],
            "Casts the model and its floating inputs first.",
        ),
    ),
    (
        choice(
            "device",
            lambda form: [*form.devices, *TARGETS],
            lambda form: form.device,
            "A device of this machine, on which the compiled model runs; or one that need not be here: then the "
            "code is generated and compiled down to machine code, and not run.",
            label="generate for",
            says=lambda choice, form: device_words(choice, form.devices),
        ),
        Field("seed", lambda form: form.start.seed, _draw_seed),
        file_switch(
            "fullgraph",
            lambda form: form.start.compile.fullgraph,
            "Raise at the first graph break instead of going on in eager.",
        ),
        file_switch(
            "training",
            lambda form: bool(form.start.training),
            "Run the backward too: AOTAutograd then traces a joint graph and partitions it.",
        ),
    ),
    (Field("inductor", _first_options, _draw_options),),
    (
        lines(
            "calls",
            lambda form: "\n".join(form.start.calls),
            "f32[8, 64]\nf32[16, 64], 2.0, flag=True\ni64[8, 128] < 1000",
            "One call a line, in torch's notation for tensors. Empty: the inputs that the code itself defines. Two "
            "calls with other shapes show a recompile.",
        ),
    ),
    (
        Field("time", lambda form: min(int(form.start.time_limit_s), form.most_s), _draw_time),
        Field("memory", lambda form: min(form.start.memory_limit_bytes / GIB, form.most_gib), _draw_memory),
        switch("measure", lambda form: form.start.measure, "Time eager against compiled in turn, about 1.5 s."),
    ),
)


def job_options(
    model: Model, environment: Environment | None, start: CompileJob, limits: Limits, again: str
) -> CompileJob:
    """Draw the options of `torch.compile` and of the run, starting with a job's; return the new job.

    `again` is the run that the job comes from, if any. Raises JobError.
    """
    key = f"options-{model.kind}-{model.value if model.kind == 'sample' else ''}{again and f'-{again}'}"
    said = attempt(lambda: file_settings(model), passed_over) if model.value else None
    form = Form(environment or Environment(), start, limits, may_bring_code(), said or FileSettings())
    _say_unread(form.file)
    with st.expander(_call_line(key, form), icon=":material/tune:"):
        values = _drawn(key, form, ROWS)
    backend = chosen_backend(values["backend"], start, key)
    with st.expander(_conditions_line(key, form, model), icon=":material/science:"):
        values |= _drawn(key, form, CONDITIONS)
    return conditioned(_job(model, backend, values), values)


def _say_unread(said: FileSettings) -> None:
    for name in said.unread:
        st.caption(f"`{name}` in the file is no literal, so it is not read: choose it here.")


def _call_line(key: str, form: Form) -> str:
    """Return the call as the widgets are set.

    The widgets are drawn below this line, so it reads their values from the session state.
    """
    values = _held(key, form, ROWS)
    backend = of_a_job(values["backend"], form.start, key)
    job = attempt(lambda: _job(form.start.model, backend, values), passed_over) or form.start
    said = {name: value for name, value in form.file.values.items() if name in job.as_file_says()}
    options = job.with_settings(**said).compile
    return f"`{one_line(options.as_call()).replace('`', '')}`"


def _conditions_line(key: str, form: Form, model: Model) -> str:
    """Return a line with the conditions that differ from torch's defaults."""
    held_now = _held(key, form, CONDITIONS)
    job = attempt(lambda: conditioned(CompileJob(model), held_now), passed_over)
    told = words(job) if job else ""
    return f"Conditions: {plain(told)}" if told else "Conditions"


def _held(key: str, form: Form, rows: Rows) -> dict[str, Any]:
    return {field.name: held(f"{key}-{field.name}", field.first(form)) for row in rows for field in row}


def _drawn(key: str, form: Form, rows: Rows) -> dict[str, Any]:
    """Draw the fields, and return their values by name."""
    values: dict[str, Any] = {}
    for row in rows:
        at = st.grid(min_column_width=ROW_PX // len(row), vertical_alignment="bottom") if len(row) > 1 else st
        values |= {field.name: field.draw(at, form, field.first(form), f"{key}-{field.name}") for field in row}
    return values


def _settings(backend: BackendChoice, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that are not left to the model's file."""
    typed = values["inductor"].strip()
    chosen = {
        "backend": backend.name,
        "mode": None if values["mode"] == MODES[0] else values["mode"],
        "dynamic": DYNAMIC.get(values["dynamic"]),
        "fullgraph": values["fullgraph"] == ON,
        "training": values["training"] == ON,
    }
    chosen = {name: value for name, value in chosen.items() if values[name] != AS_FILE}
    if typed:
        chosen["options"] = None if typed == NO_OPTIONS else options_from_text(typed)
    return chosen | {"backend_code": backend.code}


def _job(model: Model, backend: BackendChoice, values: Mapping[str, Any]) -> CompileJob:
    device = values["device"]
    job = CompileJob(
        model=model,
        calls=tuple(line.strip() for line in values["calls"].splitlines() if line.strip()),
        dtype=None if values["dtype"] == DTYPES[0] else values["dtype"],
        device="cpu" if device in TARGETS else device,
        target=device if device in TARGETS else "",
        seed=int(values["seed"]),
        measure=values["measure"],
        time_limit_s=float(values["time"]),
        memory_limit_bytes=int(values["memory"] * GIB),
    )
    return job.with_settings(**_settings(backend, values))
