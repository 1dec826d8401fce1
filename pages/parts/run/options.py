"""The options of a job, folded behind one line that reads like the call."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core import GIB, MODES, TARGETS, CompileJob, CompileOptions, JobError, Limits, Model, options_from_text
from pages.look.text import one_line
from pages.session.memory import held

DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"
DYNAMIC = {"automatic": None, "always": True, "never": False}
DTYPES = ("as it is", "float32", "bfloat16", "float16", "float64")


def job_options(
    model: Model, environment: dict[str, Any] | None, preset: CompileOptions, training: bool, limits: Limits
) -> CompileJob:
    """Show the options of `torch.compile` and of the run; returns the job that they make. Raises JobError."""
    key = f"options-{model.kind}-{model.value if model.kind == 'sample' else ''}"
    with st.expander(_call_line(key, preset), icon=":material/tune:"):
        options, rest = _widgets(key, environment or {}, preset, training, limits)
    return CompileJob(model=model, compile=options, **rest)


def _call_line(key: str, preset: CompileOptions) -> str:
    """The call as the widgets stand; they are drawn below this line, so it reads what they hold already."""
    try:
        options = CompileOptions(
            fullgraph=held(f"{key}-fullgraph", preset.fullgraph),
            dynamic=DYNAMIC[held(f"{key}-dynamic", _dynamic_word(preset.dynamic))],
            backend=held(f"{key}-backend", preset.backend),
            mode=_mode(held(f"{key}-mode", preset.mode or "default")),
            options=options_from_text(held(f"{key}-inductor", "")),
        )
    except JobError:
        options = preset
    return f"`{one_line(options.as_call()).replace('`', '')}`"


def _dynamic_word(value: bool | None) -> str:
    return next(word for word, meaning in DYNAMIC.items() if meaning is value)


def device_words(choice: str, names: dict[str, str]) -> str:
    """A device of this machine by its name, or a target."""
    if choice in TARGETS:
        return f"{TARGETS[choice].title} (not run)"
    return f"{choice} · {names[choice]}" if names.get(choice) else choice


def _mode(word: str) -> str | None:
    return None if word == "default" else word


def _bound(set_by_owner: float | None, most: str) -> str | None:
    """Why there is no more; nothing where the server's owner has set no bound."""
    return f"At most {most}: the owner of this server gives no more to one run." if set_by_owner else None


def _widgets(
    key: str, environment: dict[str, Any], preset: CompileOptions, training: bool, limits: Limits
) -> tuple[CompileOptions, dict[str, Any]]:
    backends = [
        name for name in environment.get("backends", ["inductor", "aot_eager", "eager"]) if "TESTING" not in name
    ]
    names = dict(environment.get("devices", {"cpu": ""}))
    first = st.grid(min_column_width=140)
    backend = first.selectbox(
        "backend",
        backends,
        index=backends.index(preset.backend) if preset.backend in backends else 0,
        key=f"{key}-backend",
        help=f"Which compiler gets the FX graph. `inductor` generates kernels; `aot_eager` stops after AOTAutograd; "
        f"`eager` after Dynamo. [torch.compile]({DOCS})",
    )
    mode = first.selectbox(
        "mode",
        MODES,
        index=MODES.index(preset.mode or "default"),
        key=f"{key}-mode",
        help=f"`reduce-overhead` replays CUDA graphs; `max-autotune` times several kernels for matmul and "
        f"convolution and keeps the best. [torch.compile]({DOCS})",
    )
    dynamic = first.selectbox(
        "dynamic",
        list(DYNAMIC),
        index=list(DYNAMIC).index(_dynamic_word(preset.dynamic)),
        key=f"{key}-dynamic",
        help="Automatic: sizes are fixed at first, and a size that changed becomes a symbol in the recompile. "
        "Always: symbols from the start.",
    )
    dtype = first.selectbox("dtype", DTYPES, key=f"{key}-dtype", help="Casts the model and its floating inputs first.")
    second = st.grid(min_column_width=140, vertical_alignment="bottom")
    device = second.selectbox(
        "generate for",
        [*names, *TARGETS],
        key=f"{key}-device",
        format_func=lambda choice: device_words(choice, names),
        help="A device of this machine, on which the compiled model runs; or one that need not be here: then the "
        "code is generated and compiled down to machine code, and not run.",
    )
    seed = second.number_input("seed", 0, 2**31, 0, key=f"{key}-seed")
    fullgraph = second.toggle(
        "fullgraph",
        preset.fullgraph,
        key=f"{key}-fullgraph",
        help="Raise at the first graph break instead of going on in eager.",
    )
    train = second.toggle(
        "training",
        training,
        key=f"{key}-training",
        help="Run the backward too: AOTAutograd then traces a joint graph and partitions it.",
    )
    inductor = st.text_input(
        "options",
        key=f"{key}-inductor",
        placeholder="max_autotune=True, epilogue_fusion=False",
        help="Inductor options as `torch.compile(options={…})` takes them: name=value, separated by commas. Not "
        "together with a mode.",
    )
    calls = st.text_area(
        "calls",
        key=f"{key}-calls",
        placeholder="f32[8, 64]\nf32[16, 64], 2.0, flag=True\ni64[8, 128] < 1000",
        help="One call a line, in torch's notation for tensors. Empty: the inputs that the code itself defines. Two "
        "calls with other shapes show a recompile.",
        height=90,
    )
    third = st.grid(min_column_width=140, vertical_alignment="bottom")
    most_s, most_gib = int(limits.time_s or 86_400), max(0.5, (limits.memory_bytes or 1024 * GIB) / GIB)
    limit = third.number_input(
        "time limit (s)",
        1,
        max(1, most_s),
        max(1, min(600, most_s)),
        key=f"{key}-time",
        help=_bound(limits.time_s, f"{most_s:,} s"),
    )
    memory = third.number_input(
        "memory limit (GiB)",
        0.5,
        most_gib,
        min(8.0, most_gib),
        step=0.5,
        format="%g",
        key=f"{key}-memory",
        help=_bound(limits.memory_bytes, f"{most_gib:g} GiB"),
    )
    measure = third.toggle(
        "measure", True, key=f"{key}-measure", help="Time eager against compiled in turn, about 1.5 s."
    )
    options = CompileOptions(
        fullgraph=fullgraph,
        dynamic=DYNAMIC[dynamic],
        backend=backend,
        mode=_mode(mode),
        options=options_from_text(inductor),
    )
    rest = {
        "calls": tuple(line.strip() for line in calls.splitlines() if line.strip()),
        "training": train,
        "dtype": None if dtype == DTYPES[0] else dtype,
        "device": "cpu" if device in TARGETS else device,
        "target": device if device in TARGETS else "",
        "seed": int(seed),
        "measure": measure,
        "time_limit_s": float(limit),
        "memory_limit_bytes": int(memory * GIB),
    }
    return options, rest
