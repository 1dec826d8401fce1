"""Options of torch's configuration modules: all of them, as torch says, and the nearest to a wrong name."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch._dynamo.config
import torch._inductor.config

from core.base.errors import JobError
from core.job import CompileJob, Conditions, Model
from core.worker.backends.selection import compile_notes
from core.worker.conditions import set_dynamo
from core.worker.config import check_option, config_options, nearest
from core.worker.load import ModelCopy

OPTIONS = {(option.module, option.name): option for option in config_options()}


@pytest.fixture
def limit() -> Iterator[None]:
    with torch._dynamo.config.patch(recompile_limit=8):
        yield


def test_the_options_are_those_that_torch_lists() -> None:
    """Of Inductor torch lists all but the aliases."""
    inductor = {name for module, name in OPTIONS if module == "inductor" and not OPTIONS[module, name].alias}
    assert inductor == set(torch._inductor.list_options())
    dynamo = {name for module, name in OPTIONS if module == "dynamo" and not OPTIONS[module, name].alias}
    assert dynamo == set(torch._dynamo.config.get_config_copy())


def test_names_that_torch_does_not_mean_as_options_come_last() -> None:
    names = [name for module, name in OPTIONS if module == "inductor"]
    internal = [name for name in names if name.startswith("_") or name.isupper()]
    assert internal
    assert names[-len(internal) :] == internal


def test_nearly_every_option_has_its_line_and_most_have_torchs_comment() -> None:
    without = [name for (_, name), option in OPTIONS.items() if not option.line]
    assert len(without) <= 0.02 * len(OPTIONS), without
    assert sum(bool(option.comment) for option in OPTIONS.values()) > 0.6 * len(OPTIONS)


def test_a_value_that_a_program_has_set_is_changed(limit: None) -> None:
    assert not OPTIONS["dynamo", "recompile_limit"].changed
    torch._dynamo.config.recompile_limit = 3
    option = next(option for option in config_options() if option.name == "recompile_limit")
    assert (option.value, option.default, option.changed, option.is_set) == ("3", "8", True, True)


def test_an_environment_variable_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_MAX_AUTOTUNE", "1")
    option = next(option for option in config_options() if option.name == "max_autotune")
    assert (option.environment, option.is_set) == (("TORCHINDUCTOR_MAX_AUTOTUNE=1",), True)
    assert OPTIONS["inductor", "max_autotune"].environment == ()


def test_an_alias_names_its_option_and_sets_it(limit: None, tmp_path: Path) -> None:
    option = OPTIONS["dynamo", "cache_size_limit"]
    assert (option.alias, option.value) == ("torch._dynamo.config.recompile_limit", "")
    conditions = Conditions(dynamo={"cache_size_limit": 3})
    set_dynamo(conditions)
    assert torch._dynamo.config.recompile_limit == 3
    path = tmp_path / "alias.py"
    path.write_text("import torch\nmodel, inputs = torch.nn.ReLU(), (torch.ones(2),)\n")
    job = CompileJob(Model("file", str(path)), conditions=conditions)
    (note,) = compile_notes(job, ModelCopy(path, job, "alias"))
    assert note.startswith("`cache_size_limit` is an alias of `torch._dynamo.config.recompile_limit`")


def test_reading_the_options_leaves_torchs_warnings_to_the_user(recwarn: pytest.WarningsRecorder) -> None:
    deprecated = [option for option in config_options() if option.deprecated]
    assert list(recwarn) == []
    assert all(not option.changed for option in deprecated)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("recompile_limits", "recompile_limit"),
        ("max_autotun", "max_autotune"),
        ("cudagraph", "triton.cudagraphs"),
        ("fusion_epilogue", "epilogue_fusion"),
    ],
)
def test_the_nearest_name_comes_first(name: str, near: str) -> None:
    assert nearest(name, [known for _, known in OPTIONS])[0] == near


def test_a_name_unlike_any_has_no_nearest_one() -> None:
    with pytest.raises(JobError) as error:
        check_option("compile.options.q", "inductor", "qqqqqqqq")
    assert str(error.value).endswith("has no torch._inductor.config.qqqqqqqq")


def test_a_wrong_option_of_inductor_is_an_error_in_one_line() -> None:
    with pytest.raises(JobError, match=r"^compile\.options\.fusion_enabled: torch .* nearest: [\w., ]+fusion") as error:
        check_option("compile.options.fusion_enabled", "inductor", "fusion_enabled")
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


def test_a_name_with_a_hyphen_is_the_name_with_an_underscore() -> None:
    check_option("compile.options.max-autotune", "inductor", "max-autotune")
