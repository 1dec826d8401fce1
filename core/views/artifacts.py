"""Artifacts page: records of a log as torch wrote them, selected by compilation, kind and text."""

from __future__ import annotations

import mmap
import re
from array import array
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import msgspec

from core.base import words as fmt
from core.base.decoder import decoded
from core.base.errors import DecodeError, TraceError
from core.base.files import mapped, open_regular
from core.report.parts import remembered
from core.runs.store import Run
from core.runs.stored import open_index
from core.trace.index import IndexRow, TraceIndex
from core.trace.reader import text_at
from core.views.blocks import (
    Beside,
    Code,
    Column,
    Drawn,
    InLine,
    Listing,
    PageBlock,
    PageLink,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line

Form = Literal["python", "cpp", "json", "text", "bytes"]

# Parts that the page draws: the choice of records, downloads of a record, and its text.
FIELDS, DOWNLOADS, TEXT = "fields", "downloads", "text"
# Parameter of the URL with the selected record.
RECORD = "record"
BESIDE_HELP = "Chromium events and input descriptions"

MOST_SHOWN = 1_000  #: limit: records of a log on a page of the table
MOST_HITS = 20_000  #: limit: records found by a search
MOST_SEARCHED_BYTES = 2 * 1024**3  #: limit: records of a log that a search reads
SLICE_BYTES = 4 * 1024**2
MAX_SHOWN_CHARS = 400_000  #: limit: a record's text on the page; the download is complete
MAX_HEADER_BYTES = 100_000  #: a record's header on the page
MOST_TABLE_ROWS = 1_000  #: objects of a record in a table
MOST_HEX_BYTES = 4_096  #: bytes of a binary record on the page
HEX_WIDTH, OFFSET_BYTES = 16, 4
LOOKED_AT = 20_000
# A text with more than one in so many characters that no text has is shown as bytes.
MOST_NOT_TEXT = 50  #: characters per non-text character, below which a record is shown as bytes
ALL, OUTSIDE = "", "-"
# Kinds that describe other records: events of phases, and the tensors and sources of inputs. Left out at first.
BESIDE = ("chromium_event", "describe_tensor", "describe_storage", "describe_source", "artifact:compileboard_step")
CPP = re.compile(r"^\s*(#include|#pragma|extern \"C\"|template\s*<|// )", re.MULTILINE)
PYTHON = re.compile(
    r"^(class \w+.*:|def \w+\(.*|(?:from \S+ )?import \S+|# AOT ID|graph\(\):|async_compile)", re.MULTILINE
)
NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\ufffd]")


def artifacts(
    whole: ArtifactsView, view: ArtifactsView, number: int | None, compile_ids: Collection[str]
) -> Iterator[PageBlock]:
    """Yield the selected records of a log, and one in full; raises TraceError.

    `whole` has all records, and `view` the selected ones. The record is `number`, by default the first of the table.
    `compile_ids` are the compilations of the report.
    """
    yield Title(spans(view.title), GLOSSARY["artifact"])
    yield Drawn(FIELDS, (), (whole, view))
    if not view.matches:
        yield from paragraph("No record matches. Clear the search, or choose another kind.")
        return
    if number is None or number >= len(view.index):
        number = view.shown[0]
    rows = tuple(view.index.rows(view.shown))
    table = Table("record-table", view.columns, rows, link=lambda row: str(row.number), parameter=RECORD)
    details = tuple(_details(view, number, compile_ids))
    yield Beside((table, *paragraph(view.note, "quiet")), details, shares=(2, 3))


def _details(view: ArtifactsView, number: int, compile_ids: Collection[str]) -> Iterator[PageBlock]:
    """Yield a record in full: place, header and payload, and links to its compilation."""
    record, row = view.details(number), view.index.row(number)
    pages = ("compilations", "fx_graph") if row.compile_id in compile_ids else ()
    links = (PageLink(page, picks={"compilation": row.compile_id}) for page in pages)
    yield from paragraph(record.place, "quiet")
    yield InLine((Drawn(DOWNLOADS, (), (view, number)), *links))
    yield from paragraph(record.note, "quiet")
    if record.rows:
        names = dict.fromkeys(name for cells in record.rows for name in cells)
        yield Table("objects", tuple(map(_column, names)), record.rows)
    if record.text:
        language = "text" if record.form == "bytes" else record.form
        listing = Listing(one_line(row.kind, LONGEST_NAME), Code(record.text, language))
        yield Drawn(TEXT, (listing,), (view, number, record.text, language))
    yield Listing("Header", Code(record.header, "text"), is_open=not record.text)


def _column(name: str) -> Column[dict[str, Any]]:
    return Column(name, lambda cells: cells.get(name))


@dataclass(frozen=True, slots=True)
class RecordDetails:
    """A record in full: its place as Markdown, its header, its payload and the payload's form.

    `rows` are the objects of a payload that is a JSON list of objects, otherwise empty. `note` is a note that the
    text was cut, otherwise empty.
    """

    place: str
    header: str
    text: str
    form: Form
    rows: tuple[dict[str, Any], ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ArtifactsView:
    """The records of a log; `compilation`, `kind` and `search` select records, an empty value selects all.

    The table shows one page of the records; `page` counts from 1. `compilation` is `-` for records outside of a
    compilation. Kinds in `BESIDE` are left out unless `kind` names them or `beside` is True.
    """

    index: TraceIndex
    compilation: str = ALL
    kind: str = ALL
    search: str = ""
    beside: bool = False
    page: int = 1

    @property
    def pages(self) -> int:
        """Number of pages of the table, at least 1."""
        return max(1, -(-len(self.matches) // MOST_SHOWN))

    @property
    def _page(self) -> int:
        return max(1, min(self.page, self.pages))

    @property
    def shown(self) -> Sequence[int]:
        """Numbers of the records of this page."""
        start = (self._page - 1) * MOST_SHOWN
        return self.matches[start : start + MOST_SHOWN]

    @property
    def title(self) -> str:
        """Number of all records, and of selected records, with their size if they fit on one page."""
        total, chosen = len(self.index), len(self.matches)
        size = fmt.bytes_(sum(self.index.row(number).length for number in self.matches[:MOST_SHOWN]))
        if chosen == total:
            return f"{fmt.count(total, 'record')} in the log"
        if chosen <= MOST_SHOWN:
            return f"{fmt.number(chosen)} of {fmt.count(total, 'record')}: {size}"
        return f"{fmt.number(chosen)} of {fmt.count(total, 'record')}"

    @property
    def note(self) -> str:
        """Sentences about the kinds left out, the page, and the limits of the search; empty without any."""
        notes = []
        if self._left_out:
            notes.append(f"Left out: {fmt.count(self._left_out, 'event or input', 'events and inputs')}.")
        if self.pages > 1:
            notes.append(f"Page {fmt.number(self._page)} of {fmt.number(self.pages)}.")
        if self.search and self._searched_up_to is not None:
            notes.append(f"The records up to {fmt.number(self._searched_up_to)} were searched.")
        if self.search and len(self._hits) >= MOST_HITS:
            notes.append(f"The search ended after {fmt.count(MOST_HITS, 'record')}.")
        return " ".join(notes)

    @property
    def kinds(self) -> dict[str, int]:
        """Kind → number of records in the selected compilation; kinds with most bytes in the log first."""
        of = self.index.counts() if self.compilation == ALL else self._counts_of_compilation
        sizes = self.index.sizes()
        return dict(sorted(of.items(), key=lambda pair: (-sizes.get(pair[0], 0), pair[0])))

    @property
    def compilations(self) -> list[str]:
        """Ids of compilations, in the order of the log, and `-` for records outside of a compilation."""
        return [compile_id or OUTSIDE for compile_id in self.index.tables.compile_ids]

    @cached_property
    def matches(self) -> Sequence[int]:
        """Numbers of the chosen records, in order."""
        return list(self._hits) if self.search else self._chosen

    @cached_property
    def _chosen(self) -> array[int]:
        return self.index.numbers(self._wanted, self._compile_id)

    @property
    def columns(self) -> tuple[Column[IndexRow], ...]:
        """Columns of the records; with a search, the line of its first match."""
        line: Column[IndexRow] = Column("line", lambda row: self._hits[row.number], fmt.number)
        return (*RECORD_COLUMNS, line) if self.search else RECORD_COLUMNS

    @property
    def rows(self) -> list[dict[str, object]]:
        """A row for each record of this page, as data."""
        columns = self.columns
        return [{each.name: each.value(row) for each in columns} for row in self.index.rows(self.shown)]

    def line_of(self, number: int) -> int | None:
        """Return the payload's first line with the searched text, from 1; None without such a match.

        The line is 1 if the header has the text.
        """
        return self._hits.get(number) if self.search else None

    def details(self, number: int) -> RecordDetails:
        """Return a record in full; raises TraceError if the log or the record does not exist."""
        row = self._row(number)
        text = text_at(self.index.path, row.offset, min(row.length, 4 * MAX_SHOWN_CHARS)) if row.length else ""
        whole = text if row.length <= 4 * MAX_SHOWN_CHARS else ""
        value = _json(whole)
        form = _form(row.kind, text, value is not None)
        shown = _indented(whole) if value is not None else text
        if form == "bytes":
            shown = _hexadecimal(self.raw(number)[1][:MOST_HEX_BYTES])
        cut = len(shown) > MAX_SHOWN_CHARS or (row.length > 0 and not whole)
        return RecordDetails(
            place=self._place(row),
            header=self.raw(number)[0].decode("utf-8", "replace"),
            text=shown[:MAX_SHOWN_CHARS],
            form=form,
            rows=_table(value),
            note=f"The first {fmt.number(MAX_SHOWN_CHARS)} characters; download it for the rest." if cut else "",
        )

    def raw(self, number: int) -> tuple[bytes, bytes]:
        """Return the bytes of a record's header line and of its payload; raises TraceError."""
        row = self._row(number)
        try:
            with open_regular(self.index.path) as file:
                file.seek(row.header)
                header = file.read(min(MAX_HEADER_BYTES, (row.offset or row.header) - row.header))
                file.seek(row.offset)
                return header.rstrip(b"\n"), file.read(row.length)
        except OSError as error:
            raise TraceError(f"{self.index.path.name} cannot be read: {error.strerror}") from None

    def _row(self, number: int) -> IndexRow:
        if not 0 <= number < len(self.index):
            raise TraceError(f"the log has no record {number}; it has {fmt.count(len(self.index), 'record')}")
        return self.index.row(number)

    def _place(self, row: IndexRow) -> str:
        parts = [f"Record {row.number}", code(row.kind, LONGEST_NAME)]
        if row.compile_id:
            parts.append(f"`{_compilation(row)}`")
        if row.rank is not None:
            parts.append(f"rank {row.rank}")
        parts.append(f"byte {fmt.number(row.header)}" + (f", {fmt.bytes_(row.length)}" if row.length else ""))
        return " · ".join(parts)

    @property
    def _compile_id(self) -> str | None:
        return None if self.compilation == ALL else "" if self.compilation == OUTSIDE else self.compilation

    @property
    def _wanted(self) -> tuple[str, ...] | None:
        if self.kind:
            return (self.kind,)
        return None if self.beside else tuple(kind for kind in self.index.tables.kinds if kind not in BESIDE)

    @property
    def _left_out(self) -> int:
        if self.kind or self.beside:
            return 0
        counts = self.index.counts() if self.compilation == ALL else self._counts_of_compilation
        return sum(counts.get(kind, 0) for kind in BESIDE)

    @cached_property
    def _counts_of_compilation(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for row in self.index.rows(self.index.numbers(compile_id=self._compile_id)):
            counts[row.kind] = counts.get(row.kind, 0) + 1
        return counts

    @property
    def _hits(self) -> dict[int, int]:
        return self._search[0]

    @property
    def _searched_up_to(self) -> int | None:
        return self._search[1]

    @cached_property
    def _search(self) -> tuple[dict[int, int], int | None]:
        return _search_records(self.index, self.search, self._wanted, self._compile_id)


@remembered
def _search_records(
    index: TraceIndex, text: str, kinds: tuple[str, ...] | None, compile_id: str | None
) -> tuple[dict[int, int], int | None]:
    """Return record → the line of its first hit, counted from 1, for at most `MOST_HITS` records.

    Also return the last searched record if the search stopped after `MOST_SEARCHED_BYTES`, otherwise None. The search
    ignores the case of ASCII letters.
    """
    wanted, hits, searched = text.encode().lower(), dict[int, int](), 0
    with mapped(index.path) as data:
        for row in index.rows(index.numbers(kinds, compile_id)):
            if searched > MOST_SEARCHED_BYTES:
                return hits, row.number - 1
            end = min(len(data), row.offset + row.length)
            searched += end - row.header
            at = _position(data, wanted, row.header, end)
            if at is not None:
                hits[row.number] = 1 + _newlines(data, row.offset, at)
            if len(hits) >= MOST_HITS:
                break
    return hits, None


def _newlines(data: mmap.mmap | bytes, start: int, end: int) -> int:
    return sum(data[begin : min(end, begin + SLICE_BYTES)].count(b"\n") for begin in range(start, end, SLICE_BYTES))


def _position(data: mmap.mmap | bytes, wanted: bytes, start: int, end: int) -> int | None:
    """Return the offset of a lower-case text, ignoring case, by slices; None if there is none."""
    for begin in range(start, end, SLICE_BYTES):
        at = data[begin : min(end, begin + SLICE_BYTES + len(wanted) - 1)].lower().find(wanted)
        if at >= 0:
            return begin + at
    return None


def _compilation(row: IndexRow) -> str:
    """Return the compilation as torch prints it, `[0/0]`, or `[0/0_1]` for a restarted attempt."""
    attempt = f"_{row.attempt}" if row.attempt else ""
    return f"[{row.compile_id}{attempt}]" if row.compile_id else ""


def _json(text: str) -> Any:
    """Return the object or list of a JSON text; None for anything else."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return decoded(text)
    except DecodeError:
        return None


def _indented(text: str) -> str:
    """Return a JSON text with a line for each value; unchanged if it is not strict JSON (NaN)."""
    try:
        return msgspec.json.format(text.encode(), indent=2).decode()
    except msgspec.DecodeError:
        return text


def _form(kind: str, text: str, is_json: bool) -> Form:
    """Return the form of a payload, mostly by its text, since torch logs new kinds in each version."""
    start = text[:LOOKED_AT]
    if len(NOT_TEXT.findall(start)) > len(start) // MOST_NOT_TEXT:
        return "bytes"
    if is_json:
        return "json"
    if kind == "artifact:fx_graph_runnable" or PYTHON.search(start):
        return "python"
    return "cpp" if CPP.search(start) else "text"


def _table(value: Any) -> tuple[dict[str, Any], ...]:
    """Return the objects of a list as rows of a table; empty for any other value."""
    rows = value if isinstance(value, list) else []
    if not rows or not all(isinstance(row, dict) for row in rows):
        return ()
    return tuple(
        {one_line(str(name), LONGEST_NAME): one_line(_cell(cell), LONGEST_LINE) for name, cell in row.items()}
        for row in rows[:MOST_TABLE_ROWS]
    )


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _hexadecimal(data: bytes) -> str:
    """Return bytes as offsets, hexadecimal numbers and characters."""
    lines = []
    for start in range(0, len(data), HEX_WIDTH):
        part = data[start : start + HEX_WIDTH]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{start.to_bytes(OFFSET_BYTES).hex()}  {part.hex(' '):<{3 * HEX_WIDTH}} {letters}")
    return "\n".join(lines)


def artifacts_view(run: Run) -> ArtifactsView:
    """Return all records of a run's log; raises StoreError, TraceError."""
    return ArtifactsView(open_index(run))


RECORD_COLUMNS: tuple[Column[IndexRow], ...] = (
    Column("record", lambda row: row.number, fmt.number, width=70),
    Column("kind", lambda row: one_line(row.kind, LONGEST_LINE), width=250),
    Column("compilation", _compilation, width=80),
    Column("bytes", lambda row: row.length or None, fmt.number, width=70),
)
