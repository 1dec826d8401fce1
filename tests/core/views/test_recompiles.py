"""Recompiles in words and as trees."""

from dataclasses import replace

from core.analysis.dynamo.recompiles import lineages
from core.analysis.findings import findings
from core.base.words import duration_s
from core.views.blocks import Card, Fold, PageLink, Text, flat, words
from core.views.fixes import FixesView
from core.views.printed import as_text
from core.views.recompiles import RecompilesView, recompiles
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def recompiles_of(name: str) -> RecompilesView:
    return RecompilesView(recorded_report(TRACES / name / "trace.log"))


def test_a_run_without_a_recompile_says_so() -> None:
    view = recompiles_of("transformer_block")
    assert (view.count, view.title) == (0, "No recompile: the first compilation of every frame served all calls.")


def test_a_tree_has_a_row_for_each_compilation_of_its_frame() -> None:
    (tree,) = recompiles_of("recompile_zoo").trees("0/5")
    assert [row.id for row in tree.rows] == [f"0/{number}" for number in range(9)]
    assert (tree.name, tree.similar) == ("Zoo.forward", "")
    row = tree.rows[2]
    assert (row.depth, row.because, row.old, row.new, row.call) == (2, "power == 2", "2", "3", "2")


def test_the_chosen_recompile_is_described_below_the_tree_that_has_it() -> None:
    view = recompiles_of("recompile_zoo")
    fixes = FixesView("", view.report, "", None, None)
    page = [*recompiles(view.report, fixes, view.report.compilation("0/5"))]
    (card,) = (block for block in page if isinstance(block, Card))
    line = next(flat(card.blocks))
    assert isinstance(line, Text)
    assert words(line.prose).startswith("[0/4] → [0/5] took ")
    links = [block for block in flat(card.blocks) if isinstance(block, PageLink)]
    assert links[0].picks == {"guard": "L['x']", "compilation": "0/4"}
    text = "\n".join(as_text(card.blocks))
    assert "Failed guard:\n  tensor 'x' requires_grad mismatch. expected requires_grad=0\n" in text
    assert "\nexpected `requires_grad=0` · got `requires_grad=1` · call 5 with " in text
    assert view.trees("9/9")[0].shown is None


def test_other_outputs_have_every_recompile_in_full() -> None:
    report = recompiles_of("recompile_zoo").report
    page = [*recompiles(report, FixesView("", report, "", None, None))]
    cards = [block for block in flat(page) if isinstance(block, Card)]
    folds = [words(block.title) for block in flat(page) if isinstance(block, Fold)]
    texts = [*folds, *("\n".join(as_text(card.blocks)) for card in cards)]
    assert sorted(text.partition(" took ")[0] for text in texts) == [
        *(f"[0/{place}] → [0/{place + 1}]" for place in range(7)),
        "[0/7] → [0/8]",
    ]


def test_a_compilation_that_the_visitor_chose_comes_before_the_most_frequent_guard() -> None:
    view = recompiles_of("recompile_zoo")
    assert view.chosen(view.report.compilation("0/3"), "") == "0/3"
    heaviest = view.report.compilation(view.chosen(None, ""))
    assert heaviest is not None
    assert view.chosen(heaviest, heaviest.id) == heaviest.id


def test_the_title_has_the_seconds_of_all_recompiles() -> None:
    view = recompiles_of("recompile_zoo")
    seconds = sum(node.seconds or 0.0 for frame in lineages(view.report) for node in frame.nodes[1:])
    took = f"{duration_s(seconds)} of compile time"
    assert view.title == f"{view.count} recompiles because a guard failed (1 more attempt compiled nothing), {took}."


def test_a_log_that_begins_after_the_first_compilation_still_has_its_recompile() -> None:
    whole = recompiles_of("recompile_zoo").report
    last = next(compilation for compilation in whole.compilations[::-1] if compilation.status == "ok")
    reasons = tuple(reason for reason in whole.recompiles if reason.compilation == last.id)
    view = RecompilesView(replace(whole, compilations=(last,), recompiles=reasons))
    assert view.chosen(None, "") == last.id
    (tree,) = view.trees(last.id)
    assert [row.id for row in tree.rows] == [last.id]
    (frame,) = lineages(view.report)
    assert frame.recompile_s == frame.nodes[0].seconds
    assert view.title == f"1 recompile because a guard failed, {duration_s(frame.recompile_s)} of compile time."
    finding = next(finding for finding in findings(view.report) if finding.rule == "recompiles")
    assert finding.compilation == last.id


def test_the_link_to_the_symbols_leads_to_a_compilation_that_has_some() -> None:
    view = recompiles_of("symbols")
    linked = view.report.compilation(view.with_symbols)
    assert linked is not None
    assert linked.symbols
    without = tuple(replace(compilation, symbols=()) for compilation in view.report.compilations)
    assert RecompilesView(replace(view.report, compilations=without)).with_symbols == ""


def test_a_run_whose_compilations_all_failed_has_served_no_call() -> None:
    refused = RecompilesView(recorded_report(TRACES / "refused" / "trace.log"))
    assert refused.title == "No recompile: no frame could be compiled."
