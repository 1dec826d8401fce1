"""Every sample, compiled once for all the tests that ask about it, with a witness of what torch had in its hands."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core import CompileJob, LocalEngine, Model, Runner, Store, open_graph, open_report, samples
from core.report import Report
from tests.live.witness import WITNESS, Both, Seen
from tests.support.homes import CACHE
from tests.support.sample import one_in

SAMPLES = [sample.name for sample in samples()]


@pytest.fixture(scope="session", params=one_in(6, SAMPLES))
def both(request: pytest.FixtureRequest, engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """One run of one sample with the witness at work, which all tests of samples ask."""
    return witnessed(request.param, engine, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="session", params=one_in(2, ["training_step", "transformer_block"]))
def trained(request: pytest.FixtureRequest, engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """The same of a sample that is trained, in one graph of forward and backward."""
    return witnessed(request.param, engine, tmp_path_factory.mktemp("trained"), training=True)


def witnessed(name: str, engine: LocalEngine, home: Path, **fields: object) -> Both:
    """Run a sample with the witness at work."""
    sample = next(item for item in samples() if item.name == name)
    code = f"WITNESS = {str(home / 'witness')!r}\n{WITNESS}\n{sample.path.read_text()}"
    runner = Runner(Store(home), engine)
    job = CompileJob(Model("code", code), measure=False, **fields)  # type: ignore[arg-type]
    run = runner.wait(runner.submit(job))
    assert run.status().state == "done", run.output_tail()
    report: Report = open_report(run)
    graphs = [(compilation, graph) for compilation in report.compilations for graph in compilation.lowered_graphs]
    ours = [
        open_graph(run, compilation, graph)
        for compilation, graph in sorted(graphs, key=lambda pair: pair[1].payload.offset)
    ]
    passes = home / "witness.passes"
    changed = passes.read_text().splitlines() if passes.exists() else []
    return Both(_seen(home / "witness"), ours, changed, report, run)


@pytest.fixture
def commands_here(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that are called in this process use its fork server, and leave it running."""
    monkeypatch.setattr(engine, "close", lambda: None)
    monkeypatch.setattr("core.commands.run.open_engine", lambda *_, **__: engine)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    """A runner with a fork server of its own, which may be harmed; the last test of a file may close its engine."""
    engine = LocalEngine(CACHE)
    yield Runner(Store(tmp_path_factory.mktemp("alone")), engine)
    engine.close()


def _seen(path: Path) -> list[list[Seen]]:
    lines = path.read_text().splitlines()
    return [
        [
            Seen(name, op, None if shape is None else tuple(shape), tuple(line) if line else None, "".join(module))
            for name, op, shape, line, module in json.loads(line_of_graph)
        ]
        for line_of_graph in lines
    ]
