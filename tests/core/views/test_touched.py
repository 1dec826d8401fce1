"""Where an interpreted kernel's loads and stores are drawn."""

import pytest

from core.runs.tools.tasks import TouchedElements
from core.views.kernels.results import TouchedView
from pages.parts.kernel.tool import touched_chart
from tests.support.reports.kernel_answers import TOUCHED


@pytest.mark.parametrize(
    ("tensor", "drawn"),
    [
        (TouchedElements("x", "float32", (3,), (1,), (1,), (), 1, 0), [[0, 1, 0]]),
        (TouchedElements("x", "float32", (2, 2), (1, 2), (1,), (), 1, 0), [[0, 0], [1, 0]]),
        (TouchedElements("x", "float32", (), (), (0,), (), 1, 0), [[1]]),
        (TouchedElements("x", "float32", (2,), (1,), (-5, 7), (), 2, 0), [[0, 0]]),
        (TouchedElements("x", "float32", (0,), (1,), (), (), 0, 0), [[0]]),
        (TOUCHED, [[1, 1, 0, 0, 0, 0, 0, 0], [0, 3, 0, 0, 0, 0, 0, 0], [0] * 8, [0] * 8]),
    ],
)
def test_offsets_are_drawn_where_their_elements_are(tensor: TouchedElements, drawn: list[list[int]]) -> None:
    assert TouchedView(tensor).cells == drawn


@pytest.mark.parametrize(
    ("shape", "height", "gap", "titles"),
    [
        ((8, 4), 160, 1, ("last dimension", "rows")),
        ((30, 64), 240, 1, ("last dimension", "rows")),
        ((65, 65), 360, 0, ("last dimension", "rows")),
        ((700,), 160, 1, ("elements", "wrapped after 64")),
    ],
)
def test_a_heat_map_is_as_high_as_its_rows_within_bounds(
    shape: tuple[int, ...], height: int, gap: int, titles: tuple[str, str]
) -> None:
    stride = (shape[1], 1) if len(shape) == 2 else (1,)
    tensor = TouchedView(TouchedElements("x", "float32", shape, stride, (0,), (), 1, 0))
    figure = touched_chart(tensor.cells, tensor.axes, "light")
    assert (figure.layout.height, figure.data[0].xgap, figure.data[0].ygap) == (height, gap, gap)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == titles
    assert list(figure.data[0].colorbar.ticktext) == ["untouched", "loaded", "stored", "loaded and stored"]


def test_a_large_tensor_is_drawn_in_few_cells() -> None:
    table = TouchedView(TouchedElements("x", "float32", (4096, 4096), (4096, 1), (4096 * 4096 - 1,), (), 1, 0)).cells
    assert (len(table) <= 192, len(table[0]) <= 192, table[-1][-1]) == (True, True, 1)
