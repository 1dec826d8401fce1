"""Dynamo's configuration as a job asks for it."""

from collections.abc import Iterator

import pytest
import torch._dynamo.config

from core.base.errors import JobError
from core.job import Conditions
from core.worker.conditions import set_dynamo


@pytest.fixture(autouse=True)
def config() -> Iterator[None]:
    """The configuration as it was, afterwards."""
    with torch._dynamo.config.patch(recompile_limit=8, verbose=False):
        yield


def test_names_get_their_values() -> None:
    set_dynamo(Conditions(dynamo={"recompile_limit": 2, "verbose": True}))
    assert (torch._dynamo.config.recompile_limit, torch._dynamo.config.verbose) == (2, True)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("recompile_limits", 1, "has no torch._dynamo.config.recompile_limits"),
        ("patch", 1, "has no torch._dynamo.config.patch"),
        ("recompile_limit", True, "it is 8 in torch"),
        ("verbose", "yes", "it is False in torch"),
    ],
)
def test_what_torch_does_not_have_is_an_error_that_names_it(name: str, value: int | str, message: str) -> None:
    with pytest.raises(JobError, match=message) as error:
        set_dynamo(Conditions(dynamo={name: value}))
    assert error.value.field == f"conditions.dynamo.{name}"
