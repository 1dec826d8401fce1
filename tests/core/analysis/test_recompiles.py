"""The lineage of frames that were compiled more than once."""

from core import build_report
from core.analysis import lineage
from tests.support.homes import TRACES


def test_compilations_are_grouped_by_the_frame_that_was_compiled_again() -> None:
    report = build_report(TRACES / "recompile_zoo" / "trace.log")
    again = {item.compilation for item in report.recompiles}
    found = lineage(report)
    assert {compilation.id for compilations in found for compilation in compilations[1:]} == again
    assert all(len({compilation.id.partition("/")[0] for compilation in compilations}) == 1 for compilations in found)


def test_a_run_without_a_recompile_has_no_lineage() -> None:
    assert lineage(build_report(TRACES / "training_step" / "trace.log")) == ()
