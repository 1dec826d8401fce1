"""What pages share, without a browser: text made safe, pictures of graphs, code, figures, chips."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plotly.graph_objects import Figure
from streamlit.testing.v1 import AppTest

from core import build_report, verdict
from core.analysis import speed
from core.report import Call, Compilation, Phase, Report
from pages import menu
from pages.components.code.view import code_lines, token_runs
from pages.look.palette import KERNEL_COLOURS, Theme
from pages.look.text import code, component_key, one_line, plain, prose
from pages.parts.code import kernel_colours
from pages.parts.performance.charts import break_even_chart, first_calls_chart, flame_chart, samples_chart, steady_chart
from pages.parts.run.findings import _lines
from pages.session.verdict_chips import verdict_chips
from tests.support.homes import IMAGE, measured_log
from tests.support.places import TRACES

LOG = TRACES / "transformer_block" / "trace.log"
CONTROLS = "\x00\x07\x1b\x7f\x9f\u200b\u202e\u2028\u2066\ufeff\ud800"
# What Streamlit's Markdown gives a meaning; each must stand behind a backslash.
MARKUP = "\\`*_{}[]()#+-.!|<>~$:&"


@pytest.fixture(scope="module")
def report() -> Report:
    """The recorded transformer block."""
    return build_report(LOG, strict=True)


@pytest.fixture(scope="module")
def compilation(report: Report) -> Compilation:
    """Its one compilation."""
    return report.compilations[0]


def unescaped(markdown: str) -> set[str]:
    """The special characters of a Markdown text that no backslash precedes."""
    found, escaped = set(), False
    for character in markdown:
        if not escaped and character in MARKUP and character != "\\":
            found.add(character)
        escaped = character == "\\" and not escaped
    return found


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("[x](http://evil)", "\\[x\\]\\(http\\:\u2060//evil\\)"),
        ("![x](y.png)", "\\!\\[x\\]\\(y\\.png\\)"),
        (IMAGE, "\\<img src=x onerror=alert\\(1\\)\\>"),
        ("</script>", "\\</script\\>"),
        ("$a^2$ :red[b] :home:", "\\$a^2\\$ \\:red\\[b\\] \\:\u2060home\\:"),
        ("`__init__`", "\\`\\_\\_init\\_\\_\\`"),
        ("# one\n- two\n\n1. three", "\\# one \\- two 1\\. three"),
        ("&lt;b&gt;", "\\&lt;b\\&gt;"),
        ("www.evil.example", "www\u2060\\.evil\\.example"),
        ("me@evil.example", "me@\u2060evil\\.example"),
        (":material/home:", "\\:\u2060material/home\\:"),
        ("@torch.compile on model.py:12", "@torch\\.compile on model\\.py\\:12"),
    ],
)
def test_plain_text_shows_as_it_is(text: str, markdown: str) -> None:
    assert plain(text) == markdown


def test_text_of_every_kind_loses_its_control_characters() -> None:
    for made in (plain, code, prose, one_line):
        assert not set(made(f"a{CONTROLS}b")) & set(CONTROLS)


def test_long_text_is_cut() -> None:
    assert plain("x" * 50, 10) == "xxxxxxxxxx…"
    assert one_line("x" * 50, 10) == "xxxxxxxxxx…"
    assert code("x" * 50, 10) == "`xxxxxxxxxx`"


@given(st.text())
def test_plain_text_never_holds_unescaped_markup(text: str) -> None:
    made = plain(text)

    assert not unescaped(made)
    assert "\n" not in made


# What remark and Streamlit make links, icons and emojis of, in text that Markdown has been taken out of.
ALIVE = re.compile(r"https?://|www\.[-.\w]|[-.\w+]@[-\w]+\.|:[\w+\-]+:|:material/\w+:", re.IGNORECASE)
PIECES = st.sampled_from(
    [
        "http",
        "https",
        ":",
        "//",
        "www",
        "WWW",
        ".",
        "@",
        "material/",
        "home",
        "smile",
        "a",
        "+",
        "-",
        "_",
        " ",
        "`",
        "\u2060",
    ]
)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text())
def test_text_of_a_log_never_becomes_a_link_or_an_icon(text: str) -> None:
    for made in (plain(text), "".join(outside_of_code(prose(text)))):
        shown = re.sub(r"\\(.)", r"\1", made)
        assert ALIVE.search(shown) is None


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_what_keeps_text_from_being_a_link_shows_nothing(text: str) -> None:
    assert re.sub(r"\\(.)", r"\1", plain(text)).replace("\u2060", "") == text


@given(st.text(alphabet=st.sampled_from("ab `\\*[]()<>$\n")))
def test_prose_is_plain_text_and_code_and_nothing_else(text: str) -> None:
    made = prose(text)

    assert unescaped("".join(outside_of_code(made))) == set()
    assert "\n" not in made


def outside_of_code(markdown: str) -> list[str]:
    """The parts of a Markdown text that are no inline code, as CommonMark finds it: a fence ends at one as long."""
    outside, rest, escaped = [], markdown, False
    while rest:
        fence = len(rest) - len(rest.lstrip("`"))
        if not fence or escaped:
            outside.append(rest[0])
            escaped = rest[0] == "\\" and not escaped
            rest = rest[1:]
            continue
        end = rest.find("`" * fence, fence)
        while end >= 0 and rest[end + fence :].startswith("`"):
            end = rest.find("`" * fence, end + len(rest[end:]) - len(rest[end:].lstrip("`")))
        if end < 0:
            outside.append(rest[:fence])
        rest = rest[end + fence :] if end >= 0 else rest[fence:]
    return outside


@given(st.text(alphabet=st.sampled_from("a` \\")))
def test_inline_code_ends_where_it_should(text: str) -> None:
    made = code(text)

    assert "".join(outside_of_code(made)).strip() == ""


def test_a_component_key_has_no_two_underscores_in_a_row() -> None:
    assert component_key("kernel-0/0.cpp_fused__softmax____x_0") == "kernel-0/0.cpp_fused_-_softmax_-_-_-_x_0"


def test_code_is_cut_into_coloured_runs() -> None:
    assert token_runs("def f():\n    return '1'", "python") == (
        (("k", "def "), ("f", "f"), ("o", "():")),
        (("", "    "), ("k", "return "), ("s", "'1'")),
    )


def test_code_of_an_unknown_language_is_text() -> None:
    assert token_runs(f"{IMAGE}\n", "no such language") == ((("", IMAGE),), ())


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
        "flame": flame_chart(report.phases, on),
        "steady": steady_chart(found, on),
        "break-even": break_even_chart(found, 1.0, (900, 1_100), on),
        "samples": samples_chart(report.timing.eager_s, report.timing.compiled_s, 4, on),
        "calls": first_calls_chart(report.calls, on),
    }

    assert {name: axis_titles(figure) for name, figure in figures.items()} == {
        "flame": ("seconds since the first phase", None),
        "steady": ("time per call (ms), median; error bars are quartiles", None),
        "break-even": ("calls", "total time (s)"),
        "samples": ("pair of samples, in the order taken", "time per call (ms)"),
        "calls": (None, "time (s), log"),
    }


def axis_titles(figure: Figure) -> tuple[str | None, str | None]:
    return figure.layout.xaxis.title.text, figure.layout.yaxis.title.text


def test_names_of_phases_are_no_links_in_a_chart() -> None:
    name = '<a href="http://evil.example">compile</a>'
    (bars,) = flame_chart((Phase(name, "0/0", 0.0, 1e6, 0),), "light").data
    shown = "&lt;a href=&quot;http://evil.example&quot;&gt;compile&lt;/a&gt;"
    assert (bars.text[0], bars.customdata[0][0]) == (shown, shown)


def test_figures_of_nothing_are_no_error() -> None:
    assert len(flame_chart((), "light").data) == 0
    assert len(first_calls_chart((), "light").data) == 2
    assert len(first_calls_chart((Call(0, "", 0.0, 0.0, ()),), "light").data[0].x) == 1


def test_the_verdict_in_chips(report: Report) -> None:
    found = [(chip.value, chip.label, chip.tone, chip.page) for chip in verdict_chips(verdict(report))]

    assert found == [
        ("1", "graph", "", menu.FX_GRAPH.script),
        ("0", "graph breaks", "ok", menu.GRAPH_BREAKS.script),
        ("0", "recompiles", "ok", menu.RECOMPILES.script),
        ("26 → 6", "ops → kernels", "", menu.KERNELS.script),
        ("−12.3 %", "memory traffic", "", menu.FUSION.script),
        ("same", "result", "ok", menu.SPEEDUP.script),
    ]


def test_the_findings_lead_to_the_pages_that_show_them(report: Report) -> None:
    found = {page.script: text for page, text in _lines(report)}

    assert list(found) == [
        menu.GUARDS.script,
        menu.FX_GRAPH.script,
        menu.FUSION.script,
        menu.KERNELS.script,
        menu.COMPILE_TIME.script,
    ]
    assert found[menu.FUSION.script] == "16 scheduler nodes became 10, 12.3 % less memory traffic"


def echo() -> None:
    """A page that hands the selection back as it came, by way of the URL."""
    import streamlit as st

    from core.graph import GraphModel, Node
    from pages.components.graph.store import stored
    from pages.components.graph.view import drawn, graph_view

    nodes = (Node("n:a", "a", "", "view", -1), Node("n:b", "b", "", "view", -1))
    graph = drawn(stored(GraphModel(nodes, ())))
    chosen = graph_view(graph, key="graph", selected=st.query_params.get("select"), frame=2)
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
