"""Colours of graphs and kernels, each with one meaning, for light and dark backgrounds."""

from typing import Literal, NamedTuple

from core.report import Report, stored

Theme = Literal["light", "dark"]

MUTED = {"light": "#586277", "dark": "#98A3B6"}
ACCENT = {"light": "#4A56C9", "dark": "#8C96F2"}


class Colour(NamedTuple):
    """A colour on light and on dark background, with its meaning."""

    light: str
    dark: str
    label: str

    def on(self, theme: Theme) -> str:
        """Return the shade that is legible on this theme's background."""
        return self.light if theme == "light" else self.dark


# Near Okabe and Ito's eight hues, with 3:1 contrast with the background. Any two are apart, for colour-blind people,
# too: tests/house/test_palette.py.
OP_CLASSES: dict[str, Colour] = {
    "matmul": Colour("#0967A5", "#2592CD", "matmul and convolution"),
    "attention": Colour("#3A99D0", "#7AC8F2", "attention"),
    "pointwise": Colour("#1C9A71", "#32B991", "pointwise"),
    "reduction": Colour("#C78305", "#E8AB2E", "reduction"),
    "view": Colour("#7E92A6", "#7E9FAB", "view and layout"),
    "copy": Colour("#9A8456", "#B39E73", "copy and cast"),
    "random": Colour("#BA608C", "#E19BC8", "random"),
    "embedding": Colour("#C65300", "#EC7D30", "embedding and gather"),
    "collective": Colour("#7B5CC7", "#AA92EC", "collective"),
    "other": Colour("#706D69", "#797279", "other"),
}

# Sides of a measurement, as colours of the HTML file.
SIDE_COLOURS = {"eager": "var(--eager)", "compiled": "var(--compiled)"}

STATUS: dict[str, Colour] = {
    "ok": Colour("#23875A", "#5CBD8D", "ok"),
    "warn": Colour("#A9740A", "#DDB04A", "warning"),
    "bad": Colour("#C93A3A", "#F07F7F", "bad"),
}

# Changes of a node from one run to another.
CHANGES: dict[str, Colour] = {
    "same": Colour("#848E9B", "#8A95A3", "same"),
    "moved": Colour("#5468D4", "#8594F0", "moved"),
    "changed": Colour("#C27F00", "#E9AB2E", "changed"),
    "only left": Colour("#D05A00", "#EC7D2F", "only on the left"),
    "only right": Colour("#00946C", "#2DB68C", "only on the right"),
}

# Contrast of at least 3:1 on both backgrounds; deuteranopes and protanopes can distinguish any two of them:
# tests/house/test_palette.py.
KERNEL_COLOURS = (
    "#5468D4",
    "#C78218",
    "#149784",
    "#D8699A",
    "#6C6814",
    "#8B68AF",
    "#4E8EE7",
    "#93773B",
    "#8790BE",
    "#709E60",
    "#974A84",
    "#91615C",
)


def kernel_colour(index: int) -> str:
    """Return the colour of a run's index-th kernel, the same on all pages, for either theme."""
    return KERNEL_COLOURS[index % len(KERNEL_COLOURS)]


@stored
def kernel_colours(report: Report) -> dict[str, str]:
    """Return the colours of all kernels of a run by their ids, the same on all pages."""
    kernels = (kernel.id for compilation in report.compilations for kernel in compilation.kernels)
    return {kernel: kernel_colour(index) for index, kernel in enumerate(kernels)}


def segment_colour(name: str) -> str:
    """Return the colour of an accelerator segment by the number in its name; empty for other names."""
    lead, _, number = name.rpartition("_")
    return kernel_colour(int(number)) if lead == "segment" and number.isdecimal() and len(number) < 6 else ""
