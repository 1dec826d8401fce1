"""The page Neighbours: the table of a run, the button where there is none, and MLX's lazy graphs."""

from pathlib import Path

import msgspec
import pytest

from core import CompileJob
from core.report import Neighbour
from pages import menu
from tests.core.views.test_mlx import SIN_COS
from tests.core.views.test_neighbours import ONNX, TVM
from tests.support.apps import opened, read_titles, read_words, sound
from tests.support.homes import add_run, add_scenario, job_of, record
from tests.support.places import TRACES

PAGE = menu.NEIGHBOURS.script
MLX = Neighbour(name="MLX", call="mlx.core.compile(function)", version="0.32.4", ported=(SIN_COS,))


def run_of(home: Path, *neighbours: Neighbour) -> str:
    log = (TRACES / "transformer_block" / "trace.log").read_bytes()
    for neighbour in neighbours:
        log += record("compileboard_neighbour", {"schema": 1, **msgspec.to_builtins(neighbour)})
    return add_run(home, "neighbours", log, job=job_of("transformer_block")).id


def test_the_table_has_a_row_for_each_neighbour_and_mlx_its_own(empty_home: Path) -> None:
    app = sound(opened(PAGE, run_of(empty_home, ONNX, TVM, MLX)))
    assert read_titles(app)[0] == "ONNX Runtime is 2.00× (2.00–2.00) as fast as compiled"
    neighbours, functions = (table.value for table in app.dataframe)
    assert list(neighbours["runs this model"]) == ["runs", "not installed", "not tried"]
    assert list(functions["function"]) == ["sin + cos"]
    assert "Compared in this run with MLX 0.32.4, on the CPU." in read_words(app)
    assert [code.value for code in app.code] == [
        "y = mx.sin(x) + mx.cos(x)",
        "y = mx.compile(lambda x: mx.sin(x) + mx.cos(x))(x)",
    ]


def test_without_mlx_the_recording_is_shown_as_one(empty_home: Path) -> None:
    app = sound(opened(PAGE, run_of(empty_home, ONNX)))
    assert "MLX is not installed here" in read_words(app)
    assert len(app.dataframe[1].value) == 4


@pytest.mark.usefixtures("empty_home")
def test_a_run_without_neighbours_offers_them(empty_home: Path, submitted: list[CompileJob]) -> None:
    app = sound(opened(PAGE, add_scenario(empty_home, "transformer_block")))
    assert read_titles(app) == ["This model was not run by other compilers and runtimes"]
    app.button(key="neighbours-now").click().run()
    assert [job.neighbours for job in submitted] == [True]
