"""Jobs of scripts: what they may set, and how a script or a model is requested."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, CompileOptions, Conditions, JobError, Model
from core.commands.main import make_parser
from core.job import fingerprint, job_of, validated
from core.job.prepared import measured_again, prepared

SCRIPT = "import torch\n\n@torch.compile\ndef f(x):\n    return x + 1\n\nprint(f(torch.ones(2)))\n"


def test_a_scripts_job_makes_no_calls_of_its_own(tmp_path: Path) -> None:
    job, code = prepared(CompileJob(Model("code", SCRIPT), arguments=("--epochs", "2")))
    assert (job.model.is_script, job.arguments, job.measure, code) == (True, ("--epochs", "2"), False, SCRIPT)
    assert prepared(job) == (job, code)
    assert job.title() == "pasted script"
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    assert prepared(CompileJob(Model("file", str(path))))[0].title() == "train.py"
    named = prepared(CompileJob(Model("file", str(path), "f")))[0]
    assert (named.model.is_script, named.title()) == (False, "train.py:f")


@pytest.mark.parametrize(
    ("job", "field"),
    [
        (CompileJob(Model("code", SCRIPT), calls=("f32[2]",)), "calls"),
        (CompileJob(Model("code", SCRIPT), compile=CompileOptions(mode="lite")), "compile"),
        (CompileJob(Model("code", SCRIPT), target="h100"), "target"),
        (CompileJob(Model("code", SCRIPT), numerics="results"), "numerics"),
        (CompileJob(Model("code", SCRIPT), conditions=Conditions(stance="force_eager")), "conditions.stance"),
        (CompileJob(Model("sample", "mlp"), arguments=("1",)), "arguments"),
        (CompileJob(Model("sample", "mlp", "")), "model.name"),
    ],
)
def test_settings_of_a_model_are_refused_for_a_script(job: CompileJob, field: str) -> None:
    with pytest.raises(JobError) as error:
        prepared(job)
    assert error.value.field == field


def test_threads_and_dynamos_settings_apply_to_a_script_and_nothing_is_measured_again() -> None:
    conditions = Conditions(threads=1, dynamo={"recompile_limit": 2}, caches="cold")
    job, _ = prepared(CompileJob(Model("code", SCRIPT), conditions=conditions, logs=("guards",)))
    assert (job.conditions, job.logs) == (conditions, ("guards",))
    with pytest.raises(JobError, match="run as it is"):
        measured_again(job)


def test_a_script_and_code_for_a_target_have_no_profile() -> None:
    script, target = CompileJob(Model("file", "run.py", "")), CompileJob(Model("sample", "mlp"), target="h100")
    with pytest.raises(JobError, match="use torch.profiler in it"):
        validated(replace(script, profile=True))
    with pytest.raises(JobError, match="does not run, so it has no profile"):
        validated(replace(target, profile=True))


TRAINS = "import torch\nmodel = torch.compile(torch.sin)\ninputs = (torch.ones(2),)\nprint(model(*inputs))\n"
PLAIN = "model = max\ninputs = (1, 2)\n"


def job_of_line(*line: str) -> CompileJob:
    return job_of(make_parser().parse_args(["run", *line]))


def test_the_command_line_requests_a_script_or_a_model_against_what_the_code_is(tmp_path: Path) -> None:
    trains, plain = tmp_path / "trains.py", tmp_path / "plain.py"
    trains.write_text(TRAINS)
    plain.write_text(PLAIN)
    lines = ([str(trains)], [str(trains), "--model"], [str(plain)], [str(plain), "--script"], [f"{trains}:model"])
    jobs = [prepared(job_of_line(*line))[0] for line in lines]
    assert [job.model.is_script for job in jobs] == [True, False, False, True, False]
    assert [prepared(job)[0] for job in jobs] == jobs
    with pytest.raises(JobError, match="--script is for a file"):
        job_of_line("mlp", "--script")


def test_a_refusal_names_the_line_that_decided(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(PLAIN)
    with pytest.raises(
        JobError, match="`model` in line 1 and `inputs` in line 2 are a model and its inputs; `--script`"
    ):
        prepared(job_of_line(str(path), "--", "--epochs", "2"))
    path.write_text(TRAINS)
    with pytest.raises(JobError, match=r"since `model\(\*inputs\)` in line 4 calls compiled code, and `--model`"):
        prepared(job_of_line(str(path), "--mode", "default"))


def test_a_run_as_a_model_on_request_equals_the_run_that_its_code_decides() -> None:
    by_code, requested = (CompileJob(Model("code", PLAIN, as_model=wanted)) for wanted in (False, True))
    assert fingerprint(by_code, PLAIN, "2.13.0") == fingerprint(requested, PLAIN, "2.13.0")
