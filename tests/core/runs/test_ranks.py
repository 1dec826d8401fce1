"""Ranks of a run: equal ones are one group, and a planted difference is named with rank, compilation and line."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.analysis.ranks.differences import Forecast, RankDifference, code_difference, first_difference, forecast
from core.analysis.ranks.groups import Ranks
from core.code.diff import normalised_guards
from core.report.run import Fingerprint, RankCompilation, RankMark
from core.runs import ranks as ranks_of_runs
from core.runs.ranks import read_ranks, stored_ranks
from core.trace.ranks import text_of
from tests.support.ranks import (
    as_rank,
    cut,
    damaged,
    recorded,
    recorded_logs,
    with_hit,
    with_size,
    with_two_collectives,
    written,
)

# Each of the places twice.
SEEDS = range(8)
# Scenario, a compilation of it, an input's size in its graphs, and the user's first line that uses the input.
PLACES = (
    ("uneven", "0/0", b"[8, 4]", "script.py:12"),
    ("tensor_parallel", "0/0", b"[16, 32]", "script.py:18"),
    ("ddp", "4/0", b"[16, 64]", "script.py:17"),
    ("fsdp2", "0/0", b"[16, 32]", "script.py:16"),
)


def planted(plant: Callable[[bytes], bytes], log: bytes, rng: random.Random, directory: Path) -> tuple[Ranks, int]:
    """Three to six ranks, all of them equal but for one; returns them in groups, and the one."""
    count = rng.randrange(3, 7)
    chosen = rng.randrange(count)
    logs = {rank: as_rank(plant(log) if rank == chosen else log, rank, rng) for rank in range(count)}
    return read_ranks(written(logs, directory)), chosen


def blamed(ranks: Ranks) -> list[tuple[int, ...]]:
    """The ranks of all groups but the first."""
    return [group.ranks for group in ranks.groups[1:]]


def first_of(ranks: Ranks) -> RankDifference:
    """The first difference of the second group."""
    difference = ranks.groups[1].first
    assert difference is not None
    return difference


def named(ranks: Ranks) -> tuple[str, str, str]:
    """What the first difference says: its kind, the compilation, and the line."""
    difference = first_of(ranks)
    assert difference.place is not None
    return difference.kind, difference.compile_id, difference.place.short


@pytest.mark.parametrize("seed", SEEDS)
def test_a_size_that_depends_on_the_rank_is_named(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    scenario, compile_id, size, line = PLACES[seed % len(PLACES)]
    other = size.replace(b"[", b"[1")
    ranks, chosen = planted(lambda log: with_size(log, compile_id, size, other), recorded(scenario), rng, tmp_path)
    assert blamed(ranks) == [(chosen,)]
    assert named(ranks) == ("graph", compile_id, line)
    assert first_of(ranks).dimension == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_recompile_on_one_rank_is_named(seed: int, tmp_path: Path) -> None:
    ranks, chosen = planted(lambda _: recorded("uneven", 1), recorded("uneven", 0), random.Random(seed), tmp_path)
    assert blamed(ranks) == [(chosen,)]
    assert named(ranks) == ("recompile", "0/1", "script.py:12")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cache_hit_on_one_rank_is_named_and_is_no_difference_of_graphs(seed: int, tmp_path: Path) -> None:
    scenario, compile_id, _, _ = PLACES[seed % len(PLACES)]
    log = recorded(scenario)
    ranks, chosen = planted(lambda log: with_hit(log, compile_id), log, random.Random(seed), tmp_path)
    assert blamed(ranks) == [(chosen,)]
    kind, where, line = named(ranks)
    assert (kind, where, line.startswith("script.py:")) == ("cache", compile_id, True)
    assert ranks.groups[1].only_caches


@pytest.mark.parametrize(("outcomes", "kind"), [(("hit", "hit"), "graph"), (("hit", "miss"), "cache")])
def test_later_graphs_count_only_where_the_caches_agree(outcomes: tuple[str, str], kind: str) -> None:
    left, right = (
        Fingerprint(
            rank,
            0,
            (
                RankMark("cache", "0/0", "fx_graph_cache", outcome, outcome),
                RankMark("graph", "0/0", "inductor_post_grad_graph", str(rank)),
            ),
        )
        for rank, outcome in enumerate(outcomes)
    )
    difference = first_difference(left, right)
    assert difference is not None
    assert difference.kind == kind


@pytest.mark.parametrize(("left_out", "is_cut"), [(0, False), (1, True), (2, True)])
def test_a_log_that_ends_within_a_line_is_cut(left_out: int, is_cut: bool, tmp_path: Path) -> None:
    log = recorded("uneven")
    ranks = read_ranks(written({0: log, 1: log[: len(log) - left_out]}, tmp_path))
    assert [row.is_cut for row in ranks.rows] == [False, is_cut]


@pytest.mark.parametrize("seed", SEEDS)
def test_another_order_of_collectives_is_named(seed: int, tmp_path: Path) -> None:
    log = with_two_collectives(recorded("uneven", seed % 2))
    swapped = with_two_collectives(recorded("uneven", seed % 2), swapped=True)
    ranks, chosen = planted(lambda _: swapped, log, random.Random(seed), tmp_path)
    assert blamed(ranks) == [(chosen,)]
    assert named(ranks) == ("collectives", "0/0", "script.py:12")
    assert first_of(ranks).change == "order"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_rank_whose_records_stop_is_named(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    scenario, compile_id, _, _ = PLACES[seed % len(PLACES)]
    ranks, chosen = planted(lambda log: cut(log, compile_id, rng), recorded(scenario), rng, tmp_path)
    assert blamed(ranks) == [(chosen,)]
    kind, where, line = named(ranks)
    assert (kind, where, line.startswith("script.py:")) == ("end", compile_id, True)


@pytest.mark.parametrize("seed", SEEDS)
def test_equal_ranks_are_one_group(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    log = recorded(("uneven", "tensor_parallel", "ddp", "fsdp2")[seed % 4], seed % 2)
    ranks = read_ranks(written({rank: as_rank(log, rank, rng) for rank in range(4)}, tmp_path))
    assert [group.ranks for group in ranks.groups] == [tuple(range(4))]


@pytest.mark.parametrize(
    ("scenario", "groups"),
    [
        ("ddp", [(0, 1)]),
        ("fsdp2", [(0, 1)]),
        ("tensor_parallel", [(0, 1, 2, 3)]),
        ("uneven", [(0,), (1,)]),
        ("warm_cache", [(0,), (1,)]),
        ("nccl", [(0,), (1,)]),
    ],
)
def test_recorded_ranks_are_grouped(scenario: str, groups: list[tuple[int, ...]], tmp_path: Path) -> None:
    assert [group.ranks for group in read_ranks(recorded_logs(scenario, tmp_path)).groups] == groups


def test_groups_are_stored_until_a_log_changes(tmp_path: Path) -> None:
    logs, stored = recorded_logs("uneven", tmp_path / "trace"), tmp_path / "ranks"
    assert stored_ranks(logs, stored) is None
    ranks = read_ranks(logs, stored)
    assert stored_ranks(logs, stored) == ranks
    logs[1].write_bytes(recorded("uneven", 0))
    assert stored_ranks(logs, stored) is None
    assert not read_ranks(logs, stored).differ


def test_several_processes_find_the_same_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = recorded_logs("tensor_parallel", tmp_path)
    monkeypatch.setattr(ranks_of_runs, "BYTES_FOR_PROCESSES", 1)
    assert read_ranks(logs, processes=2) == read_ranks(logs)


def test_a_log_that_cannot_be_read_is_a_rank_with_a_problem(tmp_path: Path) -> None:
    logs = written({0: recorded("ddp"), 1: recorded("ddp", 1), 2: b"no trace"}, tmp_path)
    logs[3] = tmp_path / "rank_3.log"
    ranks = read_ranks(logs)
    assert [group.ranks for group in ranks.groups] == [(0, 1)]
    assert [row.rank for row in ranks.rows if row.problem] == [2, 3]


@pytest.mark.parametrize("seed", range(20))
def test_damaged_logs_are_compared_without_an_error(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    names = ("uneven", "tensor_parallel", "ddp", "nccl", "warm_cache")
    logs = {rank: damaged(recorded(rng.choice(names), rank % 2), rng) for rank in range(3)}
    ranks = read_ranks(written(logs, tmp_path))
    assert [row.rank for row in ranks.rows] == [0, 1, 2]


def test_stored_files_that_are_damaged_are_made_again(tmp_path: Path) -> None:
    logs, stored = recorded_logs("uneven", tmp_path / "trace"), tmp_path / "ranks"
    ranks = read_ranks(logs, stored)
    for path in (stored / "ranks.json", stored / "1" / "fingerprint.json"):
        path.write_bytes(path.read_bytes().replace(b'"offset":', b'"offset":-'))
    assert read_ranks(logs, stored).groups[1].ranks == ranks.groups[1].ranks
    for path in (stored / "ranks.json", stored / "1" / "fingerprint.json"):
        path.write_bytes(b'{"version": 1, "ranks": []}')
    assert read_ranks(logs, stored) == ranks


def test_a_guard_on_the_number_of_the_rank_is_no_difference() -> None:
    trees = [b"| +- EQUALS_MATCH: L['self'].rank == %d" % rank for rank in range(3)]
    assert len(set(map(normalised_guards, trees))) == 1
    assert len({normalised_guards(b"| +- EQUALS_MATCH: L['n'] == %d" % number) for number in range(3)}) == 3


@pytest.mark.parametrize(
    ("left", "right", "compile_id", "name", "only", "alone"),
    [
        ("abc", "abd", "2/0", "3/0", "", ()),
        ("ab", "abc", "2/0", "", "right", ("2/0",)),
        ("abc", "a", "1/0", "", "left", ("1/0", "2/0")),
        ("ab", "acb", "2/0", "", "right", ("2/0",)),
        ("acdb", "ab", "2/0", "", "left", ("2/0", "3/0")),
    ],
)
def test_ranks_that_go_on_with_different_compilations_name_them(
    left: str, right: str, compile_id: str, name: str, only: str, alone: tuple[str, ...]
) -> None:
    marks = {letter: RankMark("start", f"{at}/0", letter, "digest") for at, letter in enumerate("abcd")}
    sides = [Fingerprint(rank, 0, tuple(marks[each] for each in letters)) for rank, letters in enumerate((left, right))]
    difference = code_difference(*sides)
    assert difference is not None
    assert (difference.kind, difference.compile_id, difference.only) == ("compilation", compile_id, only)
    assert (difference.name, difference.alone) == (name, alone)


def test_a_rank_alone_lets_the_others_wait_as_long_as_it_compiles() -> None:
    seconds = {"0/0": {"whole compilation": 2.0}, "1/0": {"whole compilation": 3.0}, "2/0": {"dynamo": 9.0}}
    compilations = tuple(RankCompilation(name, seconds=each) for name, each in seconds.items())
    alone, waiting = Fingerprint(0, 0, compilations=compilations, parallel=("DDP",)), Fingerprint(1, 0)
    difference = RankDifference("recompile", "0/0", only="left", alone=("0/0", "1/0", "2/0"))
    assert forecast(difference, alone, waiting) == Forecast("wait", 5.0)
    assert forecast(replace(difference, alone=("2/0",)), alone, waiting) == Forecast("wait", None)
    assert forecast(replace(difference, only="", kind="end"), alone, waiting) == Forecast("stopped")
    assert forecast(difference, waiting, waiting) is None


def test_a_collective_has_its_tensor_its_constants_and_its_group() -> None:
    text = b"""
        all_reduce: "f32[4, 8][8, 1]cuda:0" = torch.ops._c10d_functional.all_reduce.default(mm, 'sum', '0');  mm = None
        wait: "f32[4, 8][8, 1]cuda:0" = torch.ops._c10d_functional.wait_tensor.default(all_reduce)
        gathered = torch.ops._c10d_functional.all_gather_into_tensor.default(x, 2, '5')
    """
    assert text_of(text).collectives == (
        ("all_reduce", "f32[4, 8]", "'sum'", "0"),
        ("all_gather_into_tensor", "", "2", "5"),
    )
