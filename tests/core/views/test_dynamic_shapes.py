"""Symbols of dynamic shapes in words and rows."""

from core import CompileJob, CompileOptions, Model, build_report
from core.views.dynamic_shapes import SymbolsView
from tests.support.places import TRACES


def symbols_of(name: str, compile_id: str, job: CompileJob | None = None) -> SymbolsView:
    report = build_report(TRACES / name / "trace.log")
    compilation = report.compilation(compile_id)
    assert compilation is not None
    return SymbolsView(report, compilation, job)


def test_a_symbol_has_its_values_its_conditions_and_the_constant_that_it_was_made() -> None:
    details = symbols_of("symbols", "0/0").details("s17")
    assert details.heading == "**`s17`** is `L['y'].size()[0]`: `5` at first, in `[2, int_oo]`"
    assert [sentence for sentence, _ in details.constants] == [
        "Specialized to the constant `5`: `range_refined_to_singleton`"
    ]
    assert "`Eq(s17, 5)` for `if y.shape[0] == 5:` at `model.py:12`" in details.needs


def test_rows_have_all_symbols_and_an_unknown_name_shows_the_first() -> None:
    symbols = symbols_of("symbols", "0/0")
    assert [row["symbol"] for row in symbols.rows] == symbols.names
    assert symbols.details("no such symbol") == symbols.details(symbols.names[0])


def test_without_a_symbol_compilations_with_symbols_are_named() -> None:
    symbols = symbols_of("recompile_zoo", "0/0")
    assert symbols.title == "No size of [0/0] is dynamic."
    assert next(iter(symbols.with_symbols.values())).endswith("1 symbol")


def test_the_reason_why_there_is_none_depends_on_the_job() -> None:
    dynamic = CompileJob(Model("sample", "mlp"), compile=CompileOptions(dynamic=True))
    reasons = [symbols_of("recompile_zoo", "0/0", job).why_none for job in (dynamic, None)]
    assert reasons[0] == "This run has `dynamic=True`, but no size of this compilation could be dynamic."
    assert reasons[1].endswith("`torch.compile(model, dynamic=True)` makes them dynamic from the start.")
