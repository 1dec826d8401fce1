"""How high what scrolls is, in pixels: one part of a page among several, or what the page is for."""

from __future__ import annotations

SHORT = 300
TALL = 600
