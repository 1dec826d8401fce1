"""Logs that were tampered with: a short run of `python -m tests.attack.mutate`."""

import pytest

from tests.attack.mutate import mutant
from tests.attack.survive import MOST_BYTES, MOST_S, survive
from tests.support.sample import one_in

AT_ONCE = 15
TIMES = 150


@pytest.mark.promise("logs")
@pytest.mark.parametrize("first", one_in(10, range(0, TIMES, AT_ONCE)))
def test_no_log_that_was_tampered_with_does_harm(first: int) -> None:
    """Reading a corrupted log takes bounded time and memory."""
    ended = {seed: survive(mutant(seed)) for seed in range(first, first + AT_ONCE)}
    assert {seed: found.harm for seed, found in ended.items() if found.harm} == {}
    assert max(found.peak_bytes for found in ended.values()) < MOST_BYTES
    assert max(found.seconds for found in ended.values()) < MOST_S


@pytest.mark.parametrize("seed", [2_463, 5_308])
def test_logs_that_did_harm_once_do_none(seed: int) -> None:
    assert survive(mutant(seed)).harm == ""


@pytest.mark.parametrize("seed", [3, 17])
def test_every_page_shows_a_log_that_was_tampered_with(seed: int) -> None:
    assert survive(mutant(seed), pages=True).harm == ""
