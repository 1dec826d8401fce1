"""The table of exercises: each has a title, a task, code and checks; and the job that checks a solution."""

import ast
from dataclasses import replace

import pytest

from core import CompileJob, JobError, Model, job_from_json, job_to_json, samples
from core.job.checks import validated
from core.job.gallery import EXERCISES, FILES, Exercise, exercise
from core.job.prepared import prepared
from core.runs.permission import allowed
from core.views.exercises import CHECKS
from tests.support.imports import FILES as PROJECT

TOPICS = ("Graph breaks", "Recompiles", "Dynamic shapes", "Fusion", "Memory", "Backends", "Passes")


def test_there_are_twelve_and_each_is_a_file() -> None:
    assert [row.name for row in EXERCISES] == list(dict.fromkeys(row.name for row in EXERCISES))
    assert sorted(row.name for row in EXERCISES) == sorted(path.stem for path in FILES.glob("[!_]*.py"))
    assert len(EXERCISES) == 12
    assert tuple(dict.fromkeys(row.topic for row in EXERCISES)) == TOPICS


def test_an_exercise_is_no_sample_of_the_gallery() -> None:
    assert {row.name for row in EXERCISES} & {sample.name for sample in samples()} == set()
    assert any(name.startswith("core/samples/exercises/") for name in PROJECT)


@pytest.mark.parametrize("row", EXERCISES, ids=lambda row: row.name)
def test_an_exercise_says_what_to_do_and_how_it_is_checked(row: Exercise) -> None:
    assert 0 < len(row.title) <= 40
    assert row.task.endswith(".")
    assert len(row.task) <= 200
    assert row.task.count(". ") <= 1
    assert {"calls", "captured_ops", "graph_breaks"} <= set(row.checks) <= set(CHECKS)
    assert len(row.hints) == 2
    assert '"""' not in row.code.partition("\n")[0]
    assert "model" in {
        getattr(node, "name", "") or getattr(getattr(node, "targets", [None])[0], "id", "")
        for node in ast.parse(row.code).body
    }


def test_a_job_checks_the_code_whatever_it_says_of_settings() -> None:
    row = exercise("print_inside")
    job = row.job('torch_compile = {"backend": "eager"}\nmodel = abs\ninputs = (1,)\n')
    assert job_from_json(job_to_json(job)) == job
    ready, code = prepared(job)
    assert (ready, code) == (job, job.model.value)
    assert ready.compile.backend == "aot_eager"
    assert (job.title(), job.has_original) == ("exercise print_inside", True)
    assert row.is_checked_by(replace(job, time_limit_s=3.0, memory_limit_bytes=2**30))
    assert not row.is_checked_by(replace(job, dtype="float64"))


def test_only_pasted_code_with_a_model_is_a_solution() -> None:
    for model in (Model("sample", "mlp"), Model("file", "/a.py"), Model("code", "print(1)", "")):
        with pytest.raises(JobError, match="a solution is pasted code") as error:
            validated(CompileJob(model, exercise="counter"))
        assert error.value.field == "exercise"
    with pytest.raises(JobError, match=r"`\.\./x` is no name of an exercise"):
        validated(CompileJob(Model("code", "model = abs"), exercise="../x"))


def test_an_unknown_exercise_names_the_most_similar_one() -> None:
    with pytest.raises(JobError, match=r"no exercise `count`; did you mean counter\?"):
        exercise("count")
    with pytest.raises(JobError, match="there are print_inside, number_from_tensor"):
        exercise("zzzz")


def test_visitors_who_may_not_run_code_solve_none() -> None:
    with pytest.raises(JobError):
        allowed(exercise("counter").job("model = abs"))
    with pytest.raises(JobError) as error:
        allowed(CompileJob(Model("code", "model = abs"), exercise="counter"))
    assert error.value.field == "exercise"
