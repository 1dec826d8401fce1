"""Groups of ranks with equal fingerprints, and where each differs from the largest group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from core.analysis.ranks.causes import RankSide, with_cause
from core.analysis.ranks.differences import RankDifference, code_difference, first_difference
from core.analysis.ranks.forecasts import Advice, Forecast, advice, forecast
from core.report.ranks import Fingerprint

# Groups beyond this number are counted, and not compared.
MAX_GROUPS = 64


@dataclass(frozen=True, slots=True)
class RankRow:
    """A rank in one line: its digest, log, compilations, and seconds by phase. `problem` is why it was not read."""

    rank: int
    digest: str = ""
    log_bytes: int = 0
    compilations: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    estimated_us: float | None = None
    last_time: str = ""
    is_cut: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Ranks with one fingerprint.

    `first` is the first difference from the first group, `code` the first one that is not of caches alone; both are
    None for the first group, and for groups beyond the bound.
    """

    ranks: tuple[int, ...]
    first: RankDifference | None = None
    code: RankDifference | None = None
    forecast: Forecast | None = None
    advice: tuple[Advice, ...] = ()

    @property
    def rank(self) -> int:
        """The lowest rank, which stands for the group."""
        return self.ranks[0]

    @property
    def only_caches(self) -> bool:
        """True if the ranks differ from the first group in caches alone."""
        return self.first is not None and self.code is None


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranks of a run, in groups, largest first."""

    rows: tuple[RankRow, ...]
    groups: tuple[RankGroup, ...]

    @property
    def differ(self) -> bool:
        """True if the ranks that were read are not all alike."""
        return len(self.groups) > 1

    def group_of(self, rank: int) -> RankGroup | None:
        """Return the group of a rank; None if it was not read."""
        return next((group for group in self.groups if rank in group.ranks), None)


def row_of(fingerprint: Fingerprint) -> RankRow:
    """Return a fingerprint in one line."""
    seconds: dict[str, float] = {}
    estimates = []
    for compilation in fingerprint.compilations:
        for phase, value in compilation.seconds.items():
            seconds[phase] = seconds.get(phase, 0.0) + value
        if compilation.estimated_us is not None:
            estimates.append(compilation.estimated_us)
    return RankRow(
        rank=fingerprint.rank,
        digest=fingerprint.digest,
        log_bytes=fingerprint.log_bytes,
        compilations=len(fingerprint.compilations),
        seconds=seconds,
        estimated_us=sum(estimates) if estimates else None,
        last_time=fingerprint.last_time,
        is_cut=fingerprint.is_cut,
        problem=fingerprint.problem,
    )


def group_ranks(rows: Iterable[RankRow], side_of: Callable[[int], RankSide]) -> Ranks:
    """Return the ranks in groups; `side_of` reads a rank, and is called once for each group."""
    rows = sorted(rows, key=lambda row: row.rank)
    by_digest: dict[str, list[int]] = {}
    for row in rows:
        if not row.problem:
            by_digest.setdefault(row.digest, []).append(row.rank)
    ordered = sorted(by_digest.values(), key=lambda ranks: (-len(ranks), ranks[0]))
    return Ranks(tuple(rows), tuple(_groups(ordered, side_of)))


def _groups(ordered: Sequence[Sequence[int]], side_of: Callable[[int], RankSide]) -> Iterable[RankGroup]:
    reference = side_of(ordered[0][0]) if len(ordered) > 1 else None
    for place, ranks in enumerate(ordered):
        if reference is None or not 0 < place < MAX_GROUPS:
            yield RankGroup(tuple(ranks))
        else:
            yield _compared(tuple(ranks), reference, side_of(ranks[0]))


def _compared(ranks: tuple[int, ...], reference: RankSide, side: RankSide) -> RankGroup:
    left, right = reference.fingerprint, side.fingerprint
    first, code = first_difference(left, right), code_difference(left, right)
    first = with_cause(first, reference, side) if first else None
    code = with_cause(code, reference, side) if code else None
    main = code or first
    if main is None:
        return RankGroup(ranks)
    return RankGroup(ranks, first, code, forecast(main, left, right), advice(main, left, right))
