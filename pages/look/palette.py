"""Colours of Compileboard, each with one meaning; sizes and text limits; images of `pages/static`."""

import base64
from functools import cache
from pathlib import Path
from typing import Literal

from core.views.colours import (
    ACCENT,
    KERNEL_COLOURS,
    MUTED,
    OP_CLASSES,
    STATUS,
    Colour,
    Theme,
    kernel_colour,
    segment_colour,
)

STATIC = Path(__file__).parent.parent / "static"
TYPES = {".svg": "image/svg+xml", ".png": "image/png"}

PAPER = {"light": "#FBFCFD", "dark": "#141922"}
INK = {"light": "#1A2130", "dark": "#DEE3EC"}
GRID = {"light": "#E4E8EE", "dark": "#28303E"}


PHASES: dict[str, Colour] = {
    "dynamo": Colour("#5468D4", "#8594F0", "Dynamo"),
    "aot_autograd": Colour("#8B68AF", "#AE8DD2", "AOTAutograd"),
    "inductor": Colour("#149784", "#2FB5A1", "Inductor"),
    "codegen": Colour("#3E8FC4", "#69B4E4", "code generation"),
    "compile": Colour("#C27F00", "#E0A63F", "kernel compilation"),
    "measure": Colour("#BF5F8B", "#DC8BB0", "measurement"),
    "other": Colour("#7C8798", "#8A95A7", "other"),
}

# Kinds of slices of a profile.
SLICES: dict[str, Colour] = {
    "kernel": Colour("#149784", "#2FB5A1", "kernel"),
    "other": Colour("#BF5F8B", "#DC8BB0", "kernel that is not in the log"),
    "copy": Colour("#C27F00", "#E0A63F", "copy"),
    "launch": Colour("#8B68AF", "#AE8DD2", "driver"),
    "op": Colour("#5468D4", "#8594F0", "op"),
    "annotation": Colour("#7C8798", "#8A95A7", "annotation"),
    "overhead": Colour("#91615C", "#B98A84", "profiler"),
}


def phase_colour(phase: str, theme: Theme) -> str:
    """Return the colour of a compilation phase; an unknown phase counts as other."""
    return PHASES.get(phase, PHASES["other"]).on(theme)


SHORT = 300
TALL = 600
# Height of a line in Streamlit's code block, and of the block's frame.
CODE_LINE_PX, CODE_FRAME_PX = 21, 32
# A view of this height fills the window below its top.
FILL = 0
PICTURE = 340
# Size in pixels of the picture that chats and code hosts show of a link.
WIDE, HIGH = 1200, 630
MENU_PX = 208


def code_height(text: str, most: int = SHORT) -> int | Literal["content"]:
    """Return a code block's height: `content` if its text fits into `most` pixels, otherwise `most`."""
    lines = text.count("\n") + 1
    return "content" if CODE_FRAME_PX + CODE_LINE_PX * lines <= most else most


# Maximum characters of a field: a line, a path, several lines, pasted code. Longer text is cut off.
MAX_LINE_CHARS = 400  #: limit: a text field of one line
MAX_PATH_CHARS = 4_096  #: limit: a text field for a path
MAX_CHARS = 40_000  #: limit: a text field of several lines, or for options
MAX_CODE_CHARS = 1_000_000  #: limit: a text field for code


@cache
def image(name: str) -> str | None:
    """Return a file of `pages/static` as a data URL; None if there is no such picture."""
    path = STATIC / name
    if not path.exists():
        return None
    return f"data:{TYPES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"
