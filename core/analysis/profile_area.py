"""Sums over an area of a profile: its slices by name, cut off at its edges, and the busy and idle time in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from core.analysis.idle import HostTree, IdleTime, busy_slices, idle_times, union
from core.analysis.profile import JoinedProfile
from core.analysis.spans import Span, intersection, length
from core.report.profile import SliceKind

HOST_KINDS = ("op", "launch")


@dataclass(frozen=True, slots=True)
class SliceSum:
    """The slices of an area with one name and kind, joined or not; `kernels` are the ids of their kernels.

    `total_s` is their time in the area, `own_s` that without the slices inside them.
    """

    name: str
    kind: SliceKind
    kernels: tuple[str, ...]
    slices: int
    total_s: float
    own_s: float


@dataclass(frozen=True, slots=True)
class ProfileArea:
    """Sums over a span of time: of the chosen slices the most time first, and of everything in that time.

    `busy_s` is the time in which a device was busy, or compiled graphs ran if there is none; `idle` the time in the
    gaps between two such times; `host_s` the time in which a host thread was in an op or a launch.
    """

    length_s: float
    sums: tuple[SliceSum, ...]
    busy_s: float
    idle: tuple[IdleTime, ...]
    host_s: float

    @property
    def idle_s(self) -> float:
        """Return the idle seconds of all causes."""
        return sum(time.seconds for time in self.idle)


def sum_area(joined: JoinedProfile, within: Span, chosen: Collection[int]) -> ProfileArea:
    """Return the sums over a span of time in microseconds; `chosen` are the indexes of the slices that are listed."""
    profile, host = joined.profile, HostTree(joined.profile)
    busy = busy_slices(profile)
    in_host = union(piece for piece in profile.slices if piece.kind in HOST_KINDS)
    return ProfileArea(
        length_s=(within[1] - within[0]) / 1e6,
        sums=_sums(joined, host, within, chosen),
        busy_s=length(intersection(union(busy), [within])) / 1e6,
        idle=tuple(idle_times(profile, host, busy, within)),
        host_s=length(intersection(in_host, [within])) / 1e6,
    )


def _sums(joined: JoinedProfile, host: HostTree, within: Span, chosen: Collection[int]) -> tuple[SliceSum, ...]:
    slices = joined.profile.slices
    kernels = {piece.index: piece.kernel for piece in joined.kernels}
    lengths = [max(0.0, min(piece.end_us, within[1]) - max(piece.start_us, within[0])) for piece in slices]
    own = list(lengths)
    for index, parent in enumerate(host.parents):
        if parent >= 0:
            own[parent] -= lengths[index]
    groups: dict[tuple[str, SliceKind, bool], list[int]] = defaultdict(list)
    for index in chosen:
        piece = slices[index]
        if piece.start_us < within[1] and piece.end_us > within[0]:
            groups[piece.name, piece.kind, bool(kernels.get(index))].append(index)
    sums = (
        SliceSum(
            name,
            kind,
            tuple(dict.fromkeys(kernels[index] for index in indexes)) if is_joined else (),
            len(indexes),
            sum(lengths[index] for index in indexes) / 1e6,
            max(0.0, sum(own[index] for index in indexes)) / 1e6,
        )
        for (name, kind, is_joined), indexes in groups.items()
    )
    return tuple(sorted(sums, key=lambda entry: -entry.total_s))
