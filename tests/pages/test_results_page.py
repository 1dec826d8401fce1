"""A result that differs, or cannot be told, is seen first: in the headline, in the chip, and on Speedup with its
cause.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from pages import menu
from tests.support.apps import assert_sound, component, opened, read_words, titles, words
from tests.support.homes import IMAGE, add_run, job_of, record

Row = dict[str, object]
WRONG: Row = {
    "what": "gradient of `0.weight`",
    "kind": "value",
    "same": False,
    "actual": "3.00 times eager's norm",
}
LOST = {"what": "input 0", "kind": "mutation", "same": False, "expected": "changed", "actual": "unchanged"}
UNTOLD: Row = {"what": "output", "kind": "value", "same": None, "reason": "the call draws random numbers"}
SAME: Row = {"what": "output", "kind": "value", "same": True}


def stored(home: Path, *differences: dict[str, object]) -> str:
    """A run whose one call has these differences, and whose file compiles its model itself."""
    call = {"index": 0, "inputs": "f32[2]", "eager_s": 1.0, "compiled_s": 1.0, "compared": {"output": 1, "gradient": 2}}
    log = record("compileboard_call", {"schema": 1, **call, "differences": list(differences)})
    note = record("compileboard_note", {"schema": 1, "text": "The file compiles its model itself."})
    return add_run(home, "results", log + note, job=job_of("transformer_block")).id


def unescaped(text: str) -> str:
    """Markdown as it is shown."""
    return text.replace("\\", "")


def chip(app: Any) -> dict[str, str]:
    found = [item for item in component(app, "header-chips")["chips"] if item["label"] == "result"]
    return {name: found[0][name] for name in ("value", "tone", "tooltip")}


@pytest.mark.parametrize(
    ("differences", "seen", "told"),
    [
        (
            (SAME, WRONG, LOST),
            {
                "value": "differs",
                "tone": "bad",
                "tooltip": "gradient of `0.weight`: 3.00 times eager's norm, and 1 more",
            },
            [
                "Compiled differs from eager.",
                "3.00 times eager's norm",
                "input 0 was changed by eager and not by compiled",
            ],
        ),
        (
            (SAME, UNTOLD),
            {"value": "not comparable", "tone": "warn", "tooltip": "output: the call draws random numbers"},
            ["Not comparable with eager.", "the call draws random numbers"],
        ),
        ((SAME,), {"value": "same", "tone": "ok", "tooltip": "Compared with eager: 1 output, 2 gradients"}, []),
    ],
)
def test_the_result_is_reported_on_overview_and_speedup(
    empty_home: Path,
    differences: tuple[dict[str, object], ...],
    seen: dict[str, str],
    told: list[str],
) -> None:
    run = stored(empty_home, *differences)
    for page in (menu.OVERVIEW.script, menu.SPEEDUP.script):
        app = opened(page, run)
        assert_sound(app)
        assert chip(app) == seen
        assert [part for part in told if part not in unescaped(words(app))] == []
        assert ("Compiled differs" in words(app)) == (seen["value"] == "differs")


def test_the_headline_names_what_differs_and_a_note_is_below(empty_home: Path) -> None:
    app = opened(menu.OVERVIEW.script, stored(empty_home, WRONG))
    assert [unescaped(title) for title in titles(app)] == [
        "Compiled gives other numbers in gradient of `0.weight`: 3.00 times eager's norm"
    ]
    assert "The file compiles its model itself." in [unescaped(item.value) for item in app.info]


def test_speedup_has_a_row_for_each_thing_that_was_compared(empty_home: Path) -> None:
    app = opened(menu.SPEEDUP.script, stored(empty_home, SAME, WRONG, UNTOLD))
    rows = json.loads(app.dataframe[-1].value.to_json(orient="records"))
    assert [(row["what"], row["result"]) for row in rows] == [
        ("output", "same"),
        ("gradient of `0.weight`", "differs"),
        ("output", "not comparable"),
    ]
    assert "Compared with eager in the last call: 1 output, 2 gradients." in read_words(app)


def test_names_from_a_log_are_shown_as_text(empty_home: Path) -> None:
    hostile = {**WRONG, "what": f"output['{IMAGE}[click](http://evil.example/)']"}
    app = opened(menu.OVERVIEW.script, stored(empty_home, hostile))
    assert_sound(app)
    assert [part for part in (IMAGE, "](http") if part in words(app)] == []
