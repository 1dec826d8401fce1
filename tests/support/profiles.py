"""A profile and a log that a script without Compileboard recorded on one H100 with torch 2.11:
tests/profiles/script.txt.
"""

import gzip
from pathlib import Path

from tests.support.places import ROOT

PROFILE, LOG = (ROOT / "tests" / "profiles" / name for name in ("h100.json.gz", "h100.log.gz"))


def profiled_log(folder: Path) -> Path:
    """Write the log of the recorded profile."""
    log = folder / "h100.log"
    log.write_bytes(gzip.decompress(LOG.read_bytes()))
    return log
