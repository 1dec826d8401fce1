"""An HTML file from one or two runs: its page as a value, then as text, with the style and script of the assets inside.

The file needs no server: its policy allows nothing but its own script, by digest, and inline styles. The graphs' data
is JSON in which `<` is escaped, so that no text of a log can end its element.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from core.base.words import bytes_
from core.runs.store import Run
from core.views.header import HeaderView
from core.views.html.comparison import TwoRuns, title_of
from core.views.html.graphs import Graphs, Source
from core.views.html.page import Code, HtmlChip, HtmlPage, Section, spans
from core.views.html.sections import sections
from core.views.overview import OutcomeView
from core.views.scrub import NOTHING, Scrubber

HERE = Path(__file__).parent
# Control characters, lone surrogates, and characters that hide or reorder text; tabs and line ends stay.
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def as_html(run: Run, scrubber: Scrubber = NOTHING) -> str:
    """Return a stored run as the text of one HTML file without secrets; raises StoreError, TraceError."""
    return render(scrubber.value(page_of(run)))


def comparison_as_html(left: Run, right: Run, scrubber: Scrubber = NOTHING) -> str:
    """Return the comparison of two stored runs as the text of one HTML file; raises StoreError, TraceError."""
    return render(scrubber.value(page_of_comparison(left, right)))


@lru_cache
def words_of_file() -> frozenset[str]:
    """Return the words that each file has, whatever its run."""
    names = ("page.html.jinja", "page.css", "graph.css", "page.min.js")
    return frozenset(piece for name in names for piece in re.findall("[A-Za-z0-9]+", _asset(name)))


def page_of(run: Run) -> HtmlPage:
    """Return the content of a run's file; of a run without a log, the reason for its end."""
    status, job = run.status(), run.job()
    title = run.name() or status.title or run.id
    if run.log_path() is None:
        outcome = OutcomeView(status, None, run)
        return HtmlPage(title, spans(outcome.title), (), (), outcome.reason)
    source = Source.of(run)
    outcome = OutcomeView(status, source.report, run)
    graphs = Graphs(source)
    parts = tuple(sections(source, outcome, graphs))
    chips = _chips(HeaderView(status, source.report, job), parts)
    origin = f"Run {run.id}, log of {bytes_(source.report.log_bytes)}"
    return HtmlPage(title, spans(outcome.title), chips, parts, origin, graphs.drawings.messages, graphs.drawings.levels)


def page_of_comparison(left: Run, right: Run) -> HtmlPage:
    """Return the content of the file about two runs; raises StoreError if one has no log, TraceError."""
    comparison = TwoRuns.of(Source.of(left), Source.of(right))
    title = " → ".join(title_of(source) for source in (comparison.left, comparison.right))
    parts = tuple(comparison.sections())
    origin = f"Runs {left.id} (left) and {right.id} (right)"
    drawings = comparison.drawings
    return HtmlPage(
        title,
        spans(comparison.compare.title),
        tuple(comparison.chips),
        parts,
        origin,
        drawings.messages,
        drawings.levels,
    )


def _chips(header: HeaderView, parts: tuple[Section, ...]) -> tuple[HtmlChip, ...]:
    ids = {part.id for part in parts}
    return tuple(
        HtmlChip(fact.value, fact.label, fact.tone, fact.page if fact.page in ids else "") for fact in header.facts
    )


def render(page: HtmlPage) -> str:
    """Return a page as the text of an HTML file."""
    script = _asset("page.min.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = (
        _environment()
        .get_template("page.html.jinja")
        .render(
            page=page,
            policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data: blob:",
            script=Markup(script),
            style=Markup(_asset("page.css")),
            graph_style=Markup(_asset("graph.css")),
            graphs=_as_json({"drawings": page.drawings, "levels": page.levels}) if page.drawings else "",
        )
    )
    # Each macro of the template leaves an empty line.
    return text.lstrip("\n")


def _as_json(value: Any) -> Markup:
    """Return a value as JSON that can stand in a script element."""
    text = msgspec.json.encode(value).decode()
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters["highlighted"] = _highlighted
    return environment


def _printable(value: object) -> object:
    """Return a text with its invisible characters as escapes."""
    return UNSEEN.sub(_escape, value) if type(value) is str else value


def _escape(match: re.Match[str]) -> str:
    return ascii(match.group())[1:-1]


def _highlighted(code: Code) -> Markup:
    """Return code as coloured HTML, a line each, with numbers and the notes below their lines."""
    lexer = get_lexer_by_name(code.language, stripnl=False, ensurenl=False)
    text = UNSEEN.sub(_escape, code.text.replace("\r\n", "\n"))
    notes = dict(code.notes)
    lines = highlight(text, lexer, HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")
    return Markup("\n").join(_line(number, Markup(line), notes) for number, line in enumerate(lines, code.first))


def _line(number: int, line: Markup, notes: dict[int, str]) -> Markup:
    shown = Markup('<span class="ln" aria-hidden="true">{}</span>{}').format(number, line)
    if number not in notes:
        return shown
    note = Markup('<span class="note">{}</span>').format(_printable(notes[number]))
    return Markup('<span class="broken">{}</span>\n{}').format(shown, note)


@lru_cache
def _asset(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
