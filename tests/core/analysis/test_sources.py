"""What only the sources of kernels tell, read from the log."""

from dataclasses import replace

import pytest

from core import build_report, load_text
from core.analysis.kernels import kernel_ledger, ledger, opposite, side_of
from core.report import Compilation, Payload, Report
from tests.support.homes import TRACES

LOG = TRACES / "transformer_block" / "trace.log"


def read(payload: Payload) -> str:
    return load_text(LOG, payload)


@pytest.fixture(scope="module")
def report() -> Report:
    return build_report(LOG)


@pytest.fixture(scope="module")
def item(report: Report) -> Compilation:
    return next(item for item in report.compilations if item.kernels)


def test_the_ledger_has_the_facts_of_every_generated_loop(report: Report, item: Compilation) -> None:
    rows = kernel_ledger(report, item, read)
    assert {row.language for row in rows if row.cpp} == {"cpp"}
    assert all(row.cpp and row.cpp.loops for row in rows if row.language == "cpp")
    assert tuple(replace(row, cpp=None) for row in rows) == ledger(report, item)


def test_a_side_of_a_comparison_holds_the_sources_of_generated_kernels(report: Report, item: Compilation) -> None:
    side = side_of(report, item, read)
    assert set(side.code) == {kernel.id for kernel in item.kernels if not kernel.extern}
    assert all("cpp_pybinding" in text for text in side.code.values())


def test_opposite_to_a_compilation_stands_the_same_or_the_first_with_kernels(report: Report, item: Compilation) -> None:
    assert opposite(report, item) is item
    assert opposite(report, replace(item, id="7/3")) is item
    assert opposite(replace(report, compilations=(replace(item, kernels=()),)), item) is None
