"""`python -m core ranks`: what it prints, and its exit codes."""

import json
from pathlib import Path

import pytest

from core.commands.main import main
from tests.support.ranks import recorded, recorded_logs, with_size, written

DIFFERENT, MISSING = 1, 3


def test_equal_ranks_exit_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded_logs("ddp", tmp_path)
    assert main(["ranks", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], "Groups" in lines) == ("2 ranks, all alike.", False)


def test_ranks_that_differ_exit_with_1_and_name_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded_logs("uneven", tmp_path)
    assert main(["ranks", str(tmp_path)]) == DIFFERENT
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "The two ranks differ from [0/1] on.",
        "Rank 1 recompiles [0/1] alone: tensor 'x' size mismatch at index 0. expected 8, actual 9.",
        "`script.py:12` in `step`: `loss = x.sin().sum(0)`",
    ]
    assert lines[3].startswith("Forecast: a wait, and a hang if it is long.")
    assert [line for line in lines if line.startswith("  torch")] == [
        "  torch._dynamo.mark_dynamic(x, 0)",
        "  torch.compiler.set_enable_guard_collectives(True)",
    ]


def test_ranks_that_all_differ_are_said_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = recorded("uneven")
    sizes = (b"[8, 4]", b"[9, 4]", b"[7, 4]")
    written({rank: with_size(log, "0/0", sizes[0], size) for rank, size in enumerate(sizes)}, tmp_path)
    assert main(["ranks", str(tmp_path)]) == DIFFERENT
    title = "No two of the 3 ranks are alike; rank 0 and rank 1 differ from [0/0] on."
    assert capsys.readouterr().out.splitlines()[0] == title


def test_json_has_groups_and_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded_logs("uneven", tmp_path)
    assert main(["ranks", str(tmp_path), "--json"]) == DIFFERENT
    data = json.loads(capsys.readouterr().out)
    assert (data["alike"], data["groups"]) == (False, [[0], [1]])
    (difference,) = data["differences"]
    assert (difference["kind"], difference["compilation"], difference["line"]) == ("recompile", "0/1", 12)


def test_a_directory_of_one_rank_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written({0: recorded("ddp")}, tmp_path)
    assert main(["ranks", str(tmp_path)]) == MISSING
    assert "no logs of several ranks" in capsys.readouterr().err


def test_nothing_is_written_beside_logs_outside_the_store(tmp_path: Path) -> None:
    logs = recorded_logs("ddp", tmp_path)
    main(["ranks", str(tmp_path)])
    assert sorted(tmp_path.iterdir()) == sorted(logs.values())
