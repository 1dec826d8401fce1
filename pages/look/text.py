"""Text of users and of logs, escaped for Markdown and for the keys of Streamlit components."""

import re
from collections.abc import Iterable, Mapping

from core.views import markdown

LONGEST_NAME, LONGEST_LINE = markdown.LONGEST_NAME, markdown.LONGEST_LINE
LONGEST_TEXT, LONGEST_MESSAGE = markdown.LONGEST_TEXT, markdown.LONGEST_MESSAGE
code, one_line, plain = markdown.code, markdown.one_line, markdown.plain
prose, sentence = markdown.prose, markdown.sentence


def one_line_cells(rows: Iterable[Mapping[str, object]], limit: int = LONGEST_LINE) -> list[dict[str, object]]:
    """Return the rows of a table with each text as one line."""
    return [
        {name: one_line(value, limit) if isinstance(value, str) else value for name, value in row.items()}
        for row in rows
    ]


def component_key(text: str) -> str:
    """Return a component key for any id: Streamlit refuses `__`, which kernel names contain."""
    return re.sub("_(?=_)", "_-", text)
