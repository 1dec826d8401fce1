"""Attack a dashboard of our own with each threat of `ROWS`, and print what was seen: `python -m tests.attack`."""

import sys

import pytest

from tests.attack.table import Table
from tests.support.places import ROOT

if __name__ == "__main__":
    sys.exit(pytest.main(["-m", "attack", "--rootdir", str(ROOT), str(ROOT / "tests"), *sys.argv[1:]], [Table()]))
