"""One HTML file of a run: what it says, that nothing in it is markup of the log, and that it is bounded."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from core.base.decoder import decoded
from core.runs.store import Run, Store
from core.runs.stored import side_of_run
from core.views.blocks import Bars, Curves, Fold, Intervals, Line, Listing, Text, TextSpan, TextTable, spans
from core.views.compare import CompareView
from core.views.comparison import RatioBar, ratio_intervals
from core.views.html import as_html, comparison_as_html
from core.views.html.page import HtmlChip, Section, Source
from core.views.html.render import page_of, page_of_comparison, render
from core.views.sharing import CardView
from tests.support.homes import add_run, add_scenario, hostile_log, job_of, measured_log

SCENARIOS = ("transformer_block", "graph_break_zoo", "recompile_zoo")
MOST_BYTES = 3_000_000
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """The elements of a file by name, with their attributes; their texts by name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        last = self.found[-1][0] if self.found else ""
        self.texts[last] = self.texts.get(last, "") + data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def run_of(home: Path, name: str) -> Run:
    return Store(home).open(add_scenario(home, name))


def test_the_sections_of_a_file_are_those_with_content(empty_home: Path) -> None:
    found = {name: [part.id for part in page_of(run_of(empty_home, name)).sections] for name in SCENARIOS}
    always = ["compilations", "guards", "compile_time", "speedup", "memory", "code", "captures", "passes"]
    inductor = ["decisions", "kernel"]
    trained = ["partition", *inductor, "dynamic_shapes"]
    assert found == {
        "transformer_block": ["findings", "graphs", "kernels", *always, *inductor, "bytecode", "missing"],
        "graph_break_zoo": ["findings", "graphs", "kernels", "graph_breaks", *always, *inductor, "bytecode", "missing"],
        "recompile_zoo": [
            *("findings", "graphs", "kernels", "graph_breaks", "recompiles"),
            *(*always, *trained, "bytecode", "missing"),
        ],
    }


def test_a_file_allows_no_request_and_names_no_address(empty_home: Path) -> None:
    elements = Elements(as_html(run_of(empty_home, "transformer_block")))
    policy = next(meta["content"] for meta in elements.named("meta") if meta.get("http-equiv"))
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-\S{44}'; style-src 'unsafe-inline'; img-src data: blob:", policy or ""
    )
    links = {value for _, attributes in elements.found for name, value in attributes.items() if name in ("src", "href")}
    assert {link for link in links if link is None or not link.startswith("#")} == set()


def test_each_graph_has_its_data_with_every_level(empty_home: Path) -> None:
    page = page_of(run_of(empty_home, "transformer_block"))
    text = as_html(run_of(empty_home, "transformer_block"))
    places = [div["id"] for div in Elements(text).named("div") if (div.get("class") or "").startswith("graph")]
    data = decoded(re.findall(r'id="graph-data">(.*?)</script>', text, re.DOTALL)[0])
    assert places == list(page.drawings) == list(data["drawings"])
    for drawing in data["drawings"].values():
        levels = {**drawing["opened"], **data["levels"][drawing["digest"]]}
        items = [item for level in (drawing["root"], *levels.values()) for item in level["items"]]
        assert {str(item["g"]) for item in items if "g" in item} == set(levels)


def test_no_text_of_a_log_is_markup(empty_home: Path) -> None:
    run = add_run(empty_home, HOSTILE, hostile_log(), kind="log")
    elements = Elements(as_html(run))
    scripts = [attributes.get("type") or "" for attributes in elements.named("script")]
    assert (scripts, elements.named("img")) == (["application/json", ""], [])
    handlers = [name for _, attributes in elements.found for name in attributes if name.startswith("on")]
    assert handlers == []


def test_a_failed_run_begins_with_the_error_and_the_users_line_and_its_code_is_open(empty_home: Path) -> None:
    page = page_of(run_of(empty_home, "error"))
    texts = ["".join(span.text for span in block.prose) for block in page.sections[0].blocks if isinstance(block, Text)]
    assert page.sections[0].id == "failure"
    assert texts == [
        "ValueError at call 1: eager.",
        'raise ValueError("at most four rows") in check at model.py:7',
    ]
    (code,) = (section for section in page.sections if section.id == "code")
    (listing,) = (block for block in code.blocks if isinstance(block, Listing))
    assert listing.is_open
    assert any("open" in fold for fold in Elements(render(replace(page, sections=(code,)))).named("details"))


def test_memory_is_drawn_in_steps(empty_home: Path) -> None:
    page = page_of(run_of(empty_home, "measured"))
    curves = Curves("Allocated bytes", "1 kB", "a call", (Line("eager", "#000", ((0, 0), (0.5, 1), (1, 0.5))),))
    memory = Section("memory", "Memory", (curves,))
    text = render(replace(page, sections=(memory,)))
    assert 'd="M0.00 39.00H50.00V1.00H100.00V20.00"' in text


def test_what_a_file_has_no_room_for_is_reported(empty_home: Path) -> None:
    run = run_of(empty_home, "transformer_block")
    source = Source.of(run)
    source.nodes_left = source.code_left = 10
    assert not source.takes_graph("[0/0] a graph", 50)
    assert source.excerpt("model.py", "x" * 25) == "x" * 10
    assert source.first("Guards", range(300), 250) == range(250)
    assert source.left_out == [
        "[0/0] a graph: a graph of 50 nodes",
        "model.py: 15 of 25 characters",
        "Guards: 50 of 300",
    ]


def test_a_run_without_a_log_says_how_it_ended(empty_home: Path) -> None:
    run = add_run(empty_home, "lost", None, state="crashed", reason="signal 9")
    page = page_of(run)
    assert (page.verdict, page.sections) == ((TextSpan("The run ended: crashed."),), ())


COMPARED = ("summary", "source", "graphs", "kernels", "guards")
TIMES = ("breaks_and_recompiles", "compile_time", "caches", "speed")
PAIRS = {
    ("transformer_block", "target_h100"): (*COMPARED, *TIMES),
    ("graph_break_zoo", "recompile_zoo"): (*COMPARED, *TIMES),
    ("error", "foreign"): (*COMPARED, *TIMES),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_file_of_two_runs_has_the_sentence_of_compare_and_is_small(empty_home: Path, pair: tuple[str, str]) -> None:
    left, right = (run_of(empty_home, name) for name in pair)
    page, text = page_of_comparison(left, right), comparison_as_html(left, right)
    compare = CompareView(side_of_run(left), side_of_run(right))
    assert (page.title, page.verdict) == (" → ".join((left.status().title, right.status().title)), spans(compare.title))
    assert tuple(part.id for part in page.sections) == PAIRS[pair]
    assert {f"#{part.id}" for part in page.sections} >= {link["href"] for link in Elements(text).named("a")}
    assert len(text.encode()) < MOST_BYTES


def test_a_file_of_two_measured_runs_has_their_speeds_with_intervals(empty_home: Path) -> None:
    job = job_of("transformer_block")
    logs = (measured_log(1e-3), measured_log(0.667e-3))
    page = page_of_comparison(*(add_run(empty_home, "transformer_block", log, job=job) for log in logs))
    assert page.chips == (HtmlChip("1.50× faster (1.42–1.58)", "", "", "speed"),)
    blocks = page.sections[-1].blocks
    bars = next(block for block in blocks if isinstance(block, Bars))
    assert [(bar.label, bar.text) for bar in bars.rows if "compiled" in bar.label] == [
        ("compiled, left", "1.00 ms"),
        ("compiled, right", "667 µs"),
    ]
    ratios = next(block for block in blocks if isinstance(block, Intervals))
    assert [(row.text, row.claim) for row in ratios.rows][-1] == ("1.50× (1.42–1.58)", True)
    assert all(0 <= row.low <= row.middle <= row.high <= 1 and ratios.mark < row.low for row in ratios.rows[-1:])


def test_a_file_of_two_runs_draws_each_graph_that_differs(empty_home: Path) -> None:
    left, right = (run_of(empty_home, name) for name in ("transformer_block", "target_h100"))
    page = page_of_comparison(left, right)
    pair = CompareView(side_of_run(left), side_of_run(right)).pairs[0]
    assert (len(page.drawings), pair.unlike_graphs()) == (3, 3)
    assert {(drawing["overlay"], drawing["frame"]) for drawing in page.drawings.values()} == {("difference", 1)}


def test_no_text_of_two_logs_is_markup(empty_home: Path) -> None:
    left, right = (add_run(empty_home, HOSTILE, hostile_log(), kind="log") for _ in range(2))
    elements = Elements(comparison_as_html(left, right))
    assert elements.named("img") == []
    assert [name for _, attributes in elements.found for name in attributes if name.startswith("on")] == []


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("2 ops", (TextSpan("2 ops"),)),
        (r"compile\_file took **6 s**, *Kernels*", (
            TextSpan("compile_file took "), TextSpan("6 s", "strong"), TextSpan(", "), TextSpan("Kernels", "em"))),
        ("at `a*b`", (TextSpan("at "), TextSpan("a*b", "code"))),
        ("`` `x` ``", (TextSpan("`x`", "code"),)),
        ("- one\n- two", (TextSpan("", "item"), TextSpan("one"), TextSpan("", "item"), TextSpan("two"))),
        (r"\<b\>", (TextSpan("<b>"),)),
    ],
)  # fmt: skip
def test_markdown_of_the_views_becomes_spans(markdown: str, expected: tuple[TextSpan, ...]) -> None:
    assert spans(markdown) == expected


def test_a_tree_of_recompiles_names_the_first_compilation_and_each_failed_guard(empty_home: Path) -> None:
    page = page_of(run_of(empty_home, "recompile_zoo"))
    (recompiles,) = (section for section in page.sections if section.id == "recompiles")
    (table,) = (block for block in recompiles.blocks if isinstance(block, TextTable))
    assert [row[:2] for row in table.rows[:3]] == [
        ("[0/0]", "first compilation"),
        ("↳ [0/1]", "tensor 'x' size mismatch at index 0"),
        ("↳ ↳ [0/2]", "power == 2"),
    ]


def test_several_compilations_are_folded_and_only_generated_kernels_have_code(empty_home: Path) -> None:
    runs = [run_of(empty_home, name) for name in ("transformer_block", "graph_break_zoo")]
    alone, several = ({part.id: part.blocks for part in page_of(run).sections} for run in runs)
    titles = [
        ["".join(span.text for span in block.title) for block in blocks["graphs"] if isinstance(block, Fold)]
        for blocks in (alone, several)
    ]
    assert (titles[0][0], titles[1][:2]) == (
        "FX graph: 17 ops: captured by Dynamo.",
        ["[1/0] look", "[2/0] look, after line 20"],
    )
    assert [block.is_open for block in several["graphs"] if isinstance(block, Fold)][:3] == [True, False, False]
    kernels = side_of_run(runs[0]).report.compilations[0].kernels
    listings = [block for block in alone["kernels"] if isinstance(block, Listing)]
    assert len(listings) == len([kernel for kernel in kernels if not kernel.extern]) < len(kernels)


def test_intervals_stand_on_an_axis_with_1_and_a_margin() -> None:
    (intervals,) = ratio_intervals(
        "Speedup", [RatioBar("all", 4.0, 2.0, 8.0, True), RatioBar("seconds", 4.0, 4.0, 4.0, False)]
    )
    (first, second) = intervals.rows
    assert [round(place, 3) for place in (intervals.mark, first.low, first.middle, first.high)] == [
        0.045,
        0.348,
        0.652,
        0.955,
    ]
    assert second.low == second.high == first.middle
    (slower,) = ratio_intervals("Speedup", [RatioBar("slower", 0.5, 0.25, 0.5, True)])
    assert round(slower.mark, 3) == 0.955


def test_a_run_without_a_log_has_a_preview_without_a_graph(empty_home: Path) -> None:
    card = CardView.of(add_run(empty_home, "lost", None, state="crashed"))
    assert (card.picture, card.sentence) == (None, "Crashed.")
