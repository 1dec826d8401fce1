"""Every option of a job, one row each.

A row has the data for the command line, checks, sweeps, the form, "What if", permissions, comparisons and the
docs.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.job.model import CompileJob
from core.job.options.call import (
    CALL,
    ChoiceField,
    Flag,
    FormField,
    NumberField,
    Option,
    SwitchField,
    TextField,
)
from core.job.options.run import MAX_THREADS, RUN

# The order of the command line and of "What if".
OPTIONS: tuple[Option, ...] = (*CALL, *RUN)
BY_NAME = {option.name: option for option in OPTIONS}
AXES = {option.name: option for option in OPTIONS if option.axis}


def flag_of_field(field: str) -> str:
    """Return the flag for a field of a job, such as `--call` for `calls[0]`; empty if it has none."""
    path = field.partition("[")[0]
    option = next((option for option in OPTIONS if path in (option.path, f"{option.path}_code")), None)
    option = option or BY_NAME.get(path.partition(".")[0])
    return option.flag_name if option is not None and option.flag else ""


def with_values(job: CompileJob, values: Mapping[str, Any]) -> CompileJob:
    """Return the job with changed options, by path; none of them is left to the model's file."""
    parts: dict[str, dict[str, Any]] = {"": {}, "compile": {}, "conditions": {}}
    for path, value in values.items():
        part, _, name = path.rpartition(".")
        parts["compile" if path == "training" else part][name] = value
    changed = replace(job, **parts[""], conditions=replace(job.conditions, **parts["conditions"]))
    return changed.with_settings(**parts["compile"]) if parts["compile"] else changed
