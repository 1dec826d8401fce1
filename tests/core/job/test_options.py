"""The table of options: every field of a job has a row, and every row is a field."""

import argparse
from dataclasses import fields, replace

import pytest

from core import CompileJob, CompileOptions, Conditions, JobError, Model
from core.job import add_job_options, job_of
from core.job.options import OPTIONS, ChoiceField, with_values
from core.job.options.call import one_of
from core.runs import permission
from core.runs.permission import allowed
from core.sweep.model import changed

JOB = CompileJob(Model("sample", "mlp"))
# Fields that are no options, and why.
WITHOUT_A_ROW = {
    "model": "what is compiled; each command, form and axis `code` has its own way to it",
    "compile": "its fields are options",
    "conditions": "its fields are options",
    "compile.backend_code": "set together with the backend",
    "repairs": "set by the buttons that repair code",
    "repairs_of": "the run that a repair was tried from",
    "sweep": "the sweep whose cell this is",
    "aoti": "an option of the command `aoti` alone",
    "from_file": "derived from what is set",
    "schema": "the version of the format",
}


def test_each_field_of_a_job_has_a_row_or_a_reason() -> None:
    parts = {"": CompileJob, "compile.": CompileOptions, "conditions.": Conditions}
    there = [f"{part}{field.name}" for part, kind in parts.items() for field in fields(kind)]
    rows = [option.path for option in OPTIONS]
    assert sorted([*rows, *WITHOUT_A_ROW]) == sorted(there)


def test_no_two_options_share_a_name_a_flag_or_a_widget() -> None:
    for names in (
        [option.name for option in OPTIONS],
        [option.flag_name for option in OPTIONS],
        [option.form.key or option.name for option in OPTIONS if option.form],
        [option.form.at for option in OPTIONS if option.form],
    ):
        assert len(set(names)) == len(names)


def test_a_command_without_options_makes_a_default_job() -> None:
    parser = argparse.ArgumentParser()
    add_job_options(parser)
    assert job_of(parser.parse_args(["mlp"])) == JOB
    assert {option.path: option.of(JOB) for option in OPTIONS} == {option.path: option.default for option in OPTIONS}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.path)
def test_every_choice_of_the_form_is_a_value_of_the_job(option: object) -> None:
    rows = [row for row in OPTIONS if row is option and isinstance(row.form, ChoiceField)]
    for row in rows:
        assert isinstance(row.form, ChoiceField)
        made = [row.of(with_values(JOB, {row.path: value})) for value in row.form.values.values()]
        assert [row.form.word(value) for value in made] == list(row.form.values)


def test_an_axis_reads_each_kind_of_value() -> None:
    typed = ["seed=3", "primed=yes", "threads=none", "numerics=results", "marks=batch", "dynamic=always"]
    expected = replace(JOB, seed=3, conditions=Conditions(primed=True), numerics="results", marks=("batch",))
    assert changed(JOB, typed) == expected.with_settings(dynamic=True)


def test_an_option_that_says_nothing_of_visitors_is_closed_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tuple(replace(option, visitors=False) if option.name == "seed" else option for option in OPTIONS)
    assert allowed(replace(JOB, seed=1)) == replace(JOB, seed=1)
    monkeypatch.setattr(permission, "OPTIONS_OF_A_JOB", closed)
    assert allowed(JOB) == JOB
    with pytest.raises(JobError) as error:
        allowed(replace(JOB, seed=1))
    assert error.value.field == "seed"


def test_a_value_that_is_no_choice_is_cut_in_the_message() -> None:
    check = one_of(None, "fast", "slow")
    assert (check(None), check("fast")) == ("", "")
    assert check("x" * 100) == f"`{'x' * 60}` is none of fast, slow"
