"""Texts in a run's log: the user's files with notes on their lines, and torch's log messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

from core.base import words as fmt
from core.base.decoder import decoded_object
from core.graph.fx import source_path
from core.report import Frame, GraphBreak, Payload, Place, Report, RunError
from core.trace.parsers.build import load_text
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Code,
    Column,
    Data,
    Drawn,
    InLine,
    Listing,
    PageBlock,
    PageLink,
    Picks,
    Search,
    Select,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line

# Names: the search, the selected name and compilation of messages, the selected message, and drawn parts.
SEARCH, NAME, COMPILATION, MESSAGE = "log", "log-name", "log-compilation", "log-table"
RECORD_LOGS, LINE_OF_USER = "record-logs", "line-of-user"
ALL_NAMES, ALL, OUTSIDE = "all names", "all compilations", "outside of a compilation"
MOST_SHOWN = 1_000  #: limit: messages of torch's log in a table; the download is complete
MAX_MESSAGE_CHARS = 40_000  #: a message of torch's log; the download is complete
NOT_RECORDED = (
    "A run records torch's log messages if its job names them, in the syntax of `TORCH_LOGS`: "
    "`--logs graph_breaks,guards`, or `--logs +dynamo` for everything that Dynamo logs."
)


def torch_logs(report: Report, read: Callable[[Payload], str], picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield the messages of torch's log that match a search, and one in full."""
    whole = LogsView(report, read)
    if not report.logs:
        yield Title(spans(whole.title))
        yield from paragraph(NOT_RECORDED)
        yield Drawn(RECORD_LOGS)
        return
    shown = {ALL: "", **{f"[{each}]" if each else OUTSIDE: each for each in whole.compilations}}
    name, compilation = picks.text(NAME), shown.get(picks.text(COMPILATION), "")
    view = replace(whole, search=picks.text(SEARCH), name=name if name in whole.names else "", compilation=compilation)
    yield Title(spans(view.title), GLOSSARY["torch's log"])
    fields = (
        Search(SEARCH, "a variable, a reason, a file …"),
        Select(NAME, "Name", (ALL_NAMES, *whole.names)),
        Select(COMPILATION, "Compilation", tuple(shown)),
    )
    yield InLine((*fields, Data("torch-logs", lambda: view.text)))
    if not view.matches:
        yield from paragraph("No message has this text.")
        return
    table = Table(MESSAGE, view.columns, view.shown, pick="Select a message to read it in full.")
    message = picks.row(MESSAGE, view.shown) or view.shown[0]
    yield Beside((table, *paragraph(view.left_out, "quiet")), tuple(view.details(message)), shares=(3, 2))


@dataclass(frozen=True)
class LogsView:
    """Torch's log of a report; `read` returns a payload of the run's log as text.

    `compilation`, `name` and `search` select messages, an empty value selects all. `search` is a text in the message;
    its case is ignored.
    """

    report: Report
    read: Callable[[Payload], str]
    compilation: str = ""
    name: str = ""
    search: str = ""

    @property
    def is_recorded(self) -> bool:
        """True if the log has messages."""
        return bool(self.report.logs)

    @property
    def title(self) -> str:
        """The number of all messages, and of the selected messages."""
        if not self.is_recorded:
            return "Torch's log messages were not recorded."
        total = sum(sum(part.messages.values()) for part in self.report.logs)
        if len(self.matches) == total:
            return f"{fmt.count(total, 'message')} in torch's log"
        return f"{fmt.number(len(self.matches))} of {fmt.count(total, 'message')} in torch's log"

    @property
    def names(self) -> dict[str, int]:
        """The number of messages by artifact or module, the most frequent first."""
        totals: Counter[str] = Counter()
        for part in self.report.logs:
            totals.update(part.messages)
        return dict(totals.most_common())

    @property
    def compilations(self) -> list[str]:
        """The ids of compilations with messages, in order; an empty id for messages outside of compilations."""
        return list(dict.fromkeys(part.compilation for part in self.report.logs))

    @cached_property
    def matches(self) -> list[LogMessage]:
        """The selected messages, in order."""
        return [message for message in self._read() if self._matches(message)]

    @property
    def shown(self) -> list[LogMessage]:
        """The first `MOST_SHOWN` selected messages."""
        return self.matches[:MOST_SHOWN]

    @property
    def left_out(self) -> str:
        """The number of selected messages that are not shown; empty if all are shown."""
        more = len(self.matches) - MOST_SHOWN
        return f"The first {fmt.number(MOST_SHOWN)}; {fmt.number(more)} more match." if more > 0 else ""

    @property
    def columns(self) -> tuple[Column[LogMessage], ...]:
        return (
            Column("compilation", lambda message: f"[{message.compilation}]" if message.compilation else ""),
            Column("name", lambda message: one_line(message.name, LONGEST_NAME), width=120),
            Column("level", lambda message: message.level),
            Column("your line", self.user_line, fmt.number),
            Column("message", lambda message: one_line(self._first_line(message), LONGEST_LINE), width=330),
        )

    def details(self, message: LogMessage) -> Iterator[PageBlock]:
        """Yield a message in full, links to its compilation, and the user's line that it names."""
        place = f"{code(message.name, LONGEST_NAME)} · {message.level} · {message.time} · {code(message.place)}"
        yield from paragraph(place, "quiet")
        yield Listing("Message", Code(message.text[:MAX_MESSAGE_CHARS], "text"), is_open=True)
        if message.compilation:
            picks = {"compilation": message.compilation}
            yield InLine((PageLink("compilations", picks=picks), PageLink("fx_graph", picks=picks)))
        line = self.user_line(message)
        if line is not None:
            yield Drawn(LINE_OF_USER, (), (line,))

    def user_line(self, message: LogMessage) -> int | None:
        """Return the first line of the user's file that a message names; None without one."""
        match = self._user_line.search(message.text) if self._user_line is not None else None
        return int(match["line"]) if match else None

    def _first_line(self, message: LogMessage) -> str:
        """Return the first line of a message, with the user's file named without its folder."""
        line = message.text.lstrip().partition("\n")[0]
        source = next(iter(self.report.sources), None)
        folder = source.path.rpartition("/")[0] if source is not None else ""
        return line.replace(f"{folder}/", "") if folder else line

    @cached_property
    def _user_line(self) -> re.Pattern[str] | None:
        source = next(iter(self.report.sources), None)
        name = source.path.rpartition("/")[2] if source is not None else ""
        return re.compile(rf"(?:^|[\s\"/(]){re.escape(name)}(?::|\", line )(?P<line>\d+)") if name else None

    @property
    def text(self) -> str:
        """The selected messages as text."""
        return "\n".join(f"{_head(message)} {message.text}" for message in self.matches)

    def _read(self) -> Iterator[LogMessage]:
        for part in self.report.logs:
            if self.compilation in ("", part.compilation) and (not self.name or self.name in part.messages):
                for message in log_messages(self.read(part.text)):
                    yield replace(_named(message, part.messages), compilation=part.compilation)

    def _matches(self, message: LogMessage) -> bool:
        return self.name in ("", message.name) and self.search.lower() in message.text.lower()


def _named(message: LogMessage, names: Mapping[str, int]) -> LogMessage:
    """Return a message with the name of a known logger if the message's module ends with that name."""
    name = next((name for name in names if message.name.endswith(name)), message.name)
    return message if message.name in names else replace(message, name=name)


def _head(message: LogMessage) -> str:
    compilation = f" [{message.compilation}]" if message.compilation else ""
    return f"{message.time} {message.place}]{compilation} [{message.name}]"


LINE = re.compile(
    r"(?P<head>(?P<level>[VIWEC])\d{4} (?P<time>[\d:.]+) \d+ (?P<place>[^\]\n]*:\d+)\]"
    r"(?: \[(?P<id>[^\]\n]*\d/\d+)(?:_\d+)?\])?(?: \[__(?P<artifact>\w+)\])?) ?(?P<text>.*)"
)
LEVELS = {"V": "debug", "I": "info", "W": "warning", "E": "error", "C": "critical"}


@dataclass(frozen=True, slots=True)
class LogMessage:
    """A message of torch's log.

    `place` is the line of torch that logs the message, `name` its artifact, otherwise its module.
    """

    level: str
    time: str
    place: str
    compilation: str
    name: str
    text: str


def log_messages(text: str) -> Iterator[LogMessage]:
    """Yield the messages in a text; an empty line ends a message, and other text is left out."""
    head, lines, match = "", list[str](), None
    for line in text.split("\n"):
        if not line and match is not None:
            yield _message(match, lines)
            match = None
            continue
        found = LINE.match(line)
        if match is not None and (found is None or found["head"] == head):
            lines.append(line if found is None else found["text"])
            continue
        if match is not None:
            yield _message(match, lines)
        if found is not None:
            match, head, lines = found, found["head"], [found["text"]]
    if match is not None:
        yield _message(match, lines)


def _message(match: re.Match[str], lines: list[str]) -> LogMessage:
    module = match["place"].rpartition(":")[0].removesuffix(".py").replace("/", ".")
    return LogMessage(
        level=LEVELS[match["level"]],
        time=match["time"],
        place=match["place"],
        compilation=match["id"] or "",
        name=match["artifact"] or module,
        text="\n".join(lines).rstrip(),
    )


NOTE_CHARS = 600


@dataclass(frozen=True, slots=True)
class SourceView:
    """The user's files of a run; `read` returns a payload of its log as text."""

    no_code: ClassVar[str] = "The log does not contain your code."
    no_lines: ClassVar[str] = "The log does not contain the code. The graph's text names its lines."
    no_file: ClassVar[str] = "The log does not contain this file."

    report: Report
    read: Callable[[Payload], str]

    @property
    def path(self) -> str:
        """Path of the compiled file; if the log has no files, the path of the first frame's file."""
        return source_path(self.report)

    def text(self, path: str = "") -> str:
        """Return the text of a file, by default of the first file; empty if the log does not contain it."""
        files = self.report.sources
        source = next((source for source in files if source.path == path), None) if path else next(iter(files), None)
        return str(decoded_object(self.read(source.payload)).get("text", "")) if source else ""

    def notes(self, path: str, breaks: Iterable[GraphBreak], error: RunError | None) -> dict[int, str]:
        """Return line → note: the reasons of graph breaks in a file, and the error.

        Equal reasons of a line are joined, with their count. The error is at the line of its last frame, in any
        file; it replaces the reasons of that line.
        """
        notes = {line: "\n".join(_counted(reasons)) for line, reasons in _break_reasons(breaks, path).items()}
        line = line_in(error.frames, path) if error is not None else None
        if error is not None and line is not None:
            message = f"{error.type}: {error.message}"[:NOTE_CHARS]
            notes[line] = f"{notes[line]}\n{message}" if line in notes else message
        return notes

    @staticmethod
    def more_lines(left_out: int) -> str:
        """Return the number of lines that a shown text leaves out."""
        return f"{fmt.count(left_out, 'more line')} not shown."


def source_of(log: Path | None, report: Report) -> str:
    """Return the text of the model's file from a log; empty if the log does not contain it."""
    return SourceView(report, partial(load_text, log)).text() if log is not None else ""


def _break_reasons(breaks: Iterable[GraphBreak], path: str) -> dict[int, Counter[str]]:
    reasons: dict[int, Counter[str]] = {}
    for graph_break in breaks:
        line = line_in(graph_break.stack, path)
        if line is not None:
            explanation = f": {graph_break.explanation}" if graph_break.explanation else ""
            reasons.setdefault(line, Counter())[f"{graph_break.reason}{explanation}"] += 1
    return reasons


def _counted(reasons: Counter[str]) -> list[str]:
    return [f"{reason} × {fmt.number(times)}" if times > 1 else reason for reason, times in reasons.items()]


def line_in(stack: Sequence[Frame], path: str) -> int | None:
    """Return the innermost line of a stack that is in a file; None if there is none."""
    return next((frame.line for frame in reversed(stack) if frame.file == path), None)


def place_in_folder(place: Place) -> str:
    """Return a line of a file with its folder: `logging/__init__.py:1488`."""
    return f"{'/'.join(place.file.split('/')[-2:])}:{place.line}"
