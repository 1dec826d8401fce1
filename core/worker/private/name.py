"""What the table says of one name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FIRST = "2.11"


@dataclass(frozen=True, slots=True)
class PrivateName:
    """One name: the module that has it, its path in there, and what is done with it.

    `since` is the first of the supported versions of torch that has it, `until` the first that has it no more; `build`
    is `cuda` where only a build for CUDA has it.
    """

    module: str
    attribute: str
    why: str
    since: str = FIRST
    until: str = ""
    build: str = ""

    @property
    def full(self) -> str:
        """The name with its module."""
        return f"{self.module}.{self.attribute}"


def rows(module: str, why: str, *attributes: str) -> Iterator[PrivateName]:
    """Names of one module that are used for one reason."""
    return (PrivateName(module, attribute, why) for attribute in attributes)
