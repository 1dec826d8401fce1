"""The other configuration of a comparison bit by bit: a job's own, with some settings changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.base.errors import JobError
from core.base.words import number
from core.job.model import BATCH, CompileJob
from core.job.options import BY_NAME, with_values
from core.job.text import OPTION

EVAL = "eval"
# Options of a job that two configurations may differ in, and the types of their values.
FIELDS: dict[str, tuple[type, ...]] = {
    "training": (bool,),
    "threads": (int,),
    "mode": (str, type(None)),
    "dynamic": (bool, type(None)),
}
OWN: dict[str, tuple[type, ...]] = {BATCH: (int,), EVAL: (bool,), **FIELDS}
MAX_SETTINGS = 16


def other_configuration(job: CompileJob) -> CompileJob:
    """Return the job in the other configuration; the worker applies `batch` and `eval` itself.

    Raises JobError for a setting that cannot be changed.
    """
    if len(job.bits) > MAX_SETTINGS:
        raise JobError("bits", f"at most {number(MAX_SETTINGS)} settings")
    other = job
    for name, value in job.bits.items():
        if name.startswith(OPTION) and name != OPTION:
            options = {**(other.compile.options or {}), name.removeprefix(OPTION): value}
            other = other.with_settings(mode=None, options=options)
        else:
            _check(name, value)
            other = with_values(other, {BY_NAME[name].path: value}) if name in FIELDS else other
    if other.compile.mode != job.compile.mode and other.compile.mode:
        other = other.with_settings(options=None)
    return replace(other, bits={})


def _check(name: str, value: Any) -> None:
    if name not in OWN:
        raise JobError("bits", f"`{name[:60]}` is none of {', '.join(OWN)}; write {OPTION}NAME for Inductor's own")
    if type(value) not in OWN[name]:
        kinds = " or ".join("none" if kind is type(None) else kind.__name__ for kind in OWN[name])
        raise JobError("bits", f"`{name}` takes {kinds}, not `{value!s:.60}`")
    if name == BATCH and not 1 <= value <= 2**40:
        raise JobError("bits", "`batch` is at least 1")
    check = BY_NAME[name].check if name in FIELDS else None
    if problem := check(value) if check else "":
        raise JobError("bits", problem)
