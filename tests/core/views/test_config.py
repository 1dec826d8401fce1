"""Options of torch in words and rows, and a job with one of them."""

from dataclasses import replace

import pytest

from core import CompileJob, CompileOptions, Environment, JobError, Model
from core.base.machine import ConfigOption
from core.views.setup import ConfigView

FUSION = ConfigOption(
    "inductor",
    "epilogue_fusion",
    "True",
    "True",
    kind="bool",
    comment="fuse pointwise into templates epilogues",
    line=9,
)
CUDAGRAPHS = ConfigOption(
    "inductor",
    "triton.cudagraphs",
    "True",
    "True",
    variables=("TORCHINDUCTOR_CUDAGRAPHS",),
    environment=("TORCHINDUCTOR_CUDAGRAPHS=1",),
)
LIMIT = ConfigOption("dynamo", "recompile_limit", "3", "8", changed=True, comment="of one frame\nfusion of calls")
ALIAS = ConfigOption("dynamo", "cache_size_limit", "", alias="torch._dynamo.config.recompile_limit")
HERE = Environment(torch="2.13.0", options=(LIMIT, FUSION, CUDAGRAPHS, ALIAS))
JOB = CompileJob(Model("sample", "mlp"))


def names(view: ConfigView) -> list[str]:
    return [option.name for option in view.options]


def test_all_options_are_listed_without_a_search() -> None:
    view = ConfigView(HERE)
    assert view.title == "torch.compile has 4 options here: 2 of Inductor, 2 of Dynamo."
    assert view.note.startswith("torch 2.13.0; 2 options set by the server's environment.")
    assert len(view.rows) == 4


def test_the_list_begins_with_what_people_set_and_has_no_internals() -> None:
    others = ("_private", "TYPE_CHECKING", "aggressive_fusion", "_cache_config_factory_keys")
    listed = (*(ConfigOption("inductor", name, "True") for name in others), LIMIT, FUSION)
    view = ConfigView(Environment(torch="2.13.0", options=listed))
    assert names(view) == ["epilogue_fusion", "recompile_limit", "aggressive_fusion", "_private"]
    assert view.title == "torch.compile has 4 options here: 3 of Inductor, 1 of Dynamo."


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (ConfigView(HERE, "fusion"), ["epilogue_fusion", "recompile_limit"]),
        (ConfigView(HERE, "FUSION pointwise"), ["epilogue_fusion"]),
        (ConfigView(HERE, "TORCHINDUCTOR_CUDA"), ["triton.cudagraphs"]),
        (ConfigView(HERE, "recompile_limit"), ["recompile_limit", "cache_size_limit"]),
        (ConfigView(HERE, "torch._dynamo.config.recompile_limit"), ["recompile_limit", "cache_size_limit"]),
        (ConfigView(HERE, module="dynamo"), ["recompile_limit", "cache_size_limit"]),
        (ConfigView(HERE, changed=True), ["triton.cudagraphs", "recompile_limit"]),
        (ConfigView(HERE, "none such"), []),
    ],
)
def test_a_search_looks_at_names_aliases_variables_and_comments(view: ConfigView, expected: list[str]) -> None:
    assert names(view) == expected
    assert view.title == f"{len(expected)} of torch.compile's 4 options match."


def test_a_row_says_what_sets_an_option_here() -> None:
    by_name = {row["option"]: row for row in ConfigView(HERE).rows}
    assert by_name["triton.cudagraphs"]["set here"] == "TORCHINDUCTOR_CUDAGRAPHS=1"
    assert by_name["recompile_limit"]["set here"] == "default 8"
    assert by_name["recompile_limit"]["comment"] == "of one frame fusion of calls"
    assert by_name["cache_size_limit"]["value"] == "alias of torch._dynamo.config.recompile_limit"
    assert by_name["epilogue_fusion"]["set here"] == ""


def test_facts_of_an_option_are_those_that_it_has() -> None:
    assert ConfigView.of(FUSION).facts == "value `True` · type `bool`"
    assert ConfigView.of(FUSION).place == "torch/_inductor/config.py:9"
    assert ConfigView.of(ALIAS).facts == "alias of `torch._dynamo.config.recompile_limit`"
    assert ConfigView.of(LIMIT).facts == "value `3` · default `8`"
    assert ConfigView.of(CUDAGRAPHS).facts.endswith("set here: `TORCHINDUCTOR_CUDAGRAPHS=1`")


def test_uses_are_lines_of_the_installed_torch() -> None:
    view = ConfigView.of(FUSION)
    assert any(use.path == "_inductor/scheduler.py" and "epilogue_fusion" in use.text for use in view.uses)
    assert view.uses_title.startswith(f"Read in {len(view.uses)} line")
    assert len(view.uses_text.splitlines()) == len(view.uses)
    absent = ConfigView.of(replace(FUSION, name="no_such_option"))
    assert (absent.uses_title, absent.uses_text) == ("No line of the installed torch reads it as `config.NAME`.", "")


def test_an_option_is_added_to_those_of_a_job() -> None:
    job = replace(JOB, compile=CompileOptions(options={"max_autotune": True}))
    changed = ConfigView.of(FUSION).job(job, "False")
    assert changed.compile.options == {"max_autotune": True, "epilogue_fusion": False}
    assert ConfigView.of(LIMIT).job(job, "2").conditions.dynamo == {"recompile_limit": 2}
    assert ConfigView.of(FUSION).arguments("False") == "--options epilogue_fusion=False"
    assert ConfigView.of(LIMIT).arguments("2") == "--dynamo recompile_limit=2"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (CompileOptions(backend="aot_eager"), "takes no option of Inductor"),
        (CompileOptions(mode="max-autotune"), "either options or a mode"),
    ],
)
def test_a_job_that_cannot_take_an_option_says_why(options: CompileOptions, reason: str) -> None:
    with pytest.raises(JobError, match=reason):
        ConfigView.of(FUSION).job(replace(JOB, compile=options), "False")
