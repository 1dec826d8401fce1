"""The tasks for coding agents are complete, and finished tries become a table; nothing is compiled, no model called."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.agents import figures, runner, work
from benchmarks.agents.cheats import CHEATS
from tests.support.imports import tree_of

# Stands for a client: it removes torch.compile, and notes one call of a tool.
CLIENT = """
import json, os, pathlib, sys
path = pathlib.Path(sys.argv[1], "model.py")
path.write_text(path.read_text().replace("torch.compile", "str"))
line = {"tool": "bash", "arguments": {"task": sys.argv[2]}, "characters": 250}
pathlib.Path(os.environ["AGENT_TRANSCRIPT"]).write_text(json.dumps(line) + "\\n")
"""


def test_there_are_ten_tasks_of_each_kind() -> None:
    assert Counter(name.partition("_")[0] for name in work.task_names()) == dict.fromkeys(work.KINDS, 10)


@pytest.mark.parametrize("name", work.task_names())
def test_a_task_has_a_short_text_a_model_and_cheats(name: str, tmp_path: Path) -> None:
    text = (work.TASKS / name / "task.md").read_text(encoding="utf-8")
    assert text.count(".") >= 2
    assert len(text) < 700
    model = (work.write_reference(name, tmp_path / "reference") / "model.py").read_text(encoding="utf-8")
    changed = {cheat: change(name, model) for cheat, change in CHEATS.items()}
    assert len({model, *changed.values()}) == len(changed) + 1
    for cheat, source in changed.items():
        compile(source, cheat, "exec")


@pytest.mark.parametrize("name", work.task_names())
def test_a_solver_sees_neither_check_nor_solution(name: str, tmp_path: Path) -> None:
    assert {path.name for path in work.prepare(name, tmp_path).iterdir()} == {"model.py", "task.md"}


@pytest.mark.parametrize("name", ["checker", "work", "cheats", "figures", "runner", "proof"])
def test_checks_import_torch_and_nothing_of_the_product(name: str) -> None:
    source = (work.ROOT / "benchmarks/agents" / f"{name}.py").read_text(encoding="utf-8")
    assert tree_of(f"benchmarks/agents/{name}.py") is not None
    assert not {"import core", "from core"} & {line[:11].rstrip() for line in source.splitlines()}


def write_try(place: Path, solved: bool, characters: list[int]) -> None:
    place.mkdir(parents=True)
    verdict = {"task": place.name, "solved": solved, "reason": "" if solved else "2 compilations | 1", "figures": {}}
    (place / "verdict.json").write_text(json.dumps(verdict), encoding="utf-8")
    lines = [json.dumps({"tool": "bash", "arguments": {}, "characters": number}) for number in characters]
    (place / "transcript.jsonl").write_text("\n".join(lines), encoding="utf-8")


def test_finished_tries_become_a_table(tmp_path: Path) -> None:
    write_try(tmp_path / "with/1/break_nan_guard", True, [100, 300])
    write_try(tmp_path / "with/2/break_nan_guard", True, [200])
    write_try(tmp_path / "without/1/break_nan_guard", False, [1000])
    write_try(tmp_path / "without/1/slow_many_heads", True, [])
    lines = figures.write_table(tmp_path).splitlines()
    assert "| breaks | with | 2 of 2 | 1.5 | 300 |" in lines
    assert "| breaks | without | 0 of 1 | 1.0 | 1000 |" in lines
    assert "| all | without | 1 of 2 | 0.5 | 500 |" in lines
    assert "| break_nan_guard | 2 of 2 | 0 of 1 | 2 compilations / 1 |" in lines
    rows = json.loads((tmp_path / "table.json").read_text(encoding="utf-8"))
    assert [(row["tools"], row["number"], row["task"], row["calls"]) for row in rows] == [
        ("with", "1", "break_nan_guard", 2),
        ("with", "2", "break_nan_guard", 1),
        ("without", "1", "break_nan_guard", 1),
        ("without", "1", "slow_many_heads", 0),
    ]


def test_a_client_runs_on_a_copy_of_each_task(tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text(CLIENT, encoding="utf-8")
    command = f"{sys.executable} {script} {{directory}} {{task}}"
    runner.run_client(command, tmp_path / "out", "without", 2, 60.0, ["break_nan_guard"])
    places = [tmp_path / "out/without" / number / "break_nan_guard" for number in ("1", "2")]
    assert [figures.read_transcript(place / runner.TRANSCRIPT) for place in places] == [(1, 250), (1, 250)]
    assert all("= str(head)" in (place / "solution/model.py").read_text(encoding="utf-8") for place in places)


def test_a_client_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    runner.run_client("sleep 600", tmp_path, "with", 1, 0.2, ["break_nan_guard"])
    assert "ended after 0.2 s" in (tmp_path / "with/1/break_nan_guard/output.txt").read_text(encoding="utf-8")
