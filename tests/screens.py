"""python -m tests.screens: write again what stands on every page of each recorded scenario, in tests/traces/….

The tests compare with it. What changed there is read as a change of code is: line by line.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from core.graph import levels
from core.graph.layout import lay_out
from pages import menu
from pages.session import verdicts
from tests.record import SCENARIOS
from tests.support.apps import EVIDENCE, components_found_once, opened
from tests.support.browser import PATIENCE_S
from tests.support.homes import add_scenario
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
        with patient, patch.object(verdicts, "MADE_WITHIN_S", PATIENCE_S):
            return opened(self.page, run, held=self.held, **self.query)


ASKED = (
    Screen("measured", menu.KERNELS.script, held={"view-0/0": "traffic"}),
    Screen("measured", menu.KERNELS.script, held={"view-0/0": "roofline"}),
    Screen("measured", menu.KERNELS.script, {"select": "k:0/0.inference.cpp_fused_gelu_view_2"}),
    Screen("measured", menu.KERNELS.script, held={"kernel-kinds": ["extern"]}),
    Screen("measured", menu.KERNELS.script, held={"kernel-search": "gelu"}),
    Screen("training_step", menu.KERNELS.script, {"whole": "true"}),
    Screen("training_step", menu.KERNELS.script, {"select": "k:0/0.forward.extern_kernels.addmm#394"}),
    Screen("training_step", menu.FUSION.script, {"fusion": "morph"}),
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
)
FIRST = tuple(Screen(scenario, page) for scenario in SCENARIOS for page in (*EVIDENCE, menu.RUNS.script))
SCREENS = (*FIRST, *ASKED)


def recorded(scenario: str) -> dict[str, list[str]]:
    """What stood on the pages of a scenario when it was written, by the name of the screen."""
    screens: dict[str, list[str]] = json.loads(_file(scenario).read_bytes())
    return screens


def main() -> int:
    """Write all screens."""
    with tempfile.TemporaryDirectory() as home, components_found_once():
        os.environ["COMPILEBOARD_HOME"] = home
        runs = {scenario: add_scenario(Path(home), scenario) for scenario in SCENARIOS}
        for scenario, screens in _by_scenario():
            found = {screen.name: written(screen.opened(runs[scenario])) for screen in screens}
            _file(scenario).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _by_scenario() -> Iterator[tuple[str, list[Screen]]]:
    for scenario in SCENARIOS:
        yield scenario, [screen for screen in SCREENS if screen.scenario == scenario]


def _file(scenario: str) -> Path:
    return TRACES / scenario / "screens.json"


if __name__ == "__main__":
    sys.exit(main())
