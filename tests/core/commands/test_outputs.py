"""Output and exported files of commands on the recorded scenarios, compared with tests/outputs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.record_outputs import OUTPUTS, outputs, recorded_home


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with recorded_home() as folder:
        yield folder


@pytest.mark.parametrize("name", list(outputs()))
def test_an_output_is_the_recorded_one(name: str, home: Path) -> None:
    made = outputs()[name](home)
    assert made.splitlines() == (OUTPUTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def test_every_recorded_output_is_made() -> None:
    assert {path.stem for path in OUTPUTS.glob("*.txt")} == set(outputs())
