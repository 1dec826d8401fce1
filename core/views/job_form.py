"""Form of a job: rows of fields with initial values, and the job of the entered values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, groupby
from pathlib import Path
from typing import Any, ClassVar, Literal

from core.accelerator.backends import SHIPPED_BACKENDS, ShippedBackend
from core.base import words as fmt
from core.base.decoder import toml_as
from core.base.errors import CompileboardError, JobError
from core.base.machine import Environment
from core.job import GIB, CompileJob, Model, options_as_text, options_from_text
from core.job.kind import file_kind
from core.job.options import OPTIONS, ChoiceField, FormField, NumberField, Option, SwitchField, TextField, with_values
from core.job.prepared import FileSettings, file_settings
from core.job.targets import TARGETS
from core.runs.limits import Limits
from core.runs.permission import BACKENDS as OPEN_BACKENDS
from core.views.markdown import one_line, plain

# Name of an action that runs the same job again → what it adds.
AGAIN_HELP = toml_as(Path(__file__).with_name("job_form.toml"), dict[str, str])
# Torch's backends before torch has started.
BACKENDS = ("inductor", "aot_eager", "eager")
AS_FILE = "as the file says"
NONE = "none"
BY_CODE, SCRIPT, MODEL_FILE = "As the code decides", "Script", "Model"
CUSTOM_BACKEND, TEMPLATE = "your own…", "template"
MOST_S, MOST_GIB, LEAST_GIB = 86_400.0, 1024.0, 0.5
DOCS = "https://docs.pytorch.org/docs/stable/generated/torch.compile.html"
SHIPPED_WORDS = "; ".join(f"`{backend.name}` ({backend.words})" for backend in SHIPPED_BACKENDS.values())
BACKEND_HELP = (
    "Which compiler gets the FX graph. `inductor` generates kernels; `aot_eager` stops after AOTAutograd; "
    f"`eager` after Dynamo. Built-in examples: {SHIPPED_WORDS}. [torch.compile]({DOCS})"
)
OPTIONS_EXAMPLE = "max_autotune=True, epilogue_fusion=False"
SWITCH = {"on": True, "off": False}
Kind = Literal["choice", "number", "switch", "text", "lines"]
Values = Callable[[Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """A backend by its name, with its code if it is custom."""

    convention: ClassVar[str] = (
        "A callable `(gm, example_inputs)` that returns a callable. Each call whose guards pass runs the returned "
        "callable."
    )
    edit_help: ClassVar[str] = (
        "The model runs with your code in place of what Inductor generated for this graph. Its results are compared "
        "with eager, and its time with Inductor's code, call by call."
    )

    name: str
    code: str = ""

    @staticmethod
    def custom(job: CompileJob) -> BackendChoice:
        """Return the custom backend of a job; the template if the job has none."""
        if job.compile.backend_code:
            return BackendChoice(job.compile.backend, job.compile.backend_code)
        return BackendChoice("backend", BackendChoice(TEMPLATE).text)

    @staticmethod
    def starts(job: CompileJob) -> dict[str, BackendChoice]:
        """Return the backends that an editor can start with, by label: the job's, then the built-in ones."""
        chosen = BackendChoice(job.compile.backend, job.compile.backend_code)
        own = {"this run's": chosen} if chosen.code else {chosen.name: chosen} if chosen._shipped else {}
        return own | {name: BackendChoice(name) for name in SHIPPED_BACKENDS}

    @property
    def _shipped(self) -> ShippedBackend | None:
        return None if self.code else SHIPPED_BACKENDS.get(self.name)

    @property
    def text(self) -> str:
        """Code of a custom or built-in backend; empty for a backend of torch or of the model's file."""
        return self._shipped.path.read_text(encoding="utf-8") if self._shipped else self.code

    @property
    def heading(self) -> str:
        """Name and description of a built-in backend; empty for other backends."""
        return f"Built-in backend `{self.name}` ({self._shipped.words})" if self._shipped else ""


@dataclass(frozen=True, slots=True)
class JobField:
    """A field of the form; kind `text` has one line, `lines` several.

    `choices` maps the values of a choice to their texts. `least`, `most` and `step` are for a number. `example`
    is shown in an empty field. `values` converts the entered value to the job's values by path. The result is
    empty if the model's file decides; JobError is raised for an invalid value.
    """

    kind: Kind
    key: str
    label: str
    initial: Any
    help: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    least: float = 0
    most: float = 0
    step: float | None = None
    example: str = ""
    values: Values = field(default=lambda _: {}, repr=False, compare=False)

    @property
    def index(self) -> int:
        """Position of the initial choice; 0 if the initial choice is not offered."""
        choices = list(self.choices)
        return choices.index(self.initial) if self.initial in choices else 0


Rows = tuple[tuple[JobField, ...], ...]


@dataclass(frozen=True)
class JobForm:
    """The form of a new job with the model of `job`; the options of `job` are the initial values.

    `environment` has the devices and backends of torch on this machine. `limits` are the bounds set by the
    server's owner. `code` is True if this visitor may bring code. Methods take the entered values by field key.
    """

    environment: Environment
    job: CompileJob
    limits: Limits
    code: bool = True

    as_file = AS_FILE
    custom_backend = CUSTOM_BACKEND
    again_help: ClassVar[Mapping[str, str]] = AGAIN_HELP
    own_model: ClassVar[str] = "Compile a model here"
    in_a_terminal: ClassVar[str] = "This run cannot run again here. With the model's file, in a terminal:"
    backend_command: ClassVar[str] = "python -m core run FILE.py --backend inspect"
    accelerator_command: ClassVar[str] = "python -m core run FILE.py --backend accelerator"
    package_command: ClassVar[str] = "python -m core aoti FILE.py --out package"
    neighbours_command: ClassVar[str] = "python -m core neighbours FILE.py"
    convention: ClassVar[str] = (
        "Define `model`, any callable, and `inputs`, the arguments of one call; or `calls`, a list or a generator "
        "function of several. `training = True` runs the backward too; `torch_compile = {…}` sets parameters of "
        "`torch.compile`. The options below are as the file says until you choose otherwise. Code without a model and "
        "inputs is run as a script, unchanged, and so is code that calls what it compiles."
    )
    kinds: ClassVar[tuple[str, ...]] = (BY_CODE, SCRIPT, MODEL_FILE)
    kinds_help: ClassVar[str] = (
        "A script runs once, unchanged. A model is compiled, compared with eager and measured. By default, the code "
        "decides: a file that calls compiled code or runs a backward is a script."
    )
    no_code: ClassVar[str] = (
        "This server does not run visitors' code, because other machines can reach it. Its owner can allow it with "
        "`COMPILEBOARD_ALLOW_CODE=1`."
    )
    script_help: ClassVar[str] = (
        "Open torch's `fx_graph_runnable.py` of this graph in the editor of *New run*, to change and run it"
    )
    log_help: ClassVar[str] = (
        "Record a log on any machine with `TORCH_TRACE=/tmp/trace python script.py`, and open the file "
        "dedicated_log_torch_trace….log here: as it is, as .gz or .zst, or in a .zip or .tar.gz with the logs of all "
        "ranks. tlparse's output and the directories of `TORCH_COMPILE_DEBUG=1` and vLLM's graph dumps open, too."
    )
    without_fixes: ClassVar[str] = (
        "The fixes of this run are left out: its fixed code is gone, or this server takes no code."
    )
    follow_help: ClassVar[str] = (
        "For a log, or the directory in `TORCH_TRACE`, that a script is writing: pages update while it compiles. It "
        "ends when you stop it, or half an hour after the last record."
    )

    @staticmethod
    def run_as(model: Model) -> str:
        """Return the initial choice among `kinds` for a job's model."""
        return SCRIPT if model.is_script else MODEL_FILE if model.as_model else BY_CODE

    @staticmethod
    def reopened(model: Model, code: str) -> Model:
        """Return the model of a script's form: a script by request only if its code alone would be a model's."""
        return replace(model, name="model") if file_kind(code).is_script else model

    @staticmethod
    def model_run_as(model: Model, kind: str) -> Model:
        """Return the model as one of `kinds`."""
        return replace(model, name="") if kind == SCRIPT else replace(model, as_model=kind == MODEL_FILE)

    @cached_property
    def file(self) -> FileSettings:
        """Settings in the model's file; empty if there is no model or the file can't be read."""
        try:
            return file_settings(self.job.model) if self.job.model.value else FileSettings()
        except CompileboardError:
            return FileSettings()

    @staticmethod
    def on_this_machine(kind: str) -> str:
        """Return where a job runs without its kind of device; `kind` is empty for a target."""
        return f"No {kind.upper()} device is here: a new run uses the CPU." if kind else "A new run uses this machine."

    @staticmethod
    def missing_device(kind: str) -> str:
        """Return the reason why a job cannot run again on a machine without its kind of device."""
        return device_words("Running this again", kind)

    @property
    def unread(self) -> list[str]:
        """Sentences about the settings in the model's file that can't be read."""
        uses = {
            "training": "choose it here, as the file has it.",
            "torch_compile": "the run uses its value when the file has run, and the form cannot show it.",
        }
        return [f"`{name}` in the file is no literal: {uses[name]}" for name in self.file.unread]

    @cached_property
    def call(self) -> Rows:
        """Rows of the parameters of `torch.compile`, the inputs and the limits."""
        return _rows(self, "call")

    @cached_property
    def conditions(self) -> Rows:
        """Rows of the conditions of the calls, and of the measurements."""
        return _rows(self, "conditions")

    def new_job(self, values: Mapping[str, Any], backend: BackendChoice | None) -> CompileJob:
        """Return the job of the entered values, with the file's backend if None; raises JobError."""
        return self._job(_values(self.call, values) | _backend_values(backend) | _values(self.conditions, values))

    def call_line(self, values: Mapping[str, Any], backend: BackendChoice | None) -> str:
        """Return the `torch.compile` call of the entered values as code, or the job's if invalid."""
        try:
            job = self._job(_values(self.call, values) | _backend_values(backend))
        except JobError:
            job = self.job
        of_file = {name: value for name, value in self.file.values.items() if name in job.as_file_says()}
        call = job.with_settings(**of_file).compile.as_call()
        return f"`{one_line(call).replace('`', '')}`"

    def conditions_line(self, values: Mapping[str, Any]) -> str:
        """Return a title with the measurements, and the entered conditions that differ from the defaults.

        If a value is invalid, the title has neither.
        """
        try:
            job = self._job(_values(self.conditions, values))
        except JobError:
            return "Conditions"
        numerics = f"{job.numerics} against float64" if job.numerics else ""
        named = {"memory": job.memory, "profile": job.profile, "neighbours": job.neighbours}
        measured = [*(name for name, wanted in named.items() if wanted), numerics]
        words = "; ".join(filter(None, [*job.differences(), *measured]))
        return f"Conditions: {plain(words)}" if words else "Conditions"

    def _job(self, values: Mapping[str, Any]) -> CompileJob:
        return with_values(CompileJob(self.job.model), values)

    def is_left(self, name: str) -> bool:
        """Return True if the job leaves a setting to the model's file."""
        return name in self.job.as_file_says()

    @property
    def backends(self) -> list[str]:
        """Torch's backends that can run here (without its test backends), the built-in ones, and the job's.

        Visitors who may not bring code get only the backends that are open to everybody.
        """
        known = self.environment.backends or BACKENDS
        torchs = [name for name in known if "TESTING" not in name and name not in self.missing]
        chosen, forced = self.job.compile, self.job.conditions.force_backend
        named = ("" if chosen.backend_code else chosen.backend, forced)
        names = dict.fromkeys([*torchs, *SHIPPED_BACKENDS, *filter(None, named)])
        return [name for name in names if self.code or name in OPEN_BACKENDS]

    @property
    def missing(self) -> dict[str, str]:
        """Backends that cannot run here, each with its missing requirement."""
        return {entry.name: entry.missing for entry in self.environment.entries if entry.missing}

    @property
    def devices(self) -> dict[str, str]:
        """The devices of this machine, each with its name."""
        return self.environment.devices or {"cpu": ""}

    @property
    def most_s(self) -> int:
        """The longest time limit in seconds."""
        return max(1, int(self.limits.time_s or MOST_S))

    @property
    def most_gib(self) -> float:
        """The largest memory limit in GiB."""
        return max(LEAST_GIB, (self.limits.memory_bytes or MOST_GIB * GIB) / GIB)


def _values(rows: Rows, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the job's values by path; raises JobError."""
    fields = chain.from_iterable(rows)
    return {path: value for entry in fields for path, value in entry.values(values[entry.key]).items()}


def _backend_values(backend: BackendChoice | None) -> dict[str, Any]:
    """Return the form's values for a backend and its code; None and empty if the file selects it."""
    if backend is None:
        return {"compile.backend_code": ""}
    return {"compile.backend": backend.name, "compile.backend_code": backend.code}


def _rows(form: JobForm, section: str) -> Rows:
    placed = [(option.form, option) for option in OPTIONS if option.form and option.form.at[0] == section]
    placed.sort(key=lambda pair: pair[0].at)
    rows = groupby(placed, key=lambda pair: pair[0].at[1])
    return tuple(tuple(_job_field(form, option, entry) for entry, option in row) for _, row in rows)


def _job_field(form: JobForm, option: Option, entry: FormField) -> JobField:
    """Return the field of an option; `entry` describes the field in the table of options."""
    match entry:
        case NumberField():
            return _number(form, option, entry)
        case ChoiceField():
            return _choice(form, option, entry)
        case SwitchField():
            return _switch(form, option, entry)
        case TextField():
            return _text(form, option, entry)
        case _:
            return CUSTOM[option.name](form, option, entry)


def _plain(
    kind: Kind,
    option: Option,
    entry: FormField,
    initial: object,
    convert: Callable[[Any], object] = lambda value: value,
    **details: Any,
) -> JobField:
    """Return the field of an option; `convert` turns the entered value into the job's value."""
    details = {"values": lambda value: {option.path: convert(value)}} | details
    return JobField(kind, entry.key or option.name, entry.label or option.name, initial, entry.help, **details)


def _number(form: JobForm, option: Option, entry: NumberField) -> JobField:
    value = option.of(form.job)
    return _plain("number", option, entry, value, least=entry.least, most=entry.most, example=entry.example)


def _select(
    form: JobForm,
    option: Option,
    entry: FormField,
    initial: str,
    choices: Mapping[str, str],
    convert: Callable[[str], object] = str,
    word: Callable[[Any], str] = str,
) -> JobField:
    """Return the choice field of an option; `choices` maps values to texts.

    If the model's file can set the option, the first choice is the file's value, with the text from `word`.
    """

    def values(choice: str) -> dict[str, Any]:
        return {} if choice == AS_FILE else {option.path: convert(choice)}

    if option.of_file:
        of_file = word(form.file.values.get(option.name, option.default))
        choices = {AS_FILE: f"{of_file} (file)", **choices}
        initial = AS_FILE if form.is_left(option.name) else initial
        entry = replace(entry, help=f"{entry.help} *(file)*: {AS_FILE}.")
    return _plain("choice", option, entry, initial, choices=choices, values=values)


def _choice(form: JobForm, option: Option, entry: ChoiceField) -> JobField:
    texts = {word: entry.shown.get(word, word) for word in entry.values}
    initial = entry.word(option.of(form.job))
    return _select(form, option, entry, initial, texts, lambda word: entry.values.get(word, word), entry.word)


def _switch(form: JobForm, option: Option, entry: SwitchField) -> JobField:
    """Return a switch, or a choice field if the model's file can set the option."""
    value = option.of(form.job)
    if not option.of_file:
        return _plain("switch", option, entry, value)
    texts = {word: word for word in SWITCH}
    return _select(form, option, entry, _switch_word(value), texts, lambda word: SWITCH.get(word, False), _switch_word)


def _switch_word(value: object) -> str:
    return "on" if value else "off"


def _text(form: JobForm, option: Option, entry: TextField) -> JobField:
    kind: Kind = "lines" if entry.lines else "text"
    return _plain(kind, option, entry, entry.write(option.of(form.job)), entry.parse, example=entry.example)


def _backend(form: JobForm, option: Option, entry: FormField) -> JobField:
    """Return the choice of a backend.

    Its `values` are empty: the form adds the backend's name together with a custom backend's code.
    """
    options = form.job.compile
    initial = CUSTOM_BACKEND if options.backend_code else options.backend
    names = [*form.backends, *([CUSTOM_BACKEND] if form.code else [])]
    missing = ", ".join(f"{name} ({needs})" for name, needs in form.missing.items())
    text = f"{BACKEND_HELP} Cannot run here, since something is missing: {missing}." if missing else BACKEND_HELP
    chosen = _select(form, option, replace(entry, help=text), initial, {name: name for name in names})
    return replace(chosen, values=lambda _: {})


def _force_backend(form: JobForm, option: Option, entry: FormField) -> JobField:
    names = {name: name for name in (NONE, *form.backends)}
    initial = option.of(form.job) or NONE
    return _select(form, option, entry, initial, names, lambda name: "" if name == NONE else name)


def _device(form: JobForm, option: Option, entry: FormField) -> JobField:
    """Return the choice field of the devices of this machine and the targets.

    The initial choice is the job's target, else the job's device if this machine has it, else the first device.
    With a target, the model itself runs on the CPU.
    """
    job, devices = form.job, form.devices
    initial = job.target or (job.device if job.device in devices else next(iter(devices), "cpu"))
    texts = {device: f"{device} · {name}" if name else device for device, name in devices.items()}
    texts |= {name: f"{target.title} (not run)" for name, target in TARGETS.items()}
    return replace(_select(form, option, entry, initial, texts), values=_device_values)


def _device_values(choice: str) -> dict[str, Any]:
    return {"device": "cpu", "target": choice} if choice in TARGETS else {"device": choice, "target": ""}


def _options(form: JobForm, option: Option, entry: FormField) -> JobField:
    """Return the text field of Inductor's options; with an empty text, the model's file decides."""
    initial = "" if form.is_left("options") else options_as_text(option.of(form.job) or {}) or NONE
    of_file = options_as_text(form.file.values.get("options") or {})
    example = f"{AS_FILE}: {of_file}" if of_file else OPTIONS_EXAMPLE
    return _plain("text", option, entry, initial, example=example, values=_option_values)


def _option_values(text: str) -> dict[str, Any]:
    text = text.strip()
    return {"compile.options": None if text == NONE else options_from_text(text)} if text else {}


def _time(form: JobForm, option: Option, entry: FormField) -> JobField:
    bound = _bound(form.limits.time_s, fmt.limit_s(form.most_s))
    initial = min(int(form.job.time_limit_s), form.most_s)
    return _plain("number", option, replace(entry, help=bound), initial, float, least=1, most=form.most_s)


def _memory(form: JobForm, option: Option, entry: FormField) -> JobField:
    bound = _bound(form.limits.memory_bytes, fmt.gib(form.most_gib * GIB))
    entry = replace(entry, help=bound)
    initial = min(form.job.memory_limit_bytes / GIB, form.most_gib)
    return _plain(
        "number", option, entry, initial, lambda gib: int(gib * GIB), least=LEAST_GIB, most=form.most_gib, step=0.5
    )


def _bound(set_by_owner: float | None, most: str) -> str:
    """Return the help text of a maximum set by the server's owner; empty if the owner set none."""
    return f"At most {most}: a limit of this server for one run." if set_by_owner else ""


# Options whose fields depend on the server, the machine or the model's file.
CUSTOM: dict[str, Callable[[JobForm, Option, FormField], JobField]] = {
    "backend": _backend,
    "force_backend": _force_backend,
    "device": _device,
    "options": _options,
    "time_limit_s": _time,
    "memory_limit_bytes": _memory,
}


def device_words(subject: str, kind: str) -> str:
    """Return a Markdown sentence: `subject` needs a device of this kind, and this machine has none."""
    return f"{subject} needs a {kind.upper()} device, and this machine has none."
