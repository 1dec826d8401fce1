"""docs/seeds.md: each item of the founding documents has a row, whose page and command exist."""

import pytest

from core.commands import seeds
from core.commands.main import main, make_parser
from core.commands.seeds import DOCUMENT, RUN, SeedRow, seed_rows
from pages import menu

ROWS = seed_rows(DOCUMENT.read_text())
NUMBERS = {"S0.": 16, "S1.": 27, "S2.": 13, "S3.": 18, "S4.": 27, "X": 12}


def test_each_item_of_the_documents_has_one_row() -> None:
    items = [item for row in ROWS for item in row.items]
    assert sorted(items) == sorted(f"{name}{number}" for name, most in NUMBERS.items() for number in range(1, most + 1))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.items[0])
def test_the_page_and_the_commands_of_a_row_exist(row: SeedRow) -> None:
    assert row.page in menu.PAGES
    assert row.prints or row.shows
    assert bool(row.commands) == bool(row.prints), "a command says what it prints, and what is printed has a command"
    assert RUN not in (row.commands or [[]])[0], "a row stands alone"
    assert all(make_parser().parse_args(command) for command in row.commands)
    files = [word for command in row.commands for word in command if word.startswith("docs/")]
    assert all((DOCUMENT.parent.parent / word).is_file() for word in files)


def test_rows_are_picked_by_item_or_document() -> None:
    row = SeedRow(("S0.1", "X2"), "", "", (), ())
    assert [row.matches(names) for names in ([], ["S0"], ["X"], ["S0.1"], ["S1", "X2"])] == [True] * 5
    assert [row.matches(names) for names in (["S0.10"], ["S1"], ["X1"])] == [False] * 3


def test_every_exit_code_counts() -> None:
    row = SeedRow((), "", "", (("one",), ("two",)), ("text",))
    assert row.missing("text\nexit 0\nexit 0") == []
    assert row.missing("text\nexit 0\nexit 1") == ["exit 0"]
    assert row.missing("exit 0") == ["text"]
    failing = SeedRow((), "", "", (("one",),), ("text", "exit 1"))
    assert (failing.missing("text\nexit 1"), failing.missing("text\nexit 0"), failing.missing("")) == (
        [],
        ["exit 1"],
        ["text", "exit 1"],
    )


def test_a_text_that_is_missing_is_printed_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = "| S9.1 | the samples | overview | `samples` | `sin_cos` `no such sample` | |\n"
    monkeypatch.setattr(seeds, "seed_rows", lambda text: seed_rows(row))
    assert main(["seeds"]) == 1
    printed = capsys.readouterr().out
    assert "  S9.1: the samples\n    missing: no such sample\n" in printed
    assert "missing: sin_cos" not in printed
    assert printed.endswith("1 row, 1 missing text.\n")
    assert main(["seeds", "S8"]) != 0
    assert "docs/seeds.md has no item of S8" in capsys.readouterr().err


def test_an_exit_code_counts_and_a_row_without_a_command_is_not_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "| S9.1 | no run | overview | `report no-such-run` | `no-such-run` | |\n"
    rows += "| S9.2, S9.3 | words | glossary | | | `word` |\n"
    monkeypatch.setattr(seeds, "seed_rows", lambda text: seed_rows(rows))
    assert main(["seeds", "S9.1"]) == 1
    assert capsys.readouterr().out.endswith("    missing: exit 0\n1 row, 1 missing text.\n")
    monkeypatch.setattr(seeds, "seed_rows", lambda text: seed_rows(rows.replace("| `no-such-run` |", "| `exit 3` |")))
    assert main(["seeds"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    told = "2 items without a command: `make seeds` checks their pages."
    assert last == f"1 item in 1 row: everything is as docs/seeds.md says. {told}"
