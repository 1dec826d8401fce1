"""Rules for options of visitors who may not run code of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.job.model import OptionValue

MOST_NAMES_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer from `least` to `most`."""

    least: int
    most: int

    def holds(self, value: OptionValue) -> bool:
        """Return True if the value is such an integer; True and False are not."""
        return type(value) is int and self.least <= value <= self.most

    def words(self) -> str:
        """Return the valid values as text."""
        return f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A choice of a few values, of the same type."""

    values: tuple[OptionValue, ...]

    def holds(self, value: OptionValue) -> bool:
        """Return True if the value is one of them; 1 is not True."""
        return any(type(value) is type(choice) and value == choice for choice in self.values)

    def words(self) -> str:
        """Return the valid values as text."""
        return f"one of {', '.join(map(str, self.values))}"


@dataclass(frozen=True, slots=True)
class Names:
    """Names separated by spaces: those in `listed`, or any names if that is empty."""

    listed: tuple[str, ...] = ()

    def holds(self, value: OptionValue) -> bool:
        """Return True if the value consists only of such names."""
        if not isinstance(value, str) or len(value) > MOST_NAMES_CHARS:
            return False
        return all(NAME.fullmatch(name) and (not self.listed or name in self.listed) for name in value.split(" "))

    def words(self) -> str:
        """Return the valid values as text."""
        return f"names of {', '.join(self.listed)}" if self.listed else "names of ops"


NAME = re.compile(r"[a-z0-9_.-]{1,100}")
FLAG = OneOf((False, True))
