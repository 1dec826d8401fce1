"""Options of `torch._inductor.config` and `torch._dynamo.config`: names, aliases, values, defaults."""

import difflib
import inspect
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
import torch._dynamo.config
import torch._inductor.config

from core.base.errors import JobError
from core.base.machine import ConfigModule, ConfigOption
from core.base.syntax import TooDenseError
from core.code.torch_source import ConfigSource, config_sources

CONFIGS: dict[ConfigModule, Any] = {"inductor": torch._inductor.config, "dynamo": torch._dynamo.config}
MOST_NEAR = 3  #: similar names suggested for an unknown option
# Of 2: the share of equal words, and of equal letters.
LEAST_LIKE = 0.6
# Words that say only that an option is a switch.
SWITCHES = frozenset(("enable", "enabled", "disable", "disabled", "use", ""))
LONGEST_VALUE = 200  #: characters of the value of an option of torch


def check_option(field: str, module: ConfigModule, name: str) -> None:
    """Raise JobError with the nearest names if a configuration module has no such option."""
    names = CONFIGS[module]._config
    # As torch._inductor does, `max-autotune` is `max_autotune`.
    if name.replace("-", "_") in names:
        return
    near = nearest(name, names)
    closest = f"; nearest: {', '.join(near)}" if near else ""
    raise JobError(field, f"torch {torch.__version__} has no torch._{module}.config.{name[:100]}{closest}")


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three known names with similar spelling and words; the nearest first.

    Options that differ only in their prefix, such as the device, count as one name.
    """
    ranked = sorted(
        ((max(_likeness(name, known), _likeness(name, known.rpartition(".")[2])), known) for known in names),
        key=lambda pair: (-pair[0], pair[1]),
    )
    near = [known for ratio, known in ranked if ratio >= LEAST_LIKE]
    return list({known.rpartition(".")[2]: known for known in reversed(near)}.values())[::-1][:MOST_NEAR]


def _likeness(name: str, known: str) -> float:
    words, others = _words(name), _words(known)
    return len(words & others) / max(len(words | others), 1) + difflib.SequenceMatcher(None, name, known).ratio()


def _words(name: str) -> frozenset[str]:
    return frozenset(word.rstrip("s") for word in re.split(r"[._-]", name.lower())) - SWITCHES


def alias_of(module: ConfigModule, name: str) -> str:
    """Return the full name of the option that an alias stands for; empty if the name is no alias."""
    entry = CONFIGS[module]._config.get(name)
    return getattr(entry, "alias", None) or ""


def alias_notes(module: ConfigModule, names: Iterable[str]) -> Iterator[str]:
    """Yield a note for each name that is an alias of another option."""
    for name in names:
        if alias := alias_of(module, name):
            yield f"`{name}` is an alias of `{alias}` in torch {torch.__version__}: that option was set."


def config_options() -> tuple[ConfigOption, ...]:
    """Return every option of both modules with its value, its default and torch's comment on it."""
    return tuple(option for module in CONFIGS for option in _options(module))


def _options(module: ConfigModule) -> Iterator[ConfigOption]:
    config = CONFIGS[module]
    sources: dict[str, ConfigSource] = {}
    # An installation without sources has values alone.
    with suppress(OSError, TypeError, SyntaxError, TooDenseError):
        sources = config_sources(Path(str(inspect.getsourcefile(config))).read_text("utf-8"))
    for name, entry in sorted(config._config.items(), key=lambda option: (_is_internal(option[0]), option[0])):
        source = sources.get(name, ConfigSource(0, "", ()))
        alias = alias_of(module, name)
        deprecated = getattr(entry, "deprecated", False)
        # torch warns at the first use of a deprecated option, which is to be the user's.
        value = entry.default if alias or deprecated else getattr(config, name)
        yield ConfigOption(
            module=module,
            name=name,
            value="" if alias else _text(value),
            default="" if alias else _text(entry.default),
            changed=not (alias or deprecated) and value != entry.default,
            kind=_kind(getattr(entry, "value_type", None)),
            alias=alias,
            variables=source.variables,
            environment=tuple(f"{name}={os.environ[name]}" for name in source.variables if name in os.environ),
            comment=source.comment,
            line=source.line,
            deprecated=getattr(entry, "deprecation_message", None) or ("deprecated" if deprecated else ""),
        )


def _is_internal(name: str) -> bool:
    """Return True for a name that torch does not mean as an option, such as `_save_config_ignore`."""
    return name.startswith("_") or name.isupper()


def _text(value: Any) -> str:
    text = (
        f"{{{', '.join(sorted(map(repr, value)))}}}" if isinstance(value, (set, frozenset)) and value else repr(value)
    )
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _kind(annotation: Any) -> str:
    return "" if annotation is None else getattr(annotation, "__name__", None) or str(annotation).replace("typing.", "")
