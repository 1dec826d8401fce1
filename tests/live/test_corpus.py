"""The product reports, explains and cures what people reported about torch.compile, and advises nothing that fails.

On each day about 15 of the cases run, and in 36 days all. `python -m tests.corpus` runs all, and prints figures.
"""

import zlib
from collections.abc import Iterator

import pytest

from core import LocalEngine, Runner, Store
from tests.corpus.case import Case, cases
from tests.corpus.judge import TorchAlone, judge
from tests.support.sample import DAY

pytestmark = pytest.mark.torch
# Each case runs on one of so many consecutive days.
DAYS = 36


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("corpus")), engine)


@pytest.fixture(scope="module")
def alone() -> Iterator[TorchAlone]:
    torch = TorchAlone()
    yield torch
    torch.close()


def todays() -> list[Case]:
    """Return the cases of the day without those about seconds, whose cards depend on how busy the machine is."""
    of_day = (case for case in cases() if zlib.crc32(case.name.encode()) % DAYS == DAY % DAYS)
    return [case for case in of_day if not case.name.startswith("time_")]


@pytest.mark.parametrize("case", todays(), ids=lambda case: case.name)
def test_a_public_report_is_explained_and_cured(here: Runner, alone: TorchAlone, case: Case) -> None:
    judged = judge(here, alone, case)
    assert judged.wrong == []
    assert judged.lacks == case.lacks, "\n".join([*judged.notes, *judged.cards])
