"""The launch of a run on its host: one call that delivers and starts it, at most once, and brings its first record."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.runs.engine.cluster.messages import DescribeCall, HelloCall, LaunchCall, TakeTurnCall, packed
from tests.core.runs.engine.test_cluster import JOB, ended, is_empty, runner_of, starts
from tests.support.cluster import LOG, NodeEngine, Nodes, nodes_below
from tests.support.engines import until


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_below(tmp_path) as nodes:
        yield nodes


@pytest.mark.promise("cluster")
def test_a_start_that_is_replayed_does_nothing(nodes: Nodes) -> None:
    """A repeated start message does nothing."""
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: len(engine.started) == 1)
    start = next(call for call in nodes.transport.calls if isinstance(call, LaunchCall))
    nodes.transport.call("one", packed(start), 1.0)
    engine.end(engine.started[0])
    runner.wait(run)
    until(lambda: is_empty(nodes, "one"))
    nodes.transport.call("one", packed(start), 1.0)
    assert len(engine.started) == 1


def test_two_calls_bring_the_first_record_and_further_ones_what_follows(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: (run.path / LOG).exists())
    calls = [type(call) for call in nodes.transport.calls if not isinstance(call, (HelloCall, DescribeCall))]
    assert calls[:2] == [TakeTurnCall, LaunchCall]
    assert (run.path / LOG).read_bytes() == b"first\n"
    engine.end(engine.started[0])
    assert runner.wait(run).status().state == "done"


def test_a_launch_that_is_lost_is_repeated(nodes: Nodes) -> None:
    nodes.add("one")
    runner = runner_of(nodes)
    nodes.transport.lose_launches = 1
    assert ended(runner)[1].state == "done"
    assert list(starts(nodes).values()) == [1]


def test_a_run_that_was_cancelled_before_it_came_never_starts(nodes: Nodes) -> None:
    engine = nodes.add("one")
    runner = runner_of(nodes)
    nodes.transport.lose_launches = 2**30
    run = runner.submit(JOB)
    until(lambda: run.status().state == "running")
    runner.cancel(run)
    nodes.transport.lose_launches = 0
    assert runner.wait(run).status().reason == "cancelled by the user; it had not started"
    assert (engine.started, is_empty(nodes, "one")) == ([], True)


def test_a_run_whose_server_ended_before_it_was_sent_is_interrupted_by_the_next(nodes: Nodes) -> None:
    engine = nodes.add("one")
    run = nodes.store().create(JOB)
    handle = f"direct:{nodes.transport.hosts['one'].id}"
    run.write_status(replace(run.status(), state="running", started_s=time.time(), handle=handle))
    runner_of(nodes)
    until(lambda: not run.written_status().live)
    status = run.written_status()
    assert (status.state, status.reason, engine.started) == ("interrupted", "its node does not have it", [])
