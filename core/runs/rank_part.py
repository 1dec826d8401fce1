"""`python -m core.runs.rank_part DIRECTORY`: store the fingerprints of the logs that standard input lists as JSON."""

from __future__ import annotations

import sys
from pathlib import Path

from core.base.decoder import decoded_as
from core.runs.ranks import store_fingerprints

if __name__ == "__main__":
    store_fingerprints(decoded_as(sys.stdin.buffer.read(), list[tuple[int, str]]), Path(sys.argv[1]))
