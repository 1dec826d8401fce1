"""A job: the model, options and limits of a run, and its JSON."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from core.base.words import count
from core.job.targets import TARGETS

SCHEMA = 1
MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs", "lite")
STANCES = (
    "default",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
    "eager_then_compile",
    "aot_eager_then_compile",
)
BATCH = "batch"
# Settings that a model's file may have itself, in its literals `training` and `torch_compile`.
FILE_SETTINGS = ("training", "fullgraph", "dynamic", "backend", "mode", "options")
# The parameters of torch.compile that a job has, besides the model.
PARAMETERS = (
    *("fullgraph", "dynamic", "backend", "mode", "options"),
    *("name", "disable", "recompile_limit", "isolate_recompiles", "shapes_spec"),
)
GIB = 1024**3

OptionValue = bool | int | float | str | None
Caches = Literal["objects", "cold", "warm", "bundle"]
Numerics = Literal["", "results", "nodes"]


# End of the title of a job with fixes.
REPAIRED = " repaired"


@dataclass(frozen=True, slots=True)
class Model:
    """Origin of the callable: a sample's name, a file on the server, or pasted code.

    `name` is the variable with the callable; empty if the code is a script, which is run as it is. If `as_model`, code
    that would be a script by `core.job.kind` is a model's, too.
    """

    kind: Literal["sample", "file", "code"]
    value: str
    name: str = "model"
    as_model: bool = False

    @property
    def is_script(self) -> bool:
        """Return True if the code is run as `__main__`."""
        return not self.name


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The parameters of `torch.compile`, with torch's own defaults.

    `backend` is a name that torch knows, a built-in backend of `core.accelerator.backends`, or the name of a callable:
    in the model's file, or in `backend_code`, the source of a separate file. `shapes_spec` is the name of a variable of
    the model's file.
    """

    fullgraph: bool = False
    dynamic: bool | None = None
    backend: str = "inductor"
    mode: str | None = None
    options: dict[str, OptionValue] | None = None
    backend_code: str = ""
    name: str | None = None
    disable: bool = False
    recompile_limit: int | None = None
    isolate_recompiles: bool = False
    shapes_spec: str | None = None

    def as_call(self) -> str:
        """Return the call as Python source, with the arguments that differ from the defaults."""
        return f"torch.compile({', '.join(['model', *self.given()])})"

    def given(self) -> tuple[str, ...]:
        """Return the arguments that differ from the defaults as Python source; a callable by its name."""
        default = CompileOptions()
        texts = {
            name: repr(getattr(self, name)) for name in PARAMETERS if getattr(self, name) != getattr(default, name)
        }
        if self.backend_code and "backend" in texts:
            texts["backend"] = self.backend
        if self.shapes_spec:
            texts["shapes_spec"] = self.shapes_spec
        return tuple(f"{name}={text}" for name, text in texts.items())


@dataclass(frozen=True, slots=True)
class Conditions:
    """Conditions of the calls, in addition to the parameters of `torch.compile`.

    `threads` is for `torch.set_num_threads`; None for torch's own number. `stance` and `force_backend` are those of
    `torch.compiler.set_stance` for the compiled calls; if `primed`, the first call is made in the default stance.
    `dynamo` has names of `torch._dynamo.config` and their values.

    With `caches` "objects", runs share only compiled C++ and Triton code, and torch compiles and logs everything else.
    With "cold", the run starts with empty caches. With "warm", another process fills the caches before the run.
    With "bundle", that process leaves only what `torch.compiler.save_cache_artifacts` returns, and the run loads it.
    """

    threads: int | None = None
    stance: str = "default"
    force_backend: str = ""
    primed: bool = False
    dynamo: dict[str, OptionValue] | None = None
    caches: Caches = "objects"

    @property
    def are_caches_filled(self) -> bool:
        """True if another process fills torch's caches before the run."""
        return self.caches in ("warm", "bundle")

    def words(self) -> tuple[str, ...]:
        """Return the conditions that differ from torch's defaults as text for the header."""
        texts = (
            (count(self.threads, "thread") if self.threads else ""),
            (f"stance {self.stance}" + (" after the first call" if self.primed else ""))
            if self.stance != "default"
            else "",
            f"force_backend={self.force_backend!r}" if self.force_backend else "",
            *(f"torch._dynamo.config.{name}={value!r}" for name, value in (self.dynamo or {}).items()),
            f"{self.caches} caches" if self.caches != "objects" else "",
        )
        return tuple(filter(None, texts))


@dataclass(frozen=True, slots=True)
class DynamicDim:
    """A `torch.export.Dim` and its input dimensions: `0.0`, `batch`, or several equal ones, `0.0+1.0`.

    Without bounds, torch's own apply.
    """

    at: str
    least: int | None = None
    most: int | None = None

    @property
    def text(self) -> str:
        """Return the dimension as it is typed: `0.0=1..128`."""
        if self.least is None and self.most is None:
            return self.at
        least, most = ("" if bound is None else bound for bound in (self.least, self.most))
        return f"{self.at}={least}..{most}"


@dataclass(frozen=True, slots=True)
class Packaging:
    """Request for `torch.export` and AOTInductor after the calls of a run.

    `dims` are dynamic dimensions, in addition to those that the job marks.
    """

    dims: tuple[DynamicDim, ...] = ()


@dataclass(frozen=True, slots=True)
class CompileJob:
    """Everything that determines a run: model, calls, options, device and limits.

    `calls` has the text of each call (see `core.job.arguments`); empty means the model's own inputs. `arguments` are
    the command-line arguments of a script. `dtype` is torch's name of the floating dtype that model and inputs are cast
    to, None for no cast. `target` is a key of `core.job.targets`: code is generated for that accelerator, which need
    not be present, and the model runs eagerly on the CPU. `time_limit_s` counts from the start of the worker;
    `memory_limit_bytes` is for all its processes together.

    `repairs` are fixes: ids of `core.analysis.repairs`, applied to the model's code in steps, several at once within a
    step. The fixed code is compiled and compared with the original code in eager. `repairs_of` is the id of the run
    that the fixes are for, `sweep` the id of the sweep with this run as a cell.

    `sizes` are new sizes of input dimensions: `0.1` is dimension 1 of argument 0, `mask.0` dimension 0 of keyword
    argument `mask`, and `batch` dimension 0 of every tensor with the first tensor's size in dimension 0. `marks`
    are dimensions in the same form, for `torch._dynamo.mark_dynamic`. `rival` is an alternative configuration,
    timed interleaved with `compile`. `rival_code` is the code of a baseline, which the alternative compiles in
    place of the model's code; without a `rival`, the alternative has the configuration `compile`. `memory`
    requests the memory of an eager and a compiled call. `numerics` requests a comparison with float64: of all
    `results`, or also of all `nodes` of the FX graphs. With `bisect`, torch's CompilerBisector looks for the
    cause if the run fails or differs. With `debug_files`, the log also has the texts that TORCH_COMPILE_DEBUG=1
    writes. `logs` are names as in TORCH_LOGS; the log also has the messages of these names. `bits` are the
    settings of another configuration, with which the first call is compared bit by bit. With `aoti`, the model is
    exported and packaged by AOTInductor, and the package is run from Python and from C++. With `capture`, other
    captures of the model, such as symbolic_trace and torch.export, are recorded. `neighbours` requests that other
    compilers and runtimes, such as ONNX Runtime, convert and run the model. With `profile`, the compiled calls
    are repeated under `torch.profiler` after all measurements.

    `exercise` is the name of an exercise that the code solves: the code is compiled, and compared with the exercise's
    own code in eager.

    `from_file` has the names in `FILE_SETTINGS` whose values come from the file; the job sets the others, even to
    torch's defaults. None means all settings with their default value, which is None for `training`.
    """

    model: Model
    calls: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    training: bool | None = None
    compile: CompileOptions = field(default_factory=CompileOptions)
    dtype: str | None = None
    device: str = "cpu"
    target: str = ""
    seed: int = 0
    measure: bool = True
    time_limit_s: float = 600.0
    memory_limit_bytes: int = 8 * GIB
    repairs: tuple[tuple[str, ...], ...] = ()
    repairs_of: str = ""
    conditions: Conditions = field(default_factory=Conditions)
    sizes: dict[str, int] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    rival: CompileOptions | None = None
    rival_code: str = ""
    memory: bool = False
    numerics: Numerics = ""
    bisect: bool = False
    debug_files: bool = False
    bits: dict[str, OptionValue] = field(default_factory=dict)
    logs: tuple[str, ...] = ()
    capture: bool = False
    sweep: str = ""
    exercise: str = ""
    aoti: Packaging | None = None
    neighbours: bool = False
    profile: bool = False
    from_file: tuple[str, ...] | None = None
    schema: int = SCHEMA

    @property
    def has_original(self) -> bool:
        """Return True if the eager side runs other code: the code before its fixes, or an exercise's own code."""
        return bool(self.repairs or self.exercise)

    @property
    def code_files(self) -> dict[str, str]:
        """Return the code beside the model's file by file name: a custom backend's, and the alternative's."""
        rival = self.rival.backend_code if self.rival else ""
        codes = {"backend.py": self.compile.backend_code, "rival_backend.py": rival, "rival_model.py": self.rival_code}
        return {name: code for name, code in codes.items() if code}

    def as_file_says(self) -> tuple[str, ...]:
        """Return the names of the settings that are left to the file."""
        if self.from_file is not None:
            return self.from_file
        default = CompileJob(self.model)
        left = (name for name in FILE_SETTINGS if self.setting(name) == default.setting(name))
        return tuple(name for name in left if name != "backend" or not self.compile.backend_code)

    def setting(self, name: str) -> object:
        """Return the value of one of `FILE_SETTINGS`."""
        return self.training if name == "training" else getattr(self.compile, name)

    def with_settings(self, **settings: Any) -> CompileJob:
        """Return the job with these parameters of `torch.compile`, or with this `training`.

        These settings are no longer left to the model's file.
        """
        options = {name: value for name, value in settings.items() if name != "training"}
        training = settings.get("training", self.training)
        changed = replace(self, training=training, compile=replace(self.compile, **options))
        return changed.leaving_to_file(*(name for name in self.as_file_says() if name not in settings))

    def leaving_to_file(self, *names: str) -> CompileJob:
        """Return a copy of the job in which the file decides exactly these settings."""
        by_default, ordered = replace(self, from_file=None), tuple(name for name in FILE_SETTINGS if name in names)
        return by_default if by_default.as_file_says() == ordered else replace(self, from_file=ordered)

    def title(self) -> str:
        """Return a short name for lists and headers."""
        return self._model_title() + (REPAIRED if self.repairs else "")

    def _model_title(self) -> str:
        if self.exercise:
            return f"exercise {self.exercise}"
        if self.model.kind == "sample":
            return self.model.value
        name = f":{self.model.name}" if self.model.name else ""
        if self.model.kind == "file":
            return f"{self.model.value.rsplit('/', 1)[-1]}{name}"
        return f"pasted {'code' if name else 'script'}{name}"

    def differences(self) -> tuple[str, ...]:
        """Return the settings that differ from a default job as text for the header."""
        target = f"for {TARGETS[self.target].title}" if self.target in TARGETS else ""
        parts = [part for part in (target, self.dtype, "training" if self.training else None) if part]
        call = self.compile.as_call().removeprefix("torch.compile(model").removesuffix(")").removeprefix(", ")
        repairs = [count(sum(map(len, self.repairs)), "repair")] if self.repairs else []
        sizes = [f"{BATCH} {size}" if at == BATCH else f"inputs.{at}={size}" for at, size in self.sizes.items()]
        marks = [f"{', '.join(self.marks)} marked dynamic"] if self.marks else []
        rival = [f"against {self.rival.as_call()}"] if self.rival else []
        rival += ["against a baseline"] if self.rival_code else []
        bits = (
            [f"bits against {', '.join(f'{name}={value}' for name, value in self.bits.items())}"] if self.bits else []
        )
        logs = [f"logs {', '.join(self.logs)}"] if self.logs else []
        arguments = [f"arguments {shlex.join(self.arguments)}"] if self.arguments else []
        aoti = [] if self.aoti is None else [", ".join(["AOTInductor", *(dim.text for dim in self.aoti.dims)])]
        asked = (*arguments, *sizes, *marks, *rival, *bits, *logs, *aoti, *repairs)
        return (*parts, *([call] if call else []), *self.conditions.words(), *asked)


def job_to_json(job: CompileJob) -> bytes:
    """Return the job as human-readable JSON."""
    return msgspec.json.format(msgspec.json.encode(job), indent=2)


def fingerprint(job: CompileJob, code: str, torch_version: str) -> str:
    """Return a digest that is equal for equal runs.

    It covers the job without limits and origin, the model's code, and torch's version. Only the
    value of a setting counts, no matter whether the job or the model's file sets it. The same applies to the choice
    between script and model.
    """
    same = replace(job, time_limit_s=0.0, memory_limit_bytes=0, repairs_of="", sweep="")
    fields = msgspec.to_builtins(same)
    del fields["from_file"], fields["model"]["as_model"]
    return hashlib.sha256(msgspec.json.encode([fields, code, torch_version])).hexdigest()[:16]


OF_INDUCTOR = "options."
# Each mitigation's settings, from the least to the most that is given up.
MITIGATIONS: dict[str, dict[str, OptionValue | tuple[str, ...]]] = {
    "emulate_precision_casts": {"options.emulate_precision_casts": True},
    "fallback_random": {"options.fallback_random": True},
    "no pattern matching": {"options.pattern_matcher": False},
    "no reuse of buffers": {"options.inplace_buffers": False, "options.allow_buffer_reuse": False},
    "no vector code": {"options.cpp.simdlen": 1},
    "no CUDA graphs": {"options.triton.cudagraphs": False},
    "no fusion": {"options.max_fusion_size": 1, "options.epilogue_fusion": False},
    "ATen instead of lowerings": {"options.fallback_by_default": True},
    "suppress_errors": {"dynamo.suppress_errors": True},
    "aot_eager": {"backend": "aot_eager"},
}
# They are no use elsewhere: for code on a CPU, and for CUDA graphs.
CPU_ONLY, CUDA_ONLY = ("no vector code",), ("no CUDA graphs",)


def mitigations(device: str) -> dict[str, dict[str, OptionValue | tuple[str, ...]]]:
    """Return name → settings of the mitigations that have an effect on a device."""
    unsuited = CUDA_ONLY if device == "cpu" else CPU_ONLY
    return {name: settings for name, settings in MITIGATIONS.items() if name not in unsuited}


def inductor_mitigations(device: str) -> tuple[dict[str, OptionValue], ...]:
    """Return the mitigations for a device that are `options` of torch.compile alone."""
    suited = [list(settings.items()) for settings in mitigations(device).values()]
    return tuple(
        {path.removeprefix(OF_INDUCTOR): value for path, value in settings if not isinstance(value, tuple)}
        for settings in suited
        if all(path.startswith(OF_INDUCTOR) for path, _ in settings)
    )
