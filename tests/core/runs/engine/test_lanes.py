"""Which of the waiting may go: nothing that would disturb what is measured."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import CompileJob, Model, Run
from core.runs.engine.queues import Assignment, FairQueue, Lane, assigned, device_of


def job(device: str = "cpu", measure: bool = True, target: str = "") -> CompileJob:
    return CompileJob(Model("sample", "mlp"), device=device, measure=measure, target=target)


def taken(*jobs: CompileJob, most: int = 1) -> list[int]:
    """Which of these jobs go at once, in the order in which they are taken."""
    lane = Lane(most)
    for place, one in enumerate(jobs):
        lane.add(assigned(Run(str(place), Path(str(place))), one))
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


@pytest.mark.promise("limits")
def test_visitors_take_turns_however_many_runs_one_of_them_submits() -> None:
    """However many runs one visitor submits, another visitor's first run waits for at most one of them."""
    lane = Lane(1)
    names = ["a1", "a2", "a3", "a4", "b1", "c1", "b2", "a5"]
    for name in names:
        lane.add(assigned(Run(name, Path(name)), job(), by=name[0]))
    assert [item.run.id for item in lane.queue] == ["a1", "b1", "c1", "a2", "b2", "a3", "a4", "a5"]


class PlainQueue(list[Assignment]):
    """The rule of the order as one reads it, in quadratic time."""

    def add(self, new: Assignment) -> None:
        own = [place for place, queued in enumerate(self) if queued.by == new.by]
        before: Counter[str] = Counter(queued.by for queued in self[: max(own, default=-1) + 1])
        for place in range(max(own, default=-1) + 1, len(self)):
            if before[self[place].by] > len(own):
                return self.insert(place, new)
            before[self[place].by] += 1
        return self.append(new)

    def put_back(self, taken: Assignment) -> None:
        self.insert(0, taken)

    def withdraw(self, gone: Assignment) -> None:
        places = [place for place, queued in enumerate(self) if queued.by == gone.by]
        moved = [self[place] for place in places if self[place] != gone]
        del self[places[-1]]
        for place, assignment in zip(places, moved, strict=False):
            self[place] = assignment


# Changes of a queue: a visitor's run is added, or the run at some place is taken, withdrawn, or taken and put back.
CHANGES = st.tuples(st.sampled_from(["take", "withdraw", "put back"]), st.integers(0, 30))
EVENTS = st.lists(st.one_of(st.sampled_from("aaaabbbccd"), CHANGES), max_size=80)


@given(EVENTS)
def test_order_is_that_of_the_rule_whatever_was_taken_or_withdrawn_before(
    events: list[str | tuple[str, int]],
) -> None:
    fast, plain = FairQueue(), PlainQueue()
    for number, event in enumerate(events):
        if isinstance(event, str):
            new = assigned(Run(str(number), Path(str(number))), job(), by=event)
            fast.add(new)
            plain.add(new)
        elif plain:
            gone = plain[event[1] % len(plain)]
            (fast.withdraw if event[0] == "withdraw" else fast.take)(gone)
            (plain.withdraw if event[0] == "withdraw" else plain.remove)(gone)
            if event[0] == "put back":
                fast.put_back(gone)
                plain.put_back(gone)
        assert list(fast) == list(plain)


def test_a_thousand_visitors_come_before_the_second_run_of_the_first_in_the_order_of_their_coming() -> None:
    lane = Lane(1)
    names = ["first", "first", *map(str, range(1_000))]
    for place, name in enumerate(names):
        lane.add(assigned(Run(str(place), Path(str(place))), job(), by=name))
    assert [assignment.run.id for assignment in lane.queue] == ["0", *map(str, range(2, 1_002)), "1"]


def test_the_later_runs_of_a_visitor_take_the_places_of_the_earlier_where_one_is_removed() -> None:
    lane = Lane(1)
    runs = {name: Run(name, Path(name)) for name in ("a1", "b1", "a2", "b2", "a3")}
    for name, run in runs.items():
        lane.add(assigned(run, job(), by=name[0]))
    assert (lane.remove(runs["b1"]), lane.remove(runs["b1"])) == (True, False)
    assert [item.run.id for item in lane.queue] == ["a1", "b2", "a2", "a3"]
