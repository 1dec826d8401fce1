"""Code view with coloured margins, notes and a selection shared with other views; a code editor."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import streamlit as st
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, Punctuation, String, _TokenType
from pygments.util import ClassNotFound

from pages.components.exchange import browser_value, component_script, first_wish, ignore, message
from pages.look.text import component_key

Mark = Literal["", "break", "info", "ok"]
Colours = str | tuple[str, ...] | None


class Piece(NamedTuple):
    """A piece of a line, with the short class of its colour."""

    kind: str
    text: str


LINE_LIMIT = 2_000
HIGHLIGHT_LIMIT = 1_500_000
# Coloured code that is kept for all sessions; packed, since its objects take ten times the memory.
MOST_KEPT = 128  #: cached pieces of highlighted code, for all sessions

_HERE = Path(__file__).parent
_COMPONENT = st.components.v2.component(
    "compileboard_code_view",
    css=(_HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(_HERE / "js" / "view.js"),
)

# The most specific ancestor of a token's type determines its colour.
_CLASSES: dict[_TokenType, str] = {
    Comment: "c",
    Comment.Preproc: "p",
    Comment.PreprocFile: "s",
    Generic.Deleted: "gd",
    Generic.Heading: "c",
    Generic.Inserted: "gi",
    Generic.Subheading: "c",
    Keyword: "k",
    Keyword.Constant: "m",
    Keyword.Type: "t",
    Name.Attribute: "t",
    Name.Builtin: "t",
    Name.Builtin.Pseudo: "k",
    Name.Class: "t",
    Name.Decorator: "p",
    Name.Exception: "t",
    Name.Function: "f",
    Name.Label: "p",
    Number: "m",
    Operator: "o",
    Operator.Word: "k",
    Punctuation: "o",
    String: "s",
    String.Doc: "c",
}

# Control characters, lone surrogates, and characters that hide or reorder text: shown as escapes.
_UNSEEN = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
_HEX_COLOUR = re.compile(r"#[0-9A-Fa-f]{3,8}")


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code: its text, its links, and the texts of its margin and of the note below it."""

    number: int
    id: str
    text: str
    links: tuple[str, ...] = ()
    colour: Colours = None
    mark: Mark = ""
    note: str = ""
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class CodePicture:
    """A piece of code for the view; `language` is a Pygments name, and any other value means plain text."""

    title: str
    language: str
    lines: tuple[CodeLine, ...]


class LineData(msgspec.Struct, frozen=True, array_like=True):
    """A line as a list, which keeps messages with 10,000 lines small.

    The last `cut` characters of its text are not sent.
    """

    number: int
    id: str
    runs: tuple[Piece, ...]
    links: tuple[str, ...]
    colours: tuple[str, ...]
    mark: Mark
    note: str
    tooltip: str
    cut: int


class CodeData(msgspec.Struct, frozen=True):
    """The message to the browser; `stamp` changes with the title and the lines."""

    title: str
    lines: tuple[LineData, ...]
    stamp: str
    height: int
    initial: str | None
    source: str
    channel: str


def code_lines(
    text: str,
    *,
    prefix: str = "c",
    first: int = 1,
    links: Mapping[int, tuple[str, ...]] | None = None,
    colours: Mapping[int, Colours] | None = None,
    marks: Mapping[int, Mark] | None = None,
    notes: Mapping[int, str] | None = None,
    tooltips: Mapping[int, str] | None = None,
) -> tuple[CodeLine, ...]:
    """Split text into lines with ids such as "c:40"; the mappings add data by line number."""
    rows = text.removesuffix("\n").split("\n") if text else []
    links, colours, marks = links or {}, colours or {}, marks or {}
    notes, tooltips = notes or {}, tooltips or {}
    return tuple(
        CodeLine(
            number=number,
            id=f"{prefix}:{number}",
            text=row.removesuffix("\r"),
            links=links.get(number, ()),
            colour=colours.get(number),
            mark=marks.get(number, ""),
            note=notes.get(number, ""),
            tooltip=tooltips.get(number, ""),
        )
        for number, row in enumerate(rows, start=first)
    )


def code_view(
    code: CodePicture,
    *,
    key: str,
    height: int = 480,
    selected: str | None = None,
    channel: str = "compileboard",
) -> str | None:
    """Show code and return the id of the line that was last selected in it.

    `selected` is the first selection, such as that of a deep link. Later values are ignored: the browser owns the
    selection, so that the sent data stays the same over reruns.
    """
    key = component_key(key)
    lines, stamp = _payload(code)
    data = CodeData(code.title, lines, stamp, height, first_wish(key, selected), key, channel)
    result = _COMPONENT(
        key=key,
        data=message(data),
        default={"selected": selected},
        on_selected_change=ignore,
        on_reselected_change=ignore,
    )
    choice = result.selected
    return choice if isinstance(choice, str) else None


def token_runs(text: str, language: str) -> tuple[tuple[Piece, ...], ...]:
    """Split text into lines of (short class, text) runs with Pygments classes.

    Invisible characters become escapes.
    """
    lines: list[list[Piece]] = [[]]
    for css_class, piece in _tokens(text, language):
        first, *others = piece.split("\n")
        _append(lines[-1], css_class, first)
        for other in others:
            lines.append([])
            _append(lines[-1], css_class, other)
    return tuple(tuple(line) for line in lines)


def _payload(code: CodePicture) -> tuple[tuple[LineData, ...], str]:
    """Return the lines in the browser's form, and a stamp that changes with them and the title."""
    packed, stamp = _packed(code)
    return msgspec.msgpack.decode(packed, type=tuple[LineData, ...]), stamp


@lru_cache(maxsize=MOST_KEPT)
def _packed(code: CodePicture) -> tuple[bytes, str]:
    # The diff lexer treats a line without a line end as context.
    shown = "".join(f"{line.text[:LINE_LIMIT].replace(chr(10), chr(13))}\n" for line in code.lines)
    runs = token_runs(shown, code.language)
    packed = msgspec.msgpack.encode([_line(line, row) for line, row in zip(code.lines, runs, strict=False)])
    return packed, hashlib.sha256(packed + code.title.encode(errors="backslashreplace")).hexdigest()[:16]


def _line(line: CodeLine, runs: tuple[Piece, ...]) -> LineData:
    colours = (line.colour,) if isinstance(line.colour, str) else line.colour or ()
    return LineData(
        line.number,
        line.id,
        runs,
        line.links,
        tuple(colour for colour in colours if _HEX_COLOUR.fullmatch(colour)),
        line.mark,
        _printable(line.note),
        _printable(line.tooltip),
        max(0, len(line.text) - LINE_LIMIT),
    )


def _tokens(text: str, language: str) -> Iterator[Piece]:
    if len(text) > HIGHLIGHT_LIMIT:
        yield Piece("", text)
        return
    # get_tokens would strip and normalise the text, which changes the number of lines.
    for _, token_type, piece in _lexer(language).get_tokens_unprocessed(text):
        yield Piece(_css_class(token_type), piece)


def _append(line: list[Piece], css_class: str, text: str) -> None:
    """Append text with invisible characters escaped, to the previous piece if both look the same."""
    if text.isprintable():
        _join(line, css_class, text)
        return
    start = 0
    for unseen in _UNSEEN.finditer(text):
        _join(line, css_class, text[start : unseen.start()])
        _join(line, "x", _escape(unseen))
        start = unseen.end()
    _join(line, css_class, text[start:])


def _join(line: list[Piece], css_class: str, text: str) -> None:
    if not text:
        return
    if line and (line[-1].kind == css_class or (text.isspace() and line[-1].kind != "x")):
        line[-1] = Piece(line[-1].kind, line[-1].text + text)
    else:
        line.append(Piece(css_class, text))


def _printable(text: str) -> str:
    return "\n".join(_UNSEEN.sub(_escape, row) for row in text.split("\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _lexer(language: str) -> Lexer:
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return TextLexer()


@lru_cache(maxsize=512)
def _css_class(token_type: _TokenType) -> str:
    return next((_CLASSES[ancestor] for ancestor in reversed(token_type.split()) if ancestor in _CLASSES), "")


HERE = Path(__file__).parent

_EDITOR = st.components.v2.component(
    "compileboard_code_editor",
    css="\n".join((HERE / name).read_text(encoding="utf-8") for name in ("view.css", "editor.css")),
    js=component_script(HERE / "js" / "editor.js"),
)


class EditorData(msgspec.Struct, frozen=True):
    """The message to the browser: the server's text, and the editor's smallest and largest height in px."""

    key: str
    label: str
    text: str
    least: int
    most: int


def code_editor(text: str, *, label: str, key: str, least: int, most: int, keep: Callable[[str], None]) -> str:
    """Show an editor; return its current text.

    `text` is used only when the editor appears: later the browser owns the text. `keep` is called with each edited
    text, even if it arrives together with a click on a link to another page.
    """
    key = component_key(key)
    edited = browser_value(key, "text")
    current = edited if isinstance(edited, str) else text

    def keep_edited() -> None:
        edited = browser_value(key, "text")
        if isinstance(edited, str):
            keep(edited)

    # Always the newest text: Streamlit keeps a state, but no view, if the page between did not run to its end.
    data = EditorData(key, label, current, least, most)
    result = _EDITOR(key=key, data=message(data), default={"text": None}, on_text_change=keep_edited)
    return result.text if isinstance(result.text, str) else current
