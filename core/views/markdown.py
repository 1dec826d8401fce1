"""Text of users and logs for pages, exports and notebooks.

`plain`, `code` and `prose` escape Markdown. `quoted` puts a name into a sentence with backticks.
"""

import re
from collections.abc import Iterable

SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&])")
# Text that Streamlit's Markdown turns into a link, an icon or an emoji even if all markup is escaped.
LIVELY = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=[\w.+-]@)(?=[\w-])|(?<=:)(?=[\w+\-/]+:)", re.IGNORECASE)
# Maximum characters of external text: a name, a line of a table, a paragraph, a message.
LONGEST_NAME = 80  #: characters of a name; a longer one is cut
LONGEST_LINE = 200  #: characters of a line in a table
LONGEST_TEXT = 800  #: characters of a paragraph
LONGEST_MESSAGE = 2_000  #: characters of a message
WORD_JOINER = "\u2060"
# A table cell would not show ordinary leading spaces.
INDENT = "\u2003"
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def plain(text: str, limit: int = LONGEST_MESSAGE) -> str:
    """Return text as one line of Markdown that shows it literally, cut to `limit` characters."""
    shown = CONTROL.sub("�", " ".join(text.split()))
    return _still(shown[:limit] + ("…" if len(shown) > limit else ""))


def _still(text: str) -> str:
    """Return text with its markup escaped, and with word joiners that prevent links and icons."""
    return SPECIAL.sub(r"\\\1", LIVELY.sub(WORD_JOINER, text))


def literal(text: str) -> str:
    """Return a piece of text as Markdown that shows it literally, with its spaces."""
    return _still(CONTROL.sub("�", text))


def code(text: str, limit: int = LONGEST_TEXT) -> str:
    """Return text as inline code, in a fence longer than any backticks in it; empty for empty text."""
    shown = CONTROL.sub("�", " ".join(text.split()))[:limit]
    if not shown:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fence_of(text: str) -> str:
    """Return backticks for the lines around a text: at least three, and more than any run in the text."""
    return "`" * (max((len(run) for run in re.findall(r"`{3,}", text)), default=2) + 1)


def prose(text: str, limit: int = LONGEST_MESSAGE) -> str:
    """Return torch's text as Markdown: text in backticks is code, the rest is shown literally."""
    parts = " ".join(text.split())[:limit].split("`")
    if len(parts) % 2 == 0:
        return plain(text, limit)
    # Empty inline code becomes a word joiner.
    return "".join((code(part) or WORD_JOINER) if index % 2 else _plain_part(part) for index, part in enumerate(parts))


def _plain_part(part: str) -> str:
    lead, trail = " " * part.startswith(" "), " " * (part.endswith(" ") and part != " ")
    return f"{lead}{plain(part)}{trail}"


def one_line(text: str, limit: int = LONGEST_TEXT) -> str:
    """Return any text as one line without control characters, for widgets that show it literally."""
    shown = CONTROL.sub("�", " ".join(text.split()))
    return shown[:limit] + ("…" if len(shown) > limit else "")


def indented_line(text: str) -> str:
    """Return any text of a cell as one line, with its indentation by `INDENT`."""
    return INDENT * (len(text) - len(text.lstrip(INDENT))) + one_line(text)


def short(text: str, limit: int = LONGEST_NAME) -> str:
    """Return text in one line without backticks, cut to `limit` characters."""
    line = " ".join(text.replace("`", "'").split())
    return line[:limit] + ("…" if len(line) > limit else "")


def quoted(text: str, limit: int = LONGEST_NAME) -> str:
    """Return a name as code; empty for an empty name."""
    line = " ".join(text.replace("`", "'").split())[:limit]
    return f"`{line}`" if line else ""


def table(names: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return rows of text as a Markdown table with a row of column names."""
    columns = [*names]
    head, *body = (f"| {' | '.join(cells)} |" for cells in (columns, *(map(plain, row) for row in rows)))
    return "\n".join([head, f"|{'---|' * len(columns)}", *body])


def sentence(text: str) -> str:
    """Return a clause as a sentence: with a capital letter and a full stop; empty for an empty clause."""
    return f"{text[:1].upper()}{text[1:]}." if text else ""
