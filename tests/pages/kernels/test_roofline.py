"""The roofline: which ceilings it tells apart, and that no name stands on another or on a point."""

from dataclasses import replace
from itertools import combinations

import pytest

from core.analysis.kernels.ledger import LedgerRow, ledger
from core.views.kernels import KernelsView
from pages.look.charts import blended, decades, in_unit, text_on
from pages.look.palette import KERNEL_COLOURS
from pages.parts.kernels.ledger import GAP, LETTER, LINE, LabelBox, Scale, point_names, roofline_chart
from tests.support.reports.timed import ITEM, REPORT

SCALE = Scale(-1.0, 3.0, 8.0, 12.0)
ROWS = ledger(REPORT, ITEM)


def row(number: int, intensity: float, flops_s: float) -> LedgerRow:
    moved = 1_000_000
    flops = round(intensity * moved)
    return replace(
        ROWS[0],
        id=f"k{number}",
        label=f"layers.{number} · gelu",
        flops=flops,
        time_s=flops / flops_s,
        bytes_read=moved,
        bytes_written=0,
    )


@pytest.mark.parametrize("count", [1, 4, 30])
def test_no_name_stands_on_another_or_on_a_point(count: int) -> None:
    rows = [row(at, 1.0 + 0.05 * at, 1e10 * (1 + 0.1 * at)) for at in range(count)]
    names = point_names(rows, SCALE)
    boxes = []
    for one in rows:
        x, y = SCALE.place(one.intensity or 0.0, one.flops_s or 0.0)
        boxes.append(LabelBox(x - GAP, y - GAP, x + GAP, y + GAP))
    named = []
    for one in rows:
        if one.id in names:
            text, right, up = names[one.id]
            x, y = SCALE.place(one.intensity or 0.0, one.flops_s or 0.0)
            half = len(text) * LETTER / 2
            named.append(LabelBox(x + right - half, y - up - LINE / 2, x + right + half, y - up + LINE / 2))

    assert named
    assert names["k0"][0] == "layers.0 · gelu"
    assert not [pair for pair in combinations(named, 2) if pair[0].overlaps(pair[1])]
    assert not [(name, point) for name in named for point in boxes if name.overlaps(point)]


def test_names_of_points_at_one_place_stand_apart() -> None:
    rows = [row(at, 1.0, 1e10) for at in range(3)]
    names = point_names(rows, SCALE)
    places = [place for _, *place in names.values()]
    assert len(places) > 1
    assert len({tuple(place) for place in places}) == len(places)


def test_ceilings_are_in_the_legend_and_names_are_no_markup() -> None:
    rows = [replace(one, label="<b>x</b> · mm") for one in ROWS]
    figure = roofline_chart(KernelsView(REPORT, ITEM, ROWS), rows, {}, "", "light")

    assert [trace.name for trace in figure.data if trace.mode == "lines"] == [
        "memory 10.0 GB/s",
        "L3 cache 100 GB/s",
        "float32 1.00 TFLOP/s",
    ]
    assert {note.text for note in figure.layout.annotations} == {"&lt;b&gt;x&lt;/b&gt; · mm"}
    assert list(figure.layout.yaxis.ticktext)[-1].endswith(" TFLOP/s")


def test_ticks_are_powers_of_ten_in_words_and_axes_have_the_unit_of_what_they_show() -> None:
    assert decades(0.02, 30, lambda value: f"{value:g} s") == {
        "tickvals": [0.01, 0.1, 1.0, 10.0, 100.0],
        "ticktext": ["0.01 s", "0.1 s", "1 s", "10 s", "100 s"],
    }
    assert [in_unit(most_s) for most_s in (2.0, 12e-3, 12e-6, 3e-9, 0.0)] == [
        (1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns"), (1e9, "ns"),
    ]  # fmt: skip


@pytest.mark.parametrize("colour", [*KERNEL_COLOURS, "#000000", "#FFFFFF"])
def test_text_on_a_colour_can_be_read(colour: str) -> None:
    light, dark = sorted((luminance(colour), luminance(text_on(colour))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_colour_is_blended_with_its_paper() -> None:
    assert blended("#FF0000", "#0000FF", 0.5) == "#800080"
