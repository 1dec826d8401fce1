"""The page Memory: what was measured, what was not, and the plan of what was generated."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

from core import CompileJob
from pages import menu
from tests.support.apps import assert_sound, chips, opened, read_titles, read_words
from tests.support.homes import add_run, job_of, record
from tests.support.places import TRACES
from tests.support.reports.remembered import COMPILED, EAGER, said
from tests.support.screen import arranged

LOG = (TRACES / "transformer_block" / "trace.log").read_bytes()
PLAN = "5.25 MB in 7 allocations; 8 buffers reuse 3.68 MB of allocated memory; peak 3.15 MB."


def log_of(*records: dict[str, object]) -> bytes:
    return LOG + b"".join(record("compileboard_memory", data) for data in records)


def test_memory_is_reported_with_its_peaks_and_the_plan(empty_home: Path) -> None:
    log = log_of(said(EAGER), said(COMPILED))
    run = add_run(empty_home, "measured", log, job=job_of("transformer_block"))
    app = opened(menu.MEMORY.script, run.id)

    assert_sound(app)
    assert read_titles(app) == ["Compiled takes 3.00× less memory: 4.00 kB at its peak, eager 12.0 kB"]
    assert "The resident memory of the process grew by: eager 12.3 kB, compiled 4.10 kB." in read_words(app)
    assert "Eager's peak is at `head · aten::add`, line 5, with 3 tensors alive." in read_words(app)
    assert PLAN in read_words(app)
    assert "−66.7 % peak memory" in chips(app)


def test_what_is_alive_at_a_peak_is_a_table_of_the_chosen_side(empty_home: Path) -> None:
    log = log_of(said(EAGER), said(COMPILED))
    app = opened(menu.MEMORY.script, add_run(empty_home, "measured", log, job=job_of("transformer_block")).id)
    assert app.button_group(key="alive-side").value == "eager"
    eager = len(app.dataframe[0].value)
    app.button_group(key="alive-side").set_value("compiled").run()
    assert_sound(app)
    assert (eager, len(app.dataframe[0].value)) == (len(EAGER.alive), len(COMPILED.alive))
    assert arranged(app) == ["2 × row center", "1 × row", "2 × columns 60:40 medium gap", "1 × row end"]


def test_a_selected_kernel_is_one_click_from_its_code(empty_home: Path) -> None:
    run = add_run(empty_home, "plan", LOG, job=job_of("transformer_block"))
    kernel = "0/0.inference.cpp_fused_gelu_view_2"
    of = "inductor_post_grad_graph.inference"
    for select, label, query in (
        (f"k:{kernel}", "cpp_fused_gelu_view_2 in Kernels", {"compilation": "0/0", "select": f"k:{kernel}", "of": of}),
        ("k:none", "Kernels", {"compilation": "0/0"}),
    ):
        app = opened(menu.MEMORY.script, run.id, select=select)
        assert_sound(app)
        (link,) = [link.proto for link in app.get("page_link") if link.proto.label == label]
        assert dict(parse_qsl(link.query_string)) == {"run": run.id, **query}


def test_what_could_not_be_measured_is_reported_in_the_headline(empty_home: Path) -> None:
    failed = replace(COMPILED, places=(), curve=EAGER.curve, alive=(), codes=(), reason="ValueError: <b>no</b>")
    log = log_of(said(EAGER), said(failed, curve={"at_us": [], "live_bytes": [], "places": []}))
    app = opened(menu.MEMORY.script, add_run(empty_home, "failed", log, job=job_of("transformer_block")).id)

    assert_sound(app)
    assert read_titles(app) == ["The memory of compiled was not measured"]
    assert "compiled\\: ValueError\\: \\<b\\>no\\</b\\>" in app.error[0].value


def test_a_run_without_it_can_be_measured_and_has_its_plan(submitted: list[CompileJob], empty_home: Path) -> None:
    run = add_run(empty_home, "unmeasured", LOG, job=job_of("transformer_block"))
    app = opened(menu.MEMORY.script, run.id)

    assert_sound(app)
    assert read_titles(app) == ["Memory was not measured"]
    assert PLAN in read_words(app)
    app.button(key="measure-memory").click().run()
    assert [job.memory for job in submitted] == [True]
