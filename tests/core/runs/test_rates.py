"""How many runs a visitor may start within an hour, and how long they may execute: held where jobs are submitted."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from core import AccessError, CompileJob, Limits, Model, Rate, Runner, Store
from core.runs.index.database import RunIndex
from core.runs.limits import check_rate
from core.runs.people import RateEntry, check_executions
from core.runs.store import Run
from core.runs.tools.tasks import Interpret, tool_run
from tests.support.engines import PromptEngine
from tests.support.homes import add_run, job_of, keeper

JOB = CompileJob(Model("sample", "mlp"))
NOW_S = 1_800_000_000.0


def executed(started_min: float, ended_min: float | None, is_run: bool = True) -> RateEntry:
    """Something that started and ended so many minutes ago."""
    ended_s = None if ended_min is None else NOW_S - 60 * ended_min
    return RateEntry("ann", NOW_S - 60 * started_min, NOW_S - 60 * started_min, ended_s, is_run)


@pytest.mark.parametrize(
    ("rate", "executions", "words"),
    [
        (Rate(2), [executed(50, 49), executed(61, 60.5), executed(9, 8, is_run=False)], ""),
        (Rate(2), [executed(20, 19), executed(50, 49)], "you started 2 runs .* starts 2 .* Try again in 10 min"),
        (Rate(2), [executed(20, 19), executed(50, 49), executed(40, None)], "3 runs .* Try again in 20 min"),
        (Rate(seconds=600), [executed(70, 51), executed(5, 4.1)], ""),
        (Rate(seconds=600), [executed(70, 51), executed(5, 4, is_run=False)], "Try again in 1.00 s"),
        (Rate(seconds=600), [executed(50, 35), executed(50, 35), executed(3, None)], "33 min .* in 21 min 31 s"),
        (Rate(seconds=1), [RateEntry("ann", NOW_S)], ""),
    ],
)  # fmt: skip
def test_at_a_rate_nothing_starts_until_the_hour_has_room(rate: Rate, executions: list[RateEntry], words: str) -> None:
    if not words:
        check_executions(rate, executions, NOW_S)
        return
    with pytest.raises(AccessError, match=words):
        check_executions(rate, executions, NOW_S)


@pytest.mark.promise("limits")
def test_a_visitor_starts_so_many_runs_an_hour_and_deleting_them_makes_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of runs that a visitor starts in an hour is limited, also after deleting them."""
    now_s = time.time()
    monkeypatch.setattr(time, "time", lambda: now_s)
    limits = Limits(runs_an_hour=2)
    runner = Runner(
        Store(tmp_path), PromptEngine(), limits=limits, rate_of=lambda by, rate: Rate() if by == "boss" else rate
    )
    for run in (runner.submit(JOB, "ann"), runner.submit(JOB, "ann")):
        with pytest.raises(AccessError, match="Try again in 1 h"):
            [runner.submit(JOB, "ann") for _ in range(2)]
        runner.store.delete(runner.wait(run))
    for by in ("bob", "boss", "boss", "boss", "", "", ""):
        runner.submit(JOB, by)
    with pytest.raises(AccessError, match="you started 2 runs within the last hour"):
        # By another server of the store, too.
        Runner(Store(tmp_path), PromptEngine(), limits=limits).submit(JOB, "ann")


@pytest.mark.promise("limits")
def test_runs_and_tools_count_by_their_time_and_opened_logs_and_recordings_do_not(tmp_path: Path) -> None:
    """The hourly time that a visitor's runs and kernel tools execute is limited, also after deleting them."""
    store, now_s, job = Store(tmp_path), time.time(), job_of("transformer_block")
    index = RunIndex(store)

    def add(name: str, minutes_ago: float, took_s: float, **fields: object) -> Run:
        started_s = now_s - 60 * minutes_ago
        times = {"created_s": started_s, "started_s": started_s, "ended_s": started_s + took_s}
        return add_run(tmp_path, name, b"", job=job, **{**times, "by": "ann", **fields})

    run = add("a", 30, 100)
    add("old", 62, 150)
    add("older", 90, 100)
    add("bobs", 30, 100, by="bob")
    add("log", 30, 100, kind="log")
    add("recorded", 30, 100, recorded="H100")
    add("live", 10, 0, state="running", **keeper())
    tool = tool_run(run, Interpret("k", program=(0, 0, 0)))
    tool.path.mkdir(parents=True)
    tool.write_status(replace(run.status(), started_s=now_s - 60, ended_s=now_s - 50))

    def seconds() -> tuple[int, int]:
        found = index.executions("ann", now_s - 3600)
        return sum(each.is_run for each in found), round(sum(each.seconds_since(now_s - 3600, now_s) for each in found))

    assert seconds() == (3, 100 + 30 + 600 + 10)
    store.delete(run)
    assert seconds() == (3, 100 + 30 + 600 + 10)
    check_rate(Rate(runs=3, seconds=800), index, "ann")
    with pytest.raises(AccessError, match="executed for 12 min 20 s"):
        check_rate(Rate(seconds=700), index, "ann")
    (tmp_path / "deleted.jsonl").write_bytes(b"{\n[]\n" + b'{"by":"ann","created_s":"x"}\n')
    assert seconds() == (2, 30 + 600)
