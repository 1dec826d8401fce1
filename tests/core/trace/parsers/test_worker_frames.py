"""The worker's own frames are cut off from stacks, and no others."""

from core.report import Frame
from core.trace.parsers.draft import without_worker

MODEL = Frame("/home/me/core/model.py", 3, "model")
OURS = (
    Frame("<frozen runpy>", 88, "_run_code"),
    Frame("/srv/board/core/worker/__main__.py", 11, "<module>"),
    Frame("/srv/board/core/worker/forkserver.py", 74, "main"),
    Frame("/python/contextlib.py", 81, "inner"),
    Frame("/srv/board/core/worker/calls.py", 110, "__call__"),
)


def test_a_stack_begins_behind_the_last_frame_of_the_worker() -> None:
    assert without_worker((*OURS, MODEL, Frame("/site-packages/torch/nn/modules/module.py", 1, "call"))) == (
        MODEL,
        Frame("/site-packages/torch/nn/modules/module.py", 1, "call"),
    )


def test_a_stack_of_somebody_elses_stays_whole() -> None:
    theirs = (Frame("/home/me/core/worker/calls.py", 1, "<module>"), MODEL)
    assert without_worker(theirs) == theirs
    assert without_worker(()) == ()


def test_the_last_frame_stays_in_any_case() -> None:
    assert without_worker(OURS) == OURS[-1:]
