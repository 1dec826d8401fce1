"""No file of Python is longer than one can look through."""

from tests.support.places import ROOT

MOST_LINES = 300
TOPS = ("core", "pages", "tests", "benchmarks", "docs")


def test_no_file_is_longer_than_one_can_look_through() -> None:
    files = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}
