"""A profile by torch.profiler beside a log: its tracks, and its slices of time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SliceKind = Literal["kernel", "copy", "launch", "op", "annotation", "overhead"]
# Slices of a device; all other slices are of host threads.
DEVICE_KINDS = ("kernel", "copy")
# Start of the note of a run that was to record a profile and could not; its reason follows.
NOT_RECORDED = "No profile was recorded: "
# Start of the name of the slices in which a run made the inputs of a call, or seeded it.
PREPARING = "preparing call "


@dataclass(frozen=True, slots=True)
class ProfileTrack:
    """A host thread or a device's stream, with its name; `device` is empty for a host thread."""

    name: str
    device: str = ""


@dataclass(frozen=True, slots=True)
class ProfileSlice:
    """A slice of time on a track, in microseconds since the first slice of the profile.

    `correlation` is the number that a launch and its kernels share, `external` the number of the host's op that a
    kernel belongs to, `sequence` the number that a forward op and its backward share; 0 without one.
    """

    name: str
    kind: SliceKind
    track: int
    start_us: float
    end_us: float
    correlation: int = 0
    external: int = 0
    sequence: int = 0

    @property
    def length_us(self) -> float:
        """Return the duration in microseconds."""
        return self.end_us - self.start_us


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile: its tracks, its slices by start, the number of events in the file, and counted unreadable parts."""

    tracks: tuple[ProfileTrack, ...]
    slices: tuple[ProfileSlice, ...]
    events: int
    problems: dict[str, int] = field(default_factory=dict)

    @property
    def length_us(self) -> float:
        """Return the time from the first slice's start to the last slice's end, in microseconds."""
        return max((piece.end_us for piece in self.slices), default=0.0)

    @property
    def has_device(self) -> bool:
        """Return True if a kernel or a copy of a device was recorded."""
        return any(piece.kind in DEVICE_KINDS for piece in self.slices)
