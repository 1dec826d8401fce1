"""A measurement of a throttled device is refused, and one at its power limit is not."""

from benchmarks.devices.state import POWER_CAP, SLOWDOWNS, refusal

COOL = [1.0, 1980, 3201, 300, 40, 0]


def test_steady_clocks_are_no_reason_to_refuse() -> None:
    assert refusal([COOL] * 100) == ""


def test_the_power_limit_of_large_products_is_no_reason_to_refuse() -> None:
    assert refusal([[*COOL[:-1], POWER_CAP]] * 100) == ""


def test_a_throttled_device_is_refused_with_its_reason() -> None:
    hot = [*COOL[:-1], SLOWDOWNS["hw_thermal"]]
    assert refusal([COOL] * 90 + [hot] * 10) == "the device was throttled: hw_thermal in 10% of the samples"


def test_clocks_that_were_not_read_are_a_reason_to_refuse() -> None:
    assert refusal([]) == "the clocks could not be read"
