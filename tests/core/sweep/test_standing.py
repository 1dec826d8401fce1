"""Where a sweep stands by the rows of its table, and how long it may take."""

from itertools import product

from core.sweep.store import SweepRow
from core.sweep.table import standing_of
from core.views.sweep.view import left_words

BACKENDS, BATCHES = ("eager", "aot_eager", "inductor"), ("1", "2", "4", "8")
SECONDS = {"eager": 2.0, "aot_eager": 2.5, "inductor": 19.0}


def rows(settled: int) -> list[SweepRow]:
    """A table of which the first cells are done, each after the seconds of its backend."""
    points = list(product(BACKENDS, BATCHES))
    done = [SweepRow(at, "run", "done", took_s=SECONDS[at[0]]) for at in points[:settled]]
    return [*done, *map(SweepRow, points[settled:])]


def test_the_time_left_is_by_the_value_that_a_cell_has_of_the_slowest_axis() -> None:
    found = standing_of(rows(10), alive=True, to_stop=False)
    assert (found.left_s, found.untried) == (2 * 19.0, "")
    assert left_words(found) == "about 38 s left, an estimate"


def test_as_long_as_a_value_has_no_time_the_time_left_is_at_least_so_much() -> None:
    found = standing_of(rows(8), alive=True, to_stop=False)
    assert (found.left_s, found.untried) == (4 * 2.5, "inductor")
    assert left_words(found) == "at least 10.0 s left: no cell with inductor has ended yet"


def test_cells_of_one_value_are_estimated_by_all_of_them() -> None:
    assert standing_of(rows(2), alive=True, to_stop=False).left_s == 10 * 2.0
    assert standing_of(rows(0), alive=True, to_stop=False).left_s is None
    assert standing_of(rows(2), alive=False, to_stop=False).left_s is None
