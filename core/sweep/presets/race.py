"""Race of changes to a job: which runs to make next, given what the finished runs gained.

A heat is a run with some changes. Each change is first compiled alone. Changes that fail, that have other results, or
whose generated code another change has too, end here. The others are timed against the unchanged job, by turns in one
process. A search with a limited time takes a few changes at once, the likeliest first. The best is then joined with
each other winner, as long as a joined heat gains more. At last, the best heat and the unchanged job are timed in pairs
of fresh processes: they take no part in choosing, so luck in the race does not count. An unclear gain gets more pairs;
the interval allows for each look at the pairs of each set.

The next heats depend on the finished heats alone, so a race can be resumed.
"""

import itertools
import re
import statistics
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.interval import LEAST_PAIRS, RELEVANT, Interval, independent_ratio
from core.sweep.presets.changes import CHANGES

Stage = Literal["compiled", "timed", "pair"]
PAIRS = LEAST_PAIRS
# Pairs after which a gain is looked at: an unclear gain gets more pairs while time is left.
LOOKS = (PAIRS, 2 * PAIRS, 3 * PAIRS)
MOST_PROVEN = 2  #: sets of changes of a recipe that are proven, if the first does not hold
# For all looks at all of these sets together.
ERROR = 0.05
# Most of the time that the proof takes from the search.
PROOF_SHARE = 0.5
# Changes that are compiled before those of them with code of their own are timed.
AT_ONCE = 3
# Sets from which the search goes on, the best first.
BEAM = 2
MOST_CHANGES = 5  #: changes of a recipe
UNCHANGED = "default"
AND, OF = " + ", ", "
LABEL = re.compile(r"(?P<changes>.+?)(?:, (?P<stage>timed|pair)(?: (?P<number>\d+))?)?")


@dataclass(frozen=True, slots=True)
class Heat:
    """A run of the race: the names of its changes, none for the unchanged job, and the number of its pair."""

    changes: tuple[str, ...]
    stage: Stage = "compiled"
    pair: int = 0

    @property
    def label(self) -> str:
        """Label of its cell: `freezing + cpp wrapper, pair 3`."""
        name = AND.join(self.changes) or UNCHANGED
        number = f" {self.pair}" if self.pair else ""
        return name if self.stage == "compiled" else f"{name}{OF}{self.stage}{number}"


def heat_of(label: str) -> Heat:
    """Return the heat of a cell's label."""
    found = LABEL.fullmatch(label)
    if found is None:
        return Heat((label,))
    names = found["changes"]
    changes = () if names == UNCHANGED else tuple(names.split(AND))
    stage: Stage = "timed" if found["stage"] == "timed" else "pair" if found["stage"] else "compiled"
    return Heat(changes, stage, int(found["number"] or 0))


@dataclass(frozen=True, slots=True)
class Finish:
    """End of a heat.

    `code` is the digest of the generated code, empty if there is none. `same` is False if the results are not the
    unchanged job's. `gain` is the unchanged job's value over this one's, such as seconds per call; None if not
    measured. `value` is the measured value: of the calls of a pair the lower quartile, since other processes disturb it
    least. `took_s` is the run's whole time.
    """

    ok: bool
    code: str = ""
    same: bool = True
    gain: Interval | None = None
    value: float | None = None
    took_s: float = 0.0

    @property
    def counts(self) -> bool:
        """True if the run ended well, with the unchanged job's results."""
        return self.ok and self.same


@dataclass(frozen=True, slots=True)
class Race:
    """A race so far: the finished heats, and the changes in their order.

    `timed` is False for a goal that each compiled heat already measures. `budget_s` are the seconds for the runs of the
    search and of the pairs, None without a limit. The first pairs come even if no time is left.
    """

    changes: tuple[str, ...]
    finished: Mapping[Heat, Finish]
    timed: bool = True
    budget_s: float | None = None

    def next_heats(self) -> tuple[Heat, ...]:
        """Return the heats to run now; none at the end of the race.

        A search that has no time left goes on to its pairs, and does not come back from there.
        """
        return self._next_of_search() or self._next_pairs()

    def _next_of_search(self) -> tuple[Heat, ...]:
        is_over = any(heat.stage == "pair" for heat in self.finished)
        return () if is_over else self._affordable(self._untried())

    @property
    def is_searching(self) -> bool:
        """True if the search goes on."""
        return bool(self._next_of_search())

    def _untried(self) -> Iterator[Heat]:
        """Yield heats of the search that have not run: a few changes, all winners joined, the next few.

        Once each change was timed, the best sets are joined with another winner.
        """
        timed = self._not_run(Heat((name,), "timed") for name in self.distinct()) if self.timed else []
        waiting = timed or self._not_run(Heat((name,)) for name in self.changes)[:AT_ONCE]
        if waiting and not timed and self.budget_s is not None:
            yield from self._not_run(self._together())
        yield from waiting or self._not_run(self._joined())

    def _not_run(self, heats: Iterable[Heat]) -> list[Heat]:
        return [heat for heat in dict.fromkeys(heats) if heat not in self.finished]

    def _affordable(self, heats: Iterable[Heat]) -> tuple[Heat, ...]:
        """Return the first of the heats, as many as fit into the time of the search."""
        waiting = tuple(heats)
        if self.budget_s is None or not waiting:
            return waiting
        # The first run also starts torch's compilers, so it says little of the next.
        each_s = statistics.median([finish.took_s for finish in self.finished.values()])
        proof_s = min(2 * PAIRS * each_s, PROOF_SHARE * self.budget_s)
        left_s = self.budget_s - proof_s - self._spent_s
        sums_s = itertools.accumulate(self._cost_s(heat.stage, each_s) for heat in waiting)
        return tuple(heat for heat, sum_s in zip(waiting, sums_s, strict=True) if sum_s <= left_s)

    def _cost_s(self, stage: Stage, each_s: float) -> float:
        alike = [finish.took_s for heat, finish in self.finished.items() if heat.stage == stage and heat.changes]
        return statistics.median(alike) if alike else each_s

    @property
    def _spent_s(self) -> float:
        return sum(finish.took_s for finish in self.finished.values())

    def untimed(self) -> tuple[str, ...]:
        """Return the changes that were to be timed and were not, since the time was up."""
        new = {name for name in self.changes if Heat((name,)) not in self.finished}
        new |= {name for name in self.distinct() if self.timed and Heat((name,), "timed") not in self.finished}
        return tuple(name for name in self.changes if name in new)

    def distinct(self) -> tuple[str, ...]:
        """Return the changes that count: one for each generated code, none for the default's."""
        default = self.finished.get(unchanged(self.timed))
        seen = {default.code} if default else set()
        names = []
        for name in self.changes:
            finish = self.finished.get(Heat((name,)))
            if finish is None or not finish.counts or (finish.code and finish.code in seen):
                continue
            seen.add(finish.code)
            names.append(name)
        return tuple(names)

    def measured(self) -> dict[tuple[str, ...], Interval]:
        """Return the gain of each set of changes that counts, as measured in the search."""
        stage = "timed" if self.timed else "compiled"
        return {
            heat.changes: finish.gain
            for heat, finish in self.finished.items()
            if heat.stage == stage and heat.changes and finish.counts and finish.gain is not None
        }

    def ranked(self) -> list[tuple[str, ...]]:
        """Return the sets of changes that seem to gain, the best first."""
        gains = self.measured()
        winners = [changes for changes, gain in gains.items() if gain.middle >= RELEVANT]
        return sorted(winners, key=lambda changes: gains[changes].middle, reverse=True)

    def _joined(self) -> Iterator[Heat]:
        """Yield all winners together; then the best sets with one change more or less."""
        yield from (together := self._not_run(self._together()))
        if together:
            return
        alone = self._alone()
        for best in self.ranked()[:BEAM]:
            if len(best) < MOST_CHANGES:
                more = [name for name in alone if name not in best and len(_compatible([*best, name])) > len(best)]
                yield from (self._heat([*best, name]) for name in more)
            if len(best) > 2:
                yield from (self._heat([each for each in best if each != name]) for name in best)

    def _together(self) -> list[Heat]:
        gains = self.measured()
        winners = [name for name in self._alone() if gains[(name,)].middle >= RELEVANT]
        return [self._heat(_compatible(winners)[:MOST_CHANGES])] if len(winners) > 1 else []

    def _alone(self) -> list[str]:
        """Return the changes that were measured alone, the best first."""
        gains = self.measured()
        alone = [changes[0] for changes in gains if len(changes) == 1]
        return sorted(alone, key=lambda name: gains[(name,)].middle, reverse=True)

    def _heat(self, names: Collection[str]) -> Heat:
        return Heat(tuple(name for name in self.changes if name in names), "timed" if self.timed else "compiled")

    def _next_pairs(self) -> tuple[Heat, ...]:
        for place, changes in enumerate(self.candidates()):
            for count in LOOKS:
                waiting = self._not_run(self._pairs_of(changes, count))
                is_first = place == 0 and count == PAIRS
                is_useful = self._has_time and (count == PAIRS or self._is_unclear(changes))
                if waiting and (is_first or is_useful):
                    return tuple(waiting)
            if self.proof(changes) is not None:
                return ()
        return ()

    def _is_unclear(self, changes: tuple[str, ...]) -> bool:
        """Return True if more pairs may still show a gain."""
        gain = self.pairs(changes)
        return gain is not None and self.proof(changes) is None and gain.middle >= RELEVANT

    @property
    def _has_time(self) -> bool:
        return self.budget_s is None or self._spent_s < self.budget_s

    def candidates(self) -> list[tuple[str, ...]]:
        """Return the sets of changes to prove, the best first."""
        return self.ranked()[:MOST_PROVEN]

    def numbers(self, changes: tuple[str, ...]) -> range:
        """Return the numbers of the pairs of a candidate: each has its own."""
        first = self.candidates().index(changes) * LOOKS[-1] + 1
        return range(first, first + LOOKS[-1])

    def _pairs_of(self, changes: tuple[str, ...], count: int) -> Iterator[Heat]:
        """Yield the heats of `count` pairs; each pair begins with the other side than the one before it."""
        for number in self.numbers(changes)[:count]:
            both = Heat((), "pair", number), Heat(changes, "pair", number)
            yield from both if number % 2 else reversed(both)

    def heats_of_pairs(self, changes: tuple[str, ...], side: tuple[str, ...]) -> list[Heat]:
        """Return one side's heats of the pairs in which both sides count."""
        both = {number: (Heat((), "pair", number), Heat(changes, "pair", number)) for number in self.numbers(changes)}
        whole = [number for number, pair in both.items() if all(self._has_value(heat) for heat in pair)]
        return [Heat(side, "pair", number) for number in whole]

    def _has_value(self, heat: Heat) -> bool:
        finish = self.finished.get(heat)
        return finish is not None and finish.counts and bool(finish.value)

    def pairs(self, changes: tuple[str, ...]) -> Interval | None:
        """Return the gain over all pairs of fresh processes; None with too few."""
        before, after = (
            [self.finished[heat].value or 0.0 for heat in self.heats_of_pairs(changes, side)] for side in ((), changes)
        )
        return independent_ratio(before, after, ERROR / (len(LOOKS) * MOST_PROVEN))

    def proof(self, changes: tuple[str, ...]) -> Interval | None:
        """Return the gain in pairs of fresh processes; None if it is not clear, or was not measured."""
        gain = self.pairs(changes)
        return gain if gain is not None and gain.low > 1 and gain.middle >= RELEVANT else None


def _compatible(names: Sequence[str]) -> list[str]:
    """Return the changes, without those that set a field that an earlier one sets."""
    chosen: dict[str, str] = {}
    for name in names:
        fields = CHANGES[name].fields if name in CHANGES else {name: True}
        if not chosen.keys() & fields.keys():
            chosen |= dict.fromkeys(fields, name)
    return list(dict.fromkeys(chosen.values()))


def unchanged(timed: bool) -> Heat:
    """Return the unchanged job's heat; a timed one is timed against itself: its gain is noise."""
    return Heat((), "timed" if timed else "compiled")


def equal_code(race: Race, name: str) -> str:
    """Return whose generated code a change has, if not its own: another change's, or the unchanged job's."""
    own = race.finished.get(Heat((name,)))
    if own is None or not own.code:
        return ""
    for other in (UNCHANGED, *race.changes[: race.changes.index(name)]):
        finish = race.finished.get(unchanged(race.timed) if other == UNCHANGED else Heat((other,)))
        if finish is not None and finish.code == own.code:
            return other
    return ""
