"""The guide for an option is carried out: with its field and its row, the option is on every screen."""

import textwrap
from pathlib import Path

import pytest

from tests.live.test_guides import PAGE, code, said
from tests.support.copy import Copy

OPTION = """
import argparse
from dataclasses import replace
from core import CompileJob, Conditions, Model, job_to_json
from core.job import add_job_options, job_of
from core.runs.permission import allowed
from core.runs.stored import side_of_log
from core.analysis.comparison.run import compare_runs
from core.sweep.model import changed, parse_axis
from docs.make import options
from pages.parts.compare.runs import MENU
from tests.core.job.test_options import test_each_field_of_a_job_has_a_row_or_a_reason
from tests.support.places import TRACES

test_each_field_of_a_job_has_a_row_or_a_reason()
job = CompileJob(Model("sample", "mlp"))
wanted = replace(job, conditions=Conditions(deterministic=True))
parser = argparse.ArgumentParser()
add_job_options(parser)
print(job_of(parser.parse_args(["mlp", "--deterministic"])) == wanted, "--deterministic" in options.tables())
print(parse_axis("deterministic=true,false").values, changed(job, ["deterministic=yes"]) == wanted)
print(MENU["deterministic"](job) == {"True": wanted}, allowed(wanted) == wanted)
side = side_of_log(TRACES / "recompile_zoo" / "trace.log")
setting = side.report.setting
conditions = {**setting.job.get("conditions", {}), "deterministic": True}
asked = replace(setting, job={**setting.job, "conditions": conditions})
other = replace(side, report=replace(side.report, setting=asked))
print([(item.name, item.right) for item in compare_runs(side, other).options])
app = opened(menu.NEW_RUN.script, sample="sin_cos")
assert_sound(app)
(switch,) = (one for one in app.toggle if one.label == "deterministic")
print(switch.set_value(True).run().session_state["options-sample-sin_cos-deterministic"])
"""


@pytest.mark.long
def test_an_option_is_on_every_screen_once_it_has_a_row(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    (row,) = code("adding-an-option")
    copy.put("core/job/model.py", f"    {said('adding-an-option', 'deterministic: ')}\n", before="    primed: bool")
    copy.put(
        "core/job/options/run.py",
        textwrap.indent(row.strip(), " " * 4) + ",\n",
        before='    Option(\n        "conditions.dynamo"',
    )
    line = said("adding-an-option", "torch.use_deterministic_algorithms(c")
    copy.put("core/worker/conditions.py", f"    {line}\n", before="    if conditions.threads:")
    assert copy.run(PAGE + OPTION).splitlines() == [
        "True True",
        "(True, False) True",
        "True True",
        "[('deterministic', 'True')]",
        "True",
    ]
