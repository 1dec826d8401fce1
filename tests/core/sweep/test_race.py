"""Race of changes: what runs next, on landscapes of gains that are known."""

import itertools
import math
import random
from collections.abc import Mapping

import pytest

from core.analysis.interval import Interval
from core.sweep.presets.race import LOOKS, MOST_CHANGES, PAIRS, Finish, Heat, Race, equal_code, heat_of

NAMES = tuple("abcdefgh")
# Relative noise of a ratio within a process.
WITHIN = 0.01
# Noise of a time from process to process, on a log scale: the pairs of a sweep on two CPUs that others used a little.
BETWEEN = (-0.0347, 0.0036, -0.0344, 0.0042, -0.0129, 0.0237, -0.0036, 0.0428,
           -0.0101, -0.0172, 0.0778, 0.0343, -0.0128, 0.0135, 0.01, -0.0259)  # fmt: skip


class Landscape:
    """Gains of changes: each alone on a log scale, and more or less for some pairs of them."""

    def __init__(self, alone: Mapping[str, float], pairs: Mapping[frozenset[str], float] | None = None) -> None:
        self.alone, self.pairs = alone, pairs or {}

    def gain(self, changes: tuple[str, ...]) -> float:
        joined = sum(effect for pair, effect in self.pairs.items() if pair <= set(changes))
        return math.exp(sum(self.alone[name] for name in changes) + joined)

    @property
    def best(self) -> float:
        sets = itertools.chain.from_iterable(
            itertools.combinations(self.alone, count) for count in range(MOST_CHANGES + 1)
        )
        return max(map(self.gain, sets))


def drawn(rng: random.Random) -> Landscape:
    """A third of the changes makes the default's code, a quarter hardly counts, the others help or harm."""
    alone = {name: _effect(rng) for name in NAMES}
    own = [name for name, effect in alone.items() if effect]
    pairs = {frozenset(pair): rng.gauss(0, 0.05) for pair in itertools.combinations(own, 2) if rng.random() < 0.15}
    return Landscape(alone, pairs)


def _effect(rng: random.Random) -> float:
    kind = rng.random()
    if kind < 0.35:
        return 0.0
    return rng.gauss(0, 0.02) if kind < 0.6 else abs(rng.gauss(0, 0.2)) * (1 if kind < 0.85 else -1)


def raced(land: Landscape, rng: random.Random, budget_s: float | None = None) -> Race:
    """A whole race; a run takes a second."""
    finished = {Heat((), "timed"): Finish(True, "default", gain=Interval(0.99, 1, 1.01), value=1.0, took_s=1.0)}
    for name, effect in land.alone.items():
        finished[Heat((name,))] = Finish(True, name if effect else "default", took_s=1.0)
    race = Race(tuple(land.alone), finished, budget_s=budget_s)
    while heats := race.next_heats():
        finished.update((heat, run(land, heat, rng)) for heat in heats)
    return race


def run(land: Landscape, heat: Heat, rng: random.Random) -> Finish:
    gain = land.gain(heat.changes)
    if heat.stage == "pair":
        return Finish(True, value=math.exp(rng.choice(BETWEEN)) / gain, took_s=1.0)
    seen = gain * math.exp(rng.gauss(0, WITHIN))
    return Finish(True, gain=Interval(seen * 0.98, seen, seen * 1.02), value=1 / seen, took_s=1.0)


def proven(race: Race) -> tuple[str, ...]:
    return next((changes for changes in race.candidates() if race.proof(changes)), ())


def test_on_ninety_of_a_hundred_landscapes_the_proven_set_is_within_three_percent_of_the_best() -> None:
    near, held, claims = 0, 0, 0
    for seed in range(100):
        rng = random.Random(seed)
        land = drawn(rng)
        race = raced(land, rng)
        found = proven(race)
        near += land.gain(found) >= land.best / 1.03
        gain = race.proof(found) if found else None
        if gain is not None:
            claims += 1
            held += gain.low <= land.gain(found) <= gain.high
    assert near >= 90
    assert claims >= 70
    assert held >= 0.9 * claims


def test_where_nothing_helps_nothing_is_claimed_in_ninety_five_of_a_hundred_landscapes() -> None:
    claims = 0
    for seed in range(100):
        rng = random.Random(seed)
        claims += proven(raced(Landscape(dict.fromkeys(NAMES, -0.001)), rng)) != ()
    assert claims <= 5


@pytest.mark.parametrize("seed", range(5))
def test_two_changes_that_help_together_more_than_alone_are_joined(seed: int) -> None:
    rng = random.Random(seed)
    pair = rng.sample(NAMES, 2)
    alone = {name: 0.05 if name in pair else rng.choice((-0.1, 0.0, 0.005)) for name in NAMES}
    land = Landscape(alone, {frozenset(pair): 0.3})
    assert {*pair} <= {*proven(raced(land, rng))}


def test_the_interval_of_the_pairs_has_the_gain_with_all_looks_at_them() -> None:
    held = 0
    for seed in range(1000):
        rng = random.Random(seed)
        finished = {Heat(("a",), "timed"): Finish(True, gain=Interval(1.02, 1.03, 1.04))}
        race = Race(("a",), finished)
        land = Landscape({"a": math.log(1.03)})
        while heats := race._next_pairs():
            finished.update((heat, run(land, heat, rng)) for heat in heats)
        gain = race.pairs(("a",))
        held += gain is not None and gain.low <= 1.03 <= gain.high
    assert held >= 950


def test_a_small_gain_gets_more_pairs_while_there_is_time() -> None:
    land = Landscape({"a": math.log(1.04)})
    counts = {}
    for budget_s in (None, 16.0):
        race = raced(land, random.Random(7), budget_s)
        counts[budget_s] = sum(heat.stage == "pair" for heat in race.finished)
    assert counts == {None: 2 * LOOKS[1], 16.0: 2 * PAIRS}


def test_changes_of_one_setting_are_not_joined_and_no_heat_comes_twice() -> None:
    finished = {Heat((), "timed"): Finish(True, "default")}
    for name in ("half of the threads", "1 thread", "cpp wrapper"):
        finished[Heat((name,))] = Finish(True, name)
        finished[Heat((name,), "timed")] = Finish(True, name, gain=Interval(1.1, 1.2, 1.3))
    race = Race(("half of the threads", "1 thread", "cpp wrapper"), finished)
    while (heats := race.next_heats()) and heats[0].stage == "timed":
        assert len({*heats}) == len(heats)
        finished.update((heat, Finish(True, heat.label, gain=Interval(1.1, 1.2, 1.3))) for heat in heats)
    joined = {heat.changes for heat in finished if len(heat.changes) > 1}
    assert joined == {("half of the threads", "cpp wrapper"), ("1 thread", "cpp wrapper")}


def test_luck_in_the_search_is_not_claimed() -> None:
    race = raced(Landscape({"a": -0.001, "b": -0.001}), random.Random(2))
    lucky = Finish(True, gain=Interval(1.4, 1.5, 1.6), value=0.7, took_s=1.0)
    finished = {heat: finish for heat, finish in race.finished.items() if heat.stage != "pair"}
    finished[Heat(("a",), "timed")] = lucky
    again = Race(race.changes, finished)
    while heats := again.next_heats():
        finished.update((heat, run(Landscape({"a": 0.0, "b": 0.0}), heat, random.Random(3))) for heat in heats)
    assert sum(heat.stage == "pair" for heat in finished) >= 2 * PAIRS
    assert proven(again) == ()


def test_a_change_that_fails_differs_or_makes_known_code_is_not_timed() -> None:
    finished = {
        Heat((), "timed"): Finish(True, "default"),
        Heat(("a",)): Finish(False),
        Heat(("b",)): Finish(True, "b", same=False),
        Heat(("c",)): Finish(True, "default"),
        Heat(("d",)): Finish(True, "d"),
        Heat(("e",)): Finish(True, "d"),
    }
    race = Race(tuple("abcde"), finished)
    assert race.next_heats() == (Heat(("d",), "timed"),)
    assert [equal_code(race, name) for name in "acde"] == ["", "default", "", "d"]


def test_pairs_begin_with_each_side_in_turn_and_no_run_of_the_search_is_among_them() -> None:
    race = raced(Landscape({"a": 0.2}), random.Random(4))
    pairs = [heat for heat in race.finished if heat.stage == "pair"]
    assert len(pairs) == 2 * PAIRS
    assert [heat.changes for heat in pairs[:4]] == [(), ("a",), ("a",), ()]


def test_a_race_goes_on_where_it_was_stopped() -> None:
    land, rng = Landscape({"a": 0.2, "b": 0.1}), random.Random(5)
    whole = raced(land, rng)
    for count in range(1, len(whole.finished)):
        part = Race(whole.changes, dict(list(whole.finished.items())[:count]))
        assert not set(part.next_heats()) & set(part.finished)


def test_the_search_keeps_to_its_time_and_the_pairs_come_nevertheless() -> None:
    land = Landscape(dict.fromkeys(NAMES, 0.1))
    race = raced(land, random.Random(6), budget_s=24.0)
    searched = [heat for heat in race.finished if heat.stage != "pair"]
    assert len(searched) == 12
    assert len(race.untimed()) == len(NAMES) - 3
    assert len(race.finished) - len(searched) == 2 * PAIRS


def test_a_short_search_times_the_likeliest_changes_first_and_joins_the_winners() -> None:
    land = Landscape({"a": 0.2, "b": -0.1, "c": 0.1, **dict.fromkeys(NAMES[3:], 0.3)})
    finished = {Heat((), "timed"): Finish(True, "default", gain=Interval(0.99, 1, 1.01), took_s=1.0)}
    rng = random.Random(8)
    race = Race(NAMES, finished, budget_s=16.0)
    while heats := race.next_heats():
        finished.update((heat, run(land, heat, rng)) for heat in heats)
    searched = [heat for heat in finished if heat.stage != "pair" and heat.changes]
    alone = [heat for heat in searched if len(heat.changes) == 1]
    assert alone == [*(Heat((name,)) for name in "abc"), *(Heat((name,), "timed") for name in "abc")]
    assert [heat.changes for heat in searched if heat not in alone] == [("a", "c")]
    assert proven(race) == ("a", "c")
    assert race.untimed() == NAMES[3:]


@pytest.mark.parametrize(
    "heat",
    [Heat(()), Heat((), "timed"), Heat(("cpp wrapper",)), Heat(("a", "1 thread"), "timed"), Heat(("a",), "pair", 12)],
)
def test_a_label_names_its_heat(heat: Heat) -> None:
    assert heat_of(heat.label) == heat
