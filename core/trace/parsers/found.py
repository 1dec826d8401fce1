"""What parsers only add to: the lists of a report and of a compilation, each known by the type of what it holds."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

MAX_ITEMS = 100_000


@cache
def lists_of(owner: type) -> dict[type, str]:
    """Type → the field of a report's type that is a list of it: {WrapperTime: "wrapper_times", …} of `Compilation`."""
    lists = [(name, get_args(hint)[0]) for name, hint in get_type_hints(owner).items() if get_origin(hint) is tuple]
    return {kind: name for name, kind in lists if hasattr(kind, "__dataclass_fields__")}


class Found:
    """The values of an owner's lists so far, in the order in which they were met."""

    def __init__(self, owner: type) -> None:
        self._names = lists_of(owner)
        self._found: defaultdict[str, list[Any]] = defaultdict(list)

    def add(self, value: object) -> None:
        """Add to the list of a value's type; raises KeyError where the owner has none, OverflowError once it is
        full.
        """
        found = self._found[self._names[type(value)]]
        if len(found) >= MAX_ITEMS:
            raise OverflowError(f"more than {MAX_ITEMS} of one kind")
        found.append(value)

    def has(self, kind: type) -> bool:
        """Whether there is a value of a type already."""
        return bool(self._found.get(self._names[kind]))

    def lists(self) -> dict[str, tuple[Any, ...]]:
        """Field → what was added to it; without those that nothing was added to."""
        return {name: tuple(found) for name, found in self._found.items()}
