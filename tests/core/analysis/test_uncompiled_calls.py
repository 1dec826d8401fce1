"""Sentences about calls that ran no compiled code."""

from dataclasses import replace

import pytest

from core.analysis.verdict import verdict
from core.analysis.work import refused_calls, uncompiled_calls
from core.report import Call, How, Report, Setting, Status
from core.views.verdict import sentence, uncompiled_words
from tests.support.reports.findings import frame


def of(*outcomes: How) -> Report:
    """A report of calls with these outcomes."""
    raised = {"raised": "Detected recompile"}
    calls = [
        Call(index, "f32[8]", 1.0, 1.0, (), how=how, raised=raised.get(how, "")) for index, how in enumerate(outcomes)
    ]
    return Report(Setting(), calls=tuple(calls))


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (of("compiled", "reused", "reused"), ""),
        (of("", ""), ""),
        (of("eager"), "the only call ran eagerly, because no compiled code fitted it"),
        (of("compiled", "eager"), "1 of 2 calls ran eagerly, because no compiled code fitted it"),
        (
            of("compiled", "raised", "raised"),
            "2 of 3 calls raised, because the stance forbids compiling for them",
        ),
        (
            of("compiled", "mixed", "eager", "eager"),
            "2 of 4 calls ran eagerly, because no compiled code fitted them, 1 of 4 calls ran partly eagerly, "
            "because no compiled code fitted that part",
        ),
    ],
)
def test_calls_that_ran_no_compiled_code_are_counted(report: Report, words: str) -> None:
    assert uncompiled_words(uncompiled_calls(report)) == words


@pytest.mark.parametrize("status", ["failed", "empty"])
def test_without_a_compiled_graph_every_call_ran_eagerly(status: Status) -> None:
    compilations = (frame("0/0", status=status),)
    words = "ran eagerly, because no graph was compiled"
    report = replace(of("compiled", "eager"), compilations=compilations)
    assert uncompiled_words(uncompiled_calls(report)) == f"2 of 2 calls {words}"
    assert uncompiled_words(uncompiled_calls(replace(report, calls=report.calls[:1]))) == f"the only call {words}"
    assert uncompiled_words(uncompiled_calls(replace(of("eager"), compilations=(*compilations, frame("1/0"))))) == (
        "the only call ran eagerly, because no compiled code fitted it"
    )


def test_calls_that_raised_are_the_title() -> None:
    found = of("compiled", "raised")
    assert sentence(verdict(found)) == ("1 of 2 calls raised, because the stance forbids compiling for it.")
    assert [call.index for call in refused_calls(found)] == [1]
