"""What pages share, without a browser: code, figures, chips, graphs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plotly.graph_objects import Figure
from streamlit.testing.v1 import AppTest

from core import build_report
from core.analysis.speed import speed
from core.report import Call, Compilation, Report, SideTimes
from core.views.colours import kernel_colours
from core.views.speedup import CallTotals, SpeedupView
from pages.components.code.view import CodePicture, _payload, code_lines, token_runs
from pages.look.palette import KERNEL_COLOURS, Theme
from pages.parts.performance.charts import break_even_chart, first_calls_chart, samples_chart, steady_chart
from tests.support.homes import IMAGE, measured_log
from tests.support.places import TRACES

LOG = TRACES / "transformer_block" / "trace.log"


@pytest.fixture(scope="module")
def report() -> Report:
    """The recorded transformer block."""
    return build_report(LOG, strict=True)


@pytest.fixture(scope="module")
def compilation(report: Report) -> Compilation:
    """Its one compilation."""
    return report.compilations[0]


def test_code_is_cut_into_coloured_runs() -> None:
    assert token_runs("def f():\n    return '1'", "python") == (
        (("k", "def "), ("f", "f"), ("o", "():")),
        (("", "    "), ("k", "return "), ("s", "'1'")),
    )


def test_code_of_an_unknown_language_is_text() -> None:
    assert token_runs(f"{IMAGE}\n", "no such language") == ((("", IMAGE),), ())


def test_every_line_of_a_diff_is_coloured_the_last_one_too() -> None:
    lines, _ = _payload(CodePicture("a diff", "diff", code_lines(" same\n-old\n+new")))
    assert [line.runs for line in lines] == [(("", " same"),), (("gd", "-old"),), (("gi", "+new"),)]


def test_unseen_characters_of_code_become_visible() -> None:
    assert token_runs("a\x07\u202eb", "text") == ((("", "a"), ("x", "\\x07\\u202e"), ("", "b")),)


@given(st.text(), st.sampled_from(["python", "cpp", "pytb", "none"]))
def test_runs_keep_the_number_of_lines(text: str, language: str) -> None:
    assert len(token_runs(text, language)) == text.count("\n") + 1


def test_lines_of_code_know_what_they_belong_to() -> None:
    lines = code_lines("a\r\nb\n", prefix="l", first=7, links={8: ("n:x",)}, colours={8: "#123456"}, marks={8: "break"})

    assert [(line.number, line.id, line.text, line.links, line.colour, line.mark) for line in lines] == [
        (7, "l:7", "a", (), None, ""),
        (8, "l:8", "b", ("n:x",), "#123456", "break"),
    ]


def test_kernels_keep_their_colours(report: Report, compilation: Compilation) -> None:
    assert kernel_colours(report) == {
        kernel.id: KERNEL_COLOURS[index] for index, kernel in enumerate(compilation.kernels)
    }


@pytest.mark.parametrize("on", ["light", "dark"])
def test_every_axis_of_time_has_its_unit(tmp_path: Path, on: Theme) -> None:
    (tmp_path / "trace.log").write_bytes(measured_log())
    report = build_report(tmp_path / "trace.log", strict=True)
    found = speed(report.timing)
    assert found is not None
    assert report.timing is not None
    figures = {
        "steady": steady_chart(SpeedupView(report).medians, "", on),
        "break-even": break_even_chart(CallTotals(found.eager_s, found.compiled_s, 1.0, 900, 1_100), on),
        "samples": samples_chart(report.timing.sides["eager"], report.timing.sides["compiled"], 4, on),
        "calls": first_calls_chart(report.calls, on),
    }

    assert {name: axis_titles(figure) for name, figure in figures.items()} == {
        "steady": ("time per call (ms), median; error bars are quartiles", None),
        "break-even": ("calls, log", "total time, log"),
        "samples": ("pair of samples, in the order taken", "time per call (ms)"),
        "calls": (None, "time, log"),
    }
    assert list(figures["break-even"].layout.yaxis.ticktext)[-1] == "10.0 s"
    assert set(figures["calls"].layout.yaxis.ticktext) >= {"100 ms"}


def axis_titles(figure: Figure) -> tuple[str | None, str | None]:
    return figure.layout.xaxis.title.text, figure.layout.yaxis.title.text


def test_totals_cross_where_compiling_has_paid() -> None:
    found = speed(SideTimes({"eager": (2e-3,) * 12, "compiled": (1e-3,) * 12}))
    assert found is not None
    for latest, last in ((3, 10), (40, 80)):
        eager, compiled = break_even_chart(CallTotals(found.eager_s, found.compiled_s, 0.02, 2, latest), "light").data[
            :2
        ]
        assert (eager.x[0], eager.x[-1], tuple(eager.x)) == (1, last, tuple(compiled.x))
        assert list(eager.x) == sorted(set(eager.x))
        assert eager.y == pytest.approx([count * found.eager_s for count in eager.x])
        assert compiled.y == pytest.approx([0.02 + count * found.compiled_s for count in compiled.x])


def test_figures_of_nothing_are_no_error() -> None:
    assert len(first_calls_chart((), "light").data) == 2
    assert len(first_calls_chart((Call(0, "", 0.0, 0.0, ()),), "light").data[0].x) == 1


def echo() -> None:
    """A page that hands the selection back as it came, by way of the URL."""
    import streamlit as st

    from core.graph.model import GraphModel, Node
    from core.views.graph import GraphView
    from core.views.wire import stored
    from pages.components.graph.view import drawn, graph_view

    nodes = (Node("n:a", "a", "", "view", -1), Node("n:b", "b", "", "view", -1))
    graph = drawn(stored(GraphView(GraphModel(nodes, ()))))
    chosen = graph_view(graph, key="graph", height=600, selected=st.query_params.get("select"), frame=2)
    st.query_params["select"] = chosen.id or ""
    st.text(chosen.id)
    st.text(f"{chosen.frame} {chosen.overlay}")


def test_the_newest_of_the_callers_wish_and_the_users_click_counts() -> None:
    app = AppTest.from_function(echo, default_timeout=240)
    app.query_params["select"] = "n:a"
    assert app.run().text[0].value == "n:a"
    app.session_state["graph"] = {"selected": "n:b", "serial": 1}
    assert app.run().text[0].value == "n:b"
    assert app.run().text[0].value == "n:b"
    app.query_params["select"] = "n:a"
    assert app.run().text[0].value == "n:a"
    assert app.text[1].value == "2 None"


def test_the_frame_and_the_overlay_that_the_user_chose_come_back() -> None:
    app = AppTest.from_function(echo, default_timeout=240)
    assert app.run().text[1].value == "2 None"
    app.session_state["graph"] = {"selected": None, "serial": 2, "frame": 5, "overlay": "bytes"}

    assert app.run().text[1].value == "5 bytes"
    assert app.run().text[1].value == "5 bytes"


def test_a_report_of_a_colouring_is_no_selection() -> None:
    app = AppTest.from_function(echo, default_timeout=240)
    app.query_params["select"] = "n:a"
    assert app.run().text[0].value == "n:a"
    app.session_state["graph"] = {"selected": "n:b", "serial": 1, "picked": 1}
    assert app.run().text[0].value == "n:b"
    assert app.run().text[0].value == "n:b"
    app.query_params["select"] = "n:a"
    assert app.run().text[0].value == "n:a"
    app.session_state["graph"] = {"selected": "n:b", "serial": 2, "picked": 1, "overlay": "bytes"}
    assert app.run().text[0].value == "n:a"
    app.session_state["graph"] = {"selected": "n:b", "serial": 3, "picked": 3, "overlay": "bytes"}

    assert app.run().text[0].value == "n:b"
