"""Ranks page: the verdict, the first difference with its line and advice, the tables, and runs without ranks."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.base.words import with_rank
from core.views.ranks import RunRanks
from pages import menu
from tests.record import normalised
from tests.support.apps import assert_sound, opened, sound, titles, words
from tests.support.homes import HOSTILE, add_run, add_scenario
from tests.support.ranks import as_rank, recorded, with_size

PAGE = menu.RANKS.script
TABLES = ("compilations", "caches", "collectives", "tensors", "seconds")


def add_ranks(home: Path, logs: Mapping[int, bytes]) -> str:
    """Store the logs of ranks as a run; returns its id."""
    run = add_run(home, "job", None, kind="log")
    for rank, log in logs.items():
        run.log_of(rank).write_bytes(log)
    return with_rank(run.id, min(logs))


def title_of(home: Path, logs: Mapping[int, bytes]) -> str:
    """The title of the page, without the marks that keep it plain."""
    app = opened(PAGE, add_ranks(home, logs))
    assert_sound(app)
    (title,) = titles(app)
    return title.replace("\\", "")


def test_a_run_with_one_log_says_how_to_record_ranks(empty_home: Path) -> None:
    app = opened(PAGE, add_scenario(empty_home, "foreign"))
    assert_sound(app)
    assert titles(app) == ["This run has one rank"]
    assert [code.value for code in app.code] == ["TORCH_TRACE=/shared/trace torchrun --nproc-per-node 8 train.py"]


def test_equal_ranks_are_reported_to_be_alike(empty_home: Path) -> None:
    logs = {rank: recorded("tensor_parallel", rank) for rank in range(4)}
    assert title_of(empty_home, logs) == "4 ranks, all alike"


def test_a_rank_that_recompiles_alone_is_named_with_its_line_and_what_to_do(empty_home: Path) -> None:
    app = opened(PAGE, add_ranks(empty_home, {rank: recorded("uneven", rank) for rank in range(2)}))
    assert_sound(app)
    text = words(app).replace("\\", "")
    assert "Rank 1 recompiles [0/1] alone: tensor 'x' size mismatch at index 0. expected 8, actual 9." in text
    assert "`script.py:12` in `step`: `loss = x.sin().sum(0)`" in text
    assert "Forecast: a wait, and a hang if it is long." in text
    assert [code.value for code in app.code] == [
        "torch._dynamo.mark_dynamic(x, 0)",
        "torch.compiler.set_enable_guard_collectives(True)",
    ]
    (link,) = (link for link in app.get("page_link") if link.proto.label == "Compare rank 0 with rank 1")
    assert link.proto.page == "compare"


@pytest.mark.parametrize("scenario", ["uneven", "tensor_parallel", "warm_cache", "nccl"])
def test_each_table_of_recorded_ranks_can_be_opened(empty_home: Path, scenario: str) -> None:
    run = add_ranks(empty_home, {rank: recorded(scenario, rank) for rank in range(2)})
    shown = {table: sound(opened(PAGE, run, ranks=table)) for table in TABLES}
    (phases,) = (table.value for table in shown["seconds"].dataframe if "phase" in table.value)
    assert len(phases) > 4


def test_a_visitor_chooses_among_several_groups(empty_home: Path) -> None:
    log, rng = recorded("uneven"), random.Random(0)
    logs = {rank: as_rank(log, rank, rng) for rank in range(6)}
    logs[2] = as_rank(recorded("uneven", 1), 2, rng)
    logs[4] = as_rank(with_size(log, "0/0", b"[8, 4]", b"[9, 4]"), 4, rng)
    app = opened(PAGE, add_ranks(empty_home, logs), group="4")
    assert_sound(app)
    assert titles(app) == ["4 of 6 ranks alike; the others differ in 2 ways"]
    assert "Rank 4 has another size of `x` in dimension 0" in words(app)


def test_large_logs_are_read_by_another_process(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Reading:
        def poll(self) -> None:
            return None

    monkeypatch.setattr(RunRanks, "is_quick", False)
    monkeypatch.setattr(RunRanks, "start_reading", lambda _: Reading())
    logs = {rank: recorded("ddp", rank) for rank in range(2)}
    assert title_of(empty_home, logs) == "Reading the logs of 2 ranks…"


def test_names_of_a_log_are_shown_as_text(empty_home: Path) -> None:
    names = {"script.py": HOSTILE["model.py"], "size mismatch": HOSTILE["rescale"]}
    logs = {rank: normalised(recorded("uneven", rank), names) for rank in range(2)}
    app = opened(PAGE, add_ranks(empty_home, logs))
    assert_sound(app)
    assert "<img" not in "".join(markdown.value for markdown in app.markdown)
