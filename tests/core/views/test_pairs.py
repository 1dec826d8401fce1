"""Kernels of two runs of one model: the rows of their table, and what differs in a pair."""

from dataclasses import replace

import pytest

from core.analysis.comparison.kernels import Comparison, KernelPair, KernelSide
from core.code.diff import TextDiff
from core.report import Load
from core.views.blocks import Table
from core.views.comparison import kernels_sentence
from core.views.pairs import PAIR_COLUMNS, KernelPairsView, PairOfKernels
from tests.support.logs import recorded_side
from tests.support.places import TRACES


def side(name: str, *ops: str) -> KernelSide:
    """A kernel of which little is known."""
    return KernelSide(
        f"0/0.inference.{name}", name, name, "pointwise", "triton", "inference", ops, 1, "", (), None, "", None, None,
        None, None, None, False, None, False, None, "",
    )  # fmt: skip


LEFT, RIGHT = side("left", "add", "mul", "add", "add"), side("right", "mul")


@pytest.mark.parametrize(
    ("pair", "kernel", "differs", "fusion"),
    [
        (KernelPair(LEFT, LEFT), "left", "", "4 ops"),
        (
            KernelPair(LEFT, RIGHT, ("add", "add"), (), None, ("fusion",)),
            "left | right",
            "fusion",
            "≠ only left: add ×2",
        ),
        (KernelPair(LEFT, RIGHT, ("add",), ("exp",)), "left | right", "", "only left: add; only right: exp"),
        (KernelPair(LEFT, None), "left", "only on the left", "4 ops"),
        (KernelPair(None, RIGHT), "right", "only on the right", "1 op"),
    ],
)
def test_a_pair_is_one_line(pair: KernelPair, kernel: str, differs: str, fusion: str) -> None:
    line = {"differs": differs, "fusion": fusion, "kind": "pointwise", "calls": "1"}
    line |= dict.fromkeys(("kernel", "generated name"), kernel)
    table = Table("pairs", PAIR_COLUMNS, [PairOfKernels(pair, "", "")]).texts([PairOfKernels(pair, "", "")])
    cells = dict(zip(table.head, table.rows[0], strict=True))
    assert {"differs": "", **{name: cell for name, cell in cells.items() if cell}} == line


def test_unreliable_times_are_not_beside_those_of_the_other_run() -> None:
    run = recorded_side(TRACES / "measured" / "trace.log")
    busy = replace(run, report=replace(run.report, kernel_load=Load(others=0.9)))
    kernels = KernelPairsView.of(busy, "0/0", run)
    assert kernels is not None
    assert kernels.times.startswith("Left: kernel times are not reliable; Right: 4.")
    assert {pair.pair.left and pair.pair.left.time_s for pair in kernels.pairs.values()} == {None}


def test_a_pairs_details_have_both_sides_and_mark_what_differs() -> None:
    rows = details(KernelPair(LEFT, RIGHT, differs=("fusion",)))
    assert rows["ops"] == ["ops", "add ×3, mul", "≠", "mul"]
    assert rows["kind"] == ["kind", "pointwise", "", "pointwise"]
    assert details(KernelPair(None, RIGHT))["ops"] == ["ops", "", "", "mul"]
    many = details(KernelPair(side("k", *(f"op{number}" for number in range(15))), None))
    assert many["ops"][1].endswith("op10, op11 and 3 more")


def details(pair: KernelPair) -> dict[str, list[str]]:
    return {row[0]: list(row) for row in PairOfKernels(pair, "", "").aspects}


def test_kernels_of_equal_runs_differ_in_nothing() -> None:
    run = recorded_side(TRACES / "transformer_block" / "trace.log")
    kernels = KernelPairsView.of(run, "0/0", run)
    assert kernels is not None
    assert kernels.title == "Fusion is the same; the generated source is identical."
    assert [row for pair in kernels.pairs.values() for row in pair.aspects if row[2]] == []
    assert kernels.chosen("k:gone").id == next(iter(kernels.pairs))
    generated = next(pair for pair in kernels.pairs.values() if pair.left_text)
    assert generated.diff == TextDiff("", 0, 0, 0)


@pytest.mark.parametrize(
    ("pairs", "chosen"),
    [
        ((KernelPair(LEFT, LEFT), KernelPair(None, RIGHT)), 1),
        ((KernelPair(None, RIGHT), KernelPair(LEFT, RIGHT, differs=("fusion",))), 1),
        ((KernelPair(LEFT, LEFT), KernelPair(RIGHT, RIGHT)), 0),
    ],
)
def test_the_first_pair_to_look_at_differs(pairs: tuple[KernelPair, ...], chosen: int) -> None:
    run = recorded_side(TRACES / "transformer_block" / "trace.log")
    kernels = KernelPairsView.of(run, "0/0", run)
    assert kernels is not None
    kernels.comparison = replace(kernels.comparison, pairs=pairs)
    assert kernels.chosen(None).pair == pairs[chosen]


def test_a_run_without_kernels_has_no_pairs() -> None:
    left, right = (recorded_side(TRACES / name / "trace.log") for name in ("transformer_block", "eager_backend"))
    assert KernelPairsView.of(left, "0/0", right) is None


@pytest.mark.parametrize(
    ("extern", "sentence"),
    [
        ((False,), "Fusion is the same."),
        ((True,), "Library calls are of the same functions."),
        ((True, False), "Fusion is the same."),
        ((), "Neither side has a kernel."),
    ],
)
def test_library_calls_are_the_same_where_there_is_nothing_else(extern: tuple[bool, ...], sentence: str) -> None:
    kinds = [replace(LEFT, language="extern" if each else "triton") for each in extern]
    pairs = tuple(KernelPair(each, each) for each in kinds)
    assert kernels_sentence(Comparison("", "", pairs)) == sentence
