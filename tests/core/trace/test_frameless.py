"""Logs without a frame of Dynamo, or with more: what was exported, packaged and captured by autograd is shown.

The logs are of tests/frameless/script.py, run by torch 2.13 with `TORCH_TRACE`.
"""

import gzip
from pathlib import Path

import pytest

from core import Report, build_report, verdict
from core.trace.index import index_of
from core.trace.parsers.build import load_graph, outline
from core.views.verdict import outside_words
from tests.support.places import ROOT


def log_of(folder: Path, way: str) -> Path:
    log = folder / f"{way}.log"
    log.write_bytes(gzip.decompress((ROOT / "tests" / "frameless" / f"{way}.log.gz").read_bytes()))
    return log


def stages(report: Report) -> list[tuple[str, list[str]]]:
    return [
        (compilation.frame.name, [graph.stage for graph in compilation.graphs if graph.calls])
        for compilation in report.compilations
    ]


@pytest.mark.parametrize("way", ["export", "package", "autograd"])
def test_each_has_compilations_with_graphs_and_no_problem(tmp_path: Path, way: str) -> None:
    log = log_of(tmp_path, way)
    report = build_report(log, strict=True)
    assert report.problems == ()
    drawn = [load_graph(log, compilation, graph) for compilation in report.compilations for graph in compilation.graphs]
    assert drawn
    assert all(drawn)
    first = outline(index_of(log))
    assert [compilation.id for compilation in first.compilations] == [c.id for c in report.compilations]


def test_an_export_is_called_one(tmp_path: Path) -> None:
    report = build_report(log_of(tmp_path, "export"), strict=True)
    assert "export" in outside_words(verdict(report)) or any(
        "dynamo_output_graph" in names for _, names in stages(report)
    )


def test_a_package_has_kernels(tmp_path: Path) -> None:
    report = build_report(log_of(tmp_path, "package"), strict=True)
    assert "AOTInductor" in outside_words(verdict(report))
    assert sum(len(compilation.kernels) for compilation in report.compilations) > 0
