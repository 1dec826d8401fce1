"""Changes that may make a job faster or smaller: settings, each as fields of a variant."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from core.analysis.repairs.offers import applied_diff
from core.analysis.repairs.settings import compiles_itself, steps_of
from core.base.decoder import toml_as
from core.base.errors import JobError
from core.base.machine import Environment
from core.job import CompileJob
from core.job.prepared import model_code, prepared
from core.sweep.model import DYNAMO, OPTIONS, REPAIR, VARIANT, FieldValue, applied

Goal = Literal["call", "first-call", "memory"]
INDUCTOR = "inductor"
PREFIXES = {INDUCTOR: OPTIONS, "dynamo": DYNAMO}

# Settings of a goal's runs: what each of them measures.
MEASURED: Mapping[Goal, Mapping[str, FieldValue]] = {
    "call": {"measure": True},
    "first-call": {"measure": False, "caches": "cold"},
    "memory": {"measure": False, "memory": True},
}
COMPILED: Mapping[str, FieldValue] = {"measure": False}
# The first pair of a recipe also measures what the recipe costs.
COSTS: Mapping[str, FieldValue] = {"memory": True, "numerics": "results"}


@dataclass(frozen=True, slots=True)
class TriedChange:
    """A change: fields of the job as in a variant, the goals that it may serve, and its jobs.

    `everywhere` is True if it acts on the whole process, so that the unchanged job cannot be timed beside it. `precise`
    is False if it lowers the precision of the results.
    """

    fields: Mapping[str, FieldValue]
    goals: tuple[Goal, ...] = ("call",)
    device: Literal["", "cpu", "cuda"] = ""
    of: Literal["", "inference", "training"] = ""
    everywhere: bool = False
    precise: bool = True

    def applies(self, goal: Goal, job: CompileJob, allows_precision: bool) -> bool:
        """Return True if it can serve the goal of a job; of lower precision only if that is allowed."""
        on_device = not self.device or job.device.startswith(self.device)
        of_kind = self.of in ("", "training" if job.training else "inference")
        return goal in self.goals and on_device and of_kind and (self.precise or allows_precision)


CHANGES = toml_as(Path(__file__).with_name("changes.toml"), dict[str, TriedChange])
# Rule of code generation, which *Rewrites* turns off → Inductor's option and the value that turns it off.
RULES: Mapping[str, tuple[str, bool | int]] = {
    "fusion": ("max_fusion_size", 1),
    "fusion in another loop order": ("loop_ordering_after_fusion", False),
    "fusion into templates": ("epilogue_fusion", False),
    "pattern matcher": ("pattern_matcher", False),
    "split reductions": ("split_reductions", False),
    "layout optimization": ("layout_optimization", False),
    "padding of matmuls": ("shape_padding", False),
    "padding of strides": ("comprehensive_padding", False),
    "results in their inputs' buffers": ("inplace_buffers", False),
    "reuse of buffers": ("allow_buffer_reuse", False),
    "order for peak memory": ("reorder_for_peak_memory", False),
    "vector code": ("cpp.simdlen", 1),
    "vector code for loop tails": ("cpp.enable_loop_tail_vec", False),
    "tiling by heuristics": ("cpp.enable_tiling_heuristics", False),
}


def plain_job(goal: Goal, base: CompileJob) -> CompileJob:
    """Return the job that all cells of a search share: no target, no rival; raises JobError."""
    if base.model.is_script:
        raise JobError("model", "the calls of a script are not timed: name its model, as FILE.py:NAME")
    if base.compile.backend != INDUCTOR:
        raise JobError("backend", f"only settings of {INDUCTOR} are known, none of `{base.compile.backend}`")
    settled, _ = prepared(replace(base, target="", rival=None, profile=False, bisect=False))
    plain = settled.leaving_to_file()
    for field, value in MEASURED[goal].items():
        plain = applied(plain, field, value)
    return plain


def changes_for(
    base: CompileJob, environment: Environment, goal: Goal, allows_precision: bool = False
) -> dict[str, dict[str, FieldValue]]:
    """Return the fields of each change that torch and the model's file can take, and that is new.

    In a file that compiles its model itself, a change is a repair of the file.
    """
    applying = {name: change for name, change in CHANGES.items() if change.applies(goal, base, allows_precision)}
    fields = {name: _fields(change, base, environment) for name, change in applying.items()}
    new = {name: values for name, values in fields.items() if values and _is_new(values, base, environment)}
    text = model_code(base)
    if compiles_itself(text, base.model.name):
        return {name: repairs for name, values in new.items() if (repairs := in_file(base, values)) != values}
    return {name: values for name, values in new.items() if fits(text, [*_repairs(values)])}


def _repairs(fields: Iterable[str]) -> Iterator[str]:
    return (field.removeprefix(REPAIR) for field in fields if field.startswith(REPAIR))


def fits(text: str, steps: Sequence[str]) -> bool:
    """Return True if a file takes all repairs, each in a step of its own."""
    return not steps or bool(applied_diff(text, [(step,) for step in steps]))


def in_file(base: CompileJob, fields: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    """Return the fields that write others into the model's file; these others if none can be written."""
    text = model_code(base)
    steps = steps_of(applied(base, VARIANT, {**fields}), fields, text) if fields else ()
    return {f"{REPAIR}{step}": True for step in steps} if steps and fits(text, steps) else {**fields}


def is_everywhere(names: Iterable[str]) -> bool:
    """Return True if one of the changes acts on the whole process."""
    return any(CHANGES[name].everywhere for name in names if name in CHANGES)


def lowers_precision(names: Iterable[str]) -> bool:
    """Return True if one of the changes lowers the precision of the results."""
    return not all(CHANGES[name].precise for name in names if name in CHANGES)


def code_of(job: CompileJob) -> str:
    """Return the code of a job's settings: the call of torch.compile, and the settings before it."""
    lines = [f"torch._dynamo.config.{name} = {value!r}" for name, value in (job.conditions.dynamo or {}).items()]
    lines += [f"torch.set_num_threads({job.conditions.threads})"] if job.conditions.threads else []
    return "\n".join([*lines, f"model = {job.compile.as_call()}"])


def _fields(change: TriedChange, base: CompileJob, environment: Environment) -> dict[str, FieldValue]:
    """Return the fields of a change, with the options of the job's mode; empty if it has no effect here."""
    fields = {field.format(model=base.model.name): value for field, value in change.fields.items()}
    if isinstance(threads := fields.get("threads"), int):
        threads = threads or environment.cpus // 2
        is_new = threads < (base.conditions.threads or environment.cpus) and (threads > 1 or fields["threads"] == 1)
        return {"threads": threads} if is_new else {}
    is_option = any(field.startswith(OPTIONS) for field in fields)
    return {**mode_as_options(base, environment), **fields} if is_option else fields


def mode_as_options(base: CompileJob, environment: Environment) -> dict[str, FieldValue]:
    """Return the fields that turn a job's mode into options; empty without a mode.

    Torch takes options or a mode.
    """
    of_mode = environment.modes.get(base.compile.mode, {}) if base.compile.mode else None
    return {} if of_mode is None else {"mode": None, **{f"{OPTIONS}{name}": value for name, value in of_mode.items()}}


def _is_new(fields: Mapping[str, FieldValue], base: CompileJob, environment: Environment) -> bool:
    """Return True if torch has these options, and the job another value of one of them."""
    known = {f"{PREFIXES[each.module]}{each.name}": each.value for each in environment.options}
    own: dict[str, object] = {f"{OPTIONS}{name}": value for name, value in (base.compile.options or {}).items()}
    own |= {f"{DYNAMO}{name}": value for name, value in (base.conditions.dynamo or {}).items()}
    options = [field for field in fields if field.startswith((OPTIONS, DYNAMO))]
    if known and any(field not in known for field in options):
        return False
    before = {field: repr(own[field]) if field in own else known.get(field) for field in options}
    before |= {field: repr(getattr(base.compile, field, None)) for field in fields if field not in before}
    return any(before[field] != repr(value) for field, value in fields.items())
