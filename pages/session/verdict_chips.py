"""The header's chips: the run's state and the verdict; each number links to the page with its evidence."""

from __future__ import annotations

from collections.abc import Sequence

from core import Verdict, verdict
from core.analysis import (
    UNEVEN,
    Failure,
    Results,
    Speed,
    Work,
    compared_words,
    counted_words,
    failure_counts,
    failures,
    memory_ratio,
    memory_sentence,
    results_words,
    target_words,
    traffic_words,
    work_words,
)
from core.analysis.backend import backend_problems, backend_sentence, backends_called
from core.base import words as fmt
from core.report import Report
from core.views.speed_words import seen_words
from pages import menu
from pages.components.chips.view import Chip, Tone
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, one_line
from pages.session.shown import Shown

# The least change of peak memory that gets a colour, and the least that is shown.
UNLIKE, SEEN = 0.02, 0.0005
TONES: dict[str, Tone] = {
    "done": "ok",
    "running": "live",
    "queued": "live",
    "failed": "bad",
    "crashed": "bad",
    "damaged": "bad",
    "timed out": "bad",
    "out of memory": "bad",
    "cancelled": "warn",
    "interrupted": "warn",
}

TOOLTIP = "Eager over compiled, steady state, median with its 99 % interval"


def header_chips(here: Shown) -> list[Chip]:
    """Return the chips of the header: a run's state, its settings, and the verdict."""
    status = here.status
    items = [
        Chip(
            _standing(here),
            tone=_tone(here),
            page=menu.OVERVIEW.script,
            tooltip=status.reason,
        )
    ]
    setting = [Chip(text, tone="quiet") for text in _setting(here)]
    if here.report is None or here.is_no_trace or not here.stands:
        return [*items, *setting]
    found, words = verdict(here.report), target_words(here.report)
    items += first_chips(found)
    if words:
        items.append(Chip("not run", words.removesuffix("; not run"), "warn", menu.KERNELS.script, words))
    told = [*verdict_chips(found), *memory_chips(here.report), *backend_chips(here.report)]
    return [*items, *failure_chips(failures(here.report)), *told, *setting]


def failure_chips(found: Sequence[Failure]) -> list[Chip]:
    """Return chips for code that was not compiled: an error is red, a frame that runs eagerly is a warning."""
    counts = failure_counts(found)
    reasons = {failure.kind: f"[{failure.compilation}] {failure.reason}" for failure in reversed(found)}
    return [
        Chip(counts[kind], tone="bad" if kind == "failed" else "warn", page=menu.OVERVIEW.script, tooltip=reasons[kind])
        for kind in counts
    ]


def memory_chips(report: Report) -> list[Chip]:
    """Return a chip with the change of peak memory, compiled compared with eager; empty if it was not measured."""
    ratio = memory_ratio(report)
    if ratio is None:
        return []
    change = 1 / ratio - 1
    tone: Tone = "ok" if change <= -UNLIKE else "warn" if change >= UNLIKE else ""
    text = f"{'−' if change < 0 else '+'}{fmt.percent(abs(change))}" if abs(change) >= SEEN else "same"
    return [Chip(text, "peak memory", tone, menu.MEMORY.script, memory_sentence(report))]


def backend_chips(report: Report) -> list[Chip]:
    """Return a chip with the backends that were called; red if one of them failed."""
    names = one_line(", ".join(backends_called(report)), LONGEST_NAME)
    tone: Tone = "bad" if backend_problems(report) else ""
    tooltip = one_line(backend_sentence(report).replace("`", ""), LONGEST_TEXT)
    return [Chip(names, "backend", tone, menu.BACKEND.script, tooltip)] if names else []


def _standing(here: Shown) -> str:
    """Return the text of a run's state.

    A run with a final verdict may still be measuring; a log was not run here, but may record a failure.
    """
    if here.is_no_trace:
        return "no trace"
    if here.status.state == "done" and here.report is not None and here.report.error is not None:
        return "failed"
    if here.status.kind == "log" and here.status.state == "done" and _is_partly_compiled(here):
        return "opened"
    return "measuring …" if here.going and here.stands else here.status.state


def _is_partly_compiled(here: Shown) -> bool:
    return here.report is not None and any(item.kind == "failed" for item in failures(here.report))


def _tone(here: Shown) -> Tone:
    """Return the colour of a run's outcome; code that was not compiled in a finished run has red chips of its own."""
    standing = _standing(here)
    if standing in ("no trace", "failed"):
        return "bad"
    return "" if standing == "done" and _is_partly_compiled(here) else TONES.get(standing, "")


def _setting(here: Shown) -> list[str]:
    job = here.job
    torch = here.report.setting.torch if here.report else ""
    parts = [job.device, *job.differences()] if job else ["opened log"] if here.status.kind == "log" else []
    return [one_line(part, LONGEST_NAME) for part in (*parts, f"torch {torch}" if torch else "") if part]


def first_chips(found: Verdict) -> list[Chip]:
    """Return the chips that follow the state at every width: speed, graph breaks, recompiles."""
    captured: Tone = "ok" if found.graphs else ""
    breaks = Chip(
        fmt.number(found.breaks),
        fmt.agree(found.breaks, "graph break", "graph breaks"),
        "warn" if found.breaks else captured,
        menu.GRAPH_BREAKS.script,
        f"Places where Dynamo stopped; met {fmt.count(found.breaks_met, 'time')}" if found.breaks else "",
    )
    recompiles = Chip(
        fmt.number(found.recompiles),
        fmt.agree(found.recompiles, "recompile", "recompiles"),
        "warn" if found.recompiles else captured,
        menu.RECOMPILES.script,
    )
    return [*([_speed_chip(found.speed)] if found.speed is not None else []), breaks, recompiles]


def verdict_chips(found: Verdict) -> list[Chip]:
    """Return the other chips of the verdict: result, graphs, ops and kernels, memory traffic."""
    graphs = Chip(fmt.number(found.graphs), fmt.agree(found.graphs, "graph", "graphs"), page=menu.FX_GRAPH.script)
    return [
        *([_result_chip(found.result)] if found.result is not None else []),
        graphs,
        *_work_chips(found.work),
    ]


def _speed_chip(found: Speed) -> Chip:
    """Return the speedup's chip; a measurement on a busy machine is neither good nor bad."""
    claimed: Tone = "warn" if found.slower or found.beside else "ok" if found.faster else ""
    text = seen_words(found)
    tooltip = "; ".join(filter(None, [TOOLTIP, found.beside]))
    if found.disturbed:
        return Chip(text, "speedup, disturbed", "warn", menu.SPEEDUP.script, f"{tooltip}; {found.disturbed}")
    return Chip(text, "speedup", claimed, menu.SPEEDUP.script, tooltip)


def _result_chip(found: Results) -> Chip:
    tones: dict[str, Tone] = {"same": "ok", "differs": "bad", "other strides": "", "not comparable": "warn"}
    compared = compared_words(found.compared)
    told = results_words(found) or (f"Compared with eager: {compared}" if compared else "")
    label = "in results" if found.outcome == "other strides" else "result"
    return Chip(found.outcome, label, tones[found.outcome], menu.SPEEDUP.script, one_line(told, LONGEST_TEXT))


def _work_chips(found: Work) -> list[Chip]:
    """Return chips with the numbers of ops and kernels, and the change of memory traffic by fusion."""
    items = []
    if found.ops is not None and found.kernels is not None:
        text = f"{fmt.number(found.ops)} → {fmt.number(found.kernels)}"
        items.append(Chip(text, "post-grad ops → kernels", page=menu.KERNELS.script, tooltip=work_words(found)[0]))
    if found.traffic is not None and found.traffic.changed:
        sign = "−" if found.traffic.saved > 0 else "+"
        told = f"{traffic_words(found.traffic)}. {counted_words(found.traffic)}"
        text = f"{sign}{fmt.percent(abs(found.traffic.saved))}"
        items.append(Chip(text, "memory traffic", page=menu.FUSION.script, tooltip=told))
    elif found.uneven:
        items.append(Chip("not comparable", "memory traffic", "quiet", menu.FUSION.script, UNEVEN))
    return items
