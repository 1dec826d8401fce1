"""The page Compile time: what its chart is sent, what ran in parallel, and that all pages have one compile time."""

from dataclasses import replace

import pytest

from core.analysis.durations import PhaseTotal, compile_seconds, compile_time_s
from core.base.words import duration_s
from core.commands.main import main
from core.report import Phase
from core.views.compile_time import MOST_SPANS, CompileTimeView, parallel_words
from pages import menu
from pages.components.flame.view import FlameSpan
from pages.look.text import LONGEST_NAME
from pages.parts.performance.charts import flame_picture
from tests.support.apps import assert_sound, component, opened, read_titles, read_words
from tests.support.logs import recorded_report
from tests.support.places import TRACES

S = 1_000_000.0
SCENARIO = TRACES / "training_step" / "trace.log"
REPORT = recorded_report(SCENARIO)
PHASES = (
    Phase("dynamo", "0/0", 5 * S, 15 * S, 0),
    Phase("compile_file", "0/0", 6 * S, 9 * S, 2, thread=1),
    Phase("async_compile.wait", "0/0", 6 * S, 12 * S, 1),
    Phase("compile_file", "0/0", 7 * S, 11 * S, 3, thread=2),
    Phase("never ended", "0/0", 14 * S, None, 1),
    Phase("dynamo", "1/0", 20 * S, 21 * S, 0),
)


def picture(compile_id: str = "") -> tuple[FlameSpan, ...]:
    return flame_picture(CompileTimeView(replace(REPORT, phases=PHASES), compile_id)).spans


def test_spans_nest_and_each_thread_has_a_row_of_its_own_below_them() -> None:
    found = flame_picture(CompileTimeView(replace(REPORT, phases=PHASES)))

    assert (found.rows, found.threads, found.length_us) == (2, 2, 16_000_000)
    assert [name.text for name in found.names] == ["dynamo", "async_compile.wait", "compile_file"]
    assert [name.links for name in found.names] == [("graph",), ("graph", "kernels"), ("graph", "kernels")]
    assert [(owner.id, owner.whole_s) for owner in found.owners] == [("0/0", 10.0), ("1/0", 1.0)]
    assert found.spans == (
        FlameSpan("p:0", 0, 0, 0, 10_000_000, 4_000_000, 0, 0),
        FlameSpan("p:2", 1, 0, 1_000_000, 6_000_000, 1_000_000, 1, 0),
        FlameSpan("p:1", 2, 0, 1_000_000, 3_000_000, 1_000_000, 2, 1),
        FlameSpan("p:3", 2, 0, 2_000_000, 4_000_000, 4_000_000, 3, 2),
        FlameSpan("p:5", 0, 1, 15_000_000, 1_000_000, 1_000_000, 0, 0),
    )


def test_one_compilation_starts_at_its_own_first_phase() -> None:
    assert picture("1/0") == (FlameSpan("p:5", 0, 0, 0, 1_000_000, 1_000_000, 0, 0),)
    assert picture("9/9") == ()


def test_a_compilation_that_was_not_recorded_leads_nowhere() -> None:
    owners = flame_picture(CompileTimeView(replace(REPORT, phases=PHASES))).owners
    assert [owner.links for owner in owners] == [("graph", "kernels"), ()]


def test_of_too_many_phases_the_longest_are_drawn_and_names_are_cut() -> None:
    many = tuple(Phase("x" * 500, "0/0", 10.0 * i, 10.0 * i + (5 if i % 2 else 9), 0) for i in range(MOST_SPANS + 10))
    found = flame_picture(CompileTimeView(replace(REPORT, phases=many)))

    assert len(found.spans) == MOST_SPANS
    assert sum(span.length_us == 9 for span in found.spans) == MOST_SPANS // 2 + 5
    assert len(found.names[0].text) == LONGEST_NAME + 1


def test_what_ran_in_parallel_is_told_with_both_its_times() -> None:
    totals = (PhaseTotal("compile_file", 7, 2.0, 2.0, 2, 3.5), PhaseTotal("wait", 1, 3.0, 1.0, 1, 3.0))
    assert parallel_words(totals, beside=True) == (
        "In parallel: `compile_file` in up to 2 threads, 3.50 s of thread time in 2.00 s of wall time. "
        "Below the dashed line: other threads."
    )
    beside = "Below the dashed line: other threads."
    assert parallel_words(totals[1:], beside=True) == beside
    assert parallel_words(totals[1:], beside=False) == ""


def test_of_many_phases_in_parallel_three_are_named_and_the_others_counted() -> None:
    totals = tuple(PhaseTotal(f"phase_{at}", 2, 2.0, 2.0, 2, 3.5) for at in range(5))
    text = parallel_words(totals, beside=False)
    assert [f"phase_{at}" in text for at in range(5)] == [True, True, True, False, False]
    assert text.endswith("; and 2 more phases. ")
    assert "more" not in parallel_words(totals[:3], beside=False)


def test_all_pages_and_the_command_line_tell_one_compile_time(
    runs: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = duration_s(compile_time_s(REPORT))
    seconds = compile_seconds(REPORT)
    page, overview = (opened(one.script, runs["training_step"]) for one in (menu.COMPILE_TIME, menu.OVERVIEW))
    main(["report", str(SCENARIO)])

    assert_sound(page)
    assert read_titles(page)[0].startswith(f"{whole} of compile time; ")
    assert f"add up to {whole}, the compile time of the run." in read_words(page)
    assert f"{whole} of compile time" in "\n".join(link.proto.label for link in overview.get("page_link"))
    table = next(item.value for item in overview.dataframe if "compile time" in item.value)
    assert list(table["compile time"]) == [seconds[item.id] for item in REPORT.compilations]
    assert f"  - {whole} of compile time; " in capsys.readouterr().out


def test_the_chosen_phase_is_in_the_url_and_a_forged_one_is_not_believed(runs: dict[str, str]) -> None:
    app = opened(menu.COMPILE_TIME.script, runs["training_step"], select="p:3")
    key = f"flame-{runs['training_step']}-"
    assert component(app, key)["initial"] == "p:3"
    for forged in ("p:99999", "p:-1", "p:x", "k:0"):
        assert_sound(opened(menu.COMPILE_TIME.script, runs["training_step"], select=forged))
