"""How high what scrolls is, in pixels: one part of a page among several, or what the page is for."""

from __future__ import annotations

SHORT = 300
TALL = 600
# A view of this height takes what the window has left below its top.
FILL = 0
MENU_PX = 208
