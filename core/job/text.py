"""Options as they are typed: `name=value, name=value`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from core.decoder import decoded
from core.errors import DecodeError, JobError
from core.job.model import OptionValue


def options_from_text(text: str) -> dict[str, Any] | None:
    """Inductor options typed as `name=value, name=value`; raises JobError.

    A comma that no name follows is part of a value, as in `max_autotune_gemm_backends=CPP,ATEN`.
    """
    if not text.strip():
        return None
    options: dict[str, Any] = {}
    for part in re.split(r",(?=\s*(?:[\w.]+\s*=|$))", text):
        name, separator, value = part.partition("=")
        if not separator:
            raise JobError("compile.options", f"`{part.strip()[:60]}`: write name=value")
        try:
            options[name.strip()] = decoded(value.strip().replace("True", "true").replace("False", "false"))
        except DecodeError:
            options[name.strip()] = value.strip().strip("\"'")
    return options


def options_as_text(options: Mapping[str, OptionValue]) -> str:
    """The same options as they would be typed."""
    return ", ".join(f"{name}={_typed(value)}" for name, value in options.items())


def _typed(value: OptionValue) -> str:
    return str(value) if isinstance(value, bool) else msgspec.json.encode(value).decode()
