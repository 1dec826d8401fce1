"""Values: the parts of a report or a compilation that are kept unchanged, each found by its type."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

MAX_ITEMS = 100_000
T = TypeVar("T")


@cache
def fields_of(owner: type) -> dict[type, tuple[str, bool]]:
    """Return type → the field of an owner that holds it, and True if that is a list: {Call: ("calls", True), …}."""
    fields = {}
    for name, hint in get_type_hints(owner).items():
        is_list = get_origin(hint) is tuple
        kind = get_args(hint)[0] if is_list or isinstance(hint, UnionType) else hint
        if hasattr(kind, "__dataclass_fields__"):
            fields[kind] = (name, is_list)
    return fields


class Values:
    """The values of an owner's fields so far: a list in order, or the last value of its type."""

    def __init__(self, owner: type) -> None:
        self._fields = fields_of(owner)
        self._values: dict[str, Any] = {}

    def add(self, value: object) -> None:
        """Add a value; raises KeyError if the owner has no field of its type, OverflowError if a list is full."""
        name, is_list = self._fields[type(value)]
        if not is_list:
            self._values[name] = value
            return
        values = self._values.setdefault(name, [])
        if len(values) >= MAX_ITEMS:
            raise OverflowError(f"more than {MAX_ITEMS} of one kind")
        values.append(value)

    def last(self, kind: type[T]) -> T | None:
        """Return the newest value of a type, None if there is none."""
        name, is_list = self._fields[kind]
        values = self._values.get(name)
        value: T | None = values[-1] if values and is_list else values
        return value

    def fields(self) -> dict[str, Any]:
        """Return field → its value or values; without fields that nothing was added to."""
        return {name: tuple(value) if isinstance(value, list) else value for name, value in self._values.items()}
