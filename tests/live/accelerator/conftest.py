"""What tests of the accelerator share: the runtime, built once into the cache that outlives them."""

from collections.abc import Iterator

import pytest

from tests.support.homes import CACHE


@pytest.fixture(scope="module", autouse=True)
def built() -> Iterator[None]:
    """Where the worker finds the runtime, or builds it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPILEBOARD_CACHE", str(CACHE))
        yield
