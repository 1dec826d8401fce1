"""python -m tests.screens [PAGE …]: write the text of each recorded scenario's pages to tests/traces/*/screens.md.

The text of a page is whole for one scenario; for the others it is what they have beyond that one. The tests compare
pages with it. Review a change of it line by line, as a change of code.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

from core.graph import levels
from core.graph.layout.ladder import lay_out
from pages import menu
from pages.session import runs
from tests.record import SCENARIOS
from tests.support.apps import EVIDENCE, all_scenarios, components_found_once, opened, torch_still_starting
from tests.support.browser import PATIENCE_S
from tests.support.goldens import HEADING, beyond, differences, filled, pieces, share
from tests.support.places import TRACES
from tests.support.screen import written


@dataclass(frozen=True, slots=True)
class Screen:
    """One page of one scenario: what the URL asks for, and what the visitor has picked before."""

    scenario: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    held: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The page's script, and what is asked of it."""
        return " ".join([self.page, *(f"{name}={value}" for name, value in {**self.query, **self.held}.items())])

    def opened(self, run: str) -> AppTest:
        """The page of the run that the scenario is stored as, however busy the machine is."""
        patient = patch.object(levels, "lay_out", lambda boxes, edges, _, most: lay_out(boxes, edges, PATIENCE_S, most))
        with patient, patch.object(runs, "MADE_WITHIN_S", PATIENCE_S):
            return opened(self.page, run, held=self.held, **self.query)


ASKED = (
    Screen("measured", menu.KERNELS.script, held={"view-0/0": "traffic"}),
    Screen("measured", menu.KERNELS.script, held={"view-0/0": "roofline"}),
    Screen("measured", menu.KERNELS.script, {"select": "k:0/0.inference.cpp_fused_gelu_view_2"}),
    Screen("measured", menu.KERNELS.script, held={"kernel-kinds": ["extern"]}),
    Screen("measured", menu.KERNELS.script, held={"kernel-search": "gelu"}),
    Screen("measured", menu.EXERCISES.script, {"exercise": "counter"}, {"exercise-counter-hints": 2}),
    Screen("measured", menu.LANDMARKS.script),
    Screen("measured", menu.LANDMARKS.script, {"select": "torch._dynamo.guards.CheckFunctionManager"}),
    Screen("measured", menu.GLOSSARY.script),
    Screen("training_step", menu.KERNELS.script, {"whole": "true"}),
    Screen("training_step", menu.KERNELS.script, {"select": "k:0/0.forward.extern_kernels.addmm#394"}),
    Screen("training_step", menu.FUSION.script, {"fusion": "side by side"}),
    Screen("training_step", menu.FUSION.script, {"schedule": "backward 0"}),
    Screen("training_step", menu.FUSION.script, {"select": "s:op0"}),
    Screen("training_step", menu.FX_GRAPH.script, {"graph": "inductor_post_grad_graph.backward"}),
    Screen("training_step", menu.FX_GRAPH.script, {"graph": "inductor_post_grad_graph.forward", "select": "n:addmm"}),
    Screen("training_step", menu.FX_GRAPH.script, {"select": "g:L['self']"}),
    Screen("training_step", menu.PARTITION.script, {"select": "n:addmm"}),
    Screen("training_step", menu.PASSES.script, {"chapter": "joint", "frame": "1"}),
    Screen("training_step", menu.PASSES.script, {"chapter": "forward", "frame": "2"}),
    Screen("training_step", menu.GUARDS.script, {"guard": "TENSOR_MATCH"}),
    Screen("recompile_zoo", menu.GUARDS.script, {"compilation": "0/1"}),
    Screen("recompile_zoo", menu.RECOMPILES.script, {"compilation": "0/1"}),
    Screen("symbols", menu.DYNAMIC_SHAPES.script, {"compilation": "0/0", "select": "s17"}),
    Screen("graph_break_zoo", menu.COMPILE_TIME.script, {"frame": "0/0"}),
    Screen("target_h100", menu.KERNELS.script, {"select": "k:0/0.forward.triton_poi_fused_gelu_1"}),
    Screen("transformer_block", menu.RUNS.script, {"filter": "h100"}),
    *(
        Screen("measured", menu.COMPARE.script, {"aspect": aspect})
        for aspect in ("source", "graphs", "kernels", "guards", "breaks and recompiles", "compile time", "speed")
    ),
    Screen("graph_break_zoo", menu.ARTIFACTS.script, {"record_text": "x > 0", "record": "957"}),
)
FIRST = tuple(Screen(scenario, page) for scenario in SCENARIOS for page in (*EVIDENCE, menu.RUNS.script))
SCREENS = (*FIRST, *ASKED)


# The page with the frame of all pages of its run.
FRAMED = menu.OVERVIEW.script
# The scenario with the whole text of a page, by the page's script.
WHOLE = "measured"
WHOLE_OF = {
    menu.GRAPH_BREAKS.script: "graph_break_zoo",
    menu.RECOMPILES.script: "recompile_zoo",
    **dict.fromkeys(
        (page.script for page in (menu.FX_GRAPH, menu.FUSION, menu.PASSES, menu.PARTITION)), "training_step"
    ),
}
WHOLE_SCREENS = tuple(
    screen for screen in SCREENS if screen.name == screen.page and screen.scenario == WHOLE_OF.get(screen.page, WHOLE)
)


def recorded(scenario: str) -> dict[str, str]:
    """Return the recorded text of a scenario's pages, by the name of the screen; empty if there is none."""
    file = recorded_file(scenario)
    if not file.exists():
        return {}
    _, *parts = HEADING.split(file.read_text(encoding="utf-8"))
    return {name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2], strict=True)}


def base_of(page: str) -> str | None:
    """Return the whole recorded text of a page, for other texts of it to be compared with; None if there is none."""
    return recorded(WHOLE_OF.get(page, WHOLE)).get(page)


def text_of(screen: Screen, text: str) -> str:
    """Return the text of a page as it is recorded: what it has beyond the whole one, without the frame of all pages."""
    base = None if screen in WHOLE_SCREENS else base_of(screen.page)
    framed = text if screen.page == FRAMED else frameless(text, screen.scenario)
    return filled(framed) if base is None else beyond(framed, base)


def frameless(text: str, scenario: str) -> str:
    """Return a page's text with one line for those above its title that its run's *Overview* has, too."""
    frame, title, page = text.partition("\n## ")
    known = recorded(scenario).get(FRAMED, "").splitlines() + recorded(WHOLE).get(FRAMED, "").splitlines()
    lines = [line for line in frame.splitlines() if line.strip()]
    others = [line for line in lines if line not in known]
    return "\n".join([f"_Frame of {len(lines) - len(others)} lines._", *others]) + title + page


@cache
def known_pieces() -> frozenset[str]:
    """Return the lines and cells of all recorded texts."""
    texts = (text for scenario in SCENARIOS for text in recorded(scenario).values())
    return frozenset(piece for text in texts for line in text.splitlines() for piece in pieces(line))


def recorded_file(scenario: str) -> Path:
    """Return the file with the text of a scenario's pages."""
    return TRACES / scenario / "screens.md"


def difference(screen: Screen, app: AppTest) -> str:
    """Return how a page differs from its recorded text, and what to do; empty if it does not."""
    file = f"tests/traces/{screen.scenario}/screens.md"
    before = recorded(screen.scenario).get(screen.name)
    if before is None:
        return f"{file} has no page `{screen.name}` yet: run `make screens`, read what it writes, and commit it."
    lines = differences(before, text_of(screen, written(app)))
    head = f"`{screen.name}` is not as in {file}. If it should be so, run `make screens`."
    return "\n".join([head, *lines]) if lines else ""


def assert_as_recorded(screen: Screen, app: AppTest) -> None:
    """Fail with the difference if a page is not as its recorded text says."""
    changed = difference(screen, app)
    if changed:
        pytest.fail(changed, pytrace=False)


def _record(screens: Sequence[Screen], scenario: str, pages: Sequence[str], run: str) -> None:
    """Write the text of a scenario's screens, and drop what is no screen any more."""
    before = recorded(scenario)
    names = {screen.name for screen in SCREENS if screen.scenario == scenario}
    texts = {name: text for name, text in before.items() if name in names}
    for screen in screens:
        if screen.page in pages or not pages or screen.name not in before:
            texts[screen.name] = text_of(screen, written(screen.opened(run)))
    ordered = {
        screen.name: texts[screen.name] for screen in SCREENS if screen.scenario == scenario and screen.name in texts
    }
    text = "\n\n".join(f"# {name}\n\n{text}" for name, text in ordered.items())
    recorded_file(scenario).write_text(f"{text}\n", encoding="utf-8")


def main(pages: Sequence[str]) -> int:
    """Write the text of these pages, or of all of them, and drop what is no page any more."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        components_found_once(),
        torch_still_starting(),
    ):
        os.environ["COMPILEBOARD_HOME"] = home
        runs = all_scenarios(Path(home))
        # Whole texts first, for the others are compared with them.
        for screens in (WHOLE_SCREENS, [screen for screen in SCREENS if screen not in WHOLE_SCREENS]):
            for scenario in SCENARIOS:
                _record([screen for screen in screens if screen.scenario == scenario], scenario, pages, runs[scenario])
            share_lines()
    return 0


def share_lines() -> None:
    """Write all recorded texts again, with marks for lines that another text has; whole texts are the first."""
    share({(screen.scenario, screen.name) for screen in WHOLE_SCREENS})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
