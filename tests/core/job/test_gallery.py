"""The gallery lists every sample completely, in order, and without torch."""

import ast
import subprocess
import sys

import pytest

from core.base.errors import JobError
from core.job.gallery import ORDER, Sample, literals, sample, samples, unread
from core.job.text import MAX_CODE_BYTES

NAMES = [one.name for one in samples()]
GROUPS = (
    "First steps",
    "Fusion",
    "Attention",
    "Language models",
    "Vision",
    "Recommendation and experts",
    "Training",
    "Dynamo",
    "Advanced",
)


def test_gallery_shows_the_samples_in_teaching_order() -> None:
    assert tuple(NAMES) == ORDER


def test_gallery_has_a_sample_in_every_group() -> None:
    assert list(dict.fromkeys(one.group for one in samples())) == list(GROUPS)


@pytest.mark.parametrize("one", samples(), ids=NAMES)
def test_sample_says_what_it_is(one: Sample) -> None:
    assert 0 < len(one.title) <= 40
    assert one.teaches.endswith(".")
    assert len(one.teaches) <= 260


@pytest.mark.parametrize("one", samples(), ids=NAMES)
def test_sample_defines_a_model_and_its_calls(one: Sample) -> None:
    module = ast.parse(one.path.read_text(encoding="utf-8"))
    defined = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    assigned = {
        node.targets[0].id
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    names = defined | assigned
    assert "model" in names
    assert len(names & {"inputs", "calls"}) == 1


def test_twins_are_samples() -> None:
    assert {one.name: one.twin for one in samples() if one.twin} == {"graph_break_zoo": "graph_break_zoo_repaired"}
    assert sample("graph_break_zoo_repaired").twin is None


def test_training_is_read_from_the_file() -> None:
    assert [one.name for one in samples() if one.training] == ["training_step"]


def test_unknown_name_is_an_error_that_suggests_a_near_one() -> None:
    with pytest.raises(JobError, match="sample: there is no sample `transformer_blok`; did you mean transformer_block"):
        sample("transformer_blok")


def test_name_like_no_other_is_an_error_that_lists_all() -> None:
    with pytest.raises(JobError, match="there are sin_cos, .*custom_op_embedding"):
        sample("???")


def test_gallery_needs_no_torch() -> None:
    code = "import sys; from core.job.gallery import samples; samples(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_code_that_no_job_may_have_is_not_read() -> None:
    """Eight megabytes of assignments take a parser a minute, and a page reads what is typed."""
    longest = "training = True\n" + "#" * (MAX_CODE_BYTES - 16)
    assert literals(longest) == {"training": True}
    assert literals(longest + "#") == {}
    assert unread("training = f()\n" + "#" * MAX_CODE_BYTES) == ()


def test_code_that_is_not_python_has_no_settings() -> None:
    assert (literals("training = ("), unread("training = (")) == ({}, ())
    assert (literals("training = True"), unread("training = f()")) == ({"training": True}, ("training",))
    assert (literals("model, training = f(), True"), unread("model, training = f()")) == (
        {"training": True},
        ("training",),
    )
