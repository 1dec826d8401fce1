"""Heights in pixels of scrolling parts: of one part among several, and of a page's main part."""

from __future__ import annotations

from typing import Literal

SHORT = 300
TALL = 600
# Height of a line in Streamlit's code block, and of the block's frame.
CODE_LINE_PX, CODE_FRAME_PX = 21, 32
# A view of this height fills the window below its top.
FILL = 0
PICTURE = 340
MENU_PX = 208


def code_height(text: str, most: int = SHORT) -> int | Literal["content"]:
    """Return the height of a code block: the height of its text, at most `most` pixels."""
    lines = text.count("\n") + 1
    return "content" if CODE_FRAME_PX + CODE_LINE_PX * lines <= most else most


# Maximum characters of a field: a line, a path, several lines, pasted code. Longer text is cut off.
MAX_LINE_CHARS = 400
MAX_PATH_CHARS = 4_096
MAX_CHARS = 40_000
MAX_CODE_CHARS = 1_000_000
