"""Output and exported files of commands on the recorded scenarios, compared with tests/outputs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.record_outputs import outputs, recorded_home
from tests.support.goldens import OUTPUTS, differences


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with recorded_home() as folder:
        yield folder


@pytest.mark.parametrize("name", list(outputs()))
def test_an_output_is_the_recorded_one(name: str, home: Path) -> None:
    recorded = (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8")
    assert differences(recorded, outputs()[name](home)) == []


def test_every_recorded_output_is_made() -> None:
    assert {path.stem for path in OUTPUTS.glob("*.txt")} == set(outputs())
