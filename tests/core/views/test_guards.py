"""Guards of a compilation in words and columns."""

from dataclasses import replace

from core.views.guards import GuardsView
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def guards_of(name: str, compile_id: str) -> GuardsView:
    report = recorded_report(TRACES / name / "trace.log")
    compilation = report.compilation(compile_id)
    assert compilation is not None
    return GuardsView(report, compilation)


def test_families_have_shares_and_check_times_where_they_were_measured() -> None:
    guards = guards_of("symbols", "0/0")
    assert {row["family"] for row in guards.family_rows} == {"Tensor", "Shape", "Global", "Other"}
    assert list(guards.family_rows[0]) == ["family", "guards", "share", "check", "recompiles"]
    untimed = replace(guards, compilation=replace(guards.compilation, guard_costs=None))
    assert list(untimed.family_rows[0]) == ["family", "guards", "recompiles"]
    assert untimed.filter_note == "The time that a `guard_filter_fn` saves was not recorded."
    assert (untimed.filter_rows, untimed.filter_code) == ([], "")


def test_a_guard_that_failed_is_first_and_names_its_recompiles() -> None:
    guards = guards_of("recompile_zoo", "0/0")
    first = guards.matches(None, "")[0]
    assert first.recompiles
    details = guards.details(first)
    assert details.failures.startswith("It failed, so torch compiled \\[0/")
    assert guards.table([first])["recompiles"] == [", ".join(f"[{name}]" for name in first.recompiles)]


def test_guards_that_mention_a_text_match() -> None:
    guards = guards_of("recompile_zoo", "0/1")
    matches = guards.matches(None, "TENSOR_MATCH")
    assert {row.guard.kind for row in matches} == {"TENSOR_MATCH"}
    assert guards.matches(None, "no such guard") == []
    assert list(guards.table([])) == ["kind", "value", "protects", "source line"]


def test_a_check_that_is_too_short_to_measure_has_a_bound() -> None:
    guards = guards_of("symbols", "0/0")
    assert [guards.check_words(seconds) for seconds in (2e-6, 5e-9, 1e-9)] == ["2.00 µs", "5.00 ns", "< 5.00 ns"]
