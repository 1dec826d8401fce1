"""Options that differ between two runs."""

from typing import Any

from core.analysis.comparison.matching import OptionDifference, option_differences
from core.report import Setting


def differences(left: dict[str, Any], right: dict[str, Any]) -> list[OptionDifference]:
    return list(option_differences(Setting(job=left), Setting(job=right)))


def test_a_default_differs_from_another_value_that_is_some_options_default() -> None:
    assert differences({"measure": True}, {"measure": False}) == [OptionDifference("measure", "True", "False")]


def test_an_option_that_an_older_log_lacks_has_its_default() -> None:
    assert differences({}, {"measure": True, "seed": 0, "training": None, "marks": []}) == []
    assert differences({}, {"measure": False}) == [OptionDifference("measure", "", "False")]


def test_an_option_of_torchs_own_has_no_known_default() -> None:
    assert differences({"compile": {"options": {"max_autotune": False}}}, {"compile": {"options": {}}}) != []
