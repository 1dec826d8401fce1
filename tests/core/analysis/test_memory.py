"""Memory in words: which side takes more, where the peaks are, and the plan of a recorded training step."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core import load_text
from core.analysis.memory import (
    AliveRow,
    alive_rows,
    graph_plans,
    memory_ratio,
    place_of_peak,
)
from core.report import MemoryPlace, MemoryUse, Payload, Report, Setting
from core.views.memory import memory_sentence, memory_unmeasured, plan_sentence
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.remembered import COMPILED, EAGER

FAILED = MemoryUse("compiled", reason="ValueError: no")


def report(*uses: MemoryUse) -> Report:
    return Report(Setting(), memory=uses)


@pytest.mark.parametrize(
    ("compiled", "said"),
    [
        (COMPILED, "Compiled takes 3.00× less memory: 4.00 kB at its peak, eager 12.0 kB."),
        (
            replace(COMPILED, peak_bytes=24_000),
            "Compiled takes 2.00× more memory: 24.0 kB at its peak, eager 12.0 kB.",
        ),
        (replace(COMPILED, peak_bytes=12_000), "Compiled takes as much memory as eager: 12.0 kB at the peak."),
        (
            replace(COMPILED, peak_bytes=12_010),
            "Compiled takes about as much memory as eager: 12.0 kB at its peak, eager 12.0 kB.",
        ),
        (replace(COMPILED, peak_bytes=0), "Compiled takes 0 B at its peak, eager 12.0 kB."),
        (
            replace(COMPILED, device="cuda", peak_bytes=0),
            "The compiled call allocated nothing: it replays a CUDA graph in memory reserved when the graph was "
            "recorded, and the size of that memory was not recorded; eager takes 12.0 kB at its peak.",
        ),
        (FAILED, "The memory of compiled was not measured."),
    ],
)
def test_the_sentence_says_which_side_takes_less(compiled: MemoryUse, said: str) -> None:
    assert memory_sentence(report(EAGER, compiled)) == said


def test_without_memory_there_is_no_sentence() -> None:
    assert (memory_sentence(report()), memory_ratio(report(EAGER, FAILED))) == ("", None)
    assert memory_unmeasured(report(EAGER, FAILED)) == ("compiled: ValueError: no",)


def test_a_peak_has_its_place_and_what_was_alive_its_kernel() -> None:
    compiled = recorded_report(TRACES / "transformer_block" / "trace.log").compilations[0]
    own = compiled.kernels[0]
    line = own.call_lines[0]
    use = replace(COMPILED, places=(MemoryPlace(own.name, line, 0),), codes=(own.output_code.offset,))
    found = replace(report(EAGER, use), compilations=(compiled,))

    assert place_of_peak(EAGER) == MemoryPlace("aten::add", 5, module="head")
    assert alive_rows(found)[0] == AliveRow("eager", "head · aten::add", EAGER.places[2], 1, 4_000)
    assert alive_rows(found)[-1] == AliveRow(
        "compiled", "norm1 · layer_norm", use.places[0], 1, 4_000, own.id, compiled.id
    )


def test_the_plan_of_a_training_step_begins_its_backward_with_what_the_forward_keeps() -> None:
    log = TRACES / "training_step" / "trace.log"
    forward, backward = graph_plans(recorded_report(log).compilations[0], reader(log))

    assert [plan.title for plan in (forward, backward)] == ["forward", "backward"]
    assert plan_sentence(forward) == (
        "167 kB in 11 allocations; 4 buffers reuse 772 B of allocated memory; peak 167 kB"
    )
    kept = {memory.names[0]: memory.bytes for memory in backward.plan.made("saved")}
    left = sum(memory.bytes or 0 for memory in forward.plan.memories if memory.returned)
    loss = 4
    assert sum(size or 0 for size in kept.values()) == left - loss
    assert [step.live_bytes for step in backward.plan.steps][-1] == 241_704


def reader(log: Path) -> Callable[[Payload], str]:
    return lambda payload: load_text(log, payload)
