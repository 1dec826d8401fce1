"""Picture of a run for the preview of a link, drawn without a browser."""

import io
from functools import cache
from pathlib import Path

from PIL import Image, ImageColor, ImageDraw, ImageFont

from core.views import wire
from pages.look.palette import ACCENT, GRID, HIGH, INK, MUTED, OP_CLASSES, PAPER, WIDE, Theme

FONTS = Path(__file__).parents[1] / "static" / "fonts"
TEXT_FONT, CODE_FONT = FONTS / "inter-variable.woff2", FONTS / "jetbrains-mono-variable.woff2"
MARGIN, GRAPH_X = 56, 700
TITLE_LINES, SENTENCE_LINES = 2, 6
LEAST_SCALE, MOST_SCALE = 0.75, 1.5
MOST_ITEMS = 400  #: boxes of a graph in a preview picture
FADE_PX = 90
TINT = 0.12
THEME: Theme = "light"
ELLIPSIS = "…"


def card_png(title: str, sentence: str, graph: wire.GraphData | None) -> bytes:
    """Return the picture as PNG; title and sentence are plain text, not Markdown."""
    image = Image.new("RGB", (WIDE, HIGH), PAPER[THEME])
    draw = ImageDraw.Draw(image)
    room = (GRAPH_X if graph is not None else WIDE) - 2 * MARGIN
    if graph is not None:
        _draw_graph(draw, graph)
        _fade(image)
        draw.rectangle((0, 0, GRAPH_X - MARGIN // 2, HIGH), fill=PAPER[THEME])
    draw.rectangle((0, 0, WIDE, 8), fill=ACCENT[THEME])
    draw.text((MARGIN, 48), "Compileboard", font=_font(TEXT_FONT, 26, 600), fill=ACCENT[THEME])
    y = _paragraph(draw, title, 108, room, _font(TEXT_FONT, 52, 700), INK[THEME], TITLE_LINES)
    _paragraph(draw, sentence, y + 22, room, _font(TEXT_FONT, 32), MUTED[THEME], SENTENCE_LINES)
    target = io.BytesIO()
    image.save(target, "PNG", optimize=True)
    return target.getvalue()


@cache
def _font(path: Path, size: int, weight: int = 400) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(str(path), size)
    font.set_variation_by_axes([weight])
    return font


def _paragraph(
    draw: ImageDraw.ImageDraw, text: str, y: int, room: int, font: ImageFont.FreeTypeFont, ink: str, most_lines: int
) -> int:
    """Draw a text in lines of at most `room` pixels; return the y coordinate below it."""
    lines = _wrapped(text, room, font)
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], _cut(f"{lines[most_lines - 1]}{ELLIPSIS}", room, font)]
    step = round(font.size * 1.32)
    for number, line in enumerate(lines):
        draw.text((MARGIN, y + number * step), line, font=font, fill=ink)
    return y + len(lines) * step


def _wrapped(text: str, room: int, font: ImageFont.FreeTypeFont) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(_cut(word, room, font))
    return [line for line in lines if line]


def _cut(text: str, room: float, font: ImageFont.FreeTypeFont) -> str:
    """Return a text that is at most `room` pixels wide."""
    if font.getlength(text) <= room:
        return text
    while text and font.getlength(text + ELLIPSIS) > room:
        text = text[:-1]
    return text + ELLIPSIS


def _draw_graph(draw: ImageDraw.ImageDraw, graph: wire.GraphData) -> None:
    """Draw the top of the graph at a readable size, with its layers folded."""
    items = graph.root.items[:MOST_ITEMS]
    left, right = min(item.x for item in items), max(item.x + item.width for item in items)
    scale = min(max((WIDE - GRAPH_X - MARGIN) / (right - left), LEAST_SCALE), MOST_SCALE)
    x0 = GRAPH_X + max(0.0, (WIDE - GRAPH_X - MARGIN - scale * (right - left)) / 2) - scale * left
    y0 = MARGIN - scale * min(item.y for item in items)
    for edge in graph.root.edges:
        points = edge.points
        line = [(x0 + scale * points[at], y0 + scale * points[at + 1]) for at in range(0, len(points) - 1, 2)]
        draw.line(_curve(line), fill=MUTED[THEME], width=2, joint="curve")
    for item in items:
        if y0 + scale * item.y < HIGH:
            _draw_item(draw, item, x0, y0, scale)


def _curve(line: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return points on joined cubic Bézier curves.

    `line` is a start point, then two control points and an end point for each curve.
    """
    drawn = line[:1]
    for at in range(0, len(line) - 3, 3):
        a, b, c, d = line[at : at + 4]
        for part in range(1, 9):
            t = part / 8
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (sum(w * p[i] for w, p in zip(weights, (a, b, c, d), strict=True)) for i in (0, 1))
            drawn.append((x, y))
    return drawn


def _draw_item(draw: ImageDraw.ImageDraw, box: wire.ItemData, x0: float, y0: float, scale: float) -> None:
    colour = OP_CLASSES.get(box.op_class, OP_CLASSES["other"]).on(THEME)
    x, y = x0 + scale * box.x, y0 + scale * box.y
    frame = (x, y, x + scale * box.width, y + scale * box.height)
    draw.rounded_rectangle(
        frame, 5, fill=_tinted(colour), outline=colour if box.group is None else GRID[THEME], width=2
    )
    draw.rectangle((x, y + 4, x + 5, frame[3] - 4), fill=colour)
    room = scale * box.width - 22
    label = _font(CODE_FONT, max(9, round(12.5 * scale)), 600)
    draw.text((x + 14, y + 7 * scale), _cut(box.label, room, label), font=label, fill=INK[THEME])
    detail = _font(CODE_FONT, max(8, round(11 * scale)))
    if box.detail and box.height > 34:
        draw.text((x + 14, y + 24 * scale), _cut(box.detail, room, detail), font=detail, fill=MUTED[THEME])


def _tinted(colour: str) -> tuple[int, ...]:
    paper, ink = ImageColor.getrgb(PAPER[THEME]), ImageColor.getrgb(colour)
    return tuple(round(p + (i - p) * TINT) for p, i in zip(paper, ink, strict=True))


def _fade(image: Image.Image) -> None:
    """Fade out the bottom of the picture, where the drawing is cut off."""
    mask = Image.new("L", (1, HIGH), 0)
    for y in range(FADE_PX):
        mask.putpixel((0, HIGH - FADE_PX + y), round(255 * y / FADE_PX))
    image.paste(Image.new("RGB", (WIDE, HIGH), PAPER[THEME]), mask=mask.resize((WIDE, HIGH)))
