"""A judgement as lines, Markdown, JUnit XML and annotations; none of them says more than it was told."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from core.analysis.budget import Culprit, Judgement
from core.report import Place
from core.views.sharing import BudgetView

OVER = Judgement(
    "graph breaks", "at most 0", "1", "over", culprits=(Culprit(Place("/elsewhere/model.py", 6), "call of print"),)
)
WITHIN = Judgement("kernels", "at most 9", "2", "within")
UNDECIDED = Judgement("compile time", "at most 1.00 s", "2.00 s", "undecided", "1 run")
VIEW = BudgetView("mlp", (OVER, WITHIN, UNDECIDED), "1 new graph break.")
HOSTILE = "<b>|`x`\x00\x1b[31m\n::error::100 %,:\ud800"


def test_the_title_says_how_many_limits_fail() -> None:
    assert VIEW.title == "mlp is not within its budget: 1 of 3 limits fails; 1 is undecided"
    assert BudgetView("mlp", (WITHIN,)).title == "mlp is within its budget of 1 limit"


def test_lines_are_a_table_and_then_the_reasons() -> None:
    assert VIEW.lines == [
        "mlp is not within its budget: 1 of 3 limits fails; 1 is undecided.",
        "  figure        limit           value   standing",
        "  graph breaks  at most 0       1       over",
        "  kernels       at most 9       2       within",
        "  compile time  at most 1.00 s  2.00 s  undecided",
        "graph breaks: /elsewhere/model.py:6: call of print",
        "compile time: 1 run",
        "1 new graph break.",
    ]


def test_markdown_has_the_table_and_the_lines_of_code() -> None:
    assert VIEW.markdown.splitlines() == [
        "**mlp is not within its budget\\: 1 of 3 limits fails; 1 is undecided.**",
        "",
        "| figure | limit | value | standing |",
        "|---|---|---|---|",
        "| graph breaks | at most 0 | 1 | over |",
        "| kernels | at most 9 | 2 | within |",
        "| compile time | at most 1\\.00 s | 2\\.00 s | undecided |",
        "",
        "- compile time: 1 run",
        "- graph breaks: `/elsewhere/model.py:6` call of print",
        "- 1 new graph break\\.",
    ]


def test_junit_has_a_case_for_each_limit() -> None:
    suite = ET.fromstring(VIEW.junit)
    assert suite.attrib == {"name": "mlp", "tests": "3", "failures": "1", "skipped": "1"}
    cases = [(case.get("name"), [(child.tag, child.get("message"), child.text) for child in case]) for case in suite]
    assert cases == [
        ("graph breaks", [("failure", "over: 1, at most 0", "/elsewhere/model.py:6: call of print")]),
        ("kernels", []),
        ("compile time", [("skipped", "2.00 s, at most 1.00 s: 1 run", None)]),
    ]


def test_annotations_are_at_the_lines_that_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = Judgement(
        "recompiles", "at most 0", "1", "over", culprits=(Culprit(Place(f"{tmp_path}/a/m.py", 7), "size"),)
    )
    assert BudgetView("mlp", (OVER, UNDECIDED, here)).annotations == [
        "::error file=/elsewhere/model.py,line=6,title=mlp%3A graph breaks::1, at most 0. call of print",
        "::warning title=mlp%3A compile time::2.00 s, at most 1.00 s: 1 run",
        "::error file=a/m.py,line=7,title=mlp%3A recompiles::1, at most 0. size",
    ]
    nowhere = Judgement("kernels", "at most 0", "1", "over")
    assert BudgetView("mlp", (nowhere,)).annotations == ["::error title=mlp%3A kernels::1, at most 0."]


def test_what_a_log_says_stays_text() -> None:
    culprit = Culprit(Place(HOSTILE, 1), HOSTILE)
    view = BudgetView(HOSTILE, (Judgement(HOSTILE, "at most 0", HOSTILE, "over", "", (culprit,)),))
    suite = ET.fromstring(view.junit)
    assert suite[0][0].text is not None
    assert "<b>" in suite[0][0].text
    assert len(view.annotations) == 1
    assert "\n" not in view.annotations[0]
    assert "<b>" not in view.markdown.replace("\\<b\\>", "").replace("`` <b>", "")
    assert all("\x1b" not in line and "\n" not in line for line in view.lines)
    assert view.markdown.encode()
    assert view.data["failed"] is True
