"""Which of the waiting may go: nothing that would disturb what is measured."""

from pathlib import Path

import pytest

from core import CompileJob, Model, Run
from core.runs.engine.queues import Lane, assigned, device_of


def job(device: str = "cpu", measure: bool = True, target: str = "") -> CompileJob:
    return CompileJob(Model("sample", "mlp"), device=device, measure=measure, target=target)


def taken(*jobs: CompileJob, most: int = 1) -> list[int]:
    """Which of these jobs go at once, in the order in which they are taken."""
    lane = Lane(most)
    lane.queue.extend(assigned(Run(str(place), Path(str(place))), one) for place, one in enumerate(jobs))
    found = []
    while (item := lane.take()) is not None:
        found.append(int(item.run.id))
    return found


@pytest.mark.parametrize(
    ("jobs", "most", "found"),
    [
        ([job(), job()], 4, [0]),
        ([job(measure=False), job(measure=False), job(measure=False)], 2, [0, 1]),
        ([job(measure=False), job(), job(measure=False)], 4, [0]),
        ([job("cuda:0"), job("cuda:1"), job("cuda")], 1, [0, 1]),
        ([job("cuda:0"), job("cuda:0"), job("cuda:1")], 1, [0, 2]),
        ([job("cuda:0"), job("cpu"), job("cuda:1")], 4, [0]),
        ([job("cuda", measure=False), job("cuda", measure=False)], 1, [0]),
        ([job("cuda:0", measure=False), job("cuda:1", measure=False)], 1, [0, 1]),
        ([job(target="h100"), job(target="h100")], 2, [0, 1]),
        ([job(target="h100"), job()], 2, [0]),
    ],
)
def test_what_is_measured_has_its_device_and_the_cpus_to_itself(
    jobs: list[CompileJob], most: int, found: list[int]
) -> None:
    assert taken(*jobs, most=most) == found


def test_a_device_without_a_number_is_the_first() -> None:
    assert [device_of(job(name)) for name in ("cpu", "cuda", "cuda:1", "mps")] == ["cpu", "cuda:0", "cuda:1", "mps:0"]
    assert device_of(job(target="h100")) == "cpu"


def test_visitors_take_turns_however_many_runs_one_of_them_submits() -> None:
    lane = Lane(1)
    names = ["a1", "a2", "a3", "a4", "b1", "c1", "b2", "a5"]
    for name in names:
        lane.add(assigned(Run(name, Path(name)), job(), by=name[0]))
    assert [item.run.id for item in lane.queue] == ["a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"]


def test_a_visitor_keeps_the_order_of_its_runs_whatever_was_taken_before() -> None:
    lane = Lane(1)
    for name in ("a1", "a2", "a3", "b1"):
        lane.queue.append(assigned(Run(name, Path(name)), job(), by=name[0]))
    lane.add(assigned(Run("b2", Path("b2")), job(), by="b"))
    assert [item.run.id for item in lane.queue] == ["a1", "a2", "a3", "b1", "b2"]


def test_the_later_runs_of_a_visitor_take_the_places_of_the_earlier_where_one_is_removed() -> None:
    lane = Lane(1)
    runs = {name: Run(name, Path(name)) for name in ("a1", "b1", "a2", "b2", "a3")}
    for name, run in runs.items():
        lane.add(assigned(run, job(), by=name[0]))
    assert (lane.remove(runs["b1"]), lane.remove(runs["b1"])) == (True, False)
    assert [item.run.id for item in lane.queue] == ["a1", "b2", "a2", "a3"]
