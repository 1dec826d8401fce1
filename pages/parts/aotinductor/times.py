"""The cost of a package per call, compared with eager and compiled, and the sizes that it takes."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import BATCH
from core.analysis import (
    AotiStory,
    CallCost,
    SideTime,
    call_cost,
    first_line,
    narrower_ranges,
    ran_outside,
    side_times,
    times_disturbed,
)
from core.base import words as fmt
from core.report import ExportedDim, PackageTimes, RangeTrial
from core.views.speedup import ratio_words
from pages.look.charts import PLOTLY_CONFIG, median_bars
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, plain, prose
from pages.session.cache import kept, theme
from pages.session.shown import RunView

NAMES = {"eager": "eager", "compiled": "compiled", "python": "package, Python", "c++": "package, C++"}
COLOURS = {"eager": 3, "compiled": 0, "python": 2, "c++": 1}
BAR_PX, FRAME_PX = 36, 66
MOST_SHOWN = 60
FEW_SIZES = 6
NO_BREAK = "\u00a0"
TRIAL_HELP = "Each end of the range, and the sizes next to it, were tried with the program and with the package"
CHECKS_WORDS = "A package that checks is one that is loaded with `AOTI_RUNTIME_CHECK_INPUTS=1` in the environment."
FIXED = "Every size is fixed to that of the example inputs: a call with another one is refused."


def times_part(view: RunView, story: AotiStory) -> None:
    """Draw the times of all sides in one chart with quartiles, and each compared with eager with its interval."""
    times = story.times
    sides = side_times(times) if times else ()
    st.header("Time per call", anchor=False)
    if times is None or not sides:
        st.caption(plain(f"Not timed: {times.reason}." if times and times.reason else "Nothing was timed."))
        return
    on = theme()
    rows = [(NAMES[one.side], one.median_s, one.quartiles_s, COLOURS[one.side]) for one in reversed(sides)]
    height = FRAME_PX + BAR_PX * len(rows)
    figure = kept(lambda: median_bars(rows, on, height), "package-times", view.run.id, view.report.log_bytes, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="package-times")
    st.dataframe(pd.DataFrame([_row(one, story) for one in sides]), hide_index=True, placeholder="")
    st.caption(" ".join(filter(None, (_sampling_words(times), _cost_words(call_cost(times))))))


def _row(side: SideTime, story: AotiStory) -> dict[str, str | None]:
    run = {"python": story.python, "c++": story.cpp}.get(side.side)
    low_s, high_s = side.quartiles_s
    loaded = run.load_s if run else None
    return {
        "": NAMES[side.side],
        "a call": fmt.duration_s(side.median_s),
        "quartiles": f"{fmt.duration_s(low_s)} to {fmt.duration_s(high_s)}",
        "eager over it": None if side.side == "eager" else _against(side),
        "load": None if loaded is None else fmt.duration_s(loaded),
        "first call": fmt.duration_s(run.call_s) if run and run.call_s is not None else None,
    }


def _against(side: SideTime) -> str:
    """Return the speedup over eager; only its bounds if no difference is seen."""
    if side.faster is None or side.faster.apart or side.faster.wide:
        return ratio_words(side.faster)
    return f"none seen ({fmt.number(side.faster.low)} to {fmt.number(side.faster.high)} ×)"


def _sampling_words(times: PackageTimes) -> str:
    """Describe the sampling."""
    rounds = max(map(len, times.sides.values())) - times.warm_up
    threads = f" on {fmt.count(times.threads, 'thread')}" if times.threads else ""
    timed = f", timed by {plain(times.clock, LONGEST_LINE)}" if times.clock else ""
    disturbed = times_disturbed(times)
    return (
        f"All in turn, {fmt.count(rounds, 'round')} of {fmt.count(times.calls_per_sample, 'call')} each{threads} after "
        f"{fmt.count(times.warm_up, 'round')} of warm-up{timed}. The brackets hold the ratio with 99 % confidence."
        + (f" {disturbed[:1].upper()}{disturbed[1:]}." if disturbed else "")
    )


def _cost_words(cost: CallCost | None) -> str:
    """Return the cost of Python compared with C++ for the same library, or that no difference is seen; empty without
    cost.
    """
    if cost is None:
        return ""
    bounds = f"{fmt.number(cost.ratio.low)} to {fmt.number(cost.ratio.high)}"
    if not cost.seen:
        return f"Between Python and C++ no difference is seen (the ratio is between {bounds.replace(' to ', ' and ')})."
    more = f"{fmt.duration_s(abs(cost.more_s))} {'more' if cost.more_s > 0 else 'less'}"
    return (
        f"The same library takes {fmt.number(cost.ratio.middle)} times as long from Python ({bounds}), {more} a call."
    )


def sizes_part(story: AotiStory) -> None:
    """Draw the requested dynamic dimensions, torch's own ranges, and the results of calls at their ends."""
    st.header("Sizes", anchor=False)
    export = story.export
    if export is None:
        return
    if not export.dims:
        st.caption(FIXED)
    for dim in export.dims[:MOST_SHOWN]:
        st.caption(_dim_words(dim))
    if export.ranges:
        st.caption("`range_constraints`, as torch prints them")
        st.code("\n".join(line[:LONGEST_LINE] for line in export.ranges[:MOST_SHOWN]), language=None)
    if story.trials:
        rows = [_trial_row(trial) for trial in story.trials[:MOST_SHOWN]]
        st.caption("Calls with other sizes", help=TRIAL_HELP)
        st.table(pd.DataFrame(rows).set_index("size"))
        for advice in list(narrower_ranges(story.trials))[:FEW_SIZES]:
            st.info(prose(advice, LONGEST_TEXT), icon=":material/lightbulb:")
        st.caption(" ".join(filter(None, (_unchecked_words(story), CHECKS_WORDS if _checked(story) else ""))))


def _checked(story: AotiStory) -> bool:
    return any(trial.checked is not None for trial in story.trials)


def _unchecked_words(story: AotiStory) -> str:
    """Return a warning that the package does not check its range itself; empty if no run showed this."""
    found = ran_outside(story.trials)
    if not found:
        return ""
    sizes = ", ".join(fmt.number(trial.size) for trial in found[:FEW_SIZES])
    return f"Without checks the package ran outside of its range ({sizes}), and nothing was said."


def _dim_words(dim: ExportedDim) -> str:
    names = (at if at == BATCH else f"inputs.{at}" for at in dim.at[:MOST_SHOWN])
    where = ", ".join(code(name, LONGEST_NAME) for name in names)
    return f"{code(dim.text, LONGEST_LINE)} at {where}, {fmt.number(dim.size)} in the example"


def _trial_row(trial: RangeTrial) -> dict[str, str]:
    """Return one row of the trials; if the program was called, `skipped` is about the package only."""
    called = bool(trial.inputs) or not trial.skipped
    skipped = plain(trial.skipped, LONGEST_LINE)
    return {
        "size": f"{plain(trial.dim, LONGEST_NAME)} = {fmt.number(trial.size)}".replace(" ", NO_BREAK),
        "range": "within" if trial.inside else "outside",
        "exported program": _said(trial.program, trial.program_same) if called else skipped,
        "package": skipped or _said(trial.package, trial.package_same),
        "package that checks": "" if trial.checked is None else _said(trial.checked, None),
    }


def _said(error: str, same: bool | None) -> str:
    """Return torch's message first, since its refusals are the reason for this table."""
    if error:
        return code(first_line(error), LONGEST_LINE)
    return {True: "equals eager", False: "differs from eager", None: "runs"}[same]
