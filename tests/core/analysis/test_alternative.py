"""What is said of two calls of torch.compile that were timed in turn."""

from typing import Any

import pytest

from core.report import Alternative, Call, Difference, Load, Report, Setting, SideTimes
from core.views.verdict import alternative_sentence, call_words

FAST, SLOW = (1e-3,) * 12, (2e-3,) * 12
MODE = {"fullgraph": False, "dynamic": None, "backend": "inductor", "mode": "max-autotune", "options": None}
OWN, OTHER = "`torch.compile(model)`", "`torch.compile(model, mode='max-autotune')`"
DIFFERS = Call(0, "f32[8]", 1.0, 1.0, (Difference("output", False, actual="all zeros"),))


def of(
    compiled: tuple[float, ...] = (), rival: tuple[float, ...] = (), load: Load | None = None, **fields: Any
) -> Report:
    """A report whose job named that rival."""
    job = {"compile": {**MODE, "mode": None}}
    times = SideTimes({"compiled": compiled, "alternative": rival}, load=load) if compiled else None
    return Report(Setting(job=job), rival=Alternative(MODE, times=times, **fields))


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (of(SLOW, FAST), f"{OTHER} is 2.00× as fast as {OWN} (2.00–2.00)"),
        (of(FAST, SLOW), f"{OWN} is 2.00× as fast as {OTHER} (2.00–2.00)"),
        (of(FAST, FAST), f"no difference seen between {OWN} and {OTHER} (1.00–1.00×)"),
        (of(FAST[:3], FAST[:3]), f"too few samples to say which of {OWN} and {OTHER} is faster"),
        (
            of(SLOW, FAST, load=Load(0.0, 0.0, 0.1), calls=(DIFFERS,)),
            f"{OTHER} is 2.00× as fast as {OWN} (2.00–2.00); the machine was busy while it was measured; "
            f"{OTHER} differs from eager (output: all zeros)",
        ),
        (of(reason="RuntimeError: no"), f"{OTHER} was not timed against {OWN}: RuntimeError: no"),
        (Report(Setting()), ""),
    ],
)
def test_the_sentence_says_which_call_is_faster_if_one_is_seen_to_be(report: Report, words: str) -> None:
    assert alternative_sentence(report) == words


def test_a_call_is_written_with_what_differs_from_torchs_defaults() -> None:
    given = {"fullgraph": True, "dynamic": False, "backend": "eager", "options": {"max_autotune": True}}
    assert call_words(given) == (
        "torch.compile(model, fullgraph=True, dynamic=False, backend='eager', options={'max_autotune': True})"
    )
    assert call_words({}) == "torch.compile(model)"
    assert call_words({"backend": "mine", "backend_code": "mine = 1"}) == "torch.compile(model, backend=mine)"
