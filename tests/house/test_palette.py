"""Colours stay legible on both papers and apart for colour-blind eyes."""

import itertools
import math
import re
import tomllib

import pytest

from pages.look import palette
from tests.support.places import ROOT

CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
Vector = tuple[float, float, float]

# Machado, Oliveira and Fernandes (2009), severity 1.0, applied to linear RGB.
VISIONS = {
    "trichromat": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanope": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranope": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanope": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
# Linear sRGB to CIE XYZ with the white point D65.
XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.072175), (0.0193339, 0.119192, 0.9503041))
# Ottosson's OKLab: linear RGB to cone responses, and their cube roots to Lab.
LMS = (
    (0.4122214708, 0.5363325363, 0.0514459929),
    (0.2119034982, 0.6806995451, 0.1073969566),
    (0.0883024619, 0.2817188376, 0.6299787005),
)
LAB = (
    (0.2104542553, 0.793617785, -0.0040720468),
    (1.9779984951, -2.428592205, 0.4505937099),
    (0.0259040371, 0.7827717662, -0.808675766),
)


def times(matrix: tuple[Vector, ...], vector: Vector) -> Vector:
    x, y, z = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def linear(colour: str) -> Vector:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return r, g, b


def oklab(colour: str, vision: str) -> Vector:
    seen = times(VISIONS[vision], linear(colour))
    lms = times(LMS, tuple(max(0.0, c) for c in seen))  # type: ignore[arg-type]
    return times(LAB, tuple(math.cbrt(c) for c in lms))  # type: ignore[arg-type]


def cielab(colour: str, vision: str) -> Vector:
    seen = (min(1.0, max(0.0, c)) for c in times(VISIONS[vision], linear(colour)))
    white = times(XYZ, (1.0, 1.0, 1.0))
    shares = (c / w for c, w in zip(times(XYZ, tuple(seen)), white, strict=True))  # type: ignore[arg-type]
    x, y, z = (math.cbrt(c) if c > (6 / 29) ** 3 else c / (3 * (6 / 29) ** 2) + 4 / 29 for c in shares)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio."""
    low, high = sorted(
        sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(x), strict=True)) for x in (one, other)
    )
    return (high + 0.05) / (low + 0.05)


COLOURS = [
    pytest.param(colour.on(theme), palette.PAPER[theme], id=f"{name}-{theme}")
    for table in (palette.OP_CLASSES, palette.STATUS, palette.PHASES)
    for name, colour in table.items()
    for theme in ("light", "dark")
] + [
    pytest.param(colour, palette.PAPER[theme], id=f"kernel{index}-{theme}")
    for index, colour in enumerate(palette.KERNEL_COLOURS)
    for theme in ("light", "dark")
]


@pytest.mark.parametrize(("colour", "paper"), COLOURS)
def test_a_colour_of_a_mark_has_three_to_one_against_the_paper(colour: str, paper: str) -> None:
    assert contrast(colour, paper) >= 3.0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_has_the_contrast_of_wcag_aa(theme: palette.Theme) -> None:
    for surface in (palette.PAPER[theme], CONFIG["theme"][theme]["secondaryBackgroundColor"]):
        for ink in (palette.INK, palette.MUTED):
            assert contrast(ink[theme], surface) >= 4.5
    assert contrast(CONFIG["theme"][theme]["linkColor"], palette.PAPER[theme]) >= 4.5
    assert contrast("#FFFFFF", CONFIG["theme"][theme]["primaryColor"]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", list(VISIONS))
def test_every_two_op_classes_are_apart_by_their_distance_of_1976(vision: str, theme: palette.Theme) -> None:
    seen = {name: cielab(colour.on(theme), vision) for name, colour in palette.OP_CLASSES.items()}
    distances = {pair: math.dist(seen[pair[0]], seen[pair[1]]) for pair in itertools.combinations(seen, 2)}

    assert len(distances) == 45
    least = 20 if vision == "trichromat" else 10
    assert {pair: distance for pair, distance in distances.items() if distance < least} == {}


def test_the_style_sheet_of_the_graph_has_the_colours_of_op_classes() -> None:
    sheet = (ROOT / "pages" / "components" / "graph" / "view.css").read_text(encoding="utf-8")
    rule = re.compile(r"^(\[data-theme=\"dark\"\] )?\.op-(\w+) \{ --op: (#\w+); \}$", re.MULTILINE)
    colours = {("dark" if dark else "light", name): colour.upper() for dark, name, colour in rule.findall(sheet)}

    assert colours == {
        (theme, name): colour.on(theme) for theme in ("light", "dark") for name, colour in palette.OP_CLASSES.items()
    }


@pytest.mark.parametrize("vision", ["trichromat", "protanope", "deuteranope"])
def test_every_two_kernel_colours_are_apart(vision: str) -> None:
    seen = [oklab(colour, vision) for colour in palette.KERNEL_COLOURS]
    assert min(math.dist(a, b) for a, b in itertools.combinations(seen, 2)) > 0.06


def test_kernel_colours_cycle() -> None:
    size = len(palette.KERNEL_COLOURS)
    assert size >= 12
    assert palette.kernel_colour(size + 3) == palette.kernel_colour(3) == palette.KERNEL_COLOURS[3]


def test_an_unknown_phase_counts_as_other() -> None:
    assert palette.phase_colour("new", "light") == palette.PHASES["other"].light


def test_the_theme_of_streamlit_uses_the_same_colours() -> None:
    theme = CONFIG["theme"]
    assert theme["chartCategoricalColors"] == list(palette.KERNEL_COLOURS)
    for name in ("light", "dark"):
        assert theme[name]["backgroundColor"] == palette.PAPER[name]
        assert theme[name]["textColor"] == palette.INK[name]
        assert theme[name]["dataframeHeaderTextColor"] == palette.MUTED[name]
