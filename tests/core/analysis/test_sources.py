"""What only the sources of kernels tell, read from the log."""

from dataclasses import replace

import pytest

from core import load_text
from core.analysis.comparison.kernels import counterpart, kernel_ledger, opposite, side_of
from core.analysis.kernels.ledger import ledger
from core.report import Compilation, Payload, Report
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.timed import GELU, ITEM, MM, REPORT

LOG = TRACES / "transformer_block" / "trace.log"


def read(payload: Payload) -> str:
    return load_text(LOG, payload)


@pytest.fixture(scope="module")
def report() -> Report:
    return recorded_report(LOG)


@pytest.fixture(scope="module")
def compilation(report: Report) -> Compilation:
    return next(compilation for compilation in report.compilations if compilation.kernels)


def test_the_ledger_has_the_facts_of_every_generated_loop(report: Report, compilation: Compilation) -> None:
    rows = kernel_ledger(report, compilation, read)
    assert {row.language for row in rows if row.cpp} == {"cpp"}
    assert all(row.cpp and row.cpp.loops for row in rows if row.language == "cpp")
    assert tuple(replace(row, cpp=None) for row in rows) == ledger(report, compilation)


def test_a_side_of_a_comparison_holds_the_sources_of_generated_kernels(
    report: Report, compilation: Compilation
) -> None:
    side = side_of(report, compilation, read)
    assert set(side.code) == {kernel.id for kernel in compilation.kernels if not kernel.extern}
    assert all("cpp_pybinding" in text for text in side.code.values())


def test_opposite_to_a_compilation_stands_the_same_or_the_first_with_kernels(
    report: Report, compilation: Compilation
) -> None:
    assert opposite(report, compilation) is compilation
    assert opposite(report, replace(compilation, id="7/3")) is compilation
    assert opposite(replace(report, compilations=(replace(compilation, kernels=()),)), compilation) is None


def test_a_kernels_counterpart_is_that_of_the_same_nodes_in_another_run() -> None:
    other = replace(GELU, id="0/0.inference.cpp_fused_gelu_7", name="cpp_fused_gelu_7")
    there = replace(REPORT, compilations=(replace(ITEM, kernels=(MM, other)),))
    assert counterpart(GELU, ITEM, there) == other
    assert counterpart(GELU, ITEM, replace(REPORT, compilations=(replace(ITEM, kernels=()),))) is None
    assert counterpart(replace(GELU, id="gone"), ITEM, there) is None
