"""What graph breaks cost, and what PyTorch's registry says of them."""

from importlib.metadata import version
from pathlib import Path

import pytest

from core import build_report
from core.analysis.dynamo.costs import break_costs
from core.analysis.registry import graph_break_registry
from core.report import Frame
from docs.make.graph_break_registry import PAGE, text
from tests.support.logs import recorded_report
from tests.support.places import TRACES


def test_each_break_of_the_zoo_has_the_compilations_that_it_made_and_each_is_made_by_one() -> None:
    report = recorded_report(TRACES / "graph_break_zoo" / "trace.log")
    costs = {cost.graph_break.registry_id: cost for cost in break_costs(report)}
    assert {name: [item.id for item in cost.compilations] for name, cost in costs.items()} == {
        "GB0059": ["1/0", "2/0", "3/0"],
        "GB0170": ["4/0", "5/0", "6/0"],
        "GB0124": ["7/0", "8/0", "9/0"],
        "GB0036": ["10/0", "11/0", "12/0"],
        "GB0007": ["13/0", "14/0"],
    }


def test_the_dearest_break_comes_first() -> None:
    seconds = [cost.dynamo_s for cost in break_costs(recorded_report(TRACES / "graph_break_zoo" / "trace.log"))]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[-1] > 0


@pytest.mark.parametrize("path", sorted(TRACES.glob("*/trace.log")), ids=lambda path: path.parent.name)
def test_no_stack_has_frames_of_the_worker(path: Path) -> None:
    report = build_report(path)
    stacks = [*(item.stack for item in report.compilations), *(found.stack for found in report.graph_breaks)]
    assert [frame for stack in stacks for frame in stack if "core/worker/" in frame.file] == []


def test_what_is_left_of_a_stack_begins_in_the_users_file() -> None:
    found = recorded_report(TRACES / "graph_break_zoo" / "trace.log").graph_breaks[0]
    assert found.stack == (
        Frame("/compileboard/run/model.py", 46, "model", "x = look(x)"),
        Frame(
            "/compileboard/run/model.py",
            20,
            "look",
            'print("mean", y.mean())  # printing a value that is known only when the graph runs',
        ),
    )


def test_the_registry_knows_what_was_recorded_under_torchs_name_of_it() -> None:
    for name in ("graph_break_zoo", "foreign"):
        for found in recorded_report(TRACES / name / "trace.log").graph_breaks:
            assert graph_break_registry().entries[found.registry_id].type == found.reason
    assert len(graph_break_registry().entries) > 500
    assert "Redistribution and use in source and binary forms" in graph_break_registry().origin.licence


@pytest.mark.torch
@pytest.mark.skipif(version("torch") != graph_break_registry().origin.version, reason="another torch is installed")
def test_the_registry_is_what_its_script_makes_of_the_torch_that_it_names() -> None:
    assert PAGE.read_text(encoding="utf-8") == text()
