"""The menu: its entries and panes, old addresses, and the counts and reasons of the shown run."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core import verdict
from core.views.header import WHY_EMPTY
from pages import menu
from pages.gate.addresses import leads_to
from tests.support.apps import chips, component, opened, sound
from tests.support.homes import add_run, job_of, keeper
from tests.support.logs import recorded_report
from tests.support.pipelines import add_pipeline
from tests.support.places import TRACES

MENU = {
    "Run": ["New run", "Overview", "Runs", "Compare"],
    "Dynamo": ["Compilations", "Graph breaks", "Recompiles"],
    "Graphs": ["Graph", "Fusion", "Kernels"],
    "Performance": ["Compile time", "Faster", "Measurements"],
    "Backends": ["Backends"],
    "Learn": ["Learn"],
    "Setup": ["Setup"],
}
PANES = {
    "Overview": ["Overview", "Tour"],
    "Compare": ["Compare", "Ranks", "Targets", "Sweep"],
    "Compilations": ["Compilations", "Bytecode", "Torch's log", "Artifacts", "vLLM"],
    "Kernels": ["Kernels", "Decisions"],
    "Recompiles": ["Recompiles", "Guards", "Dynamic shapes"],
    "Graph": ["FX graph", "Captures", "Passes", "Forward and backward"],
    "Measurements": ["Speedup", "Memory", "Numerics", "Timeline"],
    "Backends": ["Backend", "Accelerator", "AOTInductor", "Neighbours"],
    "Learn": ["Exercises", "Where in torch", "Glossary"],
    "Setup": ["Options", "Doctor"],
}
OLD_ADDRESSES = (
    *("overview", "compare", "runs", "compilations", "graph_breaks", "guards", "recompiles", "dynamic_shapes"),
    *("bytecode", "fx_graph", "passes", "partition", "fusion", "kernels", "kernel", "targets", "backend", "pipeline"),
    *("aotinductor", "compile_time", "speedup", "memory", "numerics", "sweep", "faster"),
)


def marks(app: AppTest) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = component(app, "menu")["marks"]
    return found


def panes(app: AppTest) -> dict[str, str]:
    """The labels of the row of panes, each with the reason why it is grey, as Markdown."""
    names = {page.name for page in menu.PAGES.values()}
    links = [link.proto for link in app.get("page_link") if link.proto.page in names and not link.proto.icon]
    return {link.label: link.help for link in links}


def test_the_menu_has_sixteen_entries_in_seven_sections() -> None:
    sections: dict[str, list[str]] = {}
    for entry in menu.ENTRIES:
        assert {page.section for page in entry.pages} == {entry.panes[0].section}
        sections.setdefault(entry.panes[0].section, []).append(entry.title)
    assert sections == MENU
    several = {entry.title: [pane.title for pane in entry.panes] for entry in menu.ENTRIES if len(entry.panes) > 1}
    assert several == PANES
    assert [(entry.title, page.title) for entry in menu.ENTRIES for page in entry.drill_downs] == [
        ("Kernels", "One kernel")
    ]


@pytest.mark.parametrize("name", OLD_ADDRESSES)
def test_an_old_address_still_leads_to_its_page(name: str) -> None:
    page = menu.RENAMED.get(name) or menu.PAGES[name]
    assert leads_to(f"/{name}", "run=1") == (None if name == page.name else f"./{page.name}?run=1")


def test_a_pane_links_to_the_others_and_belongs_to_its_entry(runs: dict[str, str]) -> None:
    app = sound(opened(menu.GUARDS.script, runs["recompile_zoo"]))
    assert list(panes(app)) == ["Recompiles :gray[7]", "Guards", "Dynamic shapes"]
    assert component(app, "menu")["entries"]["guards"] == "recompiles"
    links = {link.proto.page: link.proto.query_string for link in app.get("page_link")}
    assert f"run={runs['recompile_zoo']}" in links["dynamic_shapes"]


def test_a_drill_down_is_in_the_row_while_it_is_open(runs: dict[str, str]) -> None:
    assert list(panes(opened(menu.KERNELS.script, runs["transformer_block"]))) == ["Kernels :gray[6]", "Decisions"]
    app = opened(menu.KERNEL.script, runs["transformer_block"])
    assert list(panes(app)) == ["Kernels :gray[6]", "Decisions", "One kernel"]


@pytest.mark.parametrize("scenario", ["graph_break_zoo", "recompile_zoo", "measured", "foreign"])
def test_counts_are_those_of_the_report_and_the_header(runs: dict[str, str], scenario: str) -> None:
    report = recorded_report(TRACES / scenario / "trace.log")
    found = verdict(report)
    app = opened(menu.RUNS.script, runs[scenario])
    counted = {name: mark["count"] for name, mark in marks(app).items() if mark["count"]}
    assert counted == {
        "compilations": str(len(report.compilations)),
        "graph_breaks": str(found.breaks),
        "recompiles": str(found.recompiles),
        "kernels": str(found.work.kernels or 0),
    }
    told = [chip.split()[0] for chip in chips(app) if chip.split()[-1].startswith(("break", "recompile"))]
    assert told == [counted["graph_breaks"], counted["recompiles"]]


def test_what_a_run_has_nothing_of_is_grey_and_says_why(runs: dict[str, str]) -> None:
    app = opened(menu.SPEEDUP.script, runs["eager_backend"])
    grey = {name: mark["reason"] for name, mark in marks(app).items() if mark["reason"]}
    assert grey == {
        "graph_breaks": "This run has no graph breaks",
        "fusion": "The backend was eager",
        "kernels": "The backend was eager",
    }
    assert list(panes(app)) == [":gray[Speedup]", ":gray[Memory]", ":gray[Numerics]", "Timeline"]
    assert panes(app)[":gray[Memory]"] == 'Memory was not measured\\: turn on "measure memory" in New run'


def test_an_entry_with_one_full_pane_is_not_grey(empty_home: Path) -> None:
    app = opened(menu.BACKEND.script, add_pipeline(empty_home).id)
    assert ":gray[AOTInductor]" in panes(app)
    assert "Accelerator" in panes(app)
    assert "backend" not in marks(app)


def test_a_run_without_a_record_has_nothing(empty_home: Path) -> None:
    app = opened(menu.RUNS.script, add_run(empty_home, "nothing", b"no record\n", kind="log").id)
    reasons = {mark["reason"] for mark in marks(app).values()}
    assert reasons == {"The run recorded nothing"}
    assert "compare" not in marks(app)


def test_without_a_run_nothing_is_counted_and_nothing_is_grey(empty_home: Path) -> None:
    app = opened(menu.GUARDS.script)
    assert marks(app) == {}
    assert panes(app) == {"Recompiles": "", "Guards": "", "Dynamic shapes": ""}


def test_a_live_run_has_counts_and_no_empty_pages(empty_home: Path) -> None:
    half = (TRACES / "graph_break_zoo" / "trace.log").read_bytes()[:200_000]
    run = add_run(empty_home, "zoo", half, job=job_of("graph_break_zoo"), state="running", **keeper())
    found = marks(opened(menu.RUNS.script, run.id))
    assert {mark["reason"] for mark in found.values()} == {""}
    assert found["compilations"]["count"] != "0"


def test_each_page_of_a_run_can_be_empty() -> None:
    needs_none = {
        menu.NEW_RUN,
        menu.OVERVIEW,
        menu.RUNS,
        menu.COMPARE,
        menu.RANKS,
        menu.SWEEP,
        menu.FASTER,
        menu.KERNEL,
        menu.EXERCISES,
        menu.OPTIONS,
        menu.DOCTOR,
        menu.LANDMARKS,
        menu.GLOSSARY,
    }
    assert set(WHY_EMPTY) == {page.name for page in menu.PAGES.values() if page not in needs_none}
