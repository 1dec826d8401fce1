"""Pictures of `pages/static`, read once for all sessions."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path

STATIC = Path(__file__).parent.parent / "static"
TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


@cache
def image(name: str) -> str | None:
    """Return a file of `pages/static` as a data URL; None if there is no such picture."""
    path = STATIC / name
    if not path.exists():
        return None
    return f"data:{TYPES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"
