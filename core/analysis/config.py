"""Search in the options of torch's configuration modules."""

from __future__ import annotations

from collections.abc import Sequence

from core.base.machine import ConfigModule, ConfigOption


def matching(
    options: Sequence[ConfigOption], text: str = "", module: ConfigModule | None = None, changed: bool = False
) -> tuple[ConfigOption, ...]:
    """Return the options with every word of a text in their name, alias, variables or comment; names come first.

    Only those of one module if it is given, and only those that are set here if `changed`.
    """
    words = text.lower().split()
    chosen = [
        option
        for option in options
        if module in (None, option.module)
        and (option.is_set or not changed)
        and all(word in _searched(option) for word in words)
    ]
    return tuple(sorted(chosen, key=lambda option: not all(word in option.name.lower() for word in words)))


def _searched(option: ConfigOption) -> str:
    return "\n".join((option.full_name, option.alias, *option.variables, option.comment)).lower()
