"""Titles: the worst fact in at most 20 words and four lines of a phone, whatever a run recorded."""

import random
from dataclasses import replace
from typing import Any

import pytest
from PIL import ImageFont

from core.analysis.comparison.run import compare_runs
from core.analysis.verdict import verdict
from core.report import (
    Accuracy,
    Call,
    CallNumerics,
    Compilation,
    Difference,
    Frame,
    GraphBreak,
    Load,
    Place,
    Recompile,
    Report,
    ResultAccuracy,
    RunError,
    Setting,
    SideTimes,
)
from core.runs.status import Status
from core.sweep.presets import PRESETS
from core.views.blocks import spans, words
from core.views.comparison import comparison_sentence, differences_line
from core.views.header import report_facts
from core.views.overview import OutcomeView
from core.views.verdict import MOST_TITLE_CHARS, MOST_TITLE_WORDS, fitted, sentence, title
from pages.look.card import TEXT_FONT
from tests.record import SCENARIOS
from tests.support.logs import recorded_report, recorded_side
from tests.support.places import TRACES
from tests.support.reports.findings import FIRES, frame

REPORTS = 200
TEXTS = (
    "off",
    "a message of very many words that describes in detail what went wrong " * 4,
    "a_rather_long_attribute_name_" * 6,
    "expected `"
    + "AbstractName_" * 7
    + "` in `self.layers[0].attention.projection.weight`; see the documentation for more " * 2,
    "two\nlines: (and [many` odd \x07 signs) .",
)
# A phone of 390 px without the page's margins, and a title of 1.4 rem of 14 px.
PHONE_PX, FONT_PX, MOST_LINES = 350, 19.6, 4


class Reports:
    """Reports with random facts: errors, results, failures, breaks, recompiles and times."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def some(self, *values: Any) -> Any:
        return self.rng.choice(values)

    def report(self) -> Report:
        compilations = tuple(self.compilation(at) for at in range(self.rng.randrange(5)))
        breaks = tuple(self.graph_break(each) for each in compilations if self.some(True, False))
        recompiles = tuple(Recompile(each.id, "0/0", self.text()) for each in compilations if self.some(True, False))
        return Report(
            Setting(job=self.some(None, {})),
            compilations,
            graph_breaks=breaks,
            recompiles=recompiles,
            calls=tuple(self.call(at) for at in range(self.rng.randrange(4))),
            call_numerics=self.some((), (self.numerics(),)),
            timing=self.some(None, self.timing()),
            error=self.some(None, None, None, self.error()),
            break_record=self.some("complete", "lower bound", "none"),
            records_lost=self.some(False, False, True),
            kinds=self.some({}, {"dynamo_start": 1}),
        )

    def text(self) -> str:
        return str(self.some(*TEXTS))

    def compilation(self, at: int) -> Compilation:
        error = {"error": self.text(), "error_type": self.some("Unsupported", "RecompileLimitExceeded", self.text())}
        status = self.some("ok", "empty", "failed")
        fields = error if status == "failed" else {}
        return frame(self.some(f"{at}/0", f"0/{at}", f"-/{at}"), self.text(), status, **fields)

    def graph_break(self, of: Compilation) -> GraphBreak:
        stack = (Frame("m.py", 3, self.text()),)
        return GraphBreak(self.text(), "", (), "", "", Place("m.py", 3), "", stack, (of.id,) * self.some(1, 9999))

    def call(self, at: int) -> Call:
        how = self.some("", "compiled", "reused", "eager", "mixed", "raised")
        return Call(at, "f32[2]", 1.0, 2.0, self.some((), (self.difference(),), (self.difference(),) * 9), how=how)

    def difference(self) -> Difference:
        kind = self.some("value", "dtype", "strides", "tree", "mutation", "Python value")
        same = self.some(True, False, None)
        return Difference(self.text(), same, kind, self.text(), self.text(), "" if same is False else self.text())

    def numerics(self) -> CallNumerics:
        accuracy = Accuracy("float32", 8, self.some(None, 1e-8), self.some(None, 0.453), same=self.some(True, False))
        return CallNumerics(0, (ResultAccuracy(self.text(), accuracy),))

    def timing(self) -> SideTimes:
        pairs = self.some(3, 24)
        ratio = self.some(0.001, 0.9, 1.0, 1.3, 36.6)
        noise = [1 + self.some(0.0, 0.001, 20.0) * self.rng.random() for _ in range(pairs)]
        eager, compiled = tuple(ratio * 1e-3 * each for each in noise), (1e-3,) * pairs
        walls = self.some({}, {"eager": tuple(2 * each for each in eager), "compiled": compiled})
        return SideTimes({"eager": eager, "compiled": compiled}, walls=walls, load=self.some(None, Load(0.9, 0.5)))

    def error(self) -> RunError:
        frames = self.some((), (Frame("m.py", 16, "forward"),))
        return RunError("call 0: compiled", self.some("ValueError", self.text()), "", self.text(), frames, "")


def lines_on_a_phone(text: str) -> int:
    """Return the lines that a title takes, each filled with words as a browser does."""
    font = ImageFont.truetype(str(TEXT_FONT), FONT_PX)
    font.set_variation_by_axes([650])
    lines, line = 1, ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        lines, line = (lines, longer) if not line or font.getlength(longer) <= PHONE_PX else (lines + 1, word)
        lines += int(font.getlength(word) // PHONE_PX)
    return lines


def is_title(text: str) -> bool:
    bounded = len(text.split()) <= MOST_TITLE_WORDS and len(text) <= MOST_TITLE_CHARS + len(".`…")
    return bounded and len(text) > 1 and "\n" not in text and lines_on_a_phone(text) <= MOST_LINES


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_title_of_a_recorded_run_is_short(name: str) -> None:
    report = recorded_report(TRACES / name / "trace.log")
    ending = OutcomeView(Status("failed" if report.error else "done", 0.0), report)
    assert [each for each in (sentence(verdict(report)), words(spans(ending.title))) if not is_title(each)] == []


@pytest.mark.parametrize("name", sorted(FIRES))
def test_a_title_of_a_run_with_a_finding_is_short(name: str) -> None:
    assert is_title(sentence(verdict(FIRES[name])))


def test_a_title_of_any_report_is_short_and_not_empty() -> None:
    reports = [Reports(seed).report() for seed in range(REPORTS)]
    titles = {sentence(verdict(report)) for report in reports}
    assert [each for each in titles if not is_title(each)] == []
    assert len(titles) > REPORTS // 4
    outcomes = (OutcomeView(Status("failed", 0.0), report).title for report in reports)
    assert [each for each in map(words, map(spans, outcomes)) if not is_title(each)] == []


@pytest.mark.parametrize("left", SCENARIOS)
def test_a_title_of_a_comparison_is_short(left: str) -> None:
    sides = [recorded_side(TRACES / name / "trace.log") for name in SCENARIOS]
    of_left = recorded_side(TRACES / left / "trace.log")
    titles = [comparison_sentence(compare_runs(of_left, right)) for right in sides]
    assert [each for each in titles if not is_title(each)] == []


def test_a_title_of_any_comparison_is_short() -> None:
    side = recorded_side(TRACES / "measured" / "trace.log")
    sides = [replace(side, report=Reports(seed).report()) for seed in range(REPORTS)]
    titles = [comparison_sentence(compare_runs(side, right)) for right in sides]
    assert [each for each in titles if not is_title(each)] == []


@pytest.mark.parametrize("name", PRESETS)
def test_a_question_of_a_sweep_is_a_title(name: str) -> None:
    assert title(PRESETS[name].question) == PRESETS[name].question


WRONG = Difference("output[0]", False, actual="off by 0.450")
OFF = Accuracy("float32", 8, 8.27e-8, 0.453, same=False)
NEAR = replace(OFF, compiled_error=8e-8, same=True)
BREAKS = tuple(
    GraphBreak("print", "", (), "", "", Place("m.py", line), "", (Frame("m.py", line, "f"),), ("0/0",))
    for line in range(9)
)
SLOW, FAST = (SideTimes({"eager": (2e-3 * ratio,) * 12, "compiled": (2e-3,) * 12}) for ratio in (0.5, 1.25))
OVER_LIMIT = {"error": "hit config.recompile_limit (8)", "error_type": "RecompileLimitExceeded"}


def worst_to_best() -> list[tuple[str, Report]]:
    """Titles and reports: each report lacks the worst fact of the one before it."""
    healthy = Report(Setting(job={}), (frame("0/0"),), kinds={"dynamo_start": 1}, timing=FAST)
    busy = replace(healthy, timing=replace(FAST, load=Load(0.9, 0.5)))
    broken = replace(busy, graph_breaks=BREAKS)
    slower = replace(healthy, timing=SLOW)
    breaks = replace(slower, graph_breaks=BREAKS)
    limited = replace(breaks, compilations=(frame("0/0"), frame("0/8", status="failed", **OVER_LIMIT)))
    failed = replace(limited, compilations=(*limited.compilations, frame("1/0", status="failed", error="no kernel")))
    wrong = replace(failed, calls=(Call(0, "f32[2]", 1.0, 2.0, (WRONG,)),))
    error = replace(wrong, error=RunError("call 1: eager", "ValueError", "", "no rows", (Frame("m.py", 7, "f"),), ""))
    return [
        ("Eager failed on line 7 of your code: ValueError: no rows.", error),
        ("Compiled gives other numbers in output[0]: off by 0.450.", wrong),
        ("1 compilation failed: : no kernel.", failed),
        ("1 frame is over the recompile limit.", limited),
        ("Compiled runs 2.00× slower than eager (2.00–2.00): 9 graph breaks leave 0 graphs.", breaks),
        ("Compiled runs 2.00× slower than eager (2.00–2.00).", slower),
        ("1.25× faster than eager (1.25–1.25).", healthy),
        ("9 graph breaks, 0 graphs.", broken),
        ("Speed not reliable: the machine was busy while it was measured.", busy),
    ]


@pytest.mark.parametrize(("words", "report"), worst_to_best())
def test_the_worst_fact_is_the_title(words: str, report: Report) -> None:
    assert sentence(verdict(report)) == words


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [
        (OFF, "Compiled is wrong: output[0] is off by 0.453 from float64, eager by 8.27e-8."),
        (
            NEAR,
            "Compiled differs from eager, but is as right: off by 8.00e-8 from float64, eager by 8.27e-8.",
        ),
    ],
)
def test_a_comparison_with_float64_answers_which_one_is_right(accuracy: Accuracy, words: str) -> None:
    report = Report(
        Setting(job={}),
        calls=(Call(0, "f32[2]", 1.0, 2.0, (WRONG,)),),
        call_numerics=(CallNumerics(0, (ResultAccuracy("output[0]", accuracy),)),),
    )
    assert sentence(verdict(report)) == words


def test_what_a_title_leaves_out_is_a_chip() -> None:
    report = dict(worst_to_best())["1 frame is over the recompile limit."]
    assert [f"{fact.value} {fact.label}".strip() for fact in report_facts(report)] == [
        "0.500× (0.500–0.500) speedup",
        "9 graph breaks",
        "0 recompiles",
        "1 frame is over the recompile limit",
        "0 graphs",
    ]


def test_all_differences_of_a_comparison_are_below_its_title() -> None:
    zoo, error = (recorded_side(TRACES / name / "trace.log") for name in ("graph_break_zoo", "error"))
    compared = compare_runs(zoo, error)
    assert comparison_sentence(compared) == "On the right: failed while call 1: eager: ValueError."
    assert differences_line(compared) == (
        "On the right: failed while call 1: eager: ValueError, 5 graph breaks gone, 1 new graph break, 7 fewer graphs, "
        "7 fewer kernels, 87 fewer guards."
    )


def test_a_long_name_is_cut_in_the_middle_and_a_long_text_behind_a_word() -> None:
    assert fitted("layer_" * 20) == "layer_layer_l…r_layer_layer_"
    assert fitted("`one` " * 30) == "`one` " * 15 + "`one`…"
    assert fitted("a `b " + "c " * 30) == "a `b " + "c " * 17 + "c…`"
