"""Settings of the backend `accelerator`, from `options` of torch.compile."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.accelerator.lowering import KERNELS
from core.accelerator.program import PASSES
from core.accelerator.support import op_name
from core.base.errors import JobError

NAMES = ("without", "passes", "freeze", "examples")


@dataclass(frozen=True, slots=True)
class AcceleratorSettings:
    """Settings: ops that stay with torch, and enabled passes.

    With `freeze` parameters become constants; with `examples` the first call of each program is stored for `cb_run`.
    """

    without: frozenset[str] = frozenset()
    passes: int = sum(PASSES.values())
    freeze: bool = False
    examples: bool = False


def settings_of(options: Mapping[str, Any] | None) -> AcceleratorSettings:
    """The settings; raises JobError where a name is not known."""
    given = dict(options or {})
    if unknown := sorted(set(given) - set(NAMES)):
        raise JobError("compile.options", f"the accelerator has no option `{unknown[0]}`; it has {', '.join(NAMES)}")
    without = frozenset(_words(given.get("without")))
    known = {op_name(op) for op in KERNELS} | {str(op) for op in KERNELS}
    if wrong := sorted(without - known):
        raise JobError(
            "compile.options", f"the accelerator has no kernel for `{wrong[0]}`, which is to be switched off"
        )
    passes = _passes(given["passes"]) if "passes" in given else sum(PASSES.values())
    return AcceleratorSettings(without, passes, bool(given.get("freeze")), bool(given.get("examples")))


def _passes(value: Any) -> int:
    names = _words(value)
    if names in (["all"], ["none"]):
        return sum(PASSES.values()) if names == ["all"] else 0
    if wrong := [name for name in names if name not in PASSES]:
        raise JobError("compile.options", f"there is no pass `{wrong[0]}`; there are {', '.join(PASSES)}")
    return sum(PASSES[name] for name in names)


def _words(value: Any) -> list[str]:
    return [word for word in re.split(r"[\s,+]+", str(value or "")) if word]
