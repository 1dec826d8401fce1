"""The browser writes a number as Python does."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.base import words
from core.graph.fusion import fusion_model
from core.graph.fx import recorded_model
from tests.support.logs import recorded_report
from tests.support.places import ROOT, TRACES
from tests.support.reports.films import reader

DENO = Path(sys.executable).with_name("deno")
WRITTEN: dict[str, Callable[[float], str]] = {
    "": words.amount,
    "B": words.bytes_,
    "FLOP": lambda value: words.amount(value, "FLOP"),
    "B/s": words.per_second,
    "s": words.duration_s,
    "%": lambda value: f"{words.number(float(value))} %",
}
FIGURES = [
    (0, "B", "0 B"),
    (512, "B", "512 B"),
    (1500, "B", "1.50 kB"),
    (999_600, "B", "1.00 MB"),
    (66_300_000, "B", "66.3 MB"),
    (1_200_000_000_000, "B", "1.20 TB"),
    (0, "FLOP", "0 FLOP"),
    (2048, "FLOP", "2.05 kFLOP"),
    (137_000_000, "FLOP", "137 MFLOP"),
    (812_000_000_000, "B/s", "812 GB/s"),
    (0, "s", "0 s"),
    (0.000000003, "s", "3.00 ns"),
    (0.000012, "s", "12.0 µs"),
    (0.00182, "s", "1.82 ms"),
    (0.9996, "s", "1.00 s"),
    (3.4, "s", "3.40 s"),
    (125, "s", "2 min 5 s"),
    (0, "%", "0 %"),
    (0.5, "%", "0.500 %"),
    (12.34, "%", "12.3 %"),
    (100, "%", "100 %"),
    (7, "", "7"),
    (1234, "", "1.23 k"),
    (-2.5, "", "−2.50"),
    (1.234e-7, "", "1.23e-7"),
]
# Powers of ten and their neighbours, what stands in the middle between two roundings, and whatever else there is.
POWERS = [float(f"{lead}e{power}") for power in range(-12, 22) for lead in ("1", "0.9994", "0.9995", "0.9996", "9.995")]
MIDDLES = [n / 8 for n in range(8, 1200)] + [float(n) for n in range(1_005, 9_999, 10)]
OTHERS = [random.Random(7).choice((1, -1)) * 10 ** random.Random(n).uniform(-14, 22) for n in range(2_000)]
NUMBERS = [0, *POWERS, *MIDDLES, *OTHERS, *(int(x) for x in OTHERS)]


@pytest.mark.parametrize(("value", "unit", "text"), FIGURES)
def test_a_figure_has_three_digits_and_a_unit(value: float, unit: str, text: str) -> None:
    assert WRITTEN[unit](value) == text


@pytest.mark.parametrize("scenario", ["transformer_block", "training_step"])
def test_every_unit_that_a_graph_is_painted_with_is_one_that_the_browser_writes(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    report = recorded_report(log)
    (compilation,) = report.compilations
    graphs = [recorded_model(report, compilation, graph, reader(log, compilation)) for graph in compilation.graphs]
    schedules = [fusion_model(schedule, {}, {}) for schedule in compilation.schedules]
    units = {overlay.unit for model in (*graphs, *schedules) for overlay in model.overlays}
    assert {"B", "FLOP"} <= units <= set(WRITTEN)


def test_the_browser_writes_a_figure_as_python_does(tmp_path: Path) -> None:
    given = [(value, unit) for unit in WRITTEN for value in NUMBERS if unit != "s" or abs(value) < 1e15]
    (tmp_path / "given.json").write_text(json.dumps(given), encoding="utf-8")
    script = tmp_path / "script.js"
    script.write_text(
        f'import {{ figure }} from "{(ROOT / "pages/components/js/words.js").as_uri()}";\n'
        'import given from "./given.json" with { type: "json" };\n'
        "console.log(JSON.stringify(given.map(([value, unit]) => figure(value, unit))));\n",
        encoding="utf-8",
    )
    run = subprocess.run(
        [DENO, "run", "--no-config", "--no-lock", "--no-remote", script], capture_output=True, check=True, timeout=60
    )

    browser = zip(given, json.loads(run.stdout), strict=True)
    assert [(*one, text) for one, text in browser if WRITTEN[one[1]](one[0]) != text] == []
