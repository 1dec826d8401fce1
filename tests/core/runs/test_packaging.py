"""Dynamic dimensions as they are typed, and the jobs that ask for a package."""

from dataclasses import replace

import pytest

from core import CompileJob, DynamicDim, JobError, Model, Packaging
from core.job import dims_from_text, fingerprint
from core.runs.progress import aoti_steps

JOB = CompileJob(Model("sample", "mlp"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("batch=1..128", DynamicDim("batch", 1, 128)),
        ("inputs.0.0=1..128", DynamicDim("0.0", 1, 128)),
        ("0.0+1.0=2..", DynamicDim("0.0+1.0", 2)),
        ("mask.1=..64", DynamicDim("mask.1", None, 64)),
        ("0.1", DynamicDim("0.1")),
    ],
)
def test_a_dynamic_dimension_is_read_from_text_as_it_is_written(text: str, expected: DynamicDim) -> None:
    assert dims_from_text([text]) == (expected,)
    assert dims_from_text([expected.text]) == (expected,)


@pytest.mark.parametrize("text", ["", "=1..2", "batch=1", "batch=1..2..3", "batch=-1..2", "batch=a..b"])
def test_a_dynamic_dimension_that_cannot_be_read_names_its_field(text: str) -> None:
    with pytest.raises(JobError) as error:
        dims_from_text([text])
    assert error.value.field == "aoti.dims"


def test_a_job_that_packages_its_model_says_so_with_its_dimensions() -> None:
    job = replace(JOB, aoti=Packaging((DynamicDim("batch", 1, 128), DynamicDim("0.1"))))
    assert job.differences() == ("AOTInductor, batch=1..128, 0.1",)
    assert fingerprint(job, "", "") != fingerprint(JOB, "", "")


def test_a_training_step_has_no_steps_of_a_package() -> None:
    assert aoti_steps(replace(JOB, aoti=Packaging(), training=True)) == ()
    assert aoti_steps(replace(JOB, aoti=Packaging(), measure=False))[-1] == "running the package from C++"
