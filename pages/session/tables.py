"""Blocks of a page, tables and charts: numbers as text, and the visitor's selection."""

from __future__ import annotations

import io
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import streamlit as st
from streamlit.dataframe_util import convert_arrow_table_to_arrow_bytes, has_range_index
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements import arrow
from streamlit.elements.lib.pandas_styler_utils import marshall_styler
from streamlit.proto.ArrowData_pb2 import ArrowData

from core.views import blocks, markdown
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.charts import PLOTLY_CONFIG, go
from pages.look.palette import MAX_LINE_CHARS, SHORT, TALL, Theme
from pages.look.text import one_line, plain
from pages.session import url
from pages.session.downloads import json_twin, text_twin
from pages.session.header import page_title
from pages.session.server import cached_figure, theme
from pages.session.shown import RunView
from pages.session.url import press, taken

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pandas.io.formats.style import Styler

Row = TypeVar("Row")
Width = int | Literal["small", "medium"]
# Tables are small, and pyarrow's default pool reserves 10 MB.
os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
# Height of a table's row in Streamlit, and of its header and frame.
LINE_PX, HEAD_PX = 31, 34
CHOICE_PX = 360
SELECTED_TINT = "background-color: rgba(93, 105, 223, 0.22)"
UNLIKE_TINT = "background-color: rgba(204, 140, 20, 0.2)"
# Number of rows that fit without scrolling.
FEW = 14
# Lines of code that are shown without scrolling.
FEW_LINES = 60


def picks() -> blocks.Picks:
    """Return the visitor's selections, which Streamlit has before it runs the page."""
    tables = {str(key): _cells(value) for key, value in st.session_state.items()}
    typed = {str(key): value for key, value in st.session_state.items() if isinstance(value, str)}
    # A page's own part of the selection stands for the op of the URL.
    texts = {**st.query_params, url.SELECT: url.selected() or "", **typed}
    return blocks.Picks({key: cells[0] for key, cells in tables.items() if cells}, texts)


def _cells(value: object) -> list[int]:
    """Return the rows of the selected cells if a value is the state of a table."""
    return _clicked(value) if hasattr(getattr(value, "selection", None), "cells") else []


Parts = Mapping[str, Callable[..., object]]
NO_PARTS: Parts = {}
# Tone of a text → how Streamlit shows it.
TONES: Mapping[str, Callable[..., object]] = {
    "quiet": st.caption,
    "note": st.info,
    "warn": st.warning,
    "bad": st.error,
    "ok": st.success,
    "": st.markdown,
}


def draw(page: Iterable[blocks.Block], parts: Parts = NO_PARTS, title: DeltaGenerator | None = None) -> None:
    """Draw a page's blocks in order, by default with its title; `parts` draw those by hand."""
    for block in page:
        match block:
            case blocks.Title():
                page_title(blocks.markdown(block.prose), help=block.help or None, place=title)
            case blocks.Text():
                TONES[block.tone](blocks.markdown(block.prose), **({"help": block.help} if block.help else {}))
            case blocks.Heading():
                st.header(plain(block.text), anchor=False, help=block.help or None)
            case blocks.Table():
                _draw_table(block)
            case blocks.Listing():
                _draw_listing(block)
            case blocks.Drawn():
                parts[block.name](*block.of)
            case blocks.Fold() | blocks.Card() | blocks.Panes() | blocks.InLine() | blocks.Beside():
                _draw_inside(block, parts)
            case _:
                _draw_field(block)


def _draw_inside(block: blocks.Fold | blocks.Card | blocks.Panes | blocks.InLine | blocks.Beside, parts: Parts) -> None:
    """Draw a block that has blocks of its own."""
    match block:
        case blocks.Fold():
            with st.expander(blocks.markdown(block.title), expanded=block.is_open):
                draw(block.blocks, parts)
        case blocks.Card():
            with st.container(border=True, key=block.name):
                draw(block.blocks, parts)
        case blocks.Panes():
            draw(_pane(block, parts).blocks(), parts)
        case blocks.InLine():
            with st.container(horizontal=True, vertical_alignment="bottom"):
                draw(block.blocks, parts)
        case blocks.Beside():
            for place, part in zip(st.columns(block.shares, gap="medium"), (block.left, block.right), strict=True):
                with place:
                    draw(part, parts)


def _pane(block: blocks.Panes, parts: Parts) -> blocks.Pane:
    """Draw the line that selects one of some panes; return the selected one."""
    panes = {pane.name: pane for pane in block.panes}
    if len(panes) == 1:
        return block.panes[0]
    url.read(block.name, panes, block.panes[0].name)
    look: dict[str, Any] = {"format_func": lambda name: one_line(panes[name].title) if name in panes else name}
    look |= {"key": block.name, "label_visibility": "collapsed"}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"line-{block.name}"):
        if block.is_list:
            chosen = st.selectbox(block.label, list(panes), width=420, **look)
        else:
            chosen = st.segmented_control(block.label, list(panes), **look)
        draw(block.beside, parts)
    url.write(block.name)
    return panes.get(chosen or "", block.panes[0])


def _draw_field(block: blocks.Block) -> None:
    match block:
        case blocks.Search():
            search_field(block.name, block.placeholder)
        case blocks.Select():
            st.selectbox(
                block.label,
                block.options,
                index=None if block.placeholder else 0,
                key=block.name,
                bind="query-params" if block.in_url else None,
                placeholder=block.placeholder or None,
                label_visibility="collapsed",
                width=CHOICE_PX,
            )
        case blocks.Data():
            twin = text_twin if callable(block.value) else json_twin
            twin(block.name, block.value, key=block.name)
        case blocks.PageLink():
            page = menu.PAGES[block.page]
            st.page_link(
                page.script,
                label=plain(block.label or page.title),
                icon=page.icon,
                query_params=url.link(**block.picks),
                width="content",
            )


def _draw_table(table: blocks.Table[Any]) -> None:
    frame, settings = framed(table)
    look: dict[str, Any] = {"column_config": settings}
    if table.is_short or len(table.rows) > FEW:
        look["height"] = SHORT if table.is_short else TALL
    if table.link is not None:
        ids = [*map(table.link, table.rows)]
        picked_by_url(_marked(frame, ids), ids, table.name, table.parameter, **look)
    elif not table.pick:
        shown(frame, table.rows, **look)
    elif picked(frame, table.rows, table.name, **look) is None:
        st.caption(table.pick)


def framed(table: blocks.Table[Any]) -> tuple[Any, dict[str, Any]]:
    """Return the shown columns of a table with values by their units, and the settings of the columns."""
    columns = table.shown
    values = {column.name: [_cell(column, row) for row in table.rows] for column in columns}
    frame = data_frame(values)
    # Counts with gaps would be floats.
    counts = [name for name, cells in values.items() if {type(cell) for cell in cells} == {int, type(None)}]
    forms = {column.name: _of_bar(column) if column.bar else column.unit for column in columns if column.is_number}
    styled = _tinted(
        in_words(frame.astype(dict.fromkeys(counts, "Int64")), forms),
        [column.name for column in columns if column.marked],
    )
    return styled, {column.name: _column(column) for column in columns}


def _cell(column: blocks.Column[Any], row: Any) -> Any:
    value = column.value(row)
    if column.bar and value is not None:
        return 100 * value
    return markdown.indented_line(value) if isinstance(value, str) else value


def _tinted(table: Any, names: Sequence[str]) -> Any:
    """Return a table with tinted cells where a cell of these columns has the sign of a difference."""
    if not names or hasattr(table, "style"):
        # A table without style is larger than pandas styles.
        return table
    return table.map(lambda cell: UNLIKE_TINT if isinstance(cell, str) and blocks.UNLIKE in cell else "", subset=names)


def _marked(table: Any, ids: Sequence[str]) -> Any:
    """Return a table with the row of the page's selection tinted."""
    rows = [row for row, item in enumerate(ids) if item == url.selected()]
    if not rows or hasattr(table, "style"):
        return table
    return table.apply(lambda cells: [SELECTED_TINT if row in rows else "" for row in range(len(cells))])


def _of_bar(column: blocks.Column[Any]) -> Callable[[float], str]:
    return lambda percent: column.unit(percent / 100)


def _column(column: blocks.Column[Any]) -> Any:
    if column.bar:
        # The bar's own format has two decimals; all our numbers have three significant digits.
        return st.column_config.ProgressColumn(
            format="%.3g %%", min_value=0, max_value=100, width=column.width, help=column.help or None
        )
    return st.column_config.Column(help=column.help or None, width=column.width)


def _draw_listing(listing: blocks.Listing) -> None:
    code = listing.code
    with nullcontext() if listing.is_open else st.expander(plain(listing.title)):
        if code.language == "diff" or code.first > 1:
            lines = code_lines(code.text, prefix="d", first=code.first)
            picture = CodePicture(one_line(listing.title), code.language, lines)
            code_view(picture, key=f"{code.language}-{listing.title}", height=TALL, channel="diff")
            return
        if listing.is_open:
            st.caption(plain(listing.title))
        height: int | Literal["content"] = TALL if code.text.count("\n") > FEW_LINES else "content"
        st.code(code.text, language=code.language, wrap_lines=True, height=height)


def draw_chart(view: RunView, key: str, make: Callable[[Theme], go.Figure], *what: str | int, **look: Any) -> None:
    """Draw a figure of a run, cached for all sessions by its key, the run's log, the theme, and `what`."""
    on = theme()
    figure = cached_figure(lambda: make(on), key, view.run.id, view.report.log_bytes, on, *what)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=key, **look)


def charts(view: RunView, makers: Mapping[str, Callable[..., go.Figure]]) -> Parts:
    """Return parts that draw figures of a run: each is made from the arguments of its block and the theme."""
    return {name: partial(_draw_of, view, name, make) for name, make in makers.items()}


def _draw_of(view: RunView, name: str, make: Callable[..., go.Figure], *of: object) -> None:
    draw_chart(view, name, partial(make, *of))


def search_field(key: str, placeholder: str, width: int = 380) -> str:
    """Draw a search field of a table, bound to a query parameter; return its text."""
    text = st.text_input(
        "Search", key=key, bind="query-params", placeholder=placeholder, max_chars=MAX_LINE_CHARS, width=width
    )
    return text or ""


def data_frame(rows: Any, **settings: Any) -> pd.DataFrame:
    """Return a pandas table of rows; `settings` are those of `pandas.DataFrame`."""
    # A server whose pages show no table has no pandas: its import takes most of a second and 60 MB.
    import pandas as pd

    return pd.DataFrame(rows, **settings)


def arrow_table(rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """Return at least one row as a table, without pandas; the values of a column have one type."""
    # Other functions of pyarrow that take Python's values import pandas to look for its arrays.
    import pyarrow as pa
    from pyarrow import json as arrow_json

    # Without a type, texts that look like dates would be dates.
    texts = dict.fromkeys(name for row in rows for name, value in row.items() if isinstance(value, str))
    lines = b"\n".join(map(msgspec.json.encode, rows))
    table = arrow_json.read_json(
        io.BytesIO(lines),
        read_options=arrow_json.ReadOptions(block_size=len(lines) + 1),
        parse_options=arrow_json.ParseOptions(explicit_schema=pa.schema([(name, pa.string()) for name in texts])),
    )
    # Columns with a given type come first.
    return table.select([*rows[0]])


def in_words(frame: pd.DataFrame, forms: Mapping[str, Callable[[Any], str]]) -> pd.DataFrame | Styler:
    """Return a table that shows numbers by their format in `forms`, and still sorts them as numbers.

    Unknown values are empty cells. A format in `column_config` overrides `forms`. A table with more cells than
    pandas styles is returned unchanged.
    """
    import pandas as pd

    if frame.size > pd.get_option("styler.render.max_elements"):
        return frame
    return frame.style.format({name: form for name, form in forms.items() if name in frame}, na_rep="")


def send_styled(proto: ArrowData, styler: Styler, default_uuid: str) -> None:
    """Fill a message with a table's texts and colours, as `marshall_styler` does, but without HTML.

    `marshall_styler` has pandas make HTML, and then reads each cell's text from the HTML. The table's id is
    always `default_uuid`: with the random ids of pandas, an unchanged table would be sent to the browser again.
    """
    if not has_range_index(styler.data):
        marshall_styler(proto, styler, default_uuid)
        return
    colours: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
    styler._compute()
    for (row, column), style in sorted(styler.ctx.items()):
        colours[tuple(style)].append(f"#T_{default_uuid}_row{row}_col{column}")
    rules = {"; ".join(f"{name}: {value}" for name, value in style): cells for style, cells in colours.items() if style}
    proto.styler.uuid = default_uuid
    proto.styler.styles = "\n".join(f"{', '.join(cells)} {{ {rule} }}" for rule, cells in rules.items())
    proto.styler.display_values = convert_arrow_table_to_arrow_bytes(_texts(styler))


def _texts(styler: Styler) -> pa.Table:
    """Return a table with the text of each cell, and pandas' metadata of a default index."""
    import pyarrow as pa

    frame, forms = styler.data, styler._display_funcs
    columns = []
    for place, name in enumerate(frame):
        is_text = frame[name].dtype == "str"
        values = enumerate(frame[name].tolist())
        # Texts are shown as they are, and asking for a cell's form takes more time than all else.
        columns.append([x if is_text and isinstance(x, str) else str(forms[row, place](x)) for row, x in values])
    index = {"kind": "range", "name": None, "start": 0, "stop": len(frame), "step": 1}
    header = {"name": None, "field_name": None, "pandas_type": "unicode", "numpy_type": "str", "metadata": None}
    schema = {"index_columns": [index], "column_indexes": [header], "columns": []}
    return pa.table(columns, [*map(str, frame)], metadata={"pandas": json.dumps(schema)})


arrow.marshall_styler = send_styled  # type: ignore[attr-defined]


def columns(helps: Mapping[str, str], widths: Mapping[str, Width] | None = None) -> dict[str, Any]:
    """Return the column settings of a table: the help and the width of the columns that have one."""
    names = dict.fromkeys([*helps, *(widths or {})])
    return {name: st.column_config.Column(help=helps.get(name), width=(widths or {}).get(name)) for name in names}


def picked(table: Any, rows: Sequence[Row], key: str, **look: Any) -> Row | None:
    """Draw a table with one row for each of `rows`; return the selected row, None if there is none."""
    event = st.dataframe(table, on_select="rerun", selection_mode="single-cell", key=key, **_look(rows, look))
    return next(iter(_those(rows, _clicked(event))), None)


def opened_or_ticked(
    table: Any, rows: Sequence[Row], key: str, button: str, column_config: Mapping[str, Any] | None = None, **look: Any
) -> tuple[Row | None, list[Row]]:
    """Draw a table with a column `button`; return the newly opened row, by click, and the ticked rows."""
    open_key = f"{key}-open"

    def opened() -> None:
        for row in _those(rows, [st.session_state[open_key].row]):
            press(open_key, row)

    opens = st.column_config.ButtonColumn(
        type="tertiary", alignment="left", pinned=True, width=230, key=open_key, on_click=opened
    )
    columns = {**(column_config or {}), button: opens}
    event = st.dataframe(
        table, on_select="rerun", selection_mode="multi-row", key=key, column_config=columns, **_look(rows, look)
    )
    newly_opened: Row | None = taken(open_key)
    return newly_opened, _those(rows, event.selection.rows)


def newly_picked(table: Any, rows: Sequence[Row], key: str, **look: Any) -> Row | None:
    """Draw a table like `picked`, but return a row only right after its click, otherwise None."""
    chosen = picked(table, range(len(rows)), key, **look)
    place = _new(key, [] if chosen is None else [chosen])
    return None if place is None else rows[place]


def newly_picked_row(table: blocks.Table[Row], **look: Any) -> Row | None:
    """Draw a table of blocks like `picked`; return its row right after a click, otherwise None."""
    frame, settings = framed(table)
    height = {"height": TALL} if len(table.rows) > FEW else {}
    return newly_picked(frame, table.rows, table.name, column_config=settings, **{**height, **look})


def shown(table: Any, rows: Sequence[object], **look: Any) -> None:
    """Draw a table with one row for each of `rows`."""
    st.dataframe(table, **_look(rows, look))


def picked_by_url(table: Any, ids: Sequence[str], key: str, parameter: str = url.SELECT, **look: Any) -> None:
    """Draw a table with one row per id; a click writes the id to the URL before the page is drawn."""
    chosen = partial(_into_url, key, ids, parameter)
    st.dataframe(table, on_select=chosen, selection_mode="single-cell", key=key, **_look(ids, look))


def compilation_by_row(table: Any, ids: Sequence[str], key: str, **look: Any) -> None:
    """Draw a table with one row per compilation; a click selects it on this and every other page."""
    chosen = partial(_into_header, key, ids)
    look = {"hide_index": True, "placeholder": "", **look}
    st.dataframe(table, on_select=chosen, selection_mode="single-row", key=key, **look)


def _into_header(key: str, ids: Sequence[str]) -> None:
    for chosen in _those(ids, st.session_state[key].selection.rows):
        st.session_state[url.COMPILATION] = chosen


def _into_url(key: str, ids: Sequence[str], parameter: str) -> None:
    for chosen in _those(ids, _clicked(st.session_state[key])):
        if parameter == url.SELECT:
            url.select(chosen)
        else:
            url.put(parameter, chosen)
        if parameter == url.RECORD:
            # The selected line is a line of the former record.
            url.pick(None)


def _look(rows: Sequence[object], look: dict[str, Any]) -> dict[str, Any]:
    """Return a table's settings: the height of its rows up to a limit, and empty cells for unknown values."""
    most = look.get("height")
    short = isinstance(most, int) and HEAD_PX + LINE_PX * len(rows) <= most
    return {"hide_index": True, "placeholder": "", **look, **({"height": "content"} if short else {})}


def _new(key: str, chosen: Sequence[int]) -> int | None:
    """Return the index of a newly selected row; None if the selection did not change or is empty."""
    now, before = next(iter(chosen), None), st.session_state.get(f"{key}-row")
    st.session_state[f"{key}-row"] = now
    return now if now != before else None


def _clicked(event: Any) -> list[int]:
    return [row for row, _ in event.selection.cells]


def _those(rows: Sequence[Row], picked: Sequence[int]) -> list[Row]:
    """Return the picked rows that exist, since a table may report rows that it had before."""
    return [rows[index] for index in picked if index < len(rows)]


def picked_points(key: str) -> list[dict[str, Any]]:
    """Return the points picked in a chart, in Plotly's form; for use in the chart's callback."""
    points: list[dict[str, Any]] = st.session_state[key].selection.points
    return points
