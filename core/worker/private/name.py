"""A row of the table of torch's private names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FIRST = "2.11"


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A private name of torch: its module, its path there, and why it is used.

    `since` is the first supported torch version that has it, `until` the first that no longer has it; `build` is `cuda`
    if only a CUDA build has it.
    """

    module: str
    attribute: str
    why: str
    since: str = FIRST
    until: str = ""
    build: str = ""

    @property
    def full(self) -> str:
        """Return the name with its module."""
        return f"{self.module}.{self.attribute}"


def rows(module: str, why: str, *attributes: str) -> Iterator[PrivateName]:
    """Return the names of a module that are used for the same reason."""
    return (PrivateName(module, attribute, why) for attribute in attributes)
