"""Option differences of two runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.job.options import OPTIONS
from core.report import Setting

# Options without effect on what is compiled or measured, and the code, which is compared separately.
LEFT_OUT = frozenset(
    {"schema", "sweep", "repairs_of", "from_file", *(option.name for option in OPTIONS if not option.compared)}
)
# Values that equal a missing option: logs of older versions lack newer options, which then had their defaults.
AS_ABSENT = frozenset({"", "''", "None", "False", "{}", "[]", "'default'", "'objects'", "'model'", "0"})
# Defaults as a log stores them: a tuple is a list in JSON.
DEFAULTS = {
    option.name: repr([*option.default] if isinstance(option.default, tuple) else option.default)
    for option in OPTIONS
    if option.compared
}
# Parts of a job whose fields are shown without this prefix.
PARTS = ("compile.", "conditions.")
# Torch's own options, whose defaults are not known without torch.
NAMED = ("options.", "dynamo.", "sizes.", "rival.")
LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True)
class OptionDifference:
    """An option that differs between two runs, both values as Python source; empty if not set."""

    name: str
    left: str
    right: str


def option_differences(left: Setting, right: Setting) -> tuple[OptionDifference, ...]:
    """Return the options and devices that differ; imported logs have torch's version only."""
    left_options, right_options = _options(left), _options(right)
    names = dict.fromkeys((*left_options, *right_options))
    differences = (OptionDifference(name, left_options.get(name, ""), right_options.get(name, "")) for name in names)
    jobs = left.job is not None and right.job is not None
    return tuple(
        difference
        for difference in differences
        if not _is_same(difference) and (jobs or (difference.left and difference.right))
    )


def _is_same(difference: OptionDifference) -> bool:
    """Return True if both values are equal; an option that an old log lacks has its default."""
    if difference.name.startswith(NAMED):
        return difference.left == difference.right
    default = DEFAULTS.get(difference.name, "")
    values = {difference.left or default, difference.right or default}
    return len(values) == 1 or values <= AS_ABSENT


def _options(setting: Setting) -> dict[str, str]:
    ran = {
        name: str(value)
        for name, value in (
            ("torch", setting.torch),
            ("python", setting.python),
            ("device", setting.device),
            ("target", setting.target),
            ("threads", setting.threads),
            ("CPUs", setting.cpus),
        )
        if value
    }
    requested = dict(_flat_options(setting.job or {}))
    if requested.get("threads", "None") != "None":
        ran.pop("threads", None)
    return {**{name: value for name, value in requested.items() if name not in LEFT_OUT}, **ran}


def _flat_options(job: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in job.items():
        path = f"{before}{name}"
        if path == "model" and isinstance(value, dict):
            yield "model", "pasted code" if value.get("kind") == "code" else str(value.get("value"))[:LONGEST_VALUE]
            yield "callable", repr(value.get("name"))
        elif name == "backend_code" and value:
            yield _short_name(path), f"code {hashlib.sha256(str(value).encode(errors='replace')).hexdigest()[:8]}"
        elif path == "repairs":
            yield "repairs", _repair_words(value)
        elif isinstance(value, dict) and value:
            yield from _flat_options(value, f"{path}.")
        else:
            yield _short_name(path), repr(value)[:LONGEST_VALUE]


def _repair_words(steps: Any) -> str:
    """Return repairs in words: "keep tensor at line 17, capture scalars" for ids such as `keep_tensor:17`."""
    ids = [str(repair) for step in steps for repair in step] if isinstance(steps, list | tuple) else []
    named = (repair.partition(":") for repair in ids)
    words = (f"{rule.replace('_', ' ')}{_place_words(at)}" for rule, _, at in named)
    return ", ".join(words)[:LONGEST_VALUE]


def _place_words(at: str) -> str:
    if not at:
        return ""
    return f" at line {at}" if at.isdecimal() else f" of {at}"


def _short_name(path: str) -> str:
    part = next((part for part in PARTS if path.startswith(part)), "")
    return path.removeprefix(part)
