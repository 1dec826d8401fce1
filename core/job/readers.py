"""Values of options as they are typed: each reader makes a value from its text, and raises ValueError."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.job.model import OptionValue

DYNAMIC = {"automatic": None, "always": True, "never": False}
NONE = ("", "none", "None", "null")
FLAGS = {"true": True, "false": False, "True": True, "False": False, "yes": True, "no": False, "1": True, "0": False}
Reader = Callable[[str], OptionValue | tuple[str, ...]]


def whole(text: str) -> int:
    """Return a whole number."""
    if not re.fullmatch(r"-?\d{1,18}", text):
        raise ValueError(f"`{text[:60]}` is no whole number")
    return int(text)


def whole_or_none(text: str) -> int | None:
    """Return a whole number, or None."""
    return None if text in NONE else whole(text)


def flag(text: str) -> bool:
    """Return True or False."""
    if text not in FLAGS:
        raise ValueError(f"`{text[:60]}`: write true or false")
    return FLAGS[text]


def flag_or_none(text: str) -> bool | None:
    """Return True, False or None."""
    return None if text in NONE else flag(text)


def dynamic(text: str) -> bool | None:
    """Return the value of `dynamic`: automatic, always or never."""
    return DYNAMIC[text] if text in DYNAMIC else flag_or_none(text)


def word(text: str) -> str:
    """Return the text itself, which `none` leaves empty."""
    return "" if text in NONE else text


def word_or_none(text: str) -> str | None:
    """Return the text itself, or None."""
    return None if text in NONE else text


def several(text: str) -> tuple[str, ...]:
    """Return texts that are separated by `;`."""
    return () if text in NONE else tuple(part.strip() for part in text.split(";"))
