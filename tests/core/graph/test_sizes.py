"""A box is as large as what is written in it, in the pixels of `METRICS`, which the browser draws with."""

import gc
from dataclasses import replace
from math import ceil

import pytest

from core.graph.levels import METRICS, group_size, node_size
from core.graph.model import Fact, Group, Node, collection_paused

NODE = Node("n:a", "a", "", "other", -1)
GROUP = Group("g:a", "a", "", "module", -1, 0, 3, 3)
PX = METRICS


@pytest.mark.parametrize(
    ("node", "width", "height"),
    [
        (NODE, 64, 2 * PX["padY"] + PX["label"]),
        (replace(NODE, label="a" * 12), 12 * PX["labelChar"] + 2 * PX["padX"], 2 * PX["padY"] + PX["label"]),
        (
            replace(NODE, label="a" * 12, detail="f" * 20),
            20 * PX["smallChar"] + 2 * PX["padX"],
            2 * PX["padY"] + PX["label"] + PX["detail"],
        ),
        (
            replace(NODE, chips=("weight", "bias")),
            10 * PX["chipChar"] + 2 * (2 * PX["chipPad"] + PX["chipGap"]) + 2 * PX["padX"],
            2 * PX["padY"] + PX["label"] + PX["chips"],
        ),
        (replace(NODE, label="a" * 90), 264, 2 * PX["padY"] + PX["label"]),
    ],
)
def test_a_node_has_room_for_its_text_and_its_parameters(node: Node, width: float, height: float) -> None:
    assert node_size(node) == (ceil(width), ceil(height))


def test_a_group_has_room_for_its_label_its_count_and_two_facts_with_a_unit() -> None:
    line = "Block · 3 ops"
    height = 2 * PX["padY"] + PX["label"] + PX["detail"]
    assert group_size(replace(GROUP, detail="Block")) == (
        ceil(len(line) * PX["smallChar"] + 2 * PX["padX"]),
        ceil(height),
    )
    hull = replace(GROUP, kind="launch", detail="7 µs · 3 ops of a kernel")
    assert group_size(hull)[0] == ceil(24 * PX["smallChar"] + 2 * PX["padX"])
    named = replace(GROUP, label="layers.0.attention")
    assert group_size(named)[0] == ceil(18 * PX["labelChar"] + PX["foldSign"] + 2 * PX["padX"])
    facts = (Fact("in", "f32[8]"), *(Fact(f"share of the time {index}", index, "%") for index in range(3)))
    assert group_size(replace(GROUP, facts=facts)) == (
        ceil((len("share of the time 0") + 8) * PX["smallChar"] + 2 * PX["padX"]),
        ceil(height + 2 * PX["detail"]),
    )


def test_garbage_is_not_searched_for_until_the_last_that_asked_is_done() -> None:
    assert gc.isenabled()
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_where_garbage_is_not_searched_for_anyway_it_stays_so() -> None:
    gc.disable()
    try:
        with collection_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
