"""Options as they are typed: `name=value, name=value`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from core.decoder import decoded
from core.errors import DecodeError, JobError
from core.job.model import OptionValue

CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def options_from_text(text: str, field: str = "compile.options") -> dict[str, Any] | None:
    """Options typed as `name=value, name=value`; raises JobError that names the field.

    A comma that no name follows is part of a value, as in `max_autotune_gemm_backends=CPP,ATEN`.
    """
    if not text.strip():
        return None
    options: dict[str, Any] = {}
    for part in re.split(r",(?=\s*(?:[\w.]+\s*=|$))", text):
        name, separator, value = part.partition("=")
        if not separator:
            raise JobError(field, f"`{part.strip()[:60]}`: write name=value")
        try:
            options[name.strip()] = decoded(CONSTANTS.get(value.strip(), value.strip()))
        except DecodeError:
            options[name.strip()] = value.strip().strip("\"'")
    return options


def options_as_text(options: Mapping[str, OptionValue]) -> str:
    """The same options as they would be typed."""
    return ", ".join(f"{name}={_typed(value)}" for name, value in options.items())


def _typed(value: OptionValue) -> str:
    return str(value) if value is None or isinstance(value, bool) else msgspec.json.encode(value).decode()
