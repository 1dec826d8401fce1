"""Table of `docs/options.md`, from `core.job.options`.

`python -m docs.make.options` rewrites it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.job.options import OPTIONS, Option
from docs.make.below import write_below

PAGE = Path(__file__).parents[1] / "options.md"
HEAD = "| option | field of the job | axis | what it does |\n|---|---|---|---|\n"


def tables(options: Sequence[Option] = OPTIONS) -> str:
    """Return all options as Markdown, a row each."""
    return HEAD + "".join(map(_row, options))


def _row(option: Option) -> str:
    axis = f"`{option.name}`" if option.axis else ""
    choices = option.flag.choices if option.flag else None
    values = f": {', '.join(f'`{choice}`' for choice in choices)}" if choices else ""
    cells = [_flag(option), f"`{option.path}`", axis, f"{option.help}{values}"]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def _flag(option: Option) -> str:
    if option.flag is None:
        return ""
    if option.flag.kind == "pair":
        return f"`{option.flag_name}`, `--no-{option.flag_name.removeprefix('--')}`"
    value = option.flag.metavar or option.name.upper()
    takes_value = option.flag.kind in ("value", "several") and not option.flag.choices
    return f"`{option.flag_name} {value}`" if takes_value else f"`{option.flag_name}`"


if __name__ == "__main__":
    write_below(PAGE, tables())
