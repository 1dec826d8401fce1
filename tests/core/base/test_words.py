"""Numbers become text in one way only."""

import math

import pytest

from core.base import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "not recorded"),
        (0, "0"),
        (0.0, "0"),
        (7, "7"),
        (1234567, "1,234,567"),
        (-3, "−3"),
        (3.14159, "3.14"),
        (0.0123456, "0.0123"),
        (9.999, "10.0"),
        (99.96, "100"),
        (123456.0, "123,000"),
        (-2.5, "−2.50"),
        (1.234e-7, "1.23e-7"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "not a number"),
    ],
)
def test_a_number_has_three_significant_digits(value: float | None, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "not recorded"),
        (0.0, "0 s"),
        (3e-9, "3.00 ns"),
        (12e-6, "12.0 µs"),
        (0.00182, "1.82 ms"),
        (0.9996, "1.00 s"),
        (3.4, "3.40 s"),
        (99.9, "99.9 s"),
        (125, "2 min 5 s"),
        (4_320, "1 h 12 min"),
        (-0.002, "−2.00 ms"),
        (math.inf, "∞ s"),
    ],
)
def test_a_duration_has_the_unit_that_reads_best(seconds: float | None, text: str) -> None:
    assert words.duration_s(seconds) == text


def test_an_estimate_has_no_parts_of_a_second_from_one_second_on() -> None:
    estimates = [words.estimate_s(seconds) for seconds in (0.04, 1.0, 9.4, 99.4, 99.95, 290.2)]
    assert estimates == [
        "about 40.0 ms",
        "about 1 s",
        "about 9 s",
        "about 99 s",
        "about 1 min 40 s",
        "about 4 min 50 s",
    ]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "not recorded"),
        (0, "0 B"),
        (512, "512 B"),
        (999.0, "999 B"),
        (1_500_000, "1.50 MB"),
        (999_999, "1.00 MB"),
        (2_048, "2.05 kB"),
        (1.2e12, "1.20 TB"),
        (-4096, "−4.10 kB"),
    ],
)
def test_bytes_are_counted_in_decimal_units(size: float | None, text: str) -> None:
    assert words.bytes_(size) == text


def test_a_predicted_time_has_its_interval_in_two_digits_and_its_unit() -> None:
    assert words.predicted_s(1.2e-5, (8.1e-6, 1.84e-5)) == "about 12 µs (8.1–18)"
    assert words.predicted_s(9.3e-7, (4.4e-7, 2.2e-6)) == "about 930 ns (440–2,200)"
    assert words.predicted_s(6.6e-6, (4.4e-7, 1.8e-5)) == "about 6.6 µs (0.44–18)"


def test_a_rate_names_its_unit() -> None:
    assert words.per_second(812e9) == "812 GB/s"
    assert words.per_second(1.2e12, "FLOP") == "1.20 TFLOP/s"
    assert words.per_second(None) == "not recorded"


@pytest.mark.parametrize(
    ("value", "bounds", "text"),
    [
        (None, None, "not recorded"),
        (1.82, None, "1.82×"),
        (2, None, "2.00×"),
        (1.8234, (1.7812, 1.8649), "1.82× (1.78–1.86)"),
        (240.4, (98.4, 1_120.0), "240× (98.4–1,120)"),
    ],
)
def test_a_ratio_shows_the_bounds_of_its_interval(
    value: float | None, bounds: tuple[float, float] | None, text: str
) -> None:
    assert words.ratio(value, bounds) == text


def test_a_fraction_reads_as_percentage() -> None:
    assert [words.percent(x) for x in (0.123, 1, 0.0, None)] == ["12.3 %", "100 %", "0 %", "not recorded"]


def test_a_power_of_ten_is_written_with_its_exponent() -> None:
    assert [words.power_of_ten(exponent) for exponent in (-12, -1, 0, 1, 3)] == ["10⁻¹²", "10⁻¹", "1", "10", "10³"]


def test_a_count_agrees_with_its_noun() -> None:
    assert words.count(1, "kernel") == "1 kernel"
    assert words.count(0, "kernel") == "0 kernels"
    assert words.count(1_200, "kernel") == "1,200 kernels"
    assert words.count(2, "cache entry", "cache entries") == "2 cache entries"
    assert words.count(None, "kernel") == "kernels not recorded"


@pytest.mark.parametrize(
    ("age_s", "text"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (3_599, "59 minutes ago"),
        (7_200, "2 hours ago"),
        (86_400 * 3, "3 days ago"),
        (86_400 * 364, "364 days ago"),
        (86_400 * 365, "1 year ago"),
        (86_400 * 800, "2 years ago"),
    ],
)
def test_the_past_is_reported_in_one_unit(age_s: float, text: str) -> None:
    assert words.ago(1_000_000.0, 1_000_000.0 + age_s) == text


def test_an_unknown_time_is_not_recorded() -> None:
    assert words.ago(None, 0.0) == "not recorded"


def test_an_ordinal_is_exact() -> None:
    assert [words.ordinal(number) for number in (1, 12, 22, 23, 113, 1_991)] == [
        "1st", "12th", "22nd", "23rd", "113th", "1,991st",
    ]  # fmt: skip


def test_calls_after_which_something_pays_off_are_estimated_in_two_digits() -> None:
    assert words.calls_after(1_990, 2_030) == "after about 2,000 calls"
    assert words.calls_after(591, 7_654) == "after 590–7,700 calls"
    assert words.calls_after(1, 1) == "after about 1 call"


def test_a_limit_is_written_as_it_was_set() -> None:
    assert [words.exact(x) for x in (2, 2.0, 0.5, 86_400.0, 1_000_000, -3)] == [
        "2",
        "2",
        "0.5",
        "86,400",
        "1,000,000",
        "−3",
    ]
    assert [words.limit_s(x) for x in (600.0, 0.3)] == ["600 s", "0.3 s"]
    assert [words.gib(x * 1024**3) for x in (8, 0.5, 1 / 3, 1024, 1e-5)] == [
        *("8 GiB", "0.5 GiB", "0.333 GiB", "1,024 GiB", "0 GiB"),
    ]


def test_a_word_agrees_with_its_count() -> None:
    assert [words.agree(n, "is", "are") for n in (0, 1, 2, None)] == ["are", "is", "are", "are"]
