"""The parameters in the repository are the fit of the measurements in the repository."""

import json
from pathlib import Path

import pytest

from benchmarks.devices.fit import fit_kind, parameters, read, rows_by_kind
from core.analysis.kernels.predicted import PARAMETERS

QUICK = "attention float32"


def stored() -> dict[str, object]:
    return json.loads(PARAMETERS.read_text())  # type: ignore[no-any-return]


def test_the_stored_parameters_of_one_kind_are_its_fit() -> None:
    kinds = json.loads(PARAMETERS.read_text())["kinds"]
    assert fit_kind(rows_by_kind()[QUICK], kinds["indexed loop"]["parameters"]) == kinds[QUICK]


@pytest.mark.long
def test_all_stored_parameters_are_the_fit() -> None:
    assert parameters() == stored()


def test_a_file_of_a_throttled_device_is_refused(tmp_path: Path) -> None:
    hot = tmp_path / "hot.json"
    hot.write_text(json.dumps({"refused": "the device was throttled: hw_thermal in 10% of the samples"}))
    with pytest.raises(SystemExit, match="hot.json: the device was throttled"):
        read(hot)


def test_a_file_that_was_not_measured_to_its_end_is_refused(tmp_path: Path) -> None:
    short = tmp_path / "short.json"
    short.write_text("{}")
    with pytest.raises(SystemExit, match="not measured to its end"):
        read(short)
