"""Values: what a report or a compilation holds whole, each known by its type."""

from __future__ import annotations

from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

MAX_ITEMS = 100_000
T = TypeVar("T")


@cache
def fields_of(owner: type) -> dict[type, tuple[str, bool]]:
    """Type → the field of an owner that holds it, and whether that is a list: {Call: ("calls", True), …}."""
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
        """Add a value; raises KeyError where the owner has no field of its type, OverflowError where a list is full."""
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
        values: Any = self._values.get(name)
        newest: T | None = values[-1] if values and is_list else values
        return newest

    def fields(self) -> dict[str, Any]:
        """Field → its value or values; without those that nothing was added to."""
        return {name: tuple(value) if isinstance(value, list) else value for name, value in self._values.items()}
