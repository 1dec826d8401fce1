"""The guides whose examples are guarded by the suite's laws: each is executed, then the laws run."""

from pathlib import Path

import pytest

from core import TARGETS
from tests.support.copy import Copy
from tests.support.documents import blocks, inline

SUITE = """
import sys
import pytest

arguments = ["-q", "-n0", "-p", "no:cacheprovider", "--import-mode=importlib", "-o", "pythonpath=."]
sys.exit(pytest.main([*arguments, *{tests}]))
"""
FINDINGS = "tests/core/analysis/findings/test_findings.py"
LAWS = [f"tests/house/{name}.py" for name in ("test_layers", "test_length", "test_names", "test_words")]


def add_finding(copy: Copy) -> None:
    rule, report = blocks("docs/adding-a-finding.md", "python")
    copy.write("core/analysis/findings/graphs.py", rule)
    rules = "core/analysis/findings/__init__.py"
    copy.put(rules, "graphs, ", before="kernels\nfrom core.analysis.findings.finding")
    copy.put(rules, f"{inline('docs/adding-a-finding.md', '*graphs.RULES')}, ", before="*kernels.RULES")
    assert "{'tiny_graphs'}" in copy.fails(SUITE.format(tests=[FINDINGS]))
    copy.add("tests/support/reports/findings.py", report)


PRESET = """
from core import CompileJob, Environment, Model
from core.commands.main import make_parser
from core.sweep.runner import new_sweep
from core.sweep.presets import PRESETS, Question, answer
from tests.support.sweeps import timed

assert make_parser().parse_args(["sweep", "mlp", "--preset", "seeds"]).preset == "seeds"
plan = PRESETS["seeds"].plan(CompileJob(Model("sample", "mlp")), Environment())
sweep = new_sweep(plan.base, plan.axes, "seeds")
print(sum(len(axis.values) for axis in sweep.axes), answer(Question(sweep, ())).sentence == "")
print(answer(Question(sweep, (timed("0", results="differs"), timed("1", results="same")))).sentence)
"""


def add_preset(copy: Copy) -> None:
    (preset,) = blocks("docs/adding-a-preset.md", "python")
    copy.write("core/sweep/presets/seeds.py", preset)
    table = "core/sweep/presets/__init__.py"
    copy.put(table, "from core.sweep.presets.seeds import SEEDS\n", before="from core.sweep.presets.sizes")
    copy.put(table, "SEEDS, ", before="LADDER),")
    assert copy.run(PRESET).splitlines() == ["3 True", "Results differ for 1 of 2 seeds."]


COMMAND = """
from core.commands.main import main
assert main(["targets"]) == 0
assert main(["targets", "--json"]) == 0
"""


def add_command(copy: Copy) -> None:
    (command,) = blocks("docs/adding-a-command.md", "python")
    copy.write("core/commands/targets.py", command)
    row = inline("docs/adding-a-command.md", 'Command("targets"')
    copy.put("core/commands/main.py", f"    {row}\n", before='    Command("backends"')
    listed, _, as_json = copy.run(COMMAND).partition("{")
    assert {line.split()[0] for line in listed.splitlines()} == set(TARGETS)
    assert '"h100": "NVIDIA H100' in as_json


@pytest.mark.long
def test_a_finding_a_preset_and_a_command_work_and_pass_the_laws(tmp_path: Path) -> None:
    """The guides are "adding-a-finding", "adding-a-preset" and "adding-a-command"."""
    copy = Copy(tmp_path)
    for add in (add_finding, add_preset, add_command):
        add(copy)
    copy.run(SUITE.format(tests=[FINDINGS, *LAWS]))
