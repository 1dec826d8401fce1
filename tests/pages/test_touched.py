"""Where an interpreted kernel's loads and stores are drawn."""

import pytest

from core.tools import Touched
from pages.parts.kernel.touched import cells


@pytest.mark.parametrize(
    ("tensor", "drawn"),
    [
        (Touched("x", "float32", (3,), (1,), (1,), (), 1, 0), [[0, 1, 0]]),
        (Touched("x", "float32", (2, 2), (1, 2), (1,), (), 1, 0), [[0, 0], [1, 0]]),
        (Touched("x", "float32", (), (), (0,), (), 1, 0), [[1]]),
        (Touched("x", "float32", (2,), (1,), (-5, 7), (), 2, 0), [[0, 0]]),
        (Touched("x", "float32", (0,), (1,), (), (), 0, 0), [[0]]),
    ],
)
def test_offsets_are_drawn_where_their_elements_are(tensor: Touched, drawn: list[list[int]]) -> None:
    assert cells(tensor) == drawn


def test_a_large_tensor_is_drawn_in_few_cells() -> None:
    table = cells(Touched("x", "float32", (4096, 4096), (4096, 1), (4096 * 4096 - 1,), (), 1, 0))
    assert (len(table) <= 192, len(table[0]) <= 192, table[-1][-1]) == (True, True, 1)
