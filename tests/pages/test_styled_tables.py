"""Tables with formats or colours, sent without pandas' HTML."""

import pandas as pd
import pytest
from pandas.io.formats.style import Styler
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.elements.lib.pandas_styler_utils import marshall_styler
from streamlit.proto.ArrowData_pb2 import ArrowData

from pages.session.tables import arrow_table, columns, send_styled

ROWS = [
    {"time": 1.5, "calls": 3, "name": "mm", "found": True, "shape": [2, 3], "reason": None, "note": None},
    {"time": None, "calls": 4, "name": None, "found": False, "shape": [], "reason": None, "note": "none"},
]
FRAME = pd.DataFrame(ROWS)
FORMATTED = FRAME.style.format({"time": "{:.1f} s", "calls": lambda calls: f"{calls} calls"}, na_rep="")
TABLES = {
    "formats": FORMATTED,
    "no formats": FRAME.style,
    "colours": FRAME.style.format(na_rep="").map(lambda name: "color: red" if name == "mm" else "", subset=["name"]),
    "several colours": FRAME.style.map(lambda value: "color: red; font-weight: bold" if str(value) in "mm, 4" else ""),
    "an index of its own": FRAME.set_index("name").style,
    "no row": pd.DataFrame([]).style,
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_is_the_one_that_streamlit_sends(table: Styler) -> None:
    sent, expected = ArrowData(), ArrowData()
    table.set_uuid("place")
    send_styled(sent, table, "place")
    marshall_styler(expected, table, "place")

    assert (sent.styler.uuid, sent.styler.styles) == (expected.styler.uuid, expected.styler.styles)
    texts, as_expected = (convert_arrow_bytes_to_pandas_df(each.styler.display_values) for each in (sent, expected))
    pd.testing.assert_frame_equal(texts, as_expected, check_column_type=False)


def test_an_equal_table_at_the_same_place_is_the_same_message() -> None:
    first, second = ArrowData(), ArrowData()
    send_styled(first, FRAME.style, "place")
    send_styled(second, FRAME.style, "place")

    assert first.styler.uuid
    assert first == second


def test_a_column_has_its_help_and_its_width() -> None:
    settings = columns({"time": "Median of all calls"}, {"name": "medium", "time": "small"})

    assert {name: (each["help"], each["width"]) for name, each in settings.items()} == {
        "time": ("Median of all calls", "small"),
        "name": (None, "medium"),
    }


def test_a_plain_table_keeps_its_texts_numbers_and_gaps() -> None:
    rows: list[dict[str, object]] = [
        {"name": None, "value": 1, "at": "2026-01-01", "long": "x" * 100_000},
        {"name": "a\n√", "value": 2.5, "at": "", "long": ""},
    ]
    table = arrow_table(rows)
    assert table.column_names == ["name", "value", "at", "long"]
    assert table.to_pydict() == {
        "name": [None, "a\n√"],
        "value": [1.0, 2.5],
        "at": ["2026-01-01", ""],
        "long": ["x" * 100_000, ""],
    }
