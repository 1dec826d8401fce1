"""The steps from a model to a package and to its callers, as boxes; the selected step is open below."""

from __future__ import annotations

from functools import partial

from core.analysis import AotiStory, PackagingStep, StepId, packaging_steps, step_with_problem
from core.base import words as fmt
from pages.components.way.view import WayStage, way
from pages.look.text import LONGEST_LINE, one_line
from pages.session import url
from pages.session.memory import held, hold

STEPS: tuple[StepId, ...] = ("export", "package", "python", "c++")


def package_way(story: AotiStory) -> StepId:
    """Draw the steps; return the open one: the first that failed, unless another is chosen."""
    first = step_with_problem(story) or "package"
    url.read(url.STEP, STEPS, first)
    wanted = held(url.STEP, first)
    chosen = next((step for step in STEPS if step == wanted), first)
    columns = tuple(tuple(map(_stage, column)) for column in packaging_steps(story))
    way(columns, chosen, key="package-way", on_pick=partial(hold, url.STEP))
    url.write(url.STEP)
    return chosen


def _stage(step: PackagingStep) -> WayStage:
    per_call = step.id in ("python", "c++") and step.state == "done"
    figure = "" if step.seconds is None else fmt.duration_s(step.seconds) + (" a call" if per_call else "")
    return WayStage(step.id, step.title, step.call, step.state, figure, one_line(step.words, LONGEST_LINE))
