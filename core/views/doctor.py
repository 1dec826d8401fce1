"""Checks of this machine as a sentence and rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core.base.machine import Environment
from core.runs.doctor import Check, CheckState, checks, compiler_check, summary
from core.views.markdown import LONGEST_TEXT, one_line

WORDS: dict[CheckState, str] = {"ok": "here", "optional": "missing", "problem": "problem"}
ORDER: tuple[CheckState, ...] = ("problem", "optional", "ok")


@dataclass(frozen=True)
class DoctorView:
    """The checks of a machine whose store is `home`; `environment` is None while torch is starting."""

    home: Path
    environment: Environment | None

    @cached_property
    def checks(self) -> tuple[Check, ...]:
        """Problems first, then missing optional things, then the rest."""
        return tuple(sorted(checks(self.home, self.environment), key=lambda check: ORDER.index(check.state)))

    @property
    def title(self) -> str:
        """Number of problems and of missing optional things."""
        return summary(self.checks)

    @property
    def rows(self) -> list[dict[str, str]]:
        """A row for each check."""
        return [
            {
                "check": check.name,
                "state": WORDS[check.state],
                "found": one_line(check.found, LONGEST_TEXT),
                "without it": check.consequence,
                "remedy": check.remedy,
            }
            for check in self.checks
        ]

    @property
    def compiler_problem(self) -> str:
        """Sentence for a machine without a C++ compiler, with the remedy; empty if there is one."""
        check = compiler_check(start=False)
        if check.state == "ok":
            return ""
        return (
            f"There is no C++ compiler here ({check.found}). {check.consequence} To fix it: {check.remedy}; then "
            "start the dashboard again."
        )


__all__ = ["DoctorView"]
