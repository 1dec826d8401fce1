"""Messages of a command while its runs wait, and its exit if no node can execute them."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, Model, Runner
from core.base.errors import NodeWaitError
from core.commands.main import main
from core.commands.output import NO_NODE, USAGE
from core.commands.run import NodeWatch
from core.runs.engine.opening import VARIABLE
from tests.support.cluster import NodeEngine, Nodes, nodes_below
from tests.support.engines import FakeEngine, until

JOB = CompileJob(Model("sample", "mlp"), measure=False)
AT = "workers://127.0.0.1:1"


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_below(tmp_path) as nodes:
        yield nodes


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPILEBOARD_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(VARIABLE, raising=False)
    return tmp_path


def watch_of(runner: Runner, node_wait: float, engine: str = AT) -> NodeWatch:
    return NodeWatch(runner, argparse.Namespace(node_wait=node_wait, engine=engine))


def look_until_the_end(watch: NodeWatch) -> str:
    """Return the reason why a wait has ended."""
    try:
        while True:
            watch.look()
    except NodeWaitError as error:
        return str(error)


def test_a_wait_for_a_node_is_reported_with_its_reason_and_ends(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("core.commands.run.QUIET_S", 0.0)
    runner = Runner(nodes.store(), nodes.server())
    runner.submit(replace(JOB, device="cuda"))
    nodes.add("one")
    until(lambda: runner.engine.nodes("cpu") != ())
    watch = watch_of(runner, 0.3)
    assert look_until_the_end(watch) == (
        f"no node of {AT} could execute a run on cuda:0 within 0.3 s: no node has it; the nodes have cpu; "
        "--node-wait S waits longer"
    )
    assert capsys.readouterr().err == (
        f"  waiting for a node of {AT} with cuda:0: no node has it; the nodes have cpu…\n"
    )


def test_a_node_that_stops_answering_is_named_and_so_is_its_return(
    nodes: Nodes, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = Runner(nodes.store(), nodes.server())
    runner.submit(JOB)
    until(lambda: len(engine.started) == 1)
    watch = watch_of(runner, 0.0)
    watch.look()
    nodes.transport.silent.add("one")
    until(lambda: runner.engine.silent() == ("one",))
    watch.look()
    nodes.transport.silent.clear()
    until(lambda: not runner.engine.silent())
    watch.look()
    assert capsys.readouterr().err.splitlines() == [
        "  one does not answer: a run that it has started counts as running until its time limit",
        "  one answers again",
    ]


def test_torch_that_starts_on_a_node_is_waited_for_without_a_limit(
    nodes: Nodes, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes.add("one", NodeEngine(devices={}))
    runner = Runner(nodes.store(), nodes.server())
    runner.submit(JOB)
    until(lambda: (wait := runner.stalled()) is not None and wait.starts != "")
    watch = watch_of(runner, 0.0)
    watch.look()
    watch.look()
    assert capsys.readouterr().err == f"  waiting for a node of {AT} with cpu: torch is starting on one…\n"


def test_torch_that_starts_is_reported_once(nodes: Nodes, capsys: pytest.CaptureFixture[str]) -> None:
    engine = FakeEngine(slow=JOB.seed)
    runner = Runner(nodes.store(), engine)
    runner.submit(JOB)
    until(lambda: (wait := runner.stalled()) is not None and wait.starts != "")
    watch = watch_of(runner, 0.0, "")
    watch.look()
    watch.look()
    assert capsys.readouterr().err == "  starting torch for CUDA, once…\n"
    engine.release.set()


def test_capabilities_of_nodes_are_waited_for_as_long_as_a_run(nodes: Nodes) -> None:
    watch = watch_of(Runner(nodes.store(), nodes.server()), 0.0)
    with pytest.raises(NodeWaitError, match="within 0 s: no node has answered yet"):
        watch.environment()
    nodes.add("one")
    assert "cpu" in watch_of(Runner(nodes.store(), nodes.server()), 60.0).environment().devices


@pytest.mark.parametrize("command", [("run", "mlp"), ("sweep", "mlp", "--axis", "seed=1,2")])
def test_a_command_ends_if_no_worker_comes(command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*command, "--no-measure", "--engine", "workers://127.0.0.1:0", "--node-wait", "0.5"]
    assert main(arguments) == NO_NODE
    assert "within 0.5 s: no node has answered yet; --node-wait S waits longer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("run", "mlp", "--device", "cudaa"), "torch has no device `cudaa`; did you mean cuda?"),
        (("run", "mlp", "--device", "gpu"), "torch has no device `gpu`; did you mean cuda?"),
        (("run", "mlp", "--engine", "rai://x"), "the engine is 'rai://x'; write ray://HOST:PORT, sandbox or workers"),
        (("dashboard", "--no-browser", "--engine", "rai://x"), "the engine is 'rai://x'; write ray://HOST:PORT, sand"),
    ],
)
def test_a_device_or_an_engine_that_does_not_exist_is_invalid(
    command: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(list(command)) == USAGE
    assert message in capsys.readouterr().err
