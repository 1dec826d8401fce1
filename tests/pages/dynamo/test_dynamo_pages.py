"""Recompiles, guards with their costs, and dynamic shapes, on recorded runs."""

from pathlib import Path

from core import CompileJob, CompileOptions, Model
from core.analysis.durations import compile_seconds
from core.base.words import duration_s
from pages import menu
from tests.support.apps import assert_sound, component, opened, read_words, titles, words
from tests.support.homes import add_run, add_scenario
from tests.support.logs import recorded_report
from tests.support.places import TRACES

SECONDS = compile_seconds(recorded_report(TRACES / "recompile_zoo" / "trace.log"))


def test_the_tree_shows_guard_values_call_and_time_of_each_recompile(runs: dict[str, str]) -> None:
    app = opened(menu.RECOMPILES.script, runs["recompile_zoo"], compilation="0/3")
    assert_sound(app)
    frame = component(app, "lineage-0")
    recompile_s = sum(SECONDS[f"0/{number}"] for number in range(1, 9))
    told = f"model.py:24 · 9 compilations; recompiling took {duration_s(recompile_s)}"
    assert (frame["name"], frame["told"]) == ("Zoo.forward", told)
    assert [(row["id"], row["depth"], row["because"]) for row in frame["rows"][:3]] == [
        ("0/0", 0, ""),
        ("0/1", 1, "tensor 'x' size mismatch at index 0"),
        ("0/2", 2, "power == 2"),
    ]
    assert [(row["old"], row["new"], row["call"], row["took"]) for row in frame["rows"][1:3]] == [
        ("8", "12", "1", duration_s(SECONDS["0/1"])),
        ("2", "3", "2", duration_s(SECONDS["0/2"])),
    ]
    assert (frame["rows"][8]["failed"], frame["rows"][8]["calls"]) == (True, "        f")
    assert frame["chosen"] == "0/3"


def test_the_shown_recompile_is_told_in_full_and_each_older_reason_once(runs: dict[str, str]) -> None:
    app = opened(menu.RECOMPILES.script, runs["recompile_zoo"], compilation="0/5")
    told = words(app)
    assert_sound(app)
    assert f"**\\[0/4\\] → \\[0/5\\]** took {duration_s(SECONDS['0/5'])}" in told
    assert app.code[0].value == "tensor 'x' requires_grad mismatch. expected requires_grad=0"
    assert "expected `requires_grad=0` · got `requires_grad=1` · call 5 with" in told
    assert "[0/3], [0/0] `tensor 'x' dtype mismatch. expected Float, actual Double`" in told.replace("\\", "")
    links = {link.proto.label: link.proto.query_string for link in app.get("page_link")}
    assert "compilation=0%2F4" in links["Guards of \\[0/4\\]"]
    assert "guard=L%5B%27x%27%5D" in links["Guards of \\[0/4\\]"]
    assert "compilation=0%2F5" in links["Graph of \\[0/5\\]"]


def test_without_a_choice_the_guard_that_failed_most_often_is_told(empty_home: Path) -> None:
    log = (TRACES / "recompile_zoo" / "trace.log").read_bytes()
    counted = log.replace(b"power == 2", b"scale == 7")
    assert counted != log
    run = add_run(empty_home, "counter", counted).id
    app = opened(menu.RECOMPILES.script, run)
    assert_sound(app)
    scales = [row["id"] for row in component(app, "lineage-0")["rows"] if row["because"].startswith("scale")]
    assert len(scales) > 1
    assert component(app, "lineage-0")["chosen"] == scales[-1]


def test_a_recompile_that_is_picked_is_told_also_where_it_is_the_heaviest_compilation(runs: dict[str, str]) -> None:
    app = opened(menu.RECOMPILES.script, runs["symbols"], compilation="0/1", select="0/1")
    assert_sound(app)
    assert component(app, "lineage-0")["chosen"] == "0/1"
    assert [row["calls"] for row in component(app, "lineage-0")["rows"]] == ["c u ", " c u"]


def test_what_guards_take_and_what_filters_would_spare_is_shown(runs: dict[str, str]) -> None:
    app = opened(menu.GUARDS.script, runs["symbols"], compilation="0/0")
    assert_sound(app)
    families, filters, guards = (table.value for table in app.dataframe)
    assert set(families["family"]) == {"Tensor", "Shape", "Global", "Other"}
    assert abs(families["share"].sum() - 100) < 1
    assert list(filters["torch.compiler.…"]) == [
        "skip_guard_on_inbuilt_nn_modules_unsafe",
        "skip_guard_on_all_nn_modules_unsafe",
        "skip_guard_on_globals_unsafe",
        "keep_tensor_guards_unsafe",
    ]
    assert guards["check"].notna().sum() > len(guards) / 2


def test_a_run_that_did_not_time_its_guards_says_so(empty_home: Path) -> None:
    log = (TRACES / "recompile_zoo" / "trace.log").read_bytes()
    for name in (b'"families_us"', b'"filters"', b'"checks_us"'):
        log = log.replace(name, b'"another"')
    app = opened(menu.GUARDS.script, add_run(empty_home, "untimed", log).id)
    assert "The time that a `guard_filter_fn` saves was not recorded." in read_words(app)
    assert "The check time of single guards was not recorded." in read_words(app)
    assert "check" not in app.dataframe[-1].value


def test_a_symbol_is_told_with_its_conditions_and_what_fixed_it(runs: dict[str, str]) -> None:
    app = opened(menu.DYNAMIC_SHAPES.script, runs["symbols"], compilation="0/0", select="s17")
    told = read_words(app)
    assert_sound(app)
    assert "`s17` is `L['y'].size()[0]`: hint `5`, range `[2, int_oo]`" in told
    assert "Specialized to the constant `5`: `range_refined_to_singleton`" in told
    assert "`Eq(s17, 5)` for `if y.shape[0] == 5:` at `model.py:12`" in told


def test_an_unbacked_symbol_is_told_apart(runs: dict[str, str]) -> None:
    app = opened(menu.DYNAMIC_SHAPES.script, runs["symbols"], compilation="0/0", select="u0")
    table = app.dataframe[0].value
    assert list(table[table["symbol"] == "u0"]["stands for"]) == ["data-dependent (unbacked)"]
    assert "`u0` is unbacked: a data-dependent number, range `[" in read_words(app)


def test_without_a_symbol_the_same_job_with_dynamic_sizes_can_be_tried(
    empty_home: Path, submitted: list[CompileJob]
) -> None:
    app = opened(menu.DYNAMIC_SHAPES.script, add_scenario(empty_home, "transformer_block"))
    (button,) = app.button
    button.click().run()
    assert_sound(app)
    assert submitted == [
        CompileJob(
            Model("sample", "transformer_block"),
            training=False,
            measure=False,
            compile=CompileOptions(dynamic=True),
        )
    ]


def test_a_compilation_without_a_symbol_leads_to_those_that_have_some(runs: dict[str, str]) -> None:
    app = opened(menu.DYNAMIC_SHAPES.script, runs["recompile_zoo"], compilation="0/0")
    assert titles(app) == ["No size of \\[0/0\\] is dynamic"]
    labels = [link.proto.label.replace("\\", "") for link in app.get("page_link")]
    (found,) = [label for label in labels if label.startswith("[0/1]")]
    assert found.endswith("1 symbol")


def test_a_log_from_elsewhere_offers_no_job(runs: dict[str, str]) -> None:
    app = opened(menu.DYNAMIC_SHAPES.script, runs["foreign"])
    assert_sound(app)
    assert list(app.button) == []
    assert "`torch.compile(model, dynamic=True)` makes sizes and numbers dynamic from the start." in read_words(app)
