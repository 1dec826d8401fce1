"""What the graph view computes without drawing: its functions in a blank page of Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from core.views.colours import OP_CLASSES
from tests.support.browser import open_sources

pytestmark = pytest.mark.browser


@pytest.fixture
def pure(chromium: Browser) -> Iterator[Page]:
    """A blank page with the view's functions."""
    page = chromium.new_page()
    open_sources(page)
    page.evaluate("() => import('/tests/browser/pure.js').then(() => null)")
    yield page
    page.close()


def test_a_composed_picture_is_whole(pure: Page) -> None:
    assert pure.evaluate("wrongOfRandomTrees()") == []


def test_a_curve_keeps_its_shape_when_it_gets_a_knot(pure: Page) -> None:
    points = pure.evaluate("knotAt([0, 0, 0, 50, 100, 50, 100, 100], 50).map((value) => Math.round(value * 100) / 100)")

    assert points == [0, 0, 0, 25, 25, 37.5, 50, 50, 75, 62.5, 100, 75, 100, 100]


def test_what_exists_in_which_frame_of_a_film(pure: Page) -> None:
    fates = pure.evaluate("[0, 1, 2, 3, 4, 5, 6].map((frame) => fateOf([[1, 3], [5, 6]], frame))")

    assert fates == ["absent", "now", "leaving", "gone", "absent", "leaving", "gone"]
    assert pure.evaluate("fateOf([], 7)") == "now"


def test_an_op_belongs_to_the_last_group_that_it_joined(pure: Page) -> None:
    item = "{ joins: [[1, 'a'], [3, 'b']] }"
    assert pure.evaluate(f"[0, 1, 2, 3, 4].map((frame) => groupOf({item}, frame) ?? null)") == [
        None, "a", "a", "b", "b",
    ]  # fmt: skip
    assert pure.evaluate("groupOf({}, 1) ?? null") is None


def test_a_scale_over_decades_is_logarithmic(pure: Page) -> None:
    assert pure.evaluate("[1, 10, 100, 1000].map(scaleOf([1, 1000]).share).map((share) => +share.toFixed(3))") == [
        0,
        0.333,
        0.667,
        1,
    ]
    assert pure.evaluate("[2, 4, 6].map(scaleOf([2, 6]).share)") == [0, 0.5, 1]
    assert pure.evaluate("scaleOf([null, null])") is None


CHAIN = """
(heights) => {
    let y = 0
    const boxes = heights.map((h) => {
        const box = { x: 0, y, w: 100, h, X: 0, Y: y, W: 100, H: h }
        y += h + 40
        return box
    })
    const edges = boxes.slice(1).map((target, at) => ({
        source: boxes[at], target, points: [50, boxes[at].Y + boxes[at].H, 50, 0, 50, 0, 50, target.Y],
    }))
    const curves = inColumns(boxes, edges)
    return [curves && curves.map((points) => points.length), boxes.map(({ X, Y }) => [X, Y])]
}
"""


def test_a_long_chain_is_in_columns_that_are_read_one_after_the_other(pure: Page) -> None:
    curves, places = pure.evaluate(CHAIN, [600] * 12)
    columns = sorted({x for x, _ in places})

    assert len(columns) > 2
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert all(places[at][1] == 30 for at in range(12) if at == 0 or places[at][0] != places[at - 1][0])
    turns = [at for at in range(11) if places[at][0] != places[at + 1][0]]
    assert [curves[at] for at in range(11)] == [20 if at in turns else 8 for at in range(11)]


def test_a_short_chain_stays_one_column(pure: Page) -> None:
    assert pure.evaluate(CHAIN, [60] * 12)[0] is None
    assert pure.evaluate(CHAIN, [900] * 3)[0] is None


def test_a_long_name_lacks_its_middle_and_a_line_of_facts_its_last_ones(pure: Page) -> None:
    assert pure.evaluate("cut('layers.attention.projection_7', 15, 1)") == "layers.…ction_7"
    assert pure.evaluate("[cut('projection', 10, 1), cut('projection', 1, 1)]") == ["projection", "…"]
    assert pure.evaluate("cutFacts('37 µs · saves 134 MB · 15 ops', 22, 1)") == "37 µs · saves 134 MB"
    assert pure.evaluate("cutFacts('37 µs', 3, 1)") == "3…s"


def test_each_op_class_has_a_sign_of_its_own(pure: Page) -> None:
    draw = "names => names.map((name) => glyph(name, 0, 0, document.body).getAttribute('d'))"
    assert len(set(pure.evaluate(draw, list(OP_CLASSES)))) == len(OP_CLASSES)


STRIP = """
() => {
    const boxes = [], edges = []
    for (let row = 0; row < 8; row += 1) {
        for (const [x, h] of [[0, 400], [150, 300]]) {
            const y = row * 440 + (400 - h) / 2
            boxes.push({ x, y, w: 100, h, X: x, Y: y, W: 100, H: h })
        }
    }
    const link = (s, t) => {
        const [source, target] = [boxes[s], boxes[t]]
        const [x, y, toX] = [source.X + 50, source.Y + source.H, target.X + 50]
        edges.push({ source, target, points: [x, y, x, y + 40, toX, target.Y - 40, toX, target.Y] })
    }
    for (let row = 1; row < 8; row += 1) link(2 * row - 2, 2 * row), link(2 * row - 1, 2 * row)
    link(1, 14)
    const curves = inColumns(boxes, edges)
    const ends = edges.map(({ source, target }) => [source.X + 50, source.Y + source.H, target.X + 50, target.Y])
    // Points of the curves that lie in a box.
    const covered = curves.flatMap((p) => {
        const points = []
        for (let i = 0; i + 7 < p.length; i += 6)
            for (let t = 0.02; t < 1; t += 0.02)
                points.push([0, 1].map((at) => (1 - t) ** 3 * p[i + at] + 3 * t * (1 - t) ** 2 * p[i + 2 + at] +
                    3 * t * t * (1 - t) * p[i + 4 + at] + t ** 3 * p[i + 6 + at]))
        return points.filter(([x, y]) =>
            boxes.some(({ X, Y, W, H }) => x > X + 1 && x < X + W - 1 && y > Y + 1 && y < Y + H - 1))
    })
    return { boxes: boxes.map(({ X, Y }) => [X, Y]), curves: curves.map((p) => [...p.slice(0, 2), ...p.slice(-2)]),
        ends, covered }
}
"""


def test_a_strip_with_boxes_beside_each_other_is_in_columns_of_whole_rows(pure: Page) -> None:
    strip = pure.evaluate(STRIP)
    rows = [(strip["boxes"][2 * row], strip["boxes"][2 * row + 1]) for row in range(8)]

    assert len({round(left[0]) for left, _ in rows}) > 2
    assert all((round(right[0] - left[0]), round(right[1] - left[1])) == (150, 50) for left, right in rows)
    assert strip["curves"] == [pytest.approx(ends) for ends in strip["ends"]]
    assert strip["covered"] == []


def test_parts_without_a_dependency_are_beside_each_other(pure: Page) -> None:
    places = pure.evaluate(
        """() => {
        const items = [0, 1, 2].map((i) => ({ id: `n${i}`, i, part: i, x: 0, y: 0, w: 260, h: 60, label: "", cls: "" }))
        const level = { id: -1, note: "", parts: items.map(({ w, h }) => [w, h]), items, edges: [] }
        return composed(new Map([[-1, level]]), new Set()).items.map(({ x, y }) => [x, y])
    }"""
    )

    assert places == [[0, 0], [288, 0], [576, 0]]


LAUNCHES = """
([kind, width, height]) => {
    const items = [0, 1, 2].map((g) =>
        ({ id: `g${g}`, g, from: g, to: g + 1, kind, part: 0, x: 0, y: 440 * g, w: 300, h: 400, label: "", cls: "" }))
    const edges = [0, 1].map((s) => {
        const [y, toY] = [440 * s + 400, 440 * s + 440]
        return { s, t: s + 1, points: [150, y, 150, y, 150, toY, 150, toY], label: "" }
    })
    const level = { id: -1, note: "", parts: [[300, 1280]], items, edges }
    return composeFor(new Map([[-1, level]]), new Set(), { width, height }).items.map(({ x }) => x)
}
"""


def test_launches_that_are_higher_than_a_window_are_in_columns_if_it_is_wide(pure: Page) -> None:
    assert len(set(pure.evaluate(LAUNCHES, ["launch", 1200, 800]))) > 1
    assert len(set(pure.evaluate(LAUNCHES, ["launch", 390, 800]))) == 1
    # A thumbnail of Overview has no room for columns, and less for a strip.
    assert len(set(pure.evaluate(LAUNCHES, ["launch", 440, 200]))) > 1
    assert len(set(pure.evaluate(LAUNCHES, ["module", 1200, 800]))) == 1


LONG_LAUNCH = """
(view) => {
    const op = (i) => ({ id: `n${i}`, i, part: 0, x: 0, y: 80 * i, w: 100, h: 40, label: "", cls: "" })
    const edges = [...new Array(11).keys()].map((s) => {
        const [y, toY] = [80 * s + 40, 80 * s + 80]
        return { s, t: s + 1, points: [50, y, 50, y, 50, toY, 50, toY], label: "" }
    })
    const ops = { id: 0, note: "", parts: [[100, 920]], items: [...new Array(12).keys()].map(op), edges }
    const box = { id: "g", g: 0, from: 0, to: 12, kind: "launch", part: 0, x: 0, y: 0, w: 100, h: 40 }
    const root = { id: -1, note: "", parts: [[100, 40]], items: [{ ...box, label: "", cls: "" }], edges: [] }
    const { items, edges: lines } = composeFor(new Map([[-1, root], [0, ops]]), new Set([0]), view)
    const [hull, ...inside] = items
    return {
        columns: [...new Set(inside.map(({ x }) => x))].length,
        isAround: inside.every(({ x, y, w, h }) =>
            x > hull.x && y > hull.y && x + w < hull.x + hull.w && y + h < hull.y + hull.h),
        isJoined: lines.every(({ points: p, s, t }) =>
            p[0] === s.x + 50 && p[1] === s.y + 40 && p.at(-2) === t.x + 50 && p.at(-1) === t.y),
    }
}
"""


def test_ops_of_a_launch_that_is_higher_than_a_window_are_in_columns_if_the_whole_is_larger_so(pure: Page) -> None:
    wide = pure.evaluate(LONG_LAUNCH, {"width": 1200, "height": 500})
    assert wide["columns"] > 1
    assert wide["isAround"]
    assert wide["isJoined"]
    for view in ({"width": 1200, "height": 1400}, {"width": 200, "height": 500}):
        assert pure.evaluate(LONG_LAUNCH, view) == {"columns": 1, "isAround": True, "isJoined": True}


INTO_A_HULL = """
() => {
    const box = (id, part, x, y, more) => ({ id, part, x, y, w: 100, h: 40, label: "", cls: "", ...more })
    const ops = [0, 1, 2, 3].map((at) => box(`op${at}`, 0, 0, 80 * at, { i: at + 1 }))
    const aside = box("aside", 0, 140, 0, { i: 5 })
    const hull = { id: 0, note: "", parts: [[240, 280]], items: [...ops, aside], edges: [] }
    const first = box("first", 0, 0, 0, { i: 0 })
    const edge = { s: 0, t: 1, points: [50, 40, 50, 60, 50, 60, 50, 100], ends: [[0, 4], [0, 1], [0, 5]] }
    const launch = box("launch", 0, 0, 100, { g: 0, from: 1, to: 6, kind: "launch", w: 200 })
    const root = { id: -1, note: "", parts: [[200, 140]], items: [first, launch], edges: [edge] }
    const picture = composed(new Map([[-1, root], [0, hull]]), new Set([0]))
    const at = (p, t) => [0, 1].map((i) =>
        (1 - t) ** 3 * p[i] + 3 * t * (1 - t) ** 2 * p[i + 2] + 3 * t * t * (1 - t) * p[i + 4] + t ** 3 * p[i + 6])
    return picture.stubs.map(({ inner, points }) => {
        const touched = new Set()
        for (let from = 0; from + 7 < points.length; from += 6) {
            for (let step = 0; step <= 20; step += 1) {
                const [x, y] = at(points.slice(from, from + 8), step / 20)
                for (const { item, open, x: left, y: top, w, h } of picture.items) {
                    if (!open && x > left && x < left + w && y > top && y < top + h) touched.add(item.id)
                }
            }
        }
        return [inner.item.id, [...touched]]
    })
}
"""


def test_an_edge_into_a_hull_runs_around_the_ops_that_it_does_not_reach(pure: Page) -> None:
    assert pure.evaluate(INTO_A_HULL) == [["op3", []], ["op0", []], ["aside", []]]
