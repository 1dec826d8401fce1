"""Hosts behind a transport: runs start once, come back whole, and end whatever is lost on the way."""

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core import Axis, CompileJob, JobError, Model, Run, Runner, Status, Store, StoreError, SweepRunner, new_sweep
from core.runs.engine.cluster import host, messages
from core.runs.engine.cluster.host import Host
from core.runs.engine.cluster.messages import (
    FilesReply,
    HostFile,
    PieceReply,
    check_returned,
    packed,
    parcel_of,
    reply_of,
    unpack_files,
)
from core.runs.engine.cluster.remote import RemoteEngine
from core.runs.engine.queues import Assignment
from core.runs.runner import Wait
from core.runs.status import OWNER_ENDED
from core.runs.tools.tasks import Interpret, Task, create, tool_run
from tests.support.cluster import LOG, NodeEngine, Nodes, kill, nodes_below
from tests.support.engines import PromptEngine, until
from tests.support.same_run import tree

JOB = CompileJob(Model("sample", "mlp"), measure=False)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    with nodes_below(tmp_path) as nodes:
        yield nodes


def runner_of(nodes: Nodes, server: RemoteEngine | None = None) -> Runner:
    runner = Runner(nodes.store(), server or nodes.server())
    until(lambda: len(runner.engine.nodes("cpu")) == len(nodes.transport.hosts))
    return runner


def ended(runner: Runner, job: CompileJob = JOB) -> tuple[Run, Status]:
    run = runner.wait(runner.submit(job))
    return run, run.status()


def files(run: Run) -> dict[str, bytes]:
    return {str(path.relative_to(run.path)): path.read_bytes() for path in run.path.rglob("*") if path.is_file()}


def is_empty(nodes: Nodes, name: str) -> bool:
    """A host has kept nothing of any run."""
    return not list((nodes.folder / name / "hosted").iterdir())


def starts(nodes: Nodes) -> Counter[str]:
    """How often the engines of all hosts were told to start each run."""
    return Counter(run.id for engine in nodes.engines.values() for run in engine.started)


def test_nodes_of_equal_kind_have_the_same_drivers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia").mkdir()
    (tmp_path / "nvidia" / "version").write_text("580.65.06\n")
    (tmp_path / "amdgpu").mkdir()
    assert host.drivers(tmp_path) == f"nvidia 580.65.06, amdgpu {os.uname().release}"
    monkeypatch.setattr(host, "drivers", lambda: "nvidia 580.65.06")
    card = {"cpu": "a CPU", "cuda:0": "a card"}
    assert host.kind_of(card, "2.13.0").endswith("nvidia 580.65.06")
    assert "nvidia" not in host.kind_of({"cpu": "a CPU"}, "2.13.0")


def test_a_run_comes_back_whole_and_its_host_forgets_it(nodes: Nodes) -> None:
    nodes.add("one")
    run, status = ended(runner_of(nodes))
    assert (status.state, status.node, status.handle) == ("done", "one", "")
    assert set(files(run)) == {"job.json", "model.py", "status.json", "output.txt", LOG}
    assert (files(run)[LOG], run.output_tail()) == (b"first\n", "printed\n")
    until(lambda: is_empty(nodes, "one"))


class WritingEngine(NodeEngine):
    """Its runs leave files below directories, empty ones, bytes, and a log that names the run and its path."""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        run = assignment.run
        head = f"V1122 20:38:07.{time.monotonic_ns() % 10**6:06} {os.getpid()} torch/_logging/_internal.py:1328] "
        log = run.path / "trace" / f"dedicated_log_torch_trace_{secrets.token_hex(4)}.log"
        log.write_text(
            f'{head}{{"artifact": {{"path": "{run.path}/model.py", "seconds": {time.time()}}}}}\n\t{run.id}\n'
        )
        for name, data in {
            "programs/graph.cbp": bytes(range(256)),
            "programs/é=@+.c": b"x = 1\n",
            "aoti/model.pt2": b"",
        }.items():
            (run.path / name).parent.mkdir(parents=True, exist_ok=True)
            (run.path / name).write_bytes(data)
        PromptEngine.start(self, assignment, ended)


def test_a_runs_directory_is_a_local_ones_but_for_times_and_host(nodes: Nodes, tmp_path: Path) -> None:
    nodes.add("one", WritingEngine())
    there, _ = ended(runner_of(nodes))
    here, _ = ended(Runner(Store(tmp_path / "local"), WritingEngine()))
    assert tree(there) == tree(here)
    assert set(tree(here)) == {
        *("job.json", "model.py", "status.json", "trace/dedicated_log_torch_trace.log"),
        *("programs/graph.cbp", "programs/é=@+.c", "aoti/model.pt2"),
    }
    (there.path / "aoti" / "model.pt2").write_bytes(b"!")
    assert tree(there) != tree(here)


def test_a_log_grows_here_while_the_run_goes_on(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: (run.path / LOG).exists() and (run.path / LOG).read_bytes() == b"first\n")
    there = engine.started[0]
    assert run.status().state == "running"
    with (there.path / LOG).open("ab") as log:
        log.write(b"second\n")
    until(lambda: (run.path / LOG).read_bytes() == b"first\nsecond\n")
    engine.end(there)
    assert runner.wait(run).status().state == "done"


def test_a_log_that_was_cut_off_there_is_the_same_here_in_the_end(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: (run.path / LOG).exists())
    (engine.started[0].path / LOG).write_bytes(b"anew")
    engine.end(engine.started[0])
    assert files(runner.wait(run))[LOG] == b"anew"


@pytest.mark.promise("cluster")
def test_replies_that_are_lost_start_nothing_twice(nodes: Nodes) -> None:
    """A run is started on a node once, even if replies are lost."""
    nodes.add("one")
    runner = runner_of(nodes)
    nodes.transport.lose_replies = 4
    runs = [runner.submit(JOB) for _ in range(5)]
    assert [runner.wait(run).status().state for run in runs if run.status()] == ["done"] * 5
    assert set(starts(nodes).values()) == {1}


def test_a_lost_node_interrupts_its_run_and_the_next_goes_to_another(nodes: Nodes) -> None:
    nodes.add("one", NodeEngine(hold_after=0))
    nodes.add("two")
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: len(nodes.engines["one"].started) == 1)
    host = nodes.lose("one")
    status = runner.wait(run).status()
    assert (status.state, status.reason) == ("interrupted", "its node one was lost")
    assert ended(runner)[1].node == "two"
    nodes.transport.hosts["one"] = host
    until(lambda: is_empty(nodes, "one"))
    assert run.status() == status


def test_a_kernel_tool_whose_server_and_node_are_both_lost_is_interrupted(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    first = nodes.server()
    run = runner_of(nodes, first).submit(JOB)
    until(lambda: len(engine.started) == 1)
    create(run, Task(Interpret("k")))
    tool = tool_run(run, Interpret("k"))
    tool.write_status(replace(run.status(), started_s=1.0))
    kill(first)
    nodes.lose("one")
    runner_of(nodes)
    until(lambda: tool.written_status().state == "interrupted")


def test_a_cluster_that_does_not_answer_loses_nothing(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: len(engine.started) == 1)
    nodes.transport.broken = True
    engine.end(engine.started[0])
    time.sleep(0.5)
    assert run.status().state == "running"
    nodes.transport.broken = False
    assert runner.wait(run).status().state == "done"


def test_a_node_that_stays_silent_beyond_the_runs_limit_has_lost_it(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.runs.engine.cluster.carrying.OVERDUE_S", 0.5)
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(replace(JOB, time_limit_s=1.0))
    until(lambda: len(engine.started) == 1)
    nodes.transport.silent.add("one")
    assert runner.wait(run).status().reason == "its node one was lost"


def test_a_killed_servers_run_is_carried_to_its_end_by_the_next(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    first = nodes.server()
    run = runner_of(nodes, first).submit(JOB)
    until(lambda: len(engine.started) == 1)
    kill(first)
    second = runner_of(nodes)
    assert second.store.open(run.id).status().state == "running"
    engine.end(engine.started[0])
    assert second.wait(second.store.open(run.id)).status().state == "done"
    assert files(run)[LOG] == b"first\n"


def test_two_servers_over_one_store_carry_a_run_once(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    first, second = runner_of(nodes), runner_of(nodes)
    run = first.submit(JOB)
    until(lambda: len(engine.started) == 1)
    time.sleep(1.5)
    second.cancel(second.store.open(run.id))
    assert first.wait(run).status().state == "cancelled"
    assert list(starts(nodes).values()) == [1]


def test_a_run_whose_worker_is_stopped_says_so(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: len(engine.started) == 1)
    engine.site.finish(engine.started[0], "interrupted", OWNER_ENDED)
    assert (runner.wait(run).status().state, run.status().reason) == ("interrupted", "the worker on one ended")


def test_cancel_ends_the_run_on_its_host(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: len(engine.started) == 1)
    runner.cancel(run)
    assert (runner.wait(run).status().state, run.status().reason) == ("cancelled", "cancelled by the user")


def test_close_ends_what_this_server_has_started(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    runner = runner_of(nodes)
    run = runner.submit(JOB)
    until(lambda: len(engine.started) == 1)
    runner.engine.close()
    assert run.status().state == "cancelled"


def test_what_no_node_has_is_refused_at_once(nodes: Nodes) -> None:
    nodes.add("one")
    with pytest.raises(JobError, match=r"device: no node has it; the nodes have cpu"):
        runner_of(nodes).submit(replace(JOB, device="cuda"))


def test_a_run_waits_for_a_first_node(nodes: Nodes) -> None:
    runner = Runner(nodes.store(), nodes.server())
    run = runner.submit(JOB)
    time.sleep(0.3)
    assert (run.status().state, runner.waits_for(run)) == ("queued", Wait("cpu", "no node has answered yet"))
    nodes.add("one")
    assert runner.wait(run).status().state == "done"


def test_each_node_measures_one_run_at_a_time_whichever_server_asks(nodes: Nodes) -> None:
    engines = [nodes.add(name, NodeEngine(hold_after=0)) for name in ("one", "two")]
    first, second = runner_of(nodes), runner_of(nodes)
    measured = replace(JOB, measure=True)
    runs = [first.submit(measured) for _ in range(3)]
    until(lambda: [len(engine.started) for engine in engines] == [1, 1])
    waits = second.submit(measured)
    until(lambda: second.is_blocked(waits))
    assert (runs[2].status().state, waits.status().state) == ("queued", "queued")
    for engine in engines:
        engine.outcome = lambda run: "done"
        engine.hold_after = None
        engine.end(engine.started[0])
    assert {runner.wait(run).status().state for runner, run in ((first, runs[2]), (second, waits))} == {"done"}
    assert {len(devices) for engine in engines for devices in engine.at_once} == {1}


def test_people_take_turns_over_all_nodes(nodes: Nodes) -> None:
    engines = [nodes.add(name, NodeEngine(hold_after=0)) for name in ("one", "two")]
    runner = runner_of(nodes)
    wanted = {"many": 40, "some": 7, "few": 3}
    runs = {runner.submit(JOB, by).id: by for by, number in wanted.items() for _ in range(number)}
    order: list[str] = []
    while len(order) < 50:
        until(lambda: sum(len(engine.started) for engine in engines) > len(order))
        engine = next(engine for engine in engines if len(engine.started) > len(engine.ended))
        engine.ended.append(run := engine.started[len(engine.ended)])
        order.append(runs[run.id])
        engine.end(run)
    assert all(order[:12].count(by) >= 2 for by in wanted)
    assert max(place for place, by in enumerate(order) if by == "few") < 15


def test_locks_of_a_server_that_has_ended_are_released(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runs.engine.cluster.host.LEASE_S", 0.5)
    nodes.add("one")
    gone, stays = nodes.server(), nodes.server()
    until(lambda: all(server.nodes("cpu") for server in (gone, stays)))
    host = gone.nodes("cpu")[0]
    theirs, ours = (nodes.store().create(JOB) for _ in range(2))
    assert gone.take_turn(Assignment(theirs, measures=True, node=host))
    assert not stays.take_turn(Assignment(ours, measures=True, node=host))
    kill(gone)
    until(lambda: stays.take_turn(Assignment(ours, measures=True, node=host)))


def test_measured_cells_of_a_sweep_get_equal_nodes(nodes: Nodes) -> None:
    nodes.add("one")
    nodes.add("two")
    nodes.add("odd", NodeEngine(devices={"cpu": "another CPU"}))
    runner = runner_of(nodes)
    sweeps = SweepRunner(runner, poll_s=0.001)
    sweep = sweeps.start(new_sweep(replace(JOB, measure=True), (Axis("seed", tuple(range(12))),)))
    sweeps.wait(sweep.id)
    one, two, odd = (len(nodes.engines[name].started) for name in ("one", "two", "odd"))
    assert (one + two, odd, min(one, two) > 0) == (12, 0, True)
    unmeasured = sweeps.start(new_sweep(JOB, (Axis("seed", tuple(range(12))),)))
    sweeps.wait(unmeasured.id)
    assert nodes.engines["odd"].started


def test_a_run_of_another_torch_is_not_reused(nodes: Nodes) -> None:
    nodes.add("one", NodeEngine(torch="2.11.0"))
    runner = runner_of(nodes)
    ended(runner)
    assert runner.stored(JOB) is None
    assert runner.engine.environment().devices == {"cpu": "a CPU on one (torch 2.11.0)"}


@pytest.mark.promise("cluster")
def test_a_server_that_forbids_code_uses_no_node_that_allows_it(nodes: Nodes) -> None:
    """A server that forbids code uses no node that allows it."""
    nodes.add("open")
    nodes.add("closed", code_allowed=False)
    server = nodes.server(code_allowed=False)
    runner = Runner(nodes.store(), server, code_allowed=lambda: False)
    assert [ended(runner)[1].node for _ in range(3)] == ["closed"] * 3
    assert nodes.engines["open"].started == []


def test_a_node_that_runs_samples_only_refuses_other_code(nodes: Nodes) -> None:
    engine = nodes.add("closed", code_allowed=False)
    code = "def model(x): return x\ninputs = (1,)"
    _, status = ended(runner_of(nodes), CompileJob(Model("code", code), measure=False))
    assert (status.state, engine.started) == ("crashed", [])
    assert status.reason.startswith("model.")


@pytest.mark.promise("cluster")
def test_a_node_that_runs_samples_only_refuses_code_under_a_samples_name(nodes: Nodes) -> None:
    """A node that runs samples only checks each job and its code itself."""
    engine = nodes.add("closed", code_allowed=False)
    server = nodes.server()
    runner = runner_of(nodes, server)
    run = runner.admit(JOB, created=lambda run: run.model_path.write_text("import os\n"))
    status = runner.wait(run).status()
    assert (status.state, engine.started) == ("crashed", [])
    assert status.reason == "closed runs samples only, and this code is not its sample's"


@pytest.mark.long
def test_two_hundred_cells_over_four_nodes_lose_nothing_and_make_nothing_twice(nodes: Nodes) -> None:
    for name in ("one", "two", "three", "four"):
        nodes.add(name)
    nodes.engines["two"].hold_after = 10
    first = nodes.server()
    sweeps = SweepRunner(runner_of(nodes, first), poll_s=0.001)
    sweep = sweeps.start(new_sweep(JOB, (Axis("batch", tuple(range(1, 21))), Axis("seed", tuple(range(10))))))
    until(lambda: len(nodes.engines["two"].started) == 11)
    nodes.lose("two")
    until(lambda: sum(starts(nodes).values()) > 80)
    nodes.transport.broken = True
    time.sleep(1.5)
    nodes.transport.broken = False
    sweeps.wait(sweep.id)
    found = sweeps.standing(sweeps.store.open(sweep.id))
    assert (found.state, found.done, found.total, found.reason) == ("done", 200, 200, "")
    runs = [(run, status) for run, status in sweeps.runner.store.list()]
    assert Counter(status.state for _, status in runs) == {"done": 200, "interrupted": 1}
    assert set(starts(nodes).values()) == {1}
    until(lambda: all(is_empty(nodes, name) for name in ("one", "three", "four")))


def test_an_ended_run_that_no_server_has_any_more_is_removed_from_its_host(nodes: Nodes) -> None:
    engine = nodes.add("one", NodeEngine(hold_after=0))
    first = nodes.server()
    run = runner_of(nodes, first).submit(JOB)
    until(lambda: len(engine.started) == 1)
    kill(first)
    run.write_status(replace(run.written_status(), state="done", handle=""))
    nodes.store().delete(run)
    runner_of(nodes)
    until(lambda: is_empty(nodes, "one"))


OUTSIDE = ("../model.py", "/etc/passwd", "a/../../b", ".hidden", "a//b", "", "a\0b")
SERVERS_OWN = (
    *("status.json", "report.json", "verdict-1.json", "tools/x/answer.json", "ranks/1/report.json", "comments.json"),
    *("tags.txt", "pinned", "preview.txt", "archived.json", "profile.json", "trace/x.log/y.log", "trace/x.json"),
)


@pytest.mark.promise("cluster")
@pytest.mark.parametrize("name", [*OUTSIDE, *SERVERS_OWN])
def test_no_name_leads_out_of_a_run_or_to_the_servers_files(name: str, tmp_path: Path) -> None:
    """No file name from a node leads outside its run or to the server's files."""
    with pytest.raises(StoreError):
        check_returned(name)
    with pytest.raises(StoreError):
        unpack_files({name: b""}, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.promise("cluster")
@pytest.mark.parametrize("name", messages.SENT)
def test_a_sent_file_never_comes_back(name: str) -> None:
    """Files that the server sends to a node are never accepted back."""
    with pytest.raises(StoreError, match="is no file that a run returns"):
        check_returned(name)


FORGED = (
    *("comments.json", "pinned", "name.txt", "note.txt", "tags.txt", "audience.txt", "preview.txt", "archived.json"),
    *("profile.json", "rows.json", "summary-5.json", "report.json", "job.json", "model.py", "original.py", "any"),
    *("tools/x/status.json", "graphs/1.nodes-5.msgpack", "trace/x.json", "programs/x.py", "aoti/x"),
)


@pytest.mark.promise("cluster")
def test_a_run_writes_no_file_of_the_servers_and_none_of_its_own_job(nodes: Nodes) -> None:
    """A node cannot overwrite the server's own files of a run, nor the job and its code."""

    def forge(there: Run) -> str:
        for name in FORGED:
            (there.path / name).parent.mkdir(parents=True, exist_ok=True)
            (there.path / name).write_text("forged")
        return "done"

    nodes.add("one", NodeEngine(forge))
    run, status = ended(runner_of(nodes))
    assert status.state == "done"
    assert set(files(run)) == {"job.json", "model.py", "status.json", "output.txt", LOG}
    assert b"forged" not in files(run).values()


@pytest.mark.promise("cluster")
def test_a_link_is_neither_sent_nor_followed(nodes: Nodes) -> None:
    """Links are neither sent to a node nor followed."""
    secret = nodes.folder / "secret"
    secret.write_text("secret")
    (nodes.folder / "elsewhere").mkdir()

    sent = []

    def leave_links(there: Run) -> str:
        sent.append(sorted(path.name for path in there.path.iterdir()))
        (there.path / "programs").mkdir()
        (there.path / "programs" / "link").symlink_to(secret)
        (there.path / "aoti").symlink_to(nodes.folder / "elsewhere")
        (there.path / LOG).unlink()
        (there.path / LOG).symlink_to(secret)
        return "done"

    nodes.add("one", NodeEngine(leave_links))
    runner = runner_of(nodes)
    run = runner.admit(JOB, created=lambda run: (run.path / "sent").symlink_to(secret))
    assert runner.wait(run).status().state == "done"
    assert sent == [["job.json", "model.py", "output.txt", "status.json", "trace"]]
    (run.path / "sent").unlink()
    assert set(files(run)) - {LOG} == {"job.json", "model.py", "status.json", "output.txt"}
    assert b"secret" not in files(run).values()


class LyingHost(Host):
    """A host whose replies name files that are not a run's."""

    def answer(self, data: bytes) -> bytes:
        reply = reply_of(super().answer(data))
        if isinstance(reply, FilesReply):
            reply = FilesReply((*reply.files, HostFile("../../escaped", 1, "0" * 64)))
        if isinstance(reply, PieceReply):
            reply = PieceReply(reply.name, reply.offset, b"x")
        return packed(reply)


@pytest.mark.promise("cluster")
def test_a_host_that_lies_about_names_writes_nothing_outside(nodes: Nodes) -> None:
    """A node that returns invented file names writes nothing outside its run."""
    nodes.transport.hosts["liar"] = LyingHost(nodes.folder / "liar", NodeEngine(), "liar")
    _, status = ended(runner_of(nodes))
    assert status.state == "crashed"
    assert status.reason == "its files could not be carried here: `../../escaped` is no file that a run returns"
    assert not list(nodes.folder.rglob("escaped"))


def test_a_run_whose_file_cannot_be_read_is_not_sent_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "sent_names", lambda _: ["job.json"])
    with pytest.raises(StoreError, match="No such file or directory"):
        parcel_of(tmp_path)
