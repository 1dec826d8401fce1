"""Why a run has not started, in words."""

import time

from core.runs.engine.queues import HERE
from core.runs.people import ReachedLimit
from core.runs.runner import Wait
from core.views.progress import reached_words, starting_words, waiting_words


def test_a_queued_run_says_what_it_waits_for() -> None:
    waits = {
        Wait("cuda:0"): "Waiting for a node with cuda:0: none answers now…",
        Wait("cuda:0", "no node has it; the nodes have cpu"): (
            "Waiting for a node with cuda:0: no node has it; the nodes have cpu…"
        ),
        Wait(earlier=3): "Waiting for 3 earlier runs…",
        Wait(is_blocked=True): "Waiting for another server that measures on this device…",
        Wait(is_elsewhere=True): "Waiting in the queue of another server…",
        Wait(starts="torch for CUDA"): "Starting torch for CUDA, once…",
        Wait(starts="the node b, which does not answer"): "Waiting for the node b, which does not answer…",
        Wait(): "Starting…",
    }
    assert {wait: waiting_words(wait) for wait in waits} == waits


def test_torch_starts_here_or_on_a_node() -> None:
    assert starting_words(HERE) == "torch is starting in the background."
    assert starting_words(()) == "No node is ready yet: none has connected, or torch is starting there."


def test_a_reached_limit_says_how_much_is_used_and_when_there_is_room_again() -> None:
    until_s = time.mktime((2026, 11, 26, 14, 31, 10, 0, 0, -1))
    assert [
        reached_words(ReachedLimit("runs an hour", 20, 20, until_s)),
        reached_words(ReachedLimit("seconds an hour", 3_600, 3_600, until_s)),
        reached_words(ReachedLimit("runs at once", 4, 4)),
        reached_words(ReachedLimit("queue", 40, 40)),
    ] == [
        "20 of 20 runs an hour for one person; the next at 14:32",
        "executed 1 h 0 min of 1 h 0 min an hour for one person; the next at 14:32",
        "4 of 4 runs at once for one person",
        "40 of 40 runs in the queue of this server",
    ]
