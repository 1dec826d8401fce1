"""Compile ids that come again after torch.compiler.reset are compilations of their own."""

from collections import Counter
from pathlib import Path

import pytest

from core import build_report
from core.report import Report
from tests.support.places import TRACES


def twice(path: Path, scenario: str) -> tuple[Report, Report]:
    """The report of a log, and of the same log written twice."""
    log = (TRACES / scenario / "trace.log").read_bytes()
    (path / "trace.log").write_bytes(log + log)
    return build_report(TRACES / scenario / "trace.log"), build_report(path / "trace.log")


@pytest.mark.parametrize("scenario", ["transformer_block", "recompile_zoo", "training_step", "error"])
def test_each_compilation_is_there_twice_with_the_same_parts(tmp_path: Path, scenario: str) -> None:
    once, both = twice(tmp_path, scenario)
    ids = [compilation.id for compilation in once.compilations]
    assert sorted(compilation.id for compilation in both.compilations) == sorted([*ids, *(f"2:{each}" for each in ids)])
    for compilation in once.compilations:
        other = both.compilation(f"2:{compilation.id}")
        assert other is not None
        for part in ("status", "attempts", "guard_leaves", "graph_op_count"):
            assert getattr(other, part) == getattr(compilation, part)
        for parts in ("graphs", "kernels", "guards", "schedules"):
            assert len(getattr(other, parts)) == len(getattr(compilation, parts))
    phases, twice_as_many = (Counter(phase.compilation for phase in report.phases) for report in (once, both))
    again = {f"2:{each}": count for each, count in phases.items() if each}
    assert twice_as_many == {**phases, "": 2 * phases[""], **again} if "" in phases else {**phases, **again}


def test_a_recompile_after_a_reset_is_that_of_its_own_frame(tmp_path: Path) -> None:
    once, both = twice(tmp_path, "recompile_zoo")
    pairs = {(each.failed, each.compilation) for each in once.recompiles}
    assert {(each.failed, each.compilation) for each in both.recompiles} == pairs | {
        (f"2:{failed}", f"2:{compilation}") for failed, compilation in pairs
    }
