"""The options of a job, folded behind one line that reads like the call: a table of fields, read by both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core import (
    GIB,
    MODES,
    TARGETS,
    CompileJob,
    CompileOptions,
    Environment,
    Limits,
    Model,
    options_as_text,
    options_from_text,
)
from core import words as fmt
from pages.look.text import one_line
from pages.session.attempt import attempt, passed_over
from pages.session.memory import held

DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"
DYNAMIC = {"automatic": None, "always": True, "never": False}
DTYPES = ("as it is", "float32", "bfloat16", "float16", "float64")
BACKENDS = ("inductor", "aot_eager", "eager")
MOST_S, MOST_GIB, LEAST_GIB = 86_400.0, 1024.0, 0.5


@dataclass(frozen=True, slots=True)
class Form:
    """What the fields start from: what torch can do here, a job, and the bounds of the server's owner."""

    environment: Environment
    start: CompileJob
    limits: Limits

    @property
    def backends(self) -> list[str]:
        """The backends of torch here, without those for its own tests."""
        return [name for name in self.environment.backends or BACKENDS if "TESTING" not in name]

    @property
    def devices(self) -> dict[str, str]:
        """The devices of this machine, each with its name."""
        return self.environment.devices or {"cpu": ""}

    @property
    def device(self) -> str:
        """The device or target of the job, if there is one here; else the first."""
        first = next(iter(self.devices), "cpu")
        return self.start.target or (self.start.device if self.start.device in self.devices else first)

    @property
    def most_s(self) -> int:
        """The longest time limit."""
        return max(1, int(self.limits.time_s or MOST_S))

    @property
    def most_gib(self) -> float:
        """The largest memory limit."""
        return max(LEAST_GIB, (self.limits.memory_bytes or MOST_GIB * GIB) / GIB)


@dataclass(frozen=True, slots=True)
class Field:
    """One option: the end of its widget's key, what it is at first, and how it is drawn with that and a key."""

    name: str
    first: Callable[[Form], Any]
    draw: Callable[[Any, Form, Any, str], Any]


def _choice(
    name: str,
    choices: Callable[[Form], Sequence[str]],
    first: Callable[[Form], str],
    help_: str,
    *,
    label: str = "",
    says: Callable[[str, Form], str] = lambda choice, _: choice,
) -> Field:
    def draw(at: Any, form: Form, value: str, key: str) -> Any:
        offered = list(choices(form))
        index = offered.index(value) if value in offered else 0
        shown = {choice: says(choice, form) for choice in offered}
        return at.selectbox(label or name, offered, index, shown.__getitem__, key=key, help=help_)

    return Field(name, first, draw)


def _switch(name: str, first: Callable[[Form], bool], help_: str) -> Field:
    return Field(name, first, lambda at, _, value, key: at.toggle(name, value, key=key, help=help_))


def _text(name: str, first: Callable[[Form], str], label: str, example: str, help_: str) -> Field:
    def draw(at: Any, _: Form, value: str, key: str) -> Any:
        return at.text_input(label, value, key=key, placeholder=example, help=help_)

    return Field(name, first, draw)


def _lines(name: str, first: Callable[[Form], str], example: str, help_: str) -> Field:
    def draw(at: Any, _: Form, value: str, key: str) -> Any:
        return at.text_area(name, value, key=key, placeholder=example, help=help_, height=90)

    return Field(name, first, draw)


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
    """Why there is no more; nothing where the server's owner has set no bound."""
    return f"At most {most}: the owner of this server gives no more to one run." if set_by_owner else None


def _dynamic_word(value: bool | None) -> str:
    return next(word for word, meaning in DYNAMIC.items() if meaning is value)


def device_words(choice: str, names: Mapping[str, str]) -> str:
    """A device of this machine by its name, or a target."""
    if choice in TARGETS:
        return f"{TARGETS[choice].title} (not run)"
    return f"{choice} · {names[choice]}" if names.get(choice) else choice


# In the order of the page, a row a line.
ROWS: tuple[tuple[Field, ...], ...] = (
    (
        _choice(
            "backend",
            lambda form: form.backends,
            lambda form: form.start.compile.backend,
            "Which compiler gets the FX graph. `inductor` generates kernels; `aot_eager` stops after AOTAutograd; "
            f"`eager` after Dynamo. [torch.compile]({DOCS})",
        ),
        _choice(
            "mode",
            lambda _: MODES,
            lambda form: form.start.compile.mode or "default",
            "`reduce-overhead` replays CUDA graphs; `max-autotune` times several kernels for matmul and convolution "
            f"and keeps the best. [torch.compile]({DOCS})",
        ),
        _choice(
            "dynamic",
            lambda _: list(DYNAMIC),
            lambda form: _dynamic_word(form.start.compile.dynamic),
            "Automatic: sizes are fixed at first, and a size that changed becomes a symbol in the recompile. "
            "Always: symbols from the start.",
        ),
        _choice(
            "dtype",
            lambda _: DTYPES,
            lambda form: form.start.dtype or DTYPES[0],
            "Casts the model and its floating inputs first.",
        ),
    ),
    (
        _choice(
            "device",
            lambda form: [*form.devices, *TARGETS],
            lambda form: form.device,
            "A device of this machine, on which the compiled model runs; or one that need not be here: then the "
            "code is generated and compiled down to machine code, and not run.",
            label="generate for",
            says=lambda choice, form: device_words(choice, form.devices),
        ),
        Field("seed", lambda form: form.start.seed, _draw_seed),
        _switch(
            "fullgraph",
            lambda form: form.start.compile.fullgraph,
            "Raise at the first graph break instead of going on in eager.",
        ),
        _switch(
            "training",
            lambda form: bool(form.start.training),
            "Run the backward too: AOTAutograd then traces a joint graph and partitions it.",
        ),
    ),
    (
        _text(
            "inductor",
            lambda form: options_as_text(form.start.compile.options or {}),
            "options",
            "max_autotune=True, epilogue_fusion=False",
            "Inductor options as `torch.compile(options={…})` takes them: name=value, separated by commas. Not "
            "together with a mode.",
        ),
    ),
    (
        _lines(
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
        _switch("measure", lambda form: form.start.measure, "Time eager against compiled in turn, about 1.5 s."),
    ),
)


def job_options(
    model: Model, environment: Environment | None, start: CompileJob, limits: Limits, again: str
) -> CompileJob:
    """Show the options of `torch.compile` and of the run, which begin as those of a job; `again` is the run that it is
    of, if it is of one. Returns the job that they make. Raises JobError.
    """
    key = f"options-{model.kind}-{model.value if model.kind == 'sample' else ''}{again and f'-{again}'}"
    form = Form(environment or Environment(), start, limits)
    with st.expander(_call_line(key, form), icon=":material/tune:"):
        values = _drawn(key, form)
    return _job(model, values)


def _call_line(key: str, form: Form) -> str:
    """The call as the widgets stand; they are drawn below this line, so it reads what they hold already."""
    values = {field.name: held(f"{key}-{field.name}", field.first(form)) for row in ROWS for field in row}
    options = attempt(lambda: _options(values), passed_over) or form.start.compile
    return f"`{one_line(options.as_call()).replace('`', '')}`"


def _drawn(key: str, form: Form) -> dict[str, Any]:
    """What each field holds, by its name."""
    values: dict[str, Any] = {}
    for row in ROWS:
        at = st.grid(min_column_width=140, vertical_alignment="bottom") if len(row) > 1 else st
        values |= {field.name: field.draw(at, form, field.first(form), f"{key}-{field.name}") for field in row}
    return values


def _options(values: Mapping[str, Any]) -> CompileOptions:
    return CompileOptions(
        fullgraph=values["fullgraph"],
        dynamic=DYNAMIC[values["dynamic"]],
        backend=values["backend"],
        mode=None if values["mode"] == "default" else values["mode"],
        options=options_from_text(values["inductor"]),
    )


def _job(model: Model, values: Mapping[str, Any]) -> CompileJob:
    device = values["device"]
    return CompileJob(
        model=model,
        compile=_options(values),
        calls=tuple(line.strip() for line in values["calls"].splitlines() if line.strip()),
        training=values["training"],
        dtype=None if values["dtype"] == DTYPES[0] else values["dtype"],
        device="cpu" if device in TARGETS else device,
        target=device if device in TARGETS else "",
        seed=int(values["seed"]),
        measure=values["measure"],
        time_limit_s=float(values["time"]),
        memory_limit_bytes=int(values["memory"] * GIB),
    )
