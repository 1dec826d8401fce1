"""The form of a job: its fields with their initial values, and the job that drawn values make."""

from dataclasses import replace
from typing import Any

import pytest

from core import CompileJob, CompileOptions, Conditions, Environment, JobError, Limits, Model
from core.base.machine import BackendEntry
from core.job import GIB
from core.views.job_form import BackendChoice, JobField, JobForm

JOB = CompileJob(Model("code", "training = True\ntorch_compile = {'mode': 'lite', 'options': {'max_autotune': True}}"))
ENVIRONMENT = Environment(backends=("inductor", "mine", "relu_TESTING_ONLY"), devices={"cpu": "Xeon", "cuda": ""})
FORM = JobForm(ENVIRONMENT, JOB, Limits())
CODE = "def mine(gm, example_inputs):\n    return gm\n"


def fields(form: JobForm) -> dict[str, JobField]:
    return {field.key: field for row in (*form.call, *form.conditions) for field in row}


def values(form: JobForm, **drawn: Any) -> dict[str, Any]:
    return {name: field.initial for name, field in fields(form).items()} | drawn


def test_the_rows_of_the_form_are_in_order() -> None:
    assert [[field.key for field in row] for row in FORM.call] == [
        ["backend", "mode", "dynamic", "dtype"],
        ["device", "seed", "fullgraph", "training"],
        ["inductor"],
        ["calls", "arguments"],
        ["time", "memory", "measure"],
    ]
    assert [[field.key for field in row] for row in FORM.conditions] == [
        ["threads", "stance", "force", "caches"],
        ["primed", "peak", "numerics", "bisect"],
        ["sizes", "marks"],
        ["dynamo", "rival"],
        ["disable", "isolate_recompiles", "recompile_limit", "debug_files"],
        ["shapes_spec", "region", "neighbours", "profile"],
        ["bits", "logs", "capture"],
    ]


def test_a_setting_of_the_file_is_a_choice_with_the_files_value() -> None:
    training = JobField(
        "choice",
        "training",
        "training",
        "as the file says",
        "Also run the backward: AOTAutograd traces a joint graph and partitions it. *(file)*: as the file says.",
        {"as the file says": "on (file)", "on": "on", "off": "off"},
    )
    assert fields(FORM)["training"] == training
    chosen = JobForm(ENVIRONMENT, JOB.with_settings(training=False), Limits())
    assert fields(chosen)["training"] == replace(training, initial="off")
    assert [fields(form)["training"].index for form in (FORM, chosen)] == [0, 2]


def test_the_options_of_the_file_are_an_example() -> None:
    options, chosen = (
        fields(JobForm(ENVIRONMENT, job, Limits()))["inductor"] for job in (JOB, JOB.with_settings(options=None))
    )
    assert (options.kind, options.initial, options.example) == ("text", "", "as the file says: max_autotune=True")
    assert chosen.initial == "none"


def test_each_other_kind_of_field_has_its_label_its_help_and_its_bounds() -> None:
    there = fields(FORM)
    assert there["threads"] == JobField(
        "number",
        "threads",
        "threads",
        None,
        "`torch.set_num_threads`, for eager and compiled.",
        least=1,
        most=1024,
        example="torch's own",
    )
    assert there["peak"] == JobField(
        "switch", "peak", "measure memory", False, "Measure the memory of an eager and a compiled call."
    )
    assert there["marks"] == JobField(
        "text",
        "marks",
        "marked dynamic",
        "",
        "Dimensions to mark with `torch._dynamo.mark_dynamic` before each compiled call.",
        example="0.0, mask.1",
    )
    assert (there["calls"].kind, there["calls"].label) == ("lines", "calls")
    assert there["caches"].choices == {
        "objects": "objects alone",
        "cold": "cold",
        "warm": "warm",
        "bundle": "bundle",
    }


def test_devices_of_this_machine_and_targets_are_offered() -> None:
    device = fields(FORM)["device"]
    assert (device.label, device.initial) == ("generate for", "cpu")
    assert list(device.choices.values())[:3] == ["cpu · Xeon", "cuda", "NVIDIA A100 (not run)"]
    initial = [
        fields(JobForm(ENVIRONMENT, job, Limits()))["device"].initial
        for job in (replace(JOB, device="cuda"), replace(JOB, device="xpu"), replace(JOB, target="h100"))
    ]
    assert initial == ["cuda", "cpu", "h100"]


def test_a_visitor_without_code_is_offered_open_backends_alone() -> None:
    job = replace(JOB, conditions=Conditions(force_backend="forced"))
    built_in = ["template", "inspect", "registry", "aot", "pattern"]
    assert JobForm(ENVIRONMENT, job, Limits()).backends == ["inductor", "mine", *built_in, "forced"]
    closed = JobForm(ENVIRONMENT, job, Limits(), code=False)
    assert closed.backends == ["inductor", *built_in]
    offered = [list(fields(form)["backend"].choices)[-1] for form in (FORM, closed)]
    assert offered == [JobForm.custom_backend, "pattern"]


def test_limits_of_the_server_bound_the_limits_of_a_run_and_say_so() -> None:
    there = fields(FORM)
    assert there["time"] == JobField("number", "time", "time limit (s)", 600, least=1, most=86_400)
    memory = JobField("number", "memory", "memory limit (GiB)", 8.0, least=0.5, most=1024.0, step=0.5)
    assert there["memory"] == memory
    bounded = fields(JobForm(ENVIRONMENT, JOB, Limits(time_s=60.0, memory_bytes=2 * GIB)))
    most_s = "At most 60 s: a limit of this server for one run."
    assert bounded["time"] == replace(there["time"], initial=60, most=60, help=most_s)
    most_gib = "At most 2 GiB: a limit of this server for one run."
    assert bounded["memory"] == replace(memory, initial=2.0, most=2.0, help=most_gib)


@pytest.mark.parametrize(
    "job",
    [
        JOB,
        replace(JOB, target="h100", training=False, seed=7, dtype="bfloat16", calls=("f32[8]", "f32[9]")),
        JOB.with_settings(mode=None, options={"max_autotune": True}, fullgraph=True, dynamic=False),
        replace(
            JOB,
            conditions=Conditions(2, "fail_on_recompile", "eager", True, {"recompile_limit": 2}, "warm"),
            sizes={"batch": 64},
            marks=("0.0", "batch"),
            rival=CompileOptions(mode="max-autotune"),
            memory=True,
            profile=True,
            numerics="nodes",
            bits={"batch": 1, "options.split_reductions": False},
            logs=("+dynamo", "guards"),
            debug_files=True,
            measure=False,
            time_limit_s=90.0,
            memory_limit_bytes=3 * GIB,
        ),
    ],
)
def test_the_initial_values_make_the_same_job(job: CompileJob) -> None:
    form = JobForm(ENVIRONMENT, job, Limits())
    assert form.new_job(values(form), None) == job


def test_a_custom_backend_reaches_the_job_with_its_code() -> None:
    job = FORM.new_job(values(FORM, backend=JobForm.custom_backend), BackendChoice("mine", CODE))
    assert job == JOB.with_settings(backend="mine", backend_code=CODE)
    form = JobForm(ENVIRONMENT, job, Limits())
    assert (fields(form)["backend"].initial, BackendChoice.custom(job)) == ("your own…", BackendChoice("mine", CODE))
    assert form.new_job(values(form), None) == JOB


def test_a_wrong_value_is_refused_and_the_lines_pass_over_it() -> None:
    wrong = values(FORM, inductor="max_autotune", sizes="batch=none")
    with pytest.raises(JobError, match=r"compile\.options: `max_autotune`: write name=value"):
        FORM.new_job(wrong, None)
    assert FORM.call_line(wrong, None) == FORM.call_line(values(FORM), None)
    assert FORM.conditions_line(wrong) == "Conditions"


def test_the_line_of_the_call_reads_like_the_call() -> None:
    of_file = "mode='lite', options={'max_autotune': True}"
    assert FORM.call_line(values(FORM), None) == f"`torch.compile(model, {of_file})`"
    drawn = values(FORM, mode="default", inductor="none", fullgraph="on")
    assert FORM.call_line(drawn, BackendChoice("eager")) == "`torch.compile(model, fullgraph=True, backend='eager')`"
    assert FORM.call_line(drawn, BackendChoice("mine", CODE)) == "`torch.compile(model, fullgraph=True, backend=mine)`"


def test_the_line_of_the_conditions_has_those_that_differ() -> None:
    assert FORM.conditions_line(values(FORM)) == "Conditions"
    drawn = values(FORM, threads=2, sizes="batch=64", peak=True, numerics="nodes")
    assert FORM.conditions_line(drawn) == "Conditions: 2 threads; batch 64; memory; nodes against float64"


def test_settings_that_are_no_literals_are_named() -> None:
    model = Model("code", "import os\ntraining = bool(os.environ)\n")
    form = JobForm(ENVIRONMENT, CompileJob(model), Limits())
    assert form.unread == ["`training` in the file is no literal: choose it here, as the file has it."]
    assert fields(form)["training"].choices["as the file says"] == "off (file)"


@pytest.mark.parametrize("value", ["", "/not/there.py"])
def test_a_file_that_cannot_be_read_sets_nothing(value: str) -> None:
    form = JobForm(Environment(), CompileJob(Model("file", value)), Limits())
    assert (form.unread, fields(form)["mode"].choices["as the file says"]) == ([], "default (file)")


@pytest.mark.parametrize("kind", JobForm.kinds)
def test_the_form_requests_a_script_or_a_model(kind: str) -> None:
    model = JobForm.model_run_as(Model("code", "model = abs\ninputs = (1,)\n"), kind)
    assert JobForm.run_as(model) == kind
    assert (model.is_script, model.as_model) == (kind == "Script", kind == "Model")


@pytest.mark.parametrize(("code", "kind"), [("print(1)\n", "As the code decides"), ("model = inputs = 1\n", "Script")])
def test_a_script_that_is_run_again_stays_one(code: str, kind: str) -> None:
    assert JobForm.run_as(JobForm.reopened(Model("code", code, ""), code)) == kind


def test_an_editor_starts_with_the_backend_of_the_job() -> None:
    built_in = ["template", "inspect", "registry", "aot", "pattern"]
    custom = JOB.with_settings(backend="mine", backend_code=CODE)
    jobs = (JOB, JOB.with_settings(backend="aot"), custom)
    assert [list(BackendChoice.starts(job)) for job in jobs] == [
        built_in,
        ["aot", "template", "inspect", "registry", "pattern"],
        ["this run's", *built_in],
    ]
    assert BackendChoice.starts(custom)["this run's"].text == CODE


def test_a_built_in_backend_has_a_heading_and_its_code() -> None:
    template, custom = BackendChoice("template"), BackendChoice("template", CODE)
    assert template.heading == "Built-in backend `template` (minimal backend: takes a graph, returns a callable)"
    assert template.text == BackendChoice.custom(JOB).text
    assert [(custom.heading, custom.text), (BackendChoice("eager").heading, BackendChoice("eager").text)] == [
        ("", CODE),
        ("", ""),
    ]


def test_a_backend_that_cannot_run_here_is_not_offered_and_the_help_says_why() -> None:
    entries = (BackendEntry("inductor"), BackendEntry("openxla", missing="the package torch_xla"))
    form = JobForm(replace(ENVIRONMENT, backends=("inductor", "openxla"), entries=entries), JOB, Limits())
    backend = fields(form)["backend"]
    assert "openxla" not in backend.choices
    assert backend.help.startswith("Which compiler gets the FX graph.")
    assert "openxla (the package torch_xla)." in backend.help
    chosen = JobForm(form.environment, JOB.with_settings(backend="openxla"), Limits())
    assert fields(chosen)["backend"].initial == "openxla"
