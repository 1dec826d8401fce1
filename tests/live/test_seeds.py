"""Each row of docs/seeds.md: its commands, its page, and a change of the code that makes the row fail."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

from core.commands.seeds import DOCUMENT, LIMIT_S, SeedRow, Seeds, seed_rows
from core.runs.engine.opening import environment_here
from pages import menu
from pages.session import server
from tests.live.seed_changes import CHANGES
from tests.support.apps import homed, opened, sound
from tests.support.copy import Copy
from tests.support.places import ROOT
from tests.support.screen import written

ROWS = {row.items[0]: row for row in seed_rows(DOCUMENT.read_text())}


def test_each_row_has_a_change_that_stands_once_in_the_code() -> None:
    assert list(CHANGES) == list(ROWS)
    assert {item: (ROOT / file).read_text().count(old) for item, (file, old, _) in CHANGES.items()} == dict.fromkeys(
        CHANGES, 1
    )


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeds]:
    """Commands that run once for all rows, in a home where pages know this machine's torch."""
    here = environment_here()
    with homed(tmp_path_factory.mktemp("seeds")) as home, patch.object(server, "environment", lambda: here):
        yield Seeds(home)


@pytest.mark.seeds
@pytest.mark.parametrize("item", ROWS)
def test_the_commands_print_and_the_page_shows_what_a_row_says(item: str, seeds: Seeds) -> None:
    row = ROWS[item]
    assert row.missing(seeds.output(row)) == []
    text = written(page_of(row, seeds))
    assert [shown for shown in row.shows if shown not in text] == []


@pytest.mark.seeds
@pytest.mark.parametrize("item", ROWS)
def test_a_row_fails_when_what_it_asks_for_is_broken(item: str, tmp_path: Path) -> None:
    copy = Copy(tmp_path, LIMIT_S)
    shutil.copytree(ROOT / "docs" / "seeds", tmp_path / "docs" / "seeds")
    shutil.copy(DOCUMENT, tmp_path / "docs")
    copy.replace(*CHANGES[item])
    printed = copy.fails(ONE_ROW.format(item=item))
    assert ("missing: " in printed) or ("assert [" in printed)


# The row by its commands, and by its page if they print what they should.
ONE_ROW = """
import sys
import pytest
from core.commands.main import main
from tests.live.test_seeds import ROWS

row = ROWS["{item}"]
name = "tests/live/test_seeds.py::test_the_commands_print_and_the_page_shows_what_a_row_says[{item}]"
flags = ["-n0", "-p", "no:cacheprovider", "-m", "seeds"]
sys.exit((row.commands and main(["seeds", "{item}"])) or int(pytest.main([*flags, name])))
"""


def page_of(row: SeedRow, seeds: Seeds) -> AppTest:
    """Open the page of a row with the newest run, or the newest sweep, of its commands."""
    script = menu.PAGES[row.page].script
    if row.page != "sweep":
        return sound(opened(script, seeds.run(row) or None))
    newest = max(path.name for path in (seeds.home / "sweeps").iterdir())
    return sound(opened(script, sweep=newest))
