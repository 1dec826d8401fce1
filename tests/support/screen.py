"""Text of a page: what a reader sees of it, as Markdown that can be reviewed.

The kinds of rows and columns are one line at the end. Widths, ids and colours are left out, and so is what differs from
machine to machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest

from tests.support.screen_data import chart, component, table
from tests.support.screen_words import clipped, indented, listed

# What differs from run to run of the tests.
VARYING = (
    (re.compile(r"\b\d{8}-\d{6}-"), ""),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b"), "DATE"),
    (re.compile(r"\b\d+ (year|day|hour|minute)s? ago\b"), "AGO"),
    # Which spaces keep a number and its unit on one line.
    (re.compile("\N{NO-BREAK SPACE}"), " "),
)
# Escaped letters that Markdown would show the same without a backslash.
ESCAPED = re.compile(r"\\([.:,;()=+!#-])")
PLAIN_BUTTON = re.compile(r"- button \[[^]]*\]")
MAX_CODE_LINES, MAX_OPTIONS = 12, 12
HEADINGS = {"title": "##", "header": "###", "subheader": "####"}
ALERTS = ("error", "warning", "info", "success")
CONTAINERS = ("expander", "popover", "tab", "status", "dialog")
Fields = Mapping[str, Any]


def written(app: AppTest) -> str:
    """Return the page as Markdown: a list of widgets, paragraphs, tables and code."""
    kinds = arranged(app)
    return fixed(_joined([*_blocks(app.main), *([f"_Arranged in: {', '.join(kinds)}_"] if kinds else [])]), VARYING)


def fixed(text: str, varying: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """Return a text with each varying part replaced."""
    for part, instead in varying:
        text = part.sub(instead, text)
    return text


def arranged(app: AppTest) -> list[str]:
    """Return the kinds of rows, columns and frames of a page with their numbers, such as `2 × columns 60:40`."""
    return [f"{number} × {kind}" for kind, number in Counter(_arrangements(app.main)).items()]


def _joined(blocks: list[str]) -> str:
    """Blocks with a blank line between them, but none between items of one list; plain buttons are in one line."""
    text = ""
    for before, block in zip(["", *blocks], blocks, strict=False):
        if PLAIN_BUTTON.fullmatch(before) and PLAIN_BUTTON.fullmatch(block):
            text += block.removeprefix("- button")
            continue
        tight = before.startswith("- ") and block.startswith("- ")
        text += ("" if not text else "\n" if tight else "\n\n") + block
    return text


def _blocks(node: Any) -> Iterator[str]:
    children = [block for child in getattr(node, "children", {}).values() for block in _blocks(child)]
    if not hasattr(node.proto, "DESCRIPTOR"):
        yield from children
        return
    fields = MessageToDict(node.proto)
    if node.type in CONTAINERS:
        yield _container(node.type, fields, children)
        return
    yield from filter(None, [_element(node, fields)])
    yield from children


def _arrangements(node: Any) -> Iterator[str]:
    """Yield how a page arranges its widgets: columns with their shares, rows, frames, and boxes that scroll."""
    children = list(getattr(node, "children", {}).values())
    if node.type == "flex_container":
        fields = MessageToDict(node.proto)
        flex, gap = fields["flexContainer"], fields["flexContainer"].get("gapConfig", {}).get("gapSize", "no")
        columns = [MessageToDict(child.proto) for child in children if child.type == "column"]
        height = fields.get("heightConfig", {}).get("pixelHeight")
        if columns:
            shares = ":".join(f"{100 * column['weight']:.0f}" for column in columns)
            yield _placed(f"columns {shares}", gap, columns[0].get("verticalAlignment", ""))
        elif flex.get("direction") == "HORIZONTAL":
            justify = flex.get("justify", "").removeprefix("JUSTIFY_")
            yield _placed("row", gap, flex.get("align", "").removeprefix("ALIGN_"), justify)
        elif flex.get("border") or height:
            yield _placed(f"box of {height} pixels" if height else "frame", gap)
    for child in children:
        yield from _arrangements(child)


def _placed(name: str, gap: str, *places: str) -> str:
    """Return an arrangement with all that is not Streamlit's default."""
    notes = [place.lower() for place in places if place not in ("", "START", "STRETCH")]
    return " ".join([name, *notes, *([] if gap == "SMALL" else [f"{gap.lower()} gap"])])


def _container(kind: str, fields: Fields, children: list[str]) -> str:
    shown = fields.get(kind, fields)
    head = f"- {kind} **{plain(shown.get('label') or shown.get('icon', ''))}**{_notes(shown)}"
    return head if not children else f"{head}\n\n{indented(_joined(children))}"


def _element(node: Any, fields: Fields) -> str:
    kind = node.type
    if kind in HEADINGS:
        anchor = "" if fields.get("hideAnchor") else " (with an anchor)"
        return f"{HEADINGS[kind]} {plain(fields.get('body', ''))}{_notes(fields)}{anchor}"
    if kind in ALERTS:
        return f"> {kind}: {_paragraph(fields)}"
    if kind in ("dataframe", "arrow_data_frame", "table"):
        return table(node, fields)
    if kind in ELEMENTS:
        return ELEMENTS[kind](fields)
    if kind in LAYOUT:
        return ""
    return f"- {kind}{_label(fields)}{_value(fields)}{_notes(fields)}"


def _label(fields: Fields) -> str:
    label = fields.get("label") or fields.get("body") or ""
    return f" **{plain(str(label))}**" if label else ""


def _value(fields: Fields) -> str:
    """What stands in a text field or a toggle."""
    value = fields.get("value", fields.get("default", ""))
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return f": {clipped(str(value))}" if value not in ("", None) else ""


def _notes(fields: Fields) -> str:
    """The help of an element, its placeholder, and whether it is disabled."""
    notes = ["disabled"] if fields.get("disabled") else []
    empty = not any(fields.get(name) for name in ("value", "rawValue", "rawValues"))
    notes += [f"placeholder: {fields['placeholder']}"] if empty and fields.get("placeholder") else []
    notes += [f"help: {fields['help']}"] if fields.get("help") else []
    return f" ({clipped(plain('; '.join(notes)), 160)})" if notes else ""


def _paragraph(fields: Fields) -> str:
    body = plain(clipped(str(fields.get("body", "")), 1_200))
    return f"\\{body}" if body.startswith("#") else body


def plain(text: str) -> str:
    """Return Markdown without escapes that change nothing."""
    return ESCAPED.sub(r"\1", text)


def _caption(fields: Fields) -> str:
    return f"_{_paragraph(fields)}_{_notes(fields)}"


def _code(fields: Fields) -> str:
    lines = str(fields.get("codeText", "")).splitlines()
    shown = [clipped(line) for line in lines[:MAX_CODE_LINES]]
    left = len(lines) - len(shown)
    return f"- code:\n\n{indented(chr(10).join(shown + [f'… {left} more lines'] * (left > 0)), 6)}"


def _choice(fields: Fields) -> str:
    """A select box or a row of buttons: what is chosen, and what could be."""
    options = [option if isinstance(option, str) else option.get("content", "") for option in fields.get("options", [])]
    default = fields.get("default", [])
    first = [default] if isinstance(default, int) else default
    chosen = fields.get("rawValue") or fields.get("rawValues") or [options[at] for at in first if at < len(options)]
    picked = chosen if isinstance(chosen, str) else ", ".join(chosen)
    # The header's list of runs is the list of scenarios.
    alone = fields.get("label") == "Run" or options == [picked]
    offered = "" if alone else f" of {listed(options, MAX_OPTIONS, ' / ')}"
    return f"- choice{_label(fields)}: {picked or 'none'}{offered}{_notes(fields)}"


def _radio(fields: Fields) -> str:
    """A list of options with their captions; the chosen one is marked."""
    chosen = fields.get("rawValue", fields["options"][fields.get("default", 0)])
    rows = zip(fields["options"], fields["captions"], strict=True)
    marks = [f"({'x' if name == chosen else ' '}) {plain(name)}: {plain(text)}" for name, text in rows]
    return f"- choice{_label(fields)}:\n\n{indented(chr(10).join(f'- {row}' for row in marks))}"


def _toggle(fields: Fields) -> str:
    return f"- [{'x' if fields.get('value') else ' '}]{_label(fields)}{_notes(fields)}"


def _link(fields: Fields) -> str:
    """A link; that it stays with the shown run and compilation goes without saying."""
    query = [part for part in fields.get("queryString", "").split("&") if not part.startswith(("run=", "compilation="))]
    target = "?".join([fields.get("page", ""), *filter(None, ["&".join(query)])])
    return f"- link **{plain(fields['label'])}** → {clipped(target)}{_notes(fields)}"


class _Html(HTMLParser):
    """The text of a piece of HTML, and the names of its parts."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_starttag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        self.words += [value for name, value in attrs if name in ("aria-label", "title") and value]

    def handle_data(self, data: str) -> None:
        self.words += filter(None, [data.strip()])


def _html(fields: Fields) -> str:
    parser = _Html()
    parser.feed(str(fields.get("body", "")))
    return f"- picture: {listed(list(dict.fromkeys(parser.words)), 40, ' · ')}"


def _button(kind: str) -> Callable[[Fields], str]:
    return lambda fields: f"- {kind} [{plain(fields.get('label', '') or fields.get('icon', ''))}]{_notes(fields)}"


LAYOUT = ("flex_container", "grid_container", "column", "form", "tab_container", "main", "divider", "space")
ELEMENTS: dict[str, Callable[[Fields], str]] = {
    "bidi_component": component,
    "button": _button("button"),
    "button_group": _choice,
    "caption": _caption,
    "checkbox": _toggle,
    "code": _code,
    "download_button": _button("download"),
    "html": _html,
    "markdown": _paragraph,
    "multiselect": _choice,
    "page_link": _link,
    "plotly_chart": chart,
    "radio": _radio,
    "selectbox": _choice,
    "text": _paragraph,
    "toggle": _toggle,
}
