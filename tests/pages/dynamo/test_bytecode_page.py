"""Bytecode: torch's own listing from a log of elsewhere, the run's record, and what is said where there is neither."""

from pathlib import Path

import pytest

from pages import menu
from tests.support.apps import assert_sound, code_of, keys, opened, read_words, titles, words
from tests.support.homes import add_run, line, record
from tests.support.screen import plain

ORIGINAL = "  7           0 RESUME                   0\n\n  8           2 LOAD_FAST                0 (x)\n"
MODIFIED = (
    "  7           0 LOAD_GLOBAL              1 (NULL + __compiled_fn_1_ab)\n"
    "              2 LOAD_GLOBAL              2 (NULL + __resume_at_2_3)\n"
)
RECORD = {
    "schema": 1,
    "name": "f",
    "qualname": "Net.f",
    "file": "m.py",
    "line": 7,
    "original": ORIGINAL,
    "modified": MODIFIED,
    "resumes": {"__resume_at_2_3": "torch_dynamo_resume_in_f_at_8"},
}
PYTHON = {"decompiler": "depyf 0.20.0", "modified_python": "def f(x):\n    return __resume_at_2_3(x)\n"}
AT = {"frame_id": 0, "frame_compile_id": 0}
STACK = [{"line": 7, "name": "f", "filename": "/m.py", "loc": ""}]
START = line({"dynamo_start": {"stack": STACK}, **AT}, "")


def log(**more: str) -> bytes:
    return START + record("compileboard_bytecode", {**RECORD, **more}, **AT)


def shown(home: Path, **more: str) -> str:
    return add_run(home, "log", log(**more), kind="log").id


def test_torchs_own_listing_is_shown_where_the_run_has_no_other(runs: dict[str, str]) -> None:
    app = opened(menu.BYTECODE.script, runs["foreign"], compilation="1/0")

    assert_sound(app)
    assert "instructions became" in titles(app)[0]
    assert titles(app)[0].startswith("\\[1/0\\] Classifier\\.forward, after line 15\\: ")
    assert "depyf" in words(app)
    rows = code_of(app, "bytecode-modified")["lines"]
    assert any("__compiled_fn" in str(row) for row in rows)


def test_what_was_not_recorded_is_reported(runs: dict[str, str]) -> None:
    app = opened(menu.BYTECODE.script, runs["foreign"], compilation="0/0")

    assert_sound(app)
    assert titles(app) == ["No bytecode of this compilation"]
    assert "The bytecode was not recorded." in read_words(app)
    app = opened(menu.BYTECODE.script, runs["refused"])
    assert "Dynamo did not rewrite this function: it runs unchanged." in read_words(app)


def test_the_record_has_both_sides_and_names_what_goes_on(empty_home: Path) -> None:
    app = opened(menu.BYTECODE.script, shown(empty_home))

    assert_sound(app)
    assert titles(app) == [
        "\\[0/0\\] Net\\.f\\: 2 instructions became 2, with calls of 1 compiled graph and 1 resume function"
    ]
    rows = code_of(app, "bytecode-modified")["lines"]
    assert [row[6] for row in rows] == [
        "the compiled graph",
        "resume function after a graph break, never compiled",
    ]
    # An instruction of the user's own line is linked to it, one that Dynamo added at the first line is not.
    assert [row[3] for row in code_of(app, "bytecode-original")["lines"]] == [["l:7"], ["l:8"]]
    assert [row[3] for row in rows] == [[], []]


def test_decompiled_code_says_who_wrote_it_and_what_could_not_be_read(empty_home: Path) -> None:
    run = shown(empty_home, **PYTHON, not_decompiled="DecompilationError: CALL")
    app = opened(menu.BYTECODE.script, run, listing="decompiled")

    assert_sound(app)
    assert "Decompiled from the bytecode by depyf 0.20.0: the same" in read_words(app)
    assert "It could not read all: DecompilationError: CALL" in plain(app.warning[0].value)
    assert [key for key in keys(app) if key.startswith("bytecode-python")] == ["bytecode-python-modified"]


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)>", "`x` [click](http://evil.example/)"])
def test_names_that_mean_harm_are_shown_as_text(empty_home: Path, text: str) -> None:
    app = opened(menu.BYTECODE.script, shown(empty_home, qualname=f"a.{text}", **{**PYTHON, "decompiler": text}))

    assert_sound(app)
    assert "<img" not in words(app).replace("\\<img", "")
    assert "](http" not in words(app)


@pytest.mark.parametrize(
    ("has_decompiler", "said"),
    [
        ({"has_decompiler": True}, "Not decompiled: the call ended before the run reached it."),
        ({"has_decompiler": False}, "Not decompiled: `depyf` is not installed beside torch. Install it and run again."),
        ({}, "Not decompiled: this log does not contain Python code. A run here with `depyf` records it."),
    ],
)
def test_why_nothing_is_decompiled_is_what_the_run_recorded(
    empty_home: Path, has_decompiler: dict[str, bool], said: str
) -> None:
    code = START + record("compileboard_bytecode", {**RECORD, **has_decompiler}, **AT)
    app = opened(menu.BYTECODE.script, add_run(empty_home, "log", code, kind="log").id)
    assert_sound(app)
    assert [plain(item.value) for item in app.caption if item.value.startswith("Not decompiled")] == [said]
