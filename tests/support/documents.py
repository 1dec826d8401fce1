"""What the documents say: their words, and the code in their fences and between backticks."""

import re
import textwrap

from tests.support.places import ROOT


def words(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The fenced blocks of a language, as they would stand in a file."""
    return [
        textwrap.dedent(block) for block in re.findall(rf"^ *```{language}\n(.*?)```", words(name), re.DOTALL | re.M)
    ]


def inline(name: str, start: str) -> str:
    """The one piece of code between backticks that starts so."""
    (found,) = {code for code in re.findall(r"`([^`\n]+)`", words(name)) if code.startswith(start)}
    return str(found)
