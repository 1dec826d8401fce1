"""No file of Python is longer than one can look through, few need a second look, and there are few."""

from tests.support.places import ROOT

MOST_LINES = 520
# A longer file is one thought, or is divided. A thought in several files is one file again: few files are long, and
# there are few files.
LONG_LINES = 300
MOST_LONG = 0.36
MOST_FILES = 486
TOPS = ("core", "pages", "tests", "benchmarks", "docs")


def test_no_file_is_longer_than_one_can_look_through() -> None:
    assert {path: length for path, length in _lengths(*TOPS).items() if length > MOST_LINES} == {}


def test_few_files_are_long_and_there_are_few_files() -> None:
    lengths = _lengths("core", "pages")
    assert sum(length > LONG_LINES for length in lengths.values()) <= MOST_LONG * len(lengths)
    assert len(lengths) <= MOST_FILES


def _lengths(*tops: str) -> dict[str, int]:
    files = [path for top in tops for path in (ROOT / top).rglob("*.py") if path.name != "__init__.py"]
    return {path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
