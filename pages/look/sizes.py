"""Heights of scrolling parts in pixels: for a part among several, and for the main part of a page."""

from __future__ import annotations

from typing import Literal

SHORT = 300
TALL = 600
# Of a line of code that Streamlit draws, and of what it draws around all of them.
CODE_LINE_PX, CODE_FRAME_PX = 21, 32
# A view of this height takes what the window has left below its top.
FILL = 0
PICTURE = 340
MENU_PX = 208


def code_height(text: str, most: int = SHORT) -> int | Literal["content"]:
    """Return the height of a code block: that of its text, but at most `most` pixels."""
    lines = text.count("\n") + 1
    return "content" if CODE_FRAME_PX + CODE_LINE_PX * lines <= most else most


# Characters that a field takes: of a line, of a path, of several lines, of pasted code. What is longer is cut off.
MAX_LINE_CHARS = 400
MAX_PATH_CHARS = 4_096
MAX_CHARS = 40_000
MAX_CODE_CHARS = 1_000_000
