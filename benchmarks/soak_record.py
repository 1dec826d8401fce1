"""Samples of the server during the soak, a check that the figures stay flat, and a chart of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import psutil

from benchmarks.table import Result

WIDE, HIGH, GAP = 900, 110, 46


@dataclass(frozen=True, slots=True)
class Look:
    """A sample of a server: seconds since the start, and the server's figures at that time.

    `page_s` is the median page time since the previous sample, None if no page was opened.
    """

    at_s: float
    server_mb: float
    fork_servers_mb: float
    descriptors: int
    threads: int
    processes: int
    page_s: float | None
    errors: int


def look(pid: int, start_s: float, page_s: Sequence[float], errors: int) -> Look:
    """Sample the server and its children; raises RuntimeError if the server has ended."""
    server = psutil.Process(pid)
    if server.status() == psutil.STATUS_ZOMBIE:
        raise RuntimeError(f"the server has ended after {time.monotonic() - start_s:.0f} s")
    below = server.children(recursive=True)
    return Look(
        at_s=time.monotonic() - start_s,
        server_mb=server.memory_info().rss / 1e6,
        fork_servers_mb=sum(map(_resident_mb, server.children())),
        descriptors=server.num_fds(),
        threads=server.num_threads(),
        processes=1 + len(below),
        page_s=statistics.median(page_s) if page_s else None,
        errors=errors,
    )


def _resident_mb(process: psutil.Process) -> float:
    try:
        return float(process.memory_info().rss) / 1e6
    except psutil.Error:
        return 0.0


@dataclass(frozen=True, slots=True)
class Curve:
    """A sampled figure, and its maximum growth after the warm-up.

    `may_grow` is a fraction of the figure's mean, None for no limit.
    """

    title: str
    value: Callable[[Look], float | None]
    may_grow: float | None = None


CURVES = (
    Curve("server, MB", lambda look: look.server_mb, 0.05),
    Curve("fork servers, MB", lambda look: look.fork_servers_mb, 0.05),
    Curve("descriptors", lambda look: float(look.descriptors), 0.10),
    Curve("threads", lambda look: float(look.threads), 0.10),
    Curve("processes", lambda look: float(look.processes)),
    Curve("page, median s", lambda look: look.page_s),
    Curve("errors", lambda look: float(look.errors)),
)


def growth(points: Sequence[tuple[float, float]]) -> float:
    """Return the rise of a regression line from first to last point, as a fraction of the mean value."""
    times, values = [at for at, _ in points], [value for _, value in points]
    slope = statistics.linear_regression(times, values).slope
    return slope * (times[-1] - times[0]) / (statistics.fmean(values) or 1.0)


def flatness(looks: Sequence[Look], warm_up_s: float) -> list[Result]:
    """Return one result per curve: its range after the warm-up, and whether it is flat."""
    later = [look for look in looks if look.at_s >= warm_up_s]
    return [_flat(curve, points(curve, later)) for curve in CURVES]


def points(curve: Curve, looks: Sequence[Look]) -> list[tuple[float, float]]:
    """Return the points of a curve as (seconds, value), without missing values."""
    return [(look.at_s, value) for look in looks if (value := curve.value(look)) is not None]


def _flat(curve: Curve, seen: Sequence[tuple[float, float]]) -> Result:
    if len(seen) < 3:
        return Result(curve.title, "not looked at often enough")
    values = [value for _, value in seen]
    words = f"{statistics.median(values):.4g} ({min(values):.4g} to {max(values):.4g})"
    if curve.may_grow is None:
        return Result(curve.title, words)
    rise = growth(seen)
    return Result(curve.title, f"{words}, rises {rise:+.1%}", f"≤ {curve.may_grow:.0%}", rise <= curve.may_grow)


def chart(looks: Sequence[Look], warm_up_s: float) -> str:
    """Return an SVG with one curve below another; the warm-up is left of the dashed line."""
    end_s = max((look.at_s for look in looks), default=1.0)
    panels = [_panel(curve, points(curve, looks), end_s, index) for index, curve in enumerate(CURVES)]
    high = len(CURVES) * (HIGH + GAP) + 10
    warm = WIDE * min(1.0, warm_up_s / end_s)
    line = f'<line x1="{warm:.0f}" y1="0" x2="{warm:.0f}" y2="{high}" stroke="#999" stroke-dasharray="4 4"/>'
    body = "\n".join([*panels, line])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 0 {WIDE + 20} {high}" font-family="sans-serif" '
        f'font-size="13">\n'
        f'<rect x="-10" width="{WIDE + 20}" height="{high}" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _panel(curve: Curve, seen: Sequence[tuple[float, float]], end_s: float, index: int) -> str:
    top = index * (HIGH + GAP) + 24
    most = max((value for _, value in seen), default=0.0) or 1.0
    path = " ".join(f"{WIDE * at / end_s:.1f},{top + HIGH * (1 - value / most):.1f}" for at, value in seen)
    title = escape(f"{curve.title}: 0 to {most:.4g} in {end_s / 60:.0f} minutes")
    return (
        f'<text x="0" y="{top - 8}">{title}</text>'
        f'<line x1="0" y1="{top + HIGH}" x2="{WIDE}" y2="{top + HIGH}" stroke="#ccc"/>'
        f'<polyline points="{path}" fill="none" stroke="#4A56C9" stroke-width="1.5"/>'
    )
